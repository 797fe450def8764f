#include "frontends/common/Composites.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

Value weft::frontend::emitArg(Emitter &emit, ReduceKind kind, Value x, int64_t axis, bool last) {
  Value hit = emit.compare(CompareDirection::EQ, x, emit.reduce(kind, x, {axis}, true));
  if (isa<FloatType>(elementOf(x))) // NaN is the extreme where there is one, and equals nothing
    hit = emit.binary<OrOp>(hit, emit.compare(CompareDirection::NE, x, x));
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

SmallVector<Shape> weft::frontend::positionsOfNonZero(const Tensor &known) {
  constexpr int64_t most = 1 << 24;
  if (known.size() > most)
    throw ImportError("the positions of what is not 0 are only found among " +
                      std::to_string(most) + " elements, got " + describe(known.type()));
  SmallVector<Shape> positions(known.rank());
  for (auto [flat, number] : llvm::enumerate(numbersOf<double>(known))) {
    int64_t rest = flat;
    for (int64_t dim = known.rank() - 1; number != 0 && dim >= 0; rest /= known.shape()[dim--])
      positions[dim].push_back(rest % known.shape()[dim]);
  }
  return positions;
}

TopK weft::frontend::emitTopK(Emitter &emit, Value x, int64_t k, int64_t axis, bool largest) {
  if (k < 1 || k > shapeOf(x)[axis])
    throw ImportError("k = " + std::to_string(k) + " is out of range: 1 to " +
                      std::to_string(shapeOf(x)[axis]));
  auto [values, positions] = emit.sort(x, axis, k, /*descending=*/largest);
  return {values, positions};
}
