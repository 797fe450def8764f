//===- SliceCurve.h - what any slice of a sequence takes --------*- C++ -*-===//
//
// What a stage takes of a slice of tokens behind others, from what it was seen to take of some: a
// part for launching, one for each token, and one for each pair of a token and one that its
// attention reads,
//
//   seconds = launch + token · length + pair · length · (context + length / 2)
//
// of the forward and of the backward pass apart, fitted to relative errors. Of that a table is made
// by which sequences are cut (Slice/TokenSlices.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SLICECURVE_H
#define WEFT_COMPILER_SEARCH_SLICECURVE_H

#include "compiler/Search/Slice/SliceTable.h"

#include <span>

namespace weft {

/// What a stage took, s, of a slice of so many tokens behind so many.
struct SliceTime {
  int64_t length = 0, context = 0;
  double forward = 0, backward = 0;
};

/// What every slice of a sequence of so many tokens takes, in units of `granularity`, which divides
/// them. A table of no units where nothing fits what was seen.
slice::SliceTable makeSliceTable(std::span<const SliceTime> seen, int64_t tokens,
                                 int64_t granularity);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_SLICECURVE_H
