// Smallest conflicts among demands.
#include "compiler/Search/SmallestConflict.h"

#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <random>

using namespace weft;
using llvm::ArrayRef;

namespace {
using Set = std::vector<size_t>;

bool contains(ArrayRef<size_t> demands, const Set &conflict) {
  return llvm::all_of(conflict, [&](size_t one) { return llvm::is_contained(demands, one); });
}
} // namespace

TEST_CASE("a smallest conflict is one of those there are") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    size_t count = 1 + random() % 24;
    std::vector<Set> conflicts(1 + random() % 3);
    for (Set &conflict : conflicts)
      for (size_t one = 0; one < count; ++one)
        if (random() % count < 3)
          conflict.push_back(one);
    llvm::erase_if(conflicts, [](const Set &conflict) { return conflict.empty(); });
    int asked = 0;
    auto canMeet = [&](ArrayRef<size_t> demands) {
      ++asked;
      REQUIRE(llvm::is_sorted(demands));
      return llvm::none_of(conflicts,
                           [&](const Set &conflict) { return contains(demands, conflict); });
    };
    std::optional<Set> found = findSmallestConflict(count, canMeet);
    REQUIRE(found);
    CHECK(found->empty() == conflicts.empty());
    if (conflicts.empty())
      continue;
    CHECK(!canMeet(*found));
    for (size_t left = 0; left < found->size(); ++left) {
      Set others = *found;
      others.erase(others.begin() + left);
      CHECK(canMeet(others));
    }
  }
}

TEST_CASE("one conflict of two among a thousand demands is found in few questions") {
  int asked = 0;
  std::optional<Set> found = findSmallestConflict(1000, [&](ArrayRef<size_t> demands) {
    ++asked;
    return !contains(demands, {123, 877});
  });
  CHECK(*found == Set{123, 877});
  CHECK(asked <= 45);
}

TEST_CASE("where nothing can be done no demand is in the way") {
  CHECK(!findSmallestConflict(3, [](ArrayRef<size_t>) { return false; }));
  CHECK(!findSmallestConflict(0, [](ArrayRef<size_t>) { return false; }));
  CHECK(findSmallestConflict(0, [](ArrayRef<size_t>) { return true; })->empty());
}
