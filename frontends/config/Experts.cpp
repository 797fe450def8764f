#include "frontends/config/Experts.h"

#include "frontends/common/Composites.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

Experts::Experts(const Config &config, StringRef countField, StringRef innerField)
    : count(config.getCount(config.has("num_local_experts") ? "num_local_experts" : countField)),
      perToken(config.getCount("num_experts_per_tok")), inner(config.getCount(innerField)),
      activation(config.getText("hidden_act", "silu")) {
  expectAtMost({"num_experts_per_tok", perToken}, {countField, count});
}

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

Experts::Routing Experts::chooseBest(Layers &layers, Value choices, Value scores) const {
  Value best = emitTopK(layers.emit, choices, perToken, /*axis=*/2, /*largest=*/true).positions;
  Shape shape(shapeOf(best));
  Value gates = layers.emit.create<GatherElementsOp>(tensorType(shape, elementOf(scores)), scores,
                                                     best, /*axis=*/2);
  return {best, gates};
}

Value weft::frontend::normalizeGates(Layers &layers, Value gates, double epsilon) {
  Value sum = layers.emit.reduce(ReduceKind::Sum, gates, {2}, /*keepDims=*/true);
  if (epsilon > 0)
    sum = layers.add(sum, layers.emit.like(sum, epsilon));
  return layers.emit.binary<DivOp>(gates, sum);
}

Value weft::frontend::markChosen(Layers &layers, Value indices, int64_t count) {
  Shape shape(shapeOf(indices));
  Shape dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  shape.push_back(count);
  return layers.emit.compare(CompareDirection::EQ, layers.emit.broadcastDims(indices, shape, dims),
                             layers.emit.positions(shape, static_cast<int64_t>(dims.size())));
}

/// The slot of each choice, [b, n], counted through all experts; e·c where the expert is full.
Value Experts::numberSlots(Layers &layers, Value experts, int64_t capacity) const {
  Emitter &emit = layers.emit;
  Type narrow = emit.builder.getI32Type();
  Value chosen = emit.cast(markChosen(layers, experts, count), narrow);
  Value before = emit.create<CumsumOp>(typeOf(chosen), chosen, /*axis=*/2 - 1, /*exclusive=*/true,
                                       /*reverse=*/false);
  Value place = emit.reduce(ReduceKind::Sum, layers.multiply(chosen, before), {2}, false);
  place = emit.cast(place, emit.builder.getI64Type());
  Value hasRoom = emit.compare(CompareDirection::LT, place, emit.like(place, double(capacity)));
  Value slot = layers.add(layers.scale(experts, double(capacity)), place);
  return emit.select(hasRoom, slot, emit.like(slot, double(count * capacity)));
}

Experts::Slots Experts::assignSlots(Layers &layers, const Routing &routing,
                                    int64_t capacity) const {
  Emitter &emit = layers.emit;
  int64_t batch = shapeOf(routing.experts)[0], sequence = shapeOf(routing.experts)[1];
  Shape choices{batch, sequence * perToken}, slots{batch, count * capacity};
  Value slot = numberSlots(layers, emit.reshape(routing.experts, choices), capacity);
  Value token = emit.positions(shapeOf(routing.experts), /*dim=*/1);
  auto put = [&](Value value) {
    Value flat = emit.reshape(value, choices);
    RankedTensorType type = tensorType(slots, elementOf(flat));
    return emit.create<ScatterElementsOp>(type, ScatterKind::Add, emit.splat(type, 0), slot, flat,
                                          /*axis=*/1, /*drop=*/true);
  };
  return {put(token), put(emit.cast(routing.gates, layers.element))};
}

//===----------------------------------------------------------------------===//
// The experts
//===----------------------------------------------------------------------===//

/// Each expert's MLP on its slots, [e, b, c, m].
Value Experts::apply(Layers &layers, const std::string &name, Value x) const {
  int64_t width = shapeOf(x)[3];
  Value both = layers.addWeight(name + ".gate_up_proj", {count, 2 * inner, width});
  Value down = layers.addWeight(name + ".down_proj", {count, width, inner});
  layers.emit.setName(name);
  auto product = [&](Value x, Value weight) {
    return layers.emit.dot(x, weight, {{0}, {0}, {3}, {2}});
  };
  Value gate = product(x, layers.emit.sliceDim(both, /*dim=*/1, 0, inner));
  Value wide = product(x, layers.emit.sliceDim(both, /*dim=*/1, inner, inner));
  return product(layers.multiply(layers.activate(activation, gate), wide), down);
}

Value Experts::build(Layers &layers, const std::string &name, Value x,
                     const Routing &routing) const {
  Emitter &emit = layers.emit;
  int64_t batch = shapeOf(x)[0], sequence = shapeOf(x)[1], width = shapeOf(x)[2];
  int64_t even = llvm::divideCeil(sequence * perToken, count);
  int64_t capacity = std::min(layers.sizes.capacity.value_or(even), sequence);
  layers.emit.setName(name + ".dispatch");
  Slots slots = assignSlots(layers, routing, capacity);
  Shape flat{batch, count * capacity, width}, grouped{batch, count, capacity, width};
  Value tokens = emit.broadcastDims(slots.tokens, flat, {0, 1});
  Value fetched = emit.create<GatherElementsOp>(tensorType(flat, elementOf(x)), x, tokens,
                                                /*axis=*/1);
  Value made = apply(layers, name, emit.transpose(emit.reshape(fetched, grouped), {1, 0, 2, 3}));
  layers.emit.setName(name + ".combine");
  made = emit.reshape(emit.transpose(made, {1, 0, 2, 3}), flat);
  Value weighed = layers.multiply(made, emit.broadcastDims(slots.gates, flat, {0, 1}));
  return emit.create<ScatterElementsOp>(typeOf(x), ScatterKind::Add, emit.like(x, 0), tokens,
                                        weighed, /*axis=*/1, /*drop=*/false);
}
