#include "compiler/Search/SmallestConflict.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace weft;
using llvm::ArrayRef;

namespace {
class Finder {
public:
  explicit Finder(llvm::function_ref<bool(ArrayRef<size_t>)> canMeet) : canMeet(canMeet) {}

  /// The demands among `open` that, with those of `given`, make a smallest conflict. `hasNew` tells
  /// whether `given` has grown since it was last known to be possible.
  std::vector<size_t> find(const std::vector<size_t> &given, ArrayRef<size_t> open, bool hasNew) {
    if (hasNew && !ask(given))
      return {};
    if (open.size() == 1)
      return {open.front()};
    ArrayRef<size_t> early = open.take_front(open.size() / 2);
    ArrayRef<size_t> late = open.drop_front(open.size() / 2);
    std::vector<size_t> second = find(join(given, early), late, /*hasNew=*/true);
    std::vector<size_t> first = find(join(given, second), early, /*hasNew=*/!second.empty());
    return join(first, second);
  }

  bool ask(std::vector<size_t> demands) {
    llvm::sort(demands);
    return canMeet(demands);
  }

private:
  static std::vector<size_t> join(std::vector<size_t> a, ArrayRef<size_t> b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  llvm::function_ref<bool(ArrayRef<size_t>)> canMeet;
};
} // namespace

std::optional<std::vector<size_t>>
weft::findSmallestConflict(size_t count, llvm::function_ref<bool(ArrayRef<size_t>)> canMeet) {
  Finder finder(canMeet);
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  if (finder.ask(all))
    return std::vector<size_t>();
  if (count == 0 || !finder.ask({}))
    return std::nullopt;
  std::vector<size_t> conflict = finder.find({}, all, /*hasNew=*/false);
  llvm::sort(conflict);
  return conflict;
}
