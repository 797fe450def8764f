// Recurrent networks, unrolled (Recurrent.h). Weights are [directions, gates · hidden, …], gates in
// ONNX's order: input, output, forget and cell of an LSTM; update, reset and hidden of a GRU.

#include "frontends/common/Recurrent.h"
#include "frontends/onnx/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {
using Activation = Value (*)(Emitter &emit, Value x);

/// The weights of one direction; biases and peepholes null where there are none.
struct Cell {
  Value fromInput, fromHidden, inputBias, hiddenBias, peepholes;
  SmallVector<Activation, 3> activations;
  bool resetsProduct = false; ///< a GRU's reset gate acts on the product, not on the state
  bool couplesGates = false;  ///< an LSTM forgets as much as it takes in
};

/// One kind of network.
struct Kind {
  int64_t gates, states;
  std::vector<StringRef> activations; ///< where the node names none
  RecurrentState (*step)(Emitter &emit, const Cell &cell, Value input, const RecurrentState &state);
};

/// The operands and attributes that networks of all kinds have.
class Network {
public:
  Network(Node &node, Kind kind);
  void run();

private:
  void readOrder();
  Cell readCell(int64_t direction);
  SmallVector<Activation, 3> readActivations(int64_t direction);
  RecurrentState readState(int64_t direction);
  /// An optional operand's part of one direction, of this shape; null where it is absent.
  Value partOf(size_t operand, int64_t direction, ArrayRef<int64_t> shape);

  Node &node;
  Emitter &emit;
  Kind kind;
  Value x; ///< [time, batch, input]
  Value lengths;
  int64_t hidden = 0, directions = 1;
  bool startsBackward = false, isBatchFirst;
};
} // namespace

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static Value add(Emitter &emit, Value lhs, Value rhs) { return emit.binary<AddOp>(lhs, rhs); }
static Value mul(Emitter &emit, Value lhs, Value rhs) { return emit.binary<MulOp>(lhs, rhs); }

static RecurrentState stepElman(Emitter &emit, const Cell &cell, Value input,
                                const RecurrentState &state) {
  Value hidden = emitAffine(emit, state.hidden, cell.fromHidden, cell.hiddenBias);
  return {cell.activations[0](emit, add(emit, input, hidden)), {}};
}

/// z = f(x + h), r = f(x + h), n = g(x + r·h), and the new state is n + z · (old - n); r acts on
/// the product with the weights and its bias, or on the state before.
static RecurrentState stepGru(Emitter &emit, const Cell &cell, Value input,
                              const RecurrentState &state) {
  auto rows = [&](Value all, int64_t gate) {
    int64_t size = shapeOf(all)[0] / 3;
    return emit.sliceDim(all, 0, gate * size, size);
  };
  auto fromState = [&](Value before, int64_t gate) {
    Value bias = cell.hiddenBias ? rows(cell.hiddenBias, gate) : Value();
    return emitAffine(emit, before, rows(cell.fromHidden, gate), bias);
  };
  auto gate = [&](int64_t index) {
    Value sum = add(emit, takeGate(emit, input, index, 3), fromState(state.hidden, index));
    return cell.activations[0](emit, sum);
  };
  Value keep = gate(0), reset = gate(1);
  Value kept = cell.resetsProduct ? mul(emit, reset, fromState(state.hidden, 2))
                                  : fromState(mul(emit, reset, state.hidden), 2);
  Value fresh = cell.activations[1](emit, add(emit, takeGate(emit, input, 2, 3), kept));
  return {add(emit, fresh, mul(emit, keep, emit.binary<SubOp>(state.hidden, fresh))), {}};
}

/// c' = f·c + i·g, h' = o · h(c'); peepholes add to i and f what they make of c, to o of c'.
static RecurrentState stepLstm(Emitter &emit, const Cell &cell, Value input,
                               const RecurrentState &state) {
  Value gates = add(emit, input, emitAffine(emit, state.hidden, cell.fromHidden, cell.hiddenBias));
  auto gate = [&](int64_t index, int64_t peephole, Value seen) {
    Value sum = takeGate(emit, gates, index, 4);
    if (cell.peepholes) {
      int64_t size = shapeOf(cell.peepholes)[0] / 3;
      Value weight = emit.sliceDim(cell.peepholes, 0, peephole * size, size);
      sum = add(emit, sum, mul(emit, emit.broadcast(weight, shapeOf(seen)), seen));
    }
    return cell.activations[0](emit, sum);
  };
  Value in = gate(0, 0, state.cell);
  Value keep =
      cell.couplesGates ? emit.binary<SubOp>(emit.like(in, 1), in) : gate(2, 2, state.cell);
  Value fresh = mul(emit, in, cell.activations[1](emit, takeGate(emit, gates, 3, 4)));
  Value next = add(emit, mul(emit, keep, state.cell), fresh);
  return {mul(emit, gate(1, 1, next), cell.activations[2](emit, next)), next};
}

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

static Value sigmoid(Emitter &emit, Value x) { return emit.unary<SigmoidOp>(x); }
static Value tanh(Emitter &emit, Value x) { return emit.unary<TanhOp>(x); }
static Value relu(Emitter &emit, Value x) { return emit.binary<MaxOp>(x, emit.like(x, 0)); }

static Activation activationOf(StringRef name) {
  std::pair<StringRef, Activation> known[] = {{"Relu", relu}, {"Sigmoid", sigmoid}, {"Tanh", tanh}};
  for (auto [own, activation] : known)
    if (name.equals_insensitive(own))
      return activation;
  throw ImportError("activation '" + name.str() + "' is not supported: Relu, Sigmoid and Tanh are");
}

