#include "runtime/Executor/ArgumentNames.h"

#include <string_view>

namespace weft::runtime {

/// Takes one key, `['key']`, `[0]` or `.key`, off the front of a path; "" where there is none.
static std::string takeKey(std::string_view &rest) {
  auto takeUntil = [&](size_t start, std::string_view end) {
    size_t stop = rest.find(end, start);
    if (stop == std::string_view::npos)
      return std::string();
    std::string key(rest.substr(start, stop - start));
    rest.remove_prefix(stop + end.size());
    return key;
  };
  if (rest.starts_with("['"))
    return takeUntil(2, "']");
  if (rest.starts_with("[\""))
    return takeUntil(2, "\"]");
  if (rest.starts_with("["))
    return takeUntil(1, "]");
  size_t stop = std::min(rest.find_first_of(".[", 1), rest.size());
  std::string key(rest.substr(1, stop - 1));
  rest.remove_prefix(stop);
  return key;
}

std::string getShortName(const std::string &name) {
  size_t root = name.find_first_of(".[");
  if (root == 0 || name.find('[') == std::string::npos) // plain names have points, too
    return "";
  std::string joined;
  for (std::string_view rest = std::string_view(name).substr(root); !rest.empty();) {
    if (rest.front() != '[' && rest.front() != '.')
      return "";
    std::string key = takeKey(rest);
    if (key.empty())
      return "";
    joined += (joined.empty() ? "" : ".") + key;
  }
  return joined;
}

std::map<std::string, size_t> indexByName(const std::vector<std::string> &names) {
  std::map<std::string, size_t> index;
  std::map<std::string, int> shorts;
  for (const std::string &name : names)
    ++shorts[getShortName(name)];
  for (size_t i = 0; i < names.size(); ++i)
    if (std::string name = getShortName(names[i]); !name.empty() && shorts[name] == 1)
      index.emplace(name, i);
  for (size_t i = 0; i < names.size(); ++i)
    index[names[i]] = i; // a name of its own comes before another's short one
  return index;
}

} // namespace weft::runtime
