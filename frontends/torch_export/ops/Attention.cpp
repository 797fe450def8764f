// Scaled dot-product attention in the forms that torch has for it.

#include "frontends/common/Random.h"
#include "frontends/torch_export/ops/OpTable.h"
#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

namespace {
struct Heads {
  Value query, key, value; ///< [b, h, s, d], [b, g, t, d], [b, g, t, e]
  Shape outer;             ///< the query's dimensions before the last two, joined with the others'
};
} // namespace

/// The sizes before the last two dimensions.
static ArrayRef<int64_t> outerOf(Value x) { return shapeOf(x).drop_back(2); }

/// The dimensions before the last two as two, batch and heads; a tensor of rank 3 has one head.
static Shape twoOuter(ArrayRef<int64_t> outer, bool isRank3) {
  Shape two{1, 1};
  for (int64_t size : outer)
    two[0] *= size;
  if (!isRank3 && !outer.empty()) {
    two[1] = outer.back();
    two[0] = 1;
    for (int64_t size : outer.drop_back())
      two[0] *= size;
  }
  return two;
}

/// As rank 4, the outer dimensions spread to `outer`.
static Value withOuter(Emitter &emit, Value x, ArrayRef<int64_t> outer, bool isRank3) {
  Shape spread(outer), shape = twoOuter(outer, isRank3);
  llvm::append_range(spread, shapeOf(x).take_back(2));
  llvm::append_range(shape, shapeOf(x).take_back(2));
  return emit.reshape(emit.broadcast(x, spread), shape);
}

/// Outer dimensions broadcast. Heads of keys and values may be fewer than those of queries: one, or
/// with `shared` any divisor of their number.
static Heads readHeads(Node &node, bool shared) {
  Emitter &emit = node.emit;
  Value q = node.tensor("query"), k = node.tensor("key"), v = node.tensor("value");
  for (Value x : {q, k, v}) {
    expectRank(x, 2);
    expectFloat(x);
  }
  ArrayRef<int64_t> qs = shapeOf(q), ks = shapeOf(k), vs = shapeOf(v);
  if (qs.back() != ks.back() || ks.drop_back().back() != vs.drop_back().back())
    throw ImportError("query " + describe(q) + ", key " + describe(k) + " and value " +
                      describe(v) + " do not fit together");
  bool isRank3 = std::max({qs.size(), ks.size(), vs.size()}) == 3;
  int64_t heads = qs.size() < 4 ? 1 : outerOf(q).back(),
          few = ks.size() < 4 ? 1 : outerOf(k).back();
  bool fewer = qs.size() >= 4 && ks.size() == qs.size() && vs.size() == qs.size() &&
               outerOf(v).back() == few && few != heads && heads % few == 0 && (shared || few == 1);
  auto join = [&](ArrayRef<Value> values) { // broadcastShape of the outer dimensions
    SmallVector<Value> outer;
    for (Value x : values) {
      Shape shape(outerOf(x));
      if (fewer)
        shape.back() = 1;
      outer.push_back(emit.splat(typeOf(x).clone(shape), 0));
    }
    return broadcastShape(outer);
  };
  Shape outer = join({q, k, v}), outerKeys(outer);
  if (fewer) {
    outer.back() = heads;
    outerKeys.back() = few;
  }
  return {withOuter(emit, q, outer, isRank3), withOuter(emit, k, outerKeys, isRank3),
          withOuter(emit, v, outerKeys, isRank3), outer};
}

/// The mask in four dimensions, each 1 or that of the scores.
static Value readMask(Node &node, StringRef name, const Heads &heads, bool isRank3) {
  Value mask = node.optionalTensor(name);
  if (!mask)
    return {};
  Emitter &emit = node.emit;
  Shape shape(shapeOf(mask));
  int64_t rank = heads.outer.size() + 2;
  if (int64_t(shape.size()) > rank)
    throw ImportError("mask " + describe(mask) + " has more dimensions than the scores");
  shape.insert(shape.begin(), rank - shape.size(), 1);
  mask = emit.reshape(mask, shape);
  bool isShared = llvm::all_of(outerOf(mask), [](int64_t size) { return size == 1; });
  Shape outer(isShared ? Shape(heads.outer.size(), 1) : heads.outer);
  if (rank == 4) // nothing is joined: unit dimensions may stay
    outer = Shape(outerOf(mask));
  mask = withOuter(emit, mask, outer, isRank3);
  Shape scores{shapeOf(heads.query)[0], shapeOf(heads.query)[1], shapeOf(heads.query)[2],
               shapeOf(heads.key)[2]};
  for (auto [size, expected] : llvm::zip(shapeOf(mask), scores))
    if (size != 1 && size != expected)
      throw ImportError("mask " + describe(mask) + " does not fit scores " + describe(scores));
  return mask;
}

/// Rows that see no key give zeros, by a bool mask or by a bias of -inf alike.
static Value emitAttention(Node &node, const Heads &heads, Value mask) {
  Emitter &emit = node.emit;
  Builder &builder = emit.builder;
  double scale = node.real("scale", 1 / std::sqrt(double(shapeOf(heads.query)[3])));
  Value bias;
  if (mask && !elementOf(mask).isInteger(1))
    bias = emit.cast(std::exchange(mask, Value()), elementOf(heads.query));
  bool causal = node.flag("is_causal", false); // query i sees keys 0 … i, however many there are
  Shape shape(shapeOf(heads.query));
  shape[3] = shapeOf(heads.value)[3];
  Value result = emit.create<AttentionOp>(
      typeOf(heads.query).clone(shape), Type(), heads.query, heads.key, heads.value, mask, bias,
      builder.getF64FloatAttr(scale), causal ? builder.getUnitAttr() : UnitAttr(),
      builder.getI64IntegerAttr(0), IntegerAttr(), FloatAttr(),
      MaskedRowsAttr::get(builder.getContext(), MaskedRows::Zero));
  if (double p = node.real("dropout_p", 0); p != 0)
    result = emitDropout(emit, result.getDefiningOp<AttentionOp>(), p);
  Shape original(heads.outer);
  llvm::append_range(original, shapeOf(result).take_back(2));
  return emit.reshape(result, original);
}

static void importAttention(Node &node, StringRef maskName) {
  bool shared = node.flag("enable_gqa", false);
  bool isRank3 = typeOf(node.tensor("query")).getRank() == 3;
  Heads heads = readHeads(node, shared);
  node.result(emitAttention(node, heads, readMask(node, maskName, heads, isRank3)));
}

static void importScaledDotProduct(Node &node) { importAttention(node, "attn_mask"); }

/// The fused forms give more than the result, for the backward pass.
static void importFused(Node &node) {
  node.ignore({"compute_log_sumexp", "return_debug_mask"});
  importAttention(node, node.has("attn_bias") ? "attn_bias" : "attn_mask");
  for (size_t i = 1; i < node.results(); ++i)
    node.omitResult(i);
}

void weft::frontend::aten::addAttention(OpTable &table) {
  table["aten._scaled_dot_product_efficient_attention.default"] = importFused;
  table["aten._scaled_dot_product_flash_attention.default"] = importFused;
  table["aten._scaled_dot_product_flash_attention_for_cpu.default"] = importFused;
  table["aten.scaled_dot_product_attention.default"] = importScaledDotProduct;
}