Network::Network(Node &node, Kind own)
    : node(node), emit(node.emit), kind(std::move(own)), x(node.operand(0)),
      isBatchFirst(node.getInt("layout", 0) != 0) {
  readOrder();
  expectFloat(x);
  expectExactRank(x, 3);
  if (isBatchFirst)
    x = emit.transpose(x, {1, 0, 2});
  Value fromHidden = node.operand(2);
  expectExactRank(fromHidden, 3);
  hidden = shapeOf(fromHidden)[2];
  if (hidden < 1 || node.getInt("hidden_size", hidden) != hidden)
    throw ImportError("hidden_size does not fit weights " + describe(fromHidden));
  if (node.attribute("clip"))
    throw ImportError("clipped activations are not supported");
  if (node.has(4)) {
    lengths = node.operand(4);
    if (shapeOf(lengths) != ArrayRef(shapeOf(x)[1]))
      throw ImportError("lengths " + describe(lengths) + " are not one for each of " +
                        std::to_string(shapeOf(x)[1]) + " sequences");
  }
  checkUnrolled(shapeOf(x)[0], directions);
}

void Network::readOrder() {
  std::string direction = node.getString("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    throw ImportError("direction '" + direction + "' is none of forward, reverse, bidirectional");
  directions = direction == "bidirectional" ? 2 : 1;
  startsBackward = direction == "reverse";
}

SmallVector<Activation, 3> Network::readActivations(int64_t direction) {
  node.ignore({"activation_alpha", "activation_beta"}); // of others than are known
  SmallVector<Activation, 3> activations;
  size_t each = kind.activations.size();
  const onnx::AttributeProto *given = node.attribute("activations");
  if (given && given->strings_size() != int64_t(each) * directions)
    throw ImportError("expected " + std::to_string(each) + " activations a direction, got " +
                      std::to_string(given->strings_size()));
  for (size_t index = 0; index < each; ++index)
    activations.push_back(activationOf(given ? StringRef(given->strings(direction * each + index))
                                             : kind.activations[index]));
  return activations;
}

Value Network::partOf(size_t operand, int64_t direction, ArrayRef<int64_t> shape) {
  Value all = node.optional(operand);
  if (!all)
    return all;
  bool isState = operand == 5 || operand == 6;
  if (isState && isBatchFirst) {
    expectExactRank(all, 3);
    all = emit.transpose(all, {1, 0, 2});
  }
  Shape expected(shape);
  expected.insert(expected.begin(), directions);
  if (shapeOf(all) != ArrayRef(expected) || elementOf(all) != elementOf(x))
    throw ImportError("operand " + std::to_string(operand) + " is " + describe(all) +
                      ", expected " + describe(expected) + " of the input's type");
  return takeFirst(emit, all, direction);
}

Cell Network::readCell(int64_t direction) {
  Cell cell;
  int64_t rows = kind.gates * hidden;
  cell.fromInput = partOf(1, direction, {rows, shapeOf(x)[2]});
  cell.fromHidden = partOf(2, direction, {rows, hidden});
  if (!cell.fromInput || !cell.fromHidden)
    throw ImportError("it has no weights");
  if (Value biases = partOf(3, direction, {2 * rows})) {
    cell.inputBias = emit.sliceDim(biases, 0, 0, rows);
    cell.hiddenBias = emit.sliceDim(biases, 0, rows, rows);
  }
  if (kind.states == 2)
    cell.peepholes = partOf(7, direction, {3 * hidden});
  cell.activations = readActivations(direction);
  if (kind.gates == 3)
    cell.resetsProduct = node.getInt("linear_before_reset", 0) != 0;
  if (kind.gates == 4)
    cell.couplesGates = node.getInt("input_forget", 0) != 0;
  return cell;
}

RecurrentState Network::readState(int64_t direction) {
  int64_t batch = shapeOf(x)[1];
  auto read = [&](size_t operand) {
    Value given = partOf(operand, direction, {batch, hidden});
    return given ? given : emit.splat(tensorType({batch, hidden}, elementOf(x)), 0);
  };
  return {read(5), kind.states == 2 ? read(6) : Value()};
}

void Network::run() {
  SmallVector<Value> outputs, lastHidden, lastCell;
  for (int64_t direction = 0; direction < directions; ++direction) {
    Cell cell = readCell(direction);
    RecurrentState state = readState(direction);
    Value input = emitAffine(emit, x, cell.fromInput, cell.inputBias);
    outputs.push_back(unrollRecurrence(emit, input, state, startsBackward || direction == 1,
                                       lengths, [&](Value own, const RecurrentState &before) {
                                         return kind.step(emit, cell, own, before);
                                       }));
    lastHidden.push_back(state.hidden);
    lastCell.push_back(state.cell);
  }
  // [time, directions, batch, hidden], or [batch, time, directions, hidden]; states as initial
  // ones.
  Value all = stackAlong(emit, outputs, 1);
  node.result(0, isBatchFirst ? emit.transpose(all, {2, 0, 1, 3}) : all);
  auto giveLast = [&](size_t index, ArrayRef<Value> last) {
    if (!node.wants(index))
      return;
    node.beginResult(index);
    node.result(index, stackAlong(emit, last, isBatchFirst ? 1 : 0));
  };
  giveLast(1, lastHidden);
  if (kind.states == 2)
    giveLast(2, lastCell);
}

static void importGru(Node &node) { Network(node, {3, 1, {"Sigmoid", "Tanh"}, stepGru}).run(); }

static void importLstm(Node &node) {
  Network(node, {4, 2, {"Sigmoid", "Tanh", "Tanh"}, stepLstm}).run();
}

static void importElman(Node &node) { Network(node, {1, 1, {"Tanh"}, stepElman}).run(); }

void weft::frontend::addRecurrent(OpTable &table) {
  table["GRU"] = importGru;
  table["LSTM"] = importLstm;
  table["RNN"] = importElman;
}
