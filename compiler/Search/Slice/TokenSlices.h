//===- TokenSlices.h - how to cut sequences for a pipeline ------*- C++ -*-===//
//
// Cuts a batch of sequences into slices of sequences, and each of these into slices of tokens, that
// flow through a pipeline of K stages one after another, forwards first (Li et al. 2021, TeraPipe):
//
//   latency = sum f + sum b + (K-1) · (max f + max b)
//
// For caps on f and b the sums are least by dynamic programming over ends of slices, and over
// numbers of sequences. A larger cap can only lower the sums, so that a range of caps is bounded
// from below by the sums of its greatest and the price of its least caps: branch and bound over
// ranges finds the best pair. One slice for all, that is no cutting, is one of the choices.
//
// Worked example: two stages, two tokens, f = 1 + length, b = 0. Whole: 3 + 1·3 = 6; one by one:
// 2 + 2 + 1·2 = 6; with ten stages 30 and 22.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SLICE_TOKENSLICES_H
#define WEFT_COMPILER_SEARCH_SLICE_TOKENSLICES_H

#include "compiler/Search/Slice/SliceTable.h"

namespace weft::slice {

/// Sequences that go together, and the tokens of their slices in order.
struct BatchSlice {
  int64_t batch = 1;
  std::vector<int64_t> lengths;
};

struct Slicing {
  std::vector<BatchSlice> slices;
  double latency = 0; ///< s
};

/// The same for all sequences: `slices` slices of as equal lengths as units allow.
struct UniformSlicing {
  int64_t slices = 1;
  double latency = 0; ///< s
};

struct SliceOptions {
  int64_t stages = 1; ///< K
  int64_t batch = 1;  ///< sequences in all
  /// Part of the latency by which the answer may be above the best where proving that it is not
  /// takes more than `exactWork` steps: so much after these, and more in proportion to further
  /// ones.
  double tolerance = 1e-4;
  double exactWork = 3e7;
};

/// The best slices. Throws TableError if no sum of the table's numbers of sequences is the batch.
Slicing findSlices(const SliceTable &table, const SliceOptions &options);

/// The best of all numbers of slices of equal length; the first where several are.
UniformSlicing findUniformSlices(const SliceTable &table, const SliceOptions &options);

/// Without cutting sequences: the best slices of the batch alone.
double getWholeLatency(const SliceTable &table, const SliceOptions &options);

} // namespace weft::slice

#endif // WEFT_COMPILER_SEARCH_SLICE_TOKENSLICES_H
