// Recurrent networks, unrolled (Recurrent.h): Elman networks, GRUs and LSTMs.

#include "frontends/common/Recurrent.h"
#include "frontends/common/Composites.h"
#include "frontends/common/Random.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

namespace {
/// The weights of one layer in one direction: [gates · hidden, …] each, biases and the projection
/// of the hidden state null where there are none.
struct Cell {
  Value fromInput, fromHidden, inputBias, hiddenBias, projection;
};
using State = RecurrentState;
/// What the weights make of an element and of the state before it: [batch, gates · hidden] each.
struct Parts {
  Value input, hidden;
};
/// One kind of network.
struct Kind {
  int64_t gates;
  bool hasCell;
  State (*step)(Emitter &emit, Parts parts, const State &state);
};
} // namespace

static Value add(Emitter &emit, Value lhs, Value rhs) { return emit.binary<AddOp>(lhs, rhs); }
static Value mul(Emitter &emit, Value lhs, Value rhs) { return emit.binary<MulOp>(lhs, rhs); }

template <typename Activation>
static State stepElman(Emitter &emit, Parts parts, const State & /*state*/) {
  return {emit.unary<Activation>(add(emit, parts.input, parts.hidden)), {}};
}

static State stepRelu(Emitter &emit, Parts parts, const State & /*state*/) {
  Value sum = add(emit, parts.input, parts.hidden);
  return {emit.binary<MaxOp>(sum, emit.like(sum, 0)), {}};
}

/// Gates r, z, n: n = tanh(x + r·h), and the new state is n + z · (old - n).
static State stepGru(Emitter &emit, Parts parts, const State &state) {
  auto both = [&](int64_t index) {
    return emit.unary<SigmoidOp>(
        add(emit, takeGate(emit, parts.input, index, 3), takeGate(emit, parts.hidden, index, 3)));
  };
  Value reset = both(0), keep = both(1);
  Value kept = mul(emit, reset, takeGate(emit, parts.hidden, 2, 3));
  Value fresh = emit.unary<TanhOp>(add(emit, takeGate(emit, parts.input, 2, 3), kept));
  return {add(emit, fresh, mul(emit, keep, emit.binary<SubOp>(state.hidden, fresh))), {}};
}

/// Gates i, f, g, o: c' = σ(f)·c + σ(i)·tanh(g), h' = σ(o)·tanh(c').
static State stepLstm(Emitter &emit, Parts parts, const State &state) {
  Value gates = add(emit, parts.input, parts.hidden);
  auto sigmoid = [&](int64_t index) {
    return emit.unary<SigmoidOp>(takeGate(emit, gates, index, 4));
  };
  Value fresh = mul(emit, sigmoid(0), emit.unary<TanhOp>(takeGate(emit, gates, 2, 4)));
  Value cell = add(emit, mul(emit, sigmoid(1), state.cell), fresh);
  return {mul(emit, sigmoid(3), emit.unary<TanhOp>(cell)), cell};
}

static constexpr Kind elman{1, false, stepElman<TanhOp>}, rectified{1, false, stepRelu},
    gru{3, false, stepGru}, lstm{4, true, stepLstm};

/// Throws ImportError where the weights do not fit each other, or the state this many sequences.
static void checkCell(const Kind &kind, const Cell &cell, const State &state, int64_t count) {
  for (Value matrix : {cell.fromInput, cell.fromHidden, cell.projection})
    if (matrix)
      expectExactRank(matrix, 2);
  expectExactRank(state.hidden, 2);
  int64_t rows = shapeOf(cell.fromHidden)[0], hidden = rows / kind.gates;
  int64_t given = cell.projection ? shapeOf(cell.projection)[0] : hidden;
  Shape hiddenShape{count, given}, cellShape{count, hidden};
  if (rows % kind.gates != 0 || shapeOf(cell.fromInput)[0] != rows ||
      shapeOf(state.hidden) != ArrayRef<int64_t>(hiddenShape) ||
      (kind.hasCell && shapeOf(state.cell) != ArrayRef<int64_t>(cellShape)))
    throw ImportError("weights " + describe(cell.fromInput) + " and " + describe(cell.fromHidden) +
                      " and a state " + describe(state.hidden) + " do not fit " +
                      std::to_string(kind.gates) + " gates and " + std::to_string(count) +
                      " sequences");
}

/// The state behind an element, of which the weights have made `input`.
static State advance(Emitter &emit, const Kind &kind, const Cell &cell, Value input,
                     const State &state) {
  Value hidden = emitAffine(emit, state.hidden, cell.fromHidden, cell.hiddenBias);
  State next = kind.step(emit, {input, hidden}, state);
  if (cell.projection)
    next.hidden = emitAffine(emit, next.hidden, cell.projection, {});
  return next;
}

/// The hidden states of all elements of x [time, batch, …]; `state` becomes that of the last.
static Value runDirection(Emitter &emit, const Kind &kind, const Cell &cell, Value x, State &state,
                          bool backward) {
  checkCell(kind, cell, state, shapeOf(x)[1]);
  Value input = emitAffine(emit, x, cell.fromInput, cell.inputBias);
  return unrollRecurrence(emit, input, state, backward, /*lengths=*/{},
                          [&](Value element, const State &before) {
                            return advance(emit, kind, cell, element, before);
                          });
}

