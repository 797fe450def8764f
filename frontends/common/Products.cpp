#include "frontends/common/Composites.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// The leading dimensions of a product operand brought to `batch`.
static Value withBatch(Emitter &emit, Value value, ArrayRef<int64_t> batch) {
  Shape shape(batch);
  llvm::append_range(shape, shapeOf(value).take_back(2));
  return emit.broadcast(value, shape);
}

Value weft::frontend::emitMatMul(Emitter &emit, Value lhs, Value rhs) {
  int64_t left = typeOf(lhs).getRank(), right = typeOf(rhs).getRank();
  if (left == 0 || right == 0)
    throw ImportError("cannot multiply " + describe(lhs) + " and " + describe(rhs));
  if (right <= 2) // a matrix, or vector: nothing to batch over
    return emit.dot(lhs, rhs, {{}, {}, {left - 1}, {0}});
  if (left == 1) { // the left operand's only dimension goes: what remains is in order
    Shape batch(shapeOf(rhs).drop_back(2)), spread(batch);
    spread.push_back(shapeOf(lhs)[0]);
    Shape dims = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, right - 2));
    return emit.dot(emit.broadcast(lhs, spread), rhs, {dims, dims, {right - 2}, {right - 2}});
  }
  Shape batch;
  {
    int64_t rank = std::max(left, right) - 2;
    auto size = [&](Value value, int64_t dim) -> int64_t {
      int64_t at = dim - (rank - (typeOf(value).getRank() - 2));
      return at < 0 ? 1 : shapeOf(value)[at];
    };
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t l = size(lhs, dim), r = size(rhs, dim);
      if (l != r && l != 1 && r != 1)
        throw ImportError("cannot multiply " + describe(lhs) + " and " + describe(rhs));
      batch.push_back(l == 1 ? r : l);
    }
  }
  int64_t rank = batch.size();
  Shape dims = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, rank));
  return emit.dot(withBatch(emit, lhs, batch), withBatch(emit, rhs, batch),
                  {dims, dims, {rank + 1}, {rank}});
}
