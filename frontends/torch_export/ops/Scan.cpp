// Running products, extremes and sums of exponentials, and differences of neighbours.

#include "frontends/common/Composites.h"
#include "frontends/common/Identity.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// Joins each element with all before it, by doubling: after k rounds each holds the join of 2ᵏ
/// elements (Hillis and Steele). `neutral` changes nothing it is joined with.
template <typename Join>
static Value scan(Emitter &emit, Value x, int64_t dim, double neutral, Join join) {
  Value fill = emit.splat(RankedTensorType::get({}, elementOf(x)), neutral);
  int64_t size = shapeOf(x)[dim];
  for (int64_t reach = 1; reach < size; reach *= 2) {
    Shape low(shapeOf(x).size(), 0), high(low);
    low[dim] = reach;
    x = join(x, emit.pad(emit.sliceDim(x, dim, 0, size - reach), fill, low, high));
  }
  return x;
}

/// The operand as accumulated: a scalar has nothing to run along.
namespace {
struct Running {
  Value x;
  int64_t dim;
  Shape shape; ///< as given
};
} // namespace

static Running readRunning(Node &node) {
  Value x = node.tensor("self");
  Shape shape(shapeOf(x));
  int64_t dim = node.dim(node.integer("dim"), shape.size());
  if (shape.empty())
    x = node.emit.reshape(x, {1});
  return {x, dim, shape};
}

static void importCumprod(Node &node) {
  Emitter &emit = node.emit;
  Running running = readRunning(node);
  Type element = elementOf(running.x);
  Type type = node.dtype("dtype", isa<FloatType>(element) ? element : emit.builder.getI64Type());
  auto multiply = [&](Value a, Value b) { return emit.binary<MulOp>(a, b); };
  Value result = scan(emit, emit.cast(running.x, type), running.dim, 1, multiply);
  node.result(emit.reshape(result, running.shape));
}

/// The extreme so far and the last position where it was met.
template <typename Op> static void importCumulativeExtreme(Node &node) {
  Emitter &emit = node.emit;
  Running running = readRunning(node);
  Type element = elementOf(running.x);
  ReduceKind kind = std::is_same_v<Op, MaxOp> ? ReduceKind::Max : ReduceKind::Min;
  auto join = [&](Value a, Value b) { return emit.binary<Op>(a, b); };
  Value extreme = scan(emit, running.x, running.dim, identityOf(kind, element), join);
  node.result(0, emit.reshape(extreme, running.shape));
  if (!node.wants(1))
    return;
  node.beginResult(1);
  Value positions = emit.iota(shapeOf(running.x), running.dim);
  Value met = emit.compare(CompareDirection::EQ, running.x, extreme);
  if (isa<FloatType>(element)) // NaN is the extreme from there on, and equals nothing
    met = emit.binary<OrOp>(met, emit.compare(CompareDirection::NE, running.x, running.x));
  Value found = emit.select(met, positions, emit.like(positions, 0));
  auto later = [&](Value a, Value b) { return emit.binary<MaxOp>(a, b); };
  node.result(1, emit.reshape(scan(emit, found, running.dim, 0, later), running.shape));
}

static void importLogcumsumexp(Node &node) {
  Emitter &emit = node.emit;
  Running running = readRunning(node);
  double least = -std::numeric_limits<double>::infinity();
  Value result = emitWide(node.emit, running.x, [&](Value x) {
    return scan(emit, x, running.dim, least,
                [&](Value a, Value b) { return emitLogAddExp(emit, a, b); });
  });
  node.result(emit.reshape(result, running.shape));
}

/// Each element less the one before it, `n` times; `prepend` and `append` stand at the ends.
static void importDiff(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  int64_t rank = typeOf(x).getRank(), dim = node.dim(node.integer("dim", -1), rank);
  expectRank(x, 1);
  SmallVector<Value> parts{x};
  if (Value before = node.optionalTensor("prepend"))
    parts.insert(parts.begin(), before);
  if (Value after = node.optionalTensor("append"))
    parts.push_back(after);
  Promotion promotion(emit.builder.getContext());
  for (Value part : parts)
    promotion.add(part);
  for (Value &part : parts)
    part = emit.cast(part, promotion.result());
  x = emit.concat(parts, dim);
  constexpr int64_t mostRounds = 1 << 12;
  int64_t rounds = std::min(node.integer("n", 1), shapeOf(x)[dim]);
  if (rounds > mostRounds)
    throw ImportError("differences of order " + std::to_string(rounds) + " are not supported");
  for (int64_t round = 0; round < rounds; ++round) {
    int64_t left = shapeOf(x)[dim] - 1;
    Value next = emit.sliceDim(x, dim, 1, left), previous = emit.sliceDim(x, dim, 0, left);
    x = elementOf(x).isInteger(1) ? emit.binary<XorOp>(next, previous)
                                  : emit.binary<SubOp>(next, previous);
  }
  node.result(x);
}

/// The area under y, its neighbours joined by lines. Where the places x of the elements are given,
/// one dimension of them is that along which y goes.
static void importTrapezoid(Node &node) {
  Emitter &emit = node.emit;
  Value y = node.tensor("y");
  expectRank(y, 1);
  int64_t dim = node.dim(node.integer("dim", -1), typeOf(y).getRank());
  int64_t left = shapeOf(y)[dim] - 1;
  if (!isa<FloatType>(elementOf(y)))
    y = emit.cast(y, emit.builder.getF32Type());
  if (left < 0)
    throw ImportError("there is no area under nothing: " + describe(y));
  auto from = [&](Value of, int64_t first) { return emit.sliceDim(of, dim, first, left); };
  Value area = emit.binary<AddOp>(from(y, 1), from(y, 0));
  if (Value x = node.optionalTensor("x")) {
    x = emit.cast(x, elementOf(y));
    x = typeOf(x).getRank() == 1 ? emit.broadcastDims(x, shapeOf(y), {dim})
                                 : emit.broadcast(x, shapeOf(y));
    area = emit.binary<MulOp>(area, emit.binary<SubOp>(from(x, 1), from(x, 0)));
  } else {
    area = emit.binary<MulOp>(area, emit.like(area, node.real("dx", 1)));
  }
  Value sum = emit.reduce(ReduceKind::Sum, area, {dim}, false);
  node.result(emit.binary<MulOp>(sum, emit.like(sum, 0.5)));
}

void weft::frontend::aten::addScan(OpTable &table) {
  table["aten.cummax.default"] = importCumulativeExtreme<MaxOp>;
  table["aten.cummin.default"] = importCumulativeExtreme<MinOp>;
  table["aten.cumprod.default"] = importCumprod;
  table["aten.diff.default"] = importDiff;
  table["aten.logcumsumexp.default"] = importLogcumsumexp;
  table["aten.trapezoid.dx"] = importTrapezoid;
  table["aten.trapezoid.x"] = importTrapezoid;
}
