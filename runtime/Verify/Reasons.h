//===- Reasons.h - what was found wrong, and where --------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_VERIFY_REASONS_H
#define WEFT_RUNTIME_VERIFY_REASONS_H

#include <fmt/format.h>
#include <string>
#include <vector>

namespace weft::runtime {

/// Collects reasons, each behind the present place.
class Reasons {
public:
  explicit Reasons(size_t limit) : limit(limit) {}

  template <typename... Args> void add(fmt::format_string<Args...> format, Args &&...args) {
    if (list.size() < limit)
      list.push_back(place + fmt::format(format, std::forward<Args>(args)...));
  }

  bool isFull() const { return list.size() >= limit; }
  size_t size() const { return list.size(); }

  std::string place; ///< e.g. "class 0, forward[12] (h.0.mlp): "
  std::vector<std::string> list;

private:
  size_t limit;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_VERIFY_REASONS_H
