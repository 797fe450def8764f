#include "frontends/common/Composites.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// The first (last) position along `axis` of the extreme among the elements where `candidates` is
/// true, as i64 with that dimension kept; `extreme` has it kept too.
static Value positionOf(Emitter &emit, Value x, Value extreme, Value candidates, int64_t axis,
                        bool last) {
  Value hit = emit.compare(CompareDirection::EQ, x, extreme);
  if (candidates)
    hit = emit.binary<AndOp>(hit, candidates);
  Value positions = emit.iota(shapeOf(x), axis);
  Value none = emit.like(positions, last ? -1.0 : double(shapeOf(x)[axis]));
  Value found = emit.select(hit, positions, none);
  return emit.reduce(last ? ReduceKind::Max : ReduceKind::Min, found, {axis}, /*keepDims=*/true);
}

Value weft::frontend::emitArg(Emitter &emit, ReduceKind kind, Value x, int64_t axis, bool last) {
  return positionOf(emit, x, emit.reduce(kind, x, {axis}, true), {}, axis, last);
}

Value weft::frontend::emitOneHot(Emitter &emit, Value indices, int64_t depth, int64_t axis) {
  Shape shape(shapeOf(indices));
  shape.insert(shape.begin() + axis, 1);
  Value wanted = emit.reshape(indices, shape);
  shape[axis] = depth;
  Value positions = emit.cast(emit.iota(shape, axis), elementOf(indices));
  return emit.compare(CompareDirection::EQ, emit.broadcast(wanted, shape), positions);
}

/// The extreme is found, taken out, and so on: right for the few that mixtures of experts ask for.
TopK weft::frontend::emitTopK(Emitter &emit, Value x, int64_t k, int64_t axis, bool largest) {
  constexpr int64_t mostRounds = 64;
  if (k < 1 || k > shapeOf(x)[axis] || k > mostRounds)
    throw ImportError("k = " + std::to_string(k) + " is out of range: 1 to " +
                      std::to_string(std::min(shapeOf(x)[axis], mostRounds)));
  ReduceKind kind = largest ? ReduceKind::Max : ReduceKind::Min;
  double infinity = std::numeric_limits<double>::infinity();
  Value worst = emit.like(x, largest ? -infinity : infinity);
  Value left = emit.splat(typeOf(x).clone(emit.builder.getI1Type()), 1);
  SmallVector<Value> values, positions;
  for (int64_t round = 0; round < k; ++round) {
    values.push_back(emit.reduce(kind, emit.select(left, x, worst), {axis}, true));
    positions.push_back(positionOf(emit, x, values.back(), left, axis, false));
    Value taken = emit.broadcast(positions.back(), shapeOf(x));
    left = emit.binary<AndOp>(
        left, emit.compare(CompareDirection::NE, emit.iota(shapeOf(x), axis), taken));
  }
  return {emit.concat(values, axis), emit.concat(positions, axis)};
}
