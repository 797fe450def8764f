// What mixtures of experts are made of: counts of tokens by expert, and products of groups of rows
// with a matrix each.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// How many elements lie in each of `bins` equal parts of [min, max]; the last part holds max, too.
static void importHistc(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  expectFloat(x);
  int64_t bins = node.integer("bins", 100), count = typeOf(x).getNumElements();
  double least = node.real("min", 0), most = node.real("max", 0);
  constexpr int64_t mostBins = 1 << 16;
  if (bins < 1 || bins > mostBins)
    throw ImportError(std::to_string(bins) + " bins are out of range");
  if (!(least < most))
    throw ImportError("bounds that depend on the values are not supported: give min and max");
  Value flat = emit.reshape(x, {count});
  Value wide = emit.cast(flat, computeType(node, elementOf(x)));
  Value scaled = emit.binary<MulOp>(emit.binary<SubOp>(wide, emit.like(wide, least)),
                                    emit.like(wide, double(bins) / (most - least)));
  Value bin = emit.binary<MinOp>(emit.unary<FloorOp>(scaled), emit.like(scaled, double(bins - 1)));
  Value inside =
      emit.binary<AndOp>(emit.compare(CompareDirection::GE, wide, emit.like(wide, least)),
                         emit.compare(CompareDirection::LE, wide, emit.like(wide, most)));
  Value hits =
      emit.binary<AndOp>(emitOneHot(emit, emit.cast(bin, emit.builder.getI64Type()), bins, 1),
                         emit.broadcastDims(inside, {count, bins}, {0}));
  Value sum = emit.reduce(ReduceKind::Sum, emit.cast(hits, elementOf(wide)), {0}, false);
  node.result(emit.cast(sum, elementOf(x)));
}

/// Which of the groups each row belongs to, [rows, groups]: `ends` are where groups end, ascending.
/// Rows behind the last end belong to none.
static Value membership(Emitter &emit, Value ends, int64_t rows) {
  int64_t groups = shapeOf(ends)[0];
  Shape shape{rows, groups};
  Value row = emit.iota(shape, 0);
  Value end = emit.broadcastDims(emit.cast(ends, emit.builder.getI64Type()), shape, {1});
  Value before = emit.compare(CompareDirection::LT, row, end);
  // The first group whose end lies behind the row.
  Value none = emit.splat(RankedTensorType::get({}, emit.builder.getI1Type()), 0);
  Value earlier = groups > 1
                      ? emit.pad(emit.sliceDim(before, 1, 0, groups - 1), none, {0, 1}, {0, 0})
                      : emit.like(before, 0);
  return emit.binary<AndOp>(before, emit.unary<NotOp>(earlier));
}

/// Row s of the result is row s of x times the matrix of its group. One product does it: x is put
/// into the place of its group among zeros, [rows, groups, k], and contracted with all matrices
/// [groups, k, n] over groups and k. Splitting groups over devices leaves a sum to be reduced.
static void groupedProduct(Node &node, Value x, Value matrices, Value ends) {
  Emitter &emit = node.emit;
  expectExactRank(x, 2);
  expectExactRank(matrices, 3);
  expectExactRank(ends, 1);
  if (shapeOf(matrices)[1] != shapeOf(x)[1] || shapeOf(matrices)[0] != shapeOf(ends)[0])
    throw ImportError("groups that end at " + describe(ends) + " of " + describe(x) +
                      " do not fit matrices " + describe(matrices));
  Shape shape{shapeOf(x)[0], shapeOf(ends)[0], shapeOf(x)[1]};
  Value member = membership(emit, ends, shape[0]);
  Value spread = emit.broadcastDims(x, shape, {0, 2});
  Value placed =
      emit.select(emit.broadcastDims(member, shape, {0, 1}), spread, emit.like(spread, 0));
  node.result(emit.dot(placed, matrices, {{}, {}, {1, 2}, {0, 1}}));
}

static void importGroupedProduct(Node &node) {
  groupedProduct(node, node.tensor("input"), node.tensor("weight"), node.tensor("offs"));
}

static void importGroupedMatrices(Node &node) {
  Value x = node.tensor("self"), ends = node.optionalTensor("offs");
  if (!ends || node.has("bias"))
    throw ImportError("only groups of rows, without bias, are supported");
  if (node.dtype("out_dtype", elementOf(x)) != elementOf(x))
    throw ImportError("results of another type than the operands' are not supported");
  groupedProduct(node, x, node.tensor("mat2"), ends);
}

void weft::frontend::aten::addExperts(OpTable &table) {
  table["aten._grouped_mm.default"] = importGroupedMatrices;
  table["aten.histc.default"] = importHistc;
  table["transformers.grouped_mm_fallback.default"] = importGroupedProduct;
}
