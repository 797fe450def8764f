//===- AttentionScores.h - scores of some queries at a time -----*- C++ -*-===//
//
// What attention and its gradients have in common: some queries of one head at a time, whose scores
// fit a core's cache, and of the keys only those that any of these queries sees.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_ATTENTIONSCORES_H
#define WEFT_RUNTIME_CPU_ATTENTIONSCORES_H

#include "runtime/Cpu/Action.h"
#include "runtime/Cpu/Gemm.h"

#include <utility>
#include <vector>

namespace weft::runtime {

/// Queries of one head that are computed together, and the keys that any of them sees.
struct QueryBlock {
  int64_t batch, head, group;
  int64_t firstRow, rows;
  int64_t firstKey, keys;
  int64_t pitch; ///< floats of a row of scores, a multiple of scoreLanes
};

class AttentionScores {
public:
  /// Throws an Error of kind BadInput where operands do not fit each other.
  explicit AttentionScores(AttentionCall given);

  const AttentionCall &getCall() const { return call; }
  int64_t getBlockRows() const { return rows; }
  int64_t getBlocksOfHead() const;
  /// Whether a mask or positions hide keys from queries.
  bool hidesKeys() const { return call.mask || call.low || call.high; }
  bool isVisible(const Bases &bases, const QueryBlock &block, int64_t i, int64_t key) const;

  QueryBlock makeBlock(int64_t batch, int64_t head, int64_t number) const;

  /// The block's rows of what has a row for each query of each head, and for each key.
  static Matrix getQueries(const View &view, const Bases &bases, const QueryBlock &block);
  static Matrix getKeys(const View &view, const Bases &bases, const QueryBlock &block);
  /// The logarithm of the sum of row `i`; there must be some.
  std::byte *getLogSum(const Bases &bases, const QueryBlock &block, int64_t i) const;

  /// Scores of the block before any of what follows, `pitch` floats a row, into memory of the
  /// caller; `query` becomes its queries, scaled.
  Matrix multiplyKeys(const Bases &bases, const QueryBlock &block, std::vector<float> &query,
                      std::vector<float> &scores) const;
  void cap(const QueryBlock &block, float *row) const;
  /// Adds the bias to row `i`, and gives what its query does not see the score `fill`; what lies
  /// behind the row, -infinity. `bias` is memory.
  void hide(const Bases &bases, const QueryBlock &block, int64_t i, float fill, float *row,
            std::vector<float> &bias) const;

private:
  void check() const;
  std::pair<int64_t, int64_t> getBand(int64_t row) const;
  void addBias(const std::byte *from, int64_t count, float *row, std::vector<float> &memory) const;

  AttentionCall call;
  int64_t queries, keys;
  int64_t rows; ///< of a block
};

/// A matrix of f32 in `memory`, which grows as needed.
Matrix makeMatrix(std::vector<float> &memory, int64_t rows, int64_t columns, int64_t pitch);

/// Address of row `i`.
std::byte *getRow(const Matrix &matrix, int64_t i);

/// Throws an Error of kind BadInput.
void checkAttentionExtents(const View &view, const std::vector<int64_t> &expected);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_ATTENTIONSCORES_H
