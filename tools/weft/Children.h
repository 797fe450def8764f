//===- Children.h - work in processes of its own ----------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_CHILDREN_H
#define WEFT_TOOLS_WEFT_CHILDREN_H

#include <cstddef>
#include <functional>
#include <string>

namespace weft::tool {

/// How a child ended.
struct ChildEnd {
  size_t number = 0;   ///< of its work
  std::string text;    ///< that the work gave
  std::string problem; ///< that it gave none, and why; empty: it did
  double seconds = 0;
};

/// Does work number 0 to count - 1, each in a process forked off this one, `atOnce` of them at a
/// time; what crashes, or takes longer than `limit` seconds (0: no bound), ends alone. Calls
/// `ended` for each in this process, as they end. This process must not have threads. Throws
/// runtime::Error where no process can be made.
void doInChildren(size_t count, size_t atOnce, double limit,
                  const std::function<std::string(size_t)> &work,
                  const std::function<void(const ChildEnd &)> &ended);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_CHILDREN_H
