//===- CorrectTimes.h - blocks' times from what stages took -----*- C++ -*-===//
//
// What blocks were expected to take, corrected by what groups of them were seen to take: the time
// of a kind of block is off by one factor wherever it stands. The factors are those that explain
// the groups best (by relative entropy), which Richardson and Lucy's iteration finds: all positive,
// and near what was expected where groups do not tell kinds apart.
//
//   2 layers and 2 layers with a head, expected 1 s each, took 2 s and 3 s: layers 1 s, the head 1
//   s; took 4 s and 5 s: layers 2 s, the head 1 s
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_CORRECTTIMES_H
#define WEFT_COMPILER_SEARCH_CORRECTTIMES_H

#include <cstdint>
#include <map>
#include <span>

namespace weft {

struct ExpectedBlock {
  double seconds = 0;
  uint32_t kind = 0;  ///< blocks of one kind are equal
  uint32_t group = 0; ///< that it is of
};

/// By kind, the factor that its blocks take more than expected. `seconds` is what groups took.
std::map<uint32_t, double> correctTimes(std::span<const ExpectedBlock> blocks,
                                        std::span<const double> seconds);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_CORRECTTIMES_H
