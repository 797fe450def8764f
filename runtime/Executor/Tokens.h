//===- Tokens.h - training on a flat file of tokens -------------*- C++ -*-===//
//
// A file of u16 or u32 numbers, little endian, one after the other. Row r is the S tokens from r·S
// on, its labels are the same shifted by one, or where the loss shifts them, the same. All rows are
// gone through in an order that the seed tells, then again in another; no table of it is kept
// (RowOrder). Each rank reads the rows that its part of the inputs has, and no others.
//
// Of the model's two inputs, all integers, the one that the loss added (else the last, or the one
// that is named) takes the labels, the other the tokens. A model with one input takes rows as long
// as that is: it shifts by itself.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_TOKENS_H
#define WEFT_RUNTIME_EXECUTOR_TOKENS_H

#include "runtime/Executor/TrainData.h"

namespace weft::runtime {

/// Orders of 0 … count - 1 that look random, one for each seed and epoch: a Feistel network over
/// the next power of four, walked until it ends below `count`.
class RowOrder {
public:
  RowOrder(int64_t count, uint64_t seed) : count(count), seed(seed) {}
  /// The row that stands at a position of an epoch.
  int64_t get(int64_t epoch, int64_t position) const;

private:
  int64_t count;
  uint64_t seed;
};

std::unique_ptr<TrainData> openTokens(const TrainDataOptions &options,
                                      const program::Executable &executable,
                                      const program::Program &program);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_TOKENS_H