namespace {
/// The arguments that networks of all kinds have, and what is left of the weights.
class Network {
public:
  Network(Node &node, const Kind &kind)
      : node(node), kind(kind), weights(node.tensors("params")),
        hasBiases(node.flag("has_biases", true)), layers(node.integer("num_layers")),
        directions(node.flag("bidirectional", false) ? 2 : 1) {
    double p = node.real("dropout", 0);
    dropout = node.flag("train", false) ? p : 0;
    readStates();
  }
  void run();

private:
  void readStates();
  Cell takeCell();
  Value runLayer(Value x, int64_t layer);
  /// The last states of all layers and directions, [layers · directions, batch, …].
  Value stacked(Value State::*member);

  Node &node;
  const Kind &kind;
  SmallVector<Value> weights; ///< of the first layer and direction first
  size_t taken = 0;
  bool hasBiases;
  int64_t layers, directions;
  double dropout; ///< the probability that what a layer hands to the next is dropped
  SmallVector<State> states;
};
} // namespace

void Network::readStates() {
  SmallVector<Value> given =
      kind.hasCell ? node.tensors("hx") : SmallVector<Value>{node.tensor("hx")};
  if (given.size() != (kind.hasCell ? 2 : 1))
    throw ImportError("expected a hidden state and a cell's, got " + std::to_string(given.size()) +
                      " tensors");
  for (Value all : given) {
    expectExactRank(all, 3);
    bool hasWeights = layers >= 1 && layers <= int64_t(weights.size());
    if (!hasWeights || shapeOf(all)[0] / directions != layers || shapeOf(all)[0] % directions != 0)
      throw ImportError("states " + describe(all) + " are not those of " + std::to_string(layers) +
                        " layers");
  }
  for (int64_t index = 0; index < layers * directions; ++index) {
    auto at = [&](Value all) { return takeFirst(node.emit, all, index); };
    states.push_back({at(given[0]), kind.hasCell ? at(given[1]) : Value()});
  }
}

Cell Network::takeCell() {
  size_t each = weights.size() / states.size(), expected = hasBiases ? 4 : 2;
  bool projects = kind.hasCell && each == expected + 1;
  if (weights.size() % states.size() != 0 || (each != expected && !projects))
    throw ImportError("expected " + std::to_string(expected) +
                      " weights a layer and direction, got " + std::to_string(weights.size()));
  ArrayRef<Value> own = ArrayRef(weights).slice(taken, each);
  taken += each;
  Cell cell{own[0], own[1], {}, {}, projects ? own.back() : Value()};
  if (hasBiases)
    std::tie(cell.inputBias, cell.hiddenBias) = std::pair(own[2], own[3]);
  return cell;
}

Value Network::runLayer(Value x, int64_t layer) {
  SmallVector<Value> outputs;
  for (int64_t direction = 0; direction < directions; ++direction)
    outputs.push_back(runDirection(node.emit, kind, takeCell(), x,
                                   states[layer * directions + direction], direction == 1));
  return node.emit.concat(outputs, 2);
}

Value Network::stacked(Value State::*member) {
  SmallVector<Value> parts;
  for (const State &state : states)
    parts.push_back(state.*member);
  return stackAlong(node.emit, parts, 0);
}

void Network::run() {
  Emitter &emit = node.emit;
  bool batchFirst = node.flag("batch_first", false);
  Value x = node.tensor("input");
  expectFloat(x);
  expectExactRank(x, 3);
  if (batchFirst)
    x = emit.transpose(x, {1, 0, 2});
  checkUnrolled(shapeOf(x)[0], states.size());
  for (int64_t layer = 0; layer < layers; ++layer)
    x = runLayer(layer == 0 ? x : emitDropout(emit, x, dropout).result, layer);
  node.result(0, batchFirst ? emit.transpose(x, {1, 0, 2}) : x);
  if (node.wants(1))
    node.result(1, stacked(&State::hidden));
  if (kind.hasCell && node.wants(2))
    node.result(2, stacked(&State::cell));
}

template <const Kind &kind> static void importNetwork(Node &node) { Network(node, kind).run(); }

/// One step.
template <const Kind &kind> static void importCell(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input");
  expectExactRank(x, 2);
  State state;
  if (kind.hasCell) {
    SmallVector<Value> given = node.tensors("hx");
    if (given.size() != 2)
      throw ImportError("expected a hidden state and a cell's, got " +
                        std::to_string(given.size()) + " tensors");
    state = {given[0], given[1]};
  } else {
    state.hidden = node.tensor("hx");
  }
  Cell cell{node.tensor("w_ih"),
            node.tensor("w_hh"),
            node.optionalTensor("b_ih"),
            node.optionalTensor("b_hh"),
            {}};
  checkCell(kind, cell, state, shapeOf(x)[0]);
  state = advance(emit, kind, cell, emitAffine(emit, x, cell.fromInput, cell.inputBias), state);
  node.result(0, state.hidden);
  if (kind.hasCell)
    node.result(1, state.cell);
}

void weft::frontend::aten::addRecurrent(OpTable &table) {
  table["aten.gru.input"] = importNetwork<gru>;
  table["aten.gru_cell.default"] = importCell<gru>;
  table["aten.lstm.input"] = importNetwork<lstm>;
  table["aten.lstm_cell.default"] = importCell<lstm>;
  table["aten.rnn_relu.input"] = importNetwork<rectified>;
  table["aten.rnn_relu_cell.default"] = importCell<rectified>;
  table["aten.rnn_tanh.input"] = importNetwork<elman>;
  table["aten.rnn_tanh_cell.default"] = importCell<elman>;
}
