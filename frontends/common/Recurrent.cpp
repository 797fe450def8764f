#include "frontends/common/Recurrent.h"

#include "frontends/common/ImportError.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// Steps of all cells of a network.
static constexpr int64_t mostSteps = 1 << 14;

void frontend::checkUnrolled(int64_t length, int64_t cells) {
  if (length < 1 || length > mostSteps / cells)
    throw ImportError("a sequence of " + std::to_string(length) +
                      " elements is not unrolled: " + std::to_string(cells) +
                      " cells may have 1 to " + std::to_string(mostSteps) + " steps together");
}

Value frontend::emitAffine(Emitter &emit, Value x, Value weight, Value bias) {
  Value product = emit.dot(x, weight, {{}, {}, {typeOf(x).getRank() - 1}, {1}});
  return bias ? emit.binary<AddOp>(product, emit.broadcast(bias, shapeOf(product))) : product;
}

Value frontend::takeGate(Emitter &emit, Value gates, int64_t index, int64_t count) {
  int64_t hidden = shapeOf(gates)[1] / count;
  return emit.sliceDim(gates, 1, index * hidden, hidden);
}

Value frontend::takeFirst(Emitter &emit, Value all, int64_t index) {
  return emit.reshape(emit.sliceDim(all, 0, index, 1), shapeOf(all).drop_front());
}

Value frontend::stackAlong(Emitter &emit, ArrayRef<Value> parts, int64_t dim) {
  SmallVector<Value> stacked;
  for (Value part : parts) {
    Shape shape(shapeOf(part));
    shape.insert(shape.begin() + dim, 1);
    stacked.push_back(emit.reshape(part, shape));
  }
  return emit.concat(stacked, dim);
}

/// Which sequences have an element at a time, of the shape of what is chosen.
static Value isWithin(Emitter &emit, Value lengths, int64_t time, Value chosen) {
  Value isLonger = emit.compare(CompareDirection::GT, lengths, emit.like(lengths, double(time)));
  return emit.broadcastDims(isLonger, shapeOf(chosen), {0});
}

Value frontend::unrollRecurrence(Emitter &emit, Value input, RecurrentState &state, bool backward,
                                 Value lengths, RecurrentStep step) {
  int64_t length = shapeOf(input)[0];
  SmallVector<Value> outputs(length);
  for (int64_t count = 0; count < length; ++count) {
    int64_t time = backward ? length - 1 - count : count;
    RecurrentState next = step(takeFirst(emit, input, time), state);
    outputs[time] = next.hidden;
    if (lengths) {
      Value isOwn = isWithin(emit, lengths, time, next.hidden);
      outputs[time] = emit.select(isOwn, next.hidden, emit.like(next.hidden, 0));
      next.hidden = emit.select(isOwn, next.hidden, state.hidden);
      if (next.cell)
        next.cell = emit.select(isWithin(emit, lengths, time, next.cell), next.cell, state.cell);
    }
    state = next;
  }
  return stackAlong(emit, outputs, 0);
}
