//===- SliceTable.h - times of parts of a sequence --------------*- C++ -*-===//
//
// What one stage takes, forward and backward apart, for a slice of so many tokens behind so many
// that went before (its context: attention reads their keys and values), of so many sequences at a
// time. Tokens are counted in units of the table's granularity.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SLICE_SLICETABLE_H
#define WEFT_COMPILER_SEARCH_SLICE_SLICETABLE_H

#include <cstddef>
#include <cstdint>
#include <istream>
#include <stdexcept>
#include <vector>

namespace weft::slice {

/// A table that is no table of slices: line and reason.
struct TableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Times for one number of sequences.
struct BatchTimes {
  int64_t batch = 1;
  /// Seconds of the slice from unit `context` to unit `end`, at [end·(end-1)/2 + context]: all
  /// slices with the same end lie side by side.
  std::vector<double> forward, backward;

  static size_t getIndex(int64_t end, int64_t context) {
    return static_cast<size_t>(end * (end - 1) / 2 + context);
  }
};

struct SliceTable {
  int64_t granularity = 1;         ///< tokens of a unit
  int64_t units = 0;               ///< of the whole sequence
  std::vector<BatchTimes> batches; ///< in ascending order of sequences, at least one
};

/// Reads CSV with the columns length, context, forward_s and backward_s (tokens and seconds), and
/// batch if several numbers of sequences were measured, in any order. The granularity is the
/// greatest that all lengths and contexts are multiples of; every slice of the sequence must be
/// there once. Throws TableError naming the line, or the slice that is missing.
SliceTable readSliceTable(std::istream &in);

} // namespace weft::slice

#endif // WEFT_COMPILER_SEARCH_SLICE_SLICETABLE_H
