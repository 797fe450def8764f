// Attention and rotary embedding of opset 23.

#include "frontends/onnx/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// [b, s, h·d] to [b, h, s, d]; operands of rank 4 are so already.
static Value splitHeads(Emitter &emit, Value x, int64_t heads) {
  if (typeOf(x).getRank() == 4)
    return x;
  expectExactRank(x, 3);
  ArrayRef<int64_t> s = shapeOf(x);
  if (heads < 1 || s[2] % heads != 0)
    throw ImportError(std::to_string(heads) + " heads do not divide " + describe(x));
  return emit.transpose(emit.reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

/// [b, h, s, d] to [b, s, h·d]
static Value joinHeads(Emitter &emit, Value x) {
  ArrayRef<int64_t> s = shapeOf(x);
  Shape shape{s[0], s[2], s[1] * s[3]};
  return emit.reshape(emit.transpose(x, {0, 2, 1, 3}), shape);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
struct Heads {
  Value query, key, value; ///< of rank 4; key and value with the past in front
  int64_t past = 0;
};
} // namespace

static Heads readHeads(Node &node) {
  Emitter &emit = node.emit;
  Heads heads;
  int64_t shared = node.getInt("kv_num_heads", 0);
  heads.query = splitHeads(emit, node.operand(0), node.getInt("q_num_heads", 0));
  heads.key = splitHeads(emit, node.operand(1), shared);
  heads.value = splitHeads(emit, node.operand(2), shared);
  if (node.has(4) != node.has(5))
    throw ImportError("past key and past value come together");
  if (node.has(4)) {
    expectExactRank(node.operand(4), 4);
    expectExactRank(node.operand(5), 4);
    heads.past = shapeOf(node.operand(4))[2];
    heads.key = emit.concat({node.operand(4), heads.key}, 2);
    heads.value = emit.concat({node.operand(5), heads.value}, 2);
  }
  for (Value value : {heads.query, heads.key, heads.value})
    expectExactRank(value, 4);
  ArrayRef<int64_t> q = shapeOf(heads.query), k = shapeOf(heads.key), v = shapeOf(heads.value);
  if (k[1] == 0 || q[1] % k[1] != 0 || v[1] != k[1] || q[0] != k[0] || v[0] != k[0] ||
      q[3] != k[3] || v[2] != k[2])
    throw ImportError("query " + describe(heads.query) + ", key " + describe(heads.key) +
                      " and value " + describe(heads.value) + " do not fit together");
  return heads;
}

/// The mask with four dimensions; one that is short of keys hides the missing ones.
static Value readMask(Node &node, const Heads &heads) {
  Emitter &emit = node.emit;
  Value mask = node.optional(3);
  if (!mask)
    return {};
  expectRank(mask, 1);
  int64_t keys = shapeOf(heads.key)[2], missing = keys - shapeOf(mask).back();
  if (missing > 0 && shapeOf(mask).back() != 1) {
    Shape low(shapeOf(mask).size(), 0), high(low);
    high.back() = missing;
    bool isBool = elementOf(mask).isInteger(1);
    auto scalar = RankedTensorType::get({}, elementOf(mask));
    mask = emit.pad(mask, emit.splat(scalar, isBool ? 0 : -std::numeric_limits<double>::infinity()),
                    low, high);
  }
  Shape shape(shapeOf(mask)),
      scores{shapeOf(heads.query)[0], shapeOf(heads.query)[1], shapeOf(heads.query)[2], keys};
  if (shape.size() > 4)
    throw ImportError("expected a mask of rank 4 at most, got " + describe(mask));
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  for (auto [size, expected] : llvm::zip(shape, scores))
    if (size != 1 && size != expected)
      throw ImportError("mask " + describe(mask) + " does not fit the scores of query " +
                        describe(heads.query));
  return emit.reshape(mask, shape);
}

/// Hides the keys out of reach of a query: more than `left` before its position or `right` behind
/// it; below 0 is without bound.
static Value windowMask(Emitter &emit, Value mask, const Heads &heads, int64_t left,
                        int64_t right) {
  Shape shape{1, 1, shapeOf(heads.query)[2], shapeOf(heads.key)[2]};
  Value ahead = emit.binary<SubOp>(emit.iota(shape, 3), emit.iota(shape, 2));
  auto within = [&](CompareDirection direction, int64_t bound) {
    Value fits = emit.compare(direction, ahead, emit.like(ahead, double(heads.past + bound)));
    mask = mask ? emit.binary<AndOp>(mask, fits) : fits;
  };
  if (left >= 0)
    within(CompareDirection::GE, -left);
  if (right >= 0)
    within(CompareDirection::LE, right);
  return mask;
}

static void importAttention(Node &node) {
  Emitter &emit = node.emit;
  if (node.wants(3))
    throw ImportError("the result 'qk_matmul_output' is not supported");
  if (node.has(6))
    throw ImportError("the operand 'nonpad_kv_seqlen' is not supported");
  Heads heads = readHeads(node);
  Value mask = readMask(node, heads), bias;
  if (mask && !elementOf(mask).isInteger(1))
    bias = emit.cast(std::exchange(mask, Value()), elementOf(heads.query));
  Builder &builder = emit.builder;
  double scale = node.getFloat("scale", 1 / std::sqrt(double(shapeOf(heads.query)[3])));
  double softcap = node.getFloat("softcap", 0);
  if (!std::isfinite(scale) || softcap < 0)
    throw ImportError("scale and softcap must be finite and not below 0");
  // The softmax is at least as precise as asked for.
  node.ignore({"softmax_precision", "qk_matmul_output_mode"});
  bool causal = node.getInt("is_causal", 0) != 0;
  int64_t left = node.getInt("left_window_size", -1), right = node.getInt("right_window_size", -1);
  causal |= right == 0;
  int64_t window = causal && left >= 0 ? left + 1 : 0;
  if (!causal)
    mask = windowMask(emit, mask, heads, left, right);
  Shape shape(shapeOf(heads.query));
  shape[3] = shapeOf(heads.value)[3];
  Value result = emit.create<AttentionOp>(
      typeOf(heads.query).clone(shape), Type(), heads.query, heads.key, heads.value, mask, bias,
      builder.getF64FloatAttr(scale), causal ? builder.getUnitAttr() : UnitAttr(),
      builder.getI64IntegerAttr(causal ? heads.past : 0),
      window > 0 ? builder.getI64IntegerAttr(window) : IntegerAttr(),
      softcap > 0 ? builder.getF64FloatAttr(softcap) : FloatAttr(),
      MaskedRowsAttr::get(builder.getContext(), MaskedRows::Zero));
  node.result(0, typeOf(node.operand(0)).getRank() == 3 ? joinHeads(emit, result) : result);
  node.result(1, heads.key);
  node.result(2, heads.value);
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// Rows of a table by position [positions, r] and [b, s], or the values themselves, [b, s, r].
static Value rotaryTable(Node &node, size_t index) {
  Value table = node.operand(index);
  if (!node.has(3))
    return table;
  expectExactRank(table, 2);
  return node.emit.gather(table, node.operand(3), 0);
}

static void importRotaryEmbedding(Node &node) {
  Emitter &emit = node.emit;
  Value x = splitHeads(emit, node.operand(0), node.getInt("num_heads", 0));
  expectFloat(x);
  Value cos = rotaryTable(node, 1), sin = rotaryTable(node, 2);
  expectExactRank(cos, 3);
  ArrayRef<int64_t> s = shapeOf(x), c = shapeOf(cos);
  int64_t rotated = node.getInt("rotary_embedding_dim", 0);
  rotated = rotated == 0 ? s[3] : rotated;
  if (cos.getType() != sin.getType() || (c[0] != 1 && c[0] != s[0]) || c[1] != s[2] ||
      2 * c[2] != rotated || rotated > s[3])
    throw ImportError("cosines " + describe(cos) + " and sines " + describe(sin) + " do not fit " +
                      describe(x));
  bool interleaved = node.getInt("interleaved", 0) != 0;
  Value result = emit.create<RotaryOp>(typeOf(x), x, cos, sin,
                                       interleaved ? emit.builder.getUnitAttr() : UnitAttr());
  node.result(typeOf(node.operand(0)).getRank() == 3 ? joinHeads(emit, result) : result);
}

void weft::frontend::addAttention(OpTable &table) {
  table["Attention"] = importAttention;
  table["RotaryEmbedding"] = importRotaryEmbedding;
}
