//===- BlockBounds.h - where the blocks of a model begin --------*- C++ -*-===//
//
// A model's operations in order, as far as its structure goes: what they are, and which values join
// them. Blocks are found from that alone:
//
//   1. Stretches of operations that repeat (Repeats.h), where each repetition depends on the one
//      before and multiplies by weights. Where several overlap the one that folds most away wins,
//      unless what is most of its block repeats by itself between narrower cuts.
//   2. Repetitions may begin anywhere in their period: where least is live, preferring a value that
//      is used more than once (the stream that residual connections add to), and the place before
//      a product.
//   3. What lies between repetitions is cut where only such a value is live; its pieces are joined
//      to blocks as the same pieces are elsewhere, so that a first or last block may differ.
//
// Worked example, two layers a, m between an embedding e and a head h: e a1 m1 a2 m2 h repeats with
// period 2 from a1 on. The stream is live alone before each a and m, so that blocks begin at e, a1,
// a2 and h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_GRAPH_BLOCKBOUNDS_H
#define WEFT_COMPILER_GRAPH_BLOCKBOUNDS_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace weft {

/// Operations in order, and the values that they hand on to later ones.
struct OperationSequence {
  struct Value {
    uint32_t producer = 0; ///< operation
    uint32_t last = 0;     ///< operation that uses it last; the producer if none does
    uint32_t users = 0;
    int64_t bytes = 0;
  };
  struct Node {
    uint64_t label = 0;    ///< equal for equal operations on operands of equal types and weights
    uint64_t name = 0;     ///< of the operation alone
    bool weighted = false; ///< takes a weight of at least two dimensions
    llvm::SmallVector<uint32_t, 3> inputs; ///< values, by operand
  };
  std::vector<Node> nodes;
  std::vector<Value> values; ///< in order of producers

  uint32_t size() const { return static_cast<uint32_t>(nodes.size()); }
};

/// The operations that blocks begin with, in order; the first is 0. Empty for an empty sequence.
std::vector<uint32_t> findBlockBounds(const OperationSequence &sequence);

/// Equal for stretches of equal operations that are joined alike: values from outside are numbered
/// by first use.
uint64_t getStretchKey(const OperationSequence &sequence, uint32_t begin, uint32_t end);

} // namespace weft

#endif // WEFT_COMPILER_GRAPH_BLOCKBOUNDS_H
