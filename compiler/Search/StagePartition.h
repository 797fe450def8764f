//===- StagePartition.h - where the stages of a pipeline end ----*- C++ -*-===//
//
// Parts a chain of blocks into stages, runs of blocks, so that the slowest takes as little as can
// be; of all that do, so that the others are as even as can be (the sum of squares is least), and
// of these, so that the fewest bytes are handed from stage to stage. The slowest stage's time is
// found by halving, the rest by dynamic programming over what a stage may hold: O(stages · blocks²)
// at most, O(blocks²) where blocks are alike.
//
//   times 3 1 1 4 2, two stages     3 1 1 | 4 2 (6), not 3 1 1 4 | 2 (9)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_STAGEPARTITION_H
#define WEFT_COMPILER_SEARCH_STAGEPARTITION_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// The numbers of the last blocks of all stages but the last. `times` has one entry for each block,
/// none negative; `handedBytes` what is handed on behind each block but the last. There are no
/// fewer blocks than stages, and at least one stage.
std::vector<size_t> partitionStages(std::span<const double> times,
                                    std::span<const int64_t> handedBytes, size_t stages);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_STAGEPARTITION_H
