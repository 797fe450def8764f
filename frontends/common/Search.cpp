#include "frontends/common/Composites.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

Value weft::frontend::emitArg(Emitter &emit, ReduceKind kind, Value x, int64_t axis, bool last) {
  Value hit = emit.compare(CompareDirection::EQ, x, emit.reduce(kind, x, {axis}, true));
  Value positions = emit.iota(shapeOf(x), axis);
  Value none = emit.like(positions, last ? -1.0 : double(shapeOf(x)[axis]));
  Value found = emit.select(hit, positions, none);
  return emit.reduce(last ? ReduceKind::Max : ReduceKind::Min, found, {axis}, /*keepDims=*/true);
}

Value weft::frontend::emitOneHot(Emitter &emit, Value indices, int64_t depth, int64_t axis) {
  Shape shape(shapeOf(indices));
  shape.insert(shape.begin() + axis, 1);
  Value wanted = emit.reshape(indices, shape);
  shape[axis] = depth;
  Value positions = emit.cast(emit.iota(shape, axis), elementOf(indices));
  return emit.compare(CompareDirection::EQ, emit.broadcast(wanted, shape), positions);
}

TopK weft::frontend::emitTopK(Emitter &emit, Value x, int64_t k, int64_t axis, bool largest) {
  if (k < 1 || k > shapeOf(x)[axis])
    throw ImportError("k = " + std::to_string(k) + " is out of range: 1 to " +
                      std::to_string(shapeOf(x)[axis]));
  auto [values, positions] = emit.sort(x, axis, k, /*descending=*/largest);
  return {values, positions};
}
