//===- KernelSort.cpp - sorting rows in kernels ---------------------------===//
//
// Compiled to LLVM bitcode as KernelMath.cpp is. A kernel turns the elements of a row into unsigned
// keys that order as the elements do (EmitSort.cpp) and calls weft_sort_*, which leaves the first
// `count` keys' places in `places`, equal keys in their first order.
//
// Short rows and small counts are inserted one by one into what is sorted so far; others are sorted
// digit by digit from the least significant one (D. Knuth, The Art of Computer Programming
// 3, 5.2.5), in as many passes as there are bytes in which keys differ. Every loop's length depends
// on the row's length alone where the keys are random.
//
// On a GPU the threads of a block sort a long row together (weft_sort_team_*), by K. Batcher's
// network: in each step pairs of elements at one distance are put in order, each pair by itself.
// Keys and places together are distinct, so that equal keys keep their order.
//
//===----------------------------------------------------------------------===//

#include <stdint.h>

/// Waits for the other threads of the team; the kernel has it (EmitTeams.cpp).
extern "C" __attribute__((convergent)) void weft_await_team();

namespace {

/// Rows of at most this length, and counts of at most this many, are sorted by insertion.
constexpr int64_t shortRow = 32, fewPlaces = 8;
constexpr int64_t digits = 256;

template <typename Key>
inline void sortByInsertion(Key *keys, uint32_t *places, int64_t length, int64_t count) {
  int64_t sorted = 0;
  for (int64_t i = 0; i < length; ++i) {
    Key key = keys[i];
    if (sorted == count && key >= keys[sorted - 1])
      continue;
    int64_t at = sorted < count ? sorted++ : sorted - 1;
    for (; at > 0 && keys[at - 1] > key; --at) {
      keys[at] = keys[at - 1];
      places[at] = places[at - 1];
    }
    keys[at] = key;
    places[at] = uint32_t(i);
  }
}

/// Moves keys and places to where they stand in the order of one digit; false where all share it.
template <typename Key>
inline bool sortByDigit(int shift, const Key *keys, const uint32_t *places, Key *toKeys,
                        uint32_t *toPlaces, int64_t length) {
  uint32_t starts[digits] = {};
  for (int64_t i = 0; i < length; ++i)
    ++starts[(keys[i] >> shift) & (digits - 1)];
  if (starts[(keys[0] >> shift) & (digits - 1)] == uint64_t(length))
    return false;
  uint32_t sum = 0;
  for (int64_t digit = 0; digit < digits; ++digit) {
    uint32_t number = starts[digit];
    starts[digit] = sum;
    sum += number;
  }
  for (int64_t i = 0; i < length; ++i) {
    uint32_t to = starts[(keys[i] >> shift) & (digits - 1)]++;
    toKeys[to] = keys[i];
    toPlaces[to] = places[i];
  }
  return true;
}

template <typename Key>
inline const uint32_t *sort(Key *keys, uint32_t *places, Key *spareKeys, uint32_t *sparePlaces,
                            int64_t length, int64_t count) {
  if (length <= shortRow || count <= fewPlaces) {
    sortByInsertion(keys, places, length, count);
    return places;
  }
  for (int64_t i = 0; i < length; ++i)
    places[i] = uint32_t(i);
  for (int shift = 0; shift < int(8 * sizeof(Key)); shift += 8) {
    if (!sortByDigit(shift, keys, places, spareKeys, sparePlaces, length))
      continue;
    Key *sortedKeys = spareKeys;
    uint32_t *sortedPlaces = sparePlaces;
    spareKeys = keys;
    sparePlaces = places;
    keys = sortedKeys;
    places = sortedPlaces;
  }
  return places;
}

/// Exchanges two elements unless the first is the lesser.
template <typename Key>
inline void putInOrder(Key *keys, uint32_t *places, int64_t low, int64_t high) {
  Key first = keys[low], second = keys[high];
  uint32_t firstPlace = places[low], secondPlace = places[high];
  if (first < second || (first == second && firstPlace < secondPlace))
    return;
  keys[low] = second;
  keys[high] = first;
  places[low] = secondPlace;
  places[high] = firstPlace;
}

/// Runs of `size` elements are merged from two of half of it: first each element with its mirror
/// image in the run, then halves with halves. What lies behind the row's end would be greatest, and
/// stay there.
template <typename Key>
inline void sortByTeam(Key *keys, uint32_t *places, int64_t length, int64_t member,
                       int64_t members) {
  for (int64_t i = member; i < length; i += members)
    places[i] = uint32_t(i);
  weft_await_team();
  for (int64_t size = 2; size / 2 < length; size *= 2)
    for (int64_t step = size / 2; step > 0; step /= 2) {
      for (int64_t pair = member;; pair += members) {
        int64_t run = pair / step * (2 * step), offset = pair % step;
        int64_t high = step == size / 2 ? run + 2 * step - 1 - offset : run + offset + step;
        if (run + offset >= length)
          break;
        if (high < length)
          putInOrder(keys, places, run + offset, high);
      }
      weft_await_team();
    }
}

} // namespace

/// Returns where the places lie: `places` or `sparePlaces`. `length` and `count` are at least 1.
extern "C" const uint32_t *weft_sort_u32(uint32_t *keys, uint32_t *places, uint32_t *spareKeys,
                                         uint32_t *sparePlaces, int64_t length, int64_t count) {
  return sort(keys, places, spareKeys, sparePlaces, length, count);
}

extern "C" const uint32_t *weft_sort_u64(uint64_t *keys, uint32_t *places, uint64_t *spareKeys,
                                         uint32_t *sparePlaces, int64_t length, int64_t count) {
  return sort(keys, places, spareKeys, sparePlaces, length, count);
}

/// Sorts all keys and their places, which are set here; called by all `members` of a team.
extern "C" void weft_sort_team_u32(uint32_t *keys, uint32_t *places, int64_t length, int64_t member,
                                   int64_t members) {
  sortByTeam(keys, places, length, member, members);
}

extern "C" void weft_sort_team_u64(uint64_t *keys, uint32_t *places, int64_t length, int64_t member,
                                   int64_t members) {
  sortByTeam(keys, places, length, member, members);
}
