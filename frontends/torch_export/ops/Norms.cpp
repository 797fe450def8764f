// Norms and distances.

#include "frontends/torch_export/ops/Norms.h"
#include "frontends/common/Composites.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"
#include "frontends/torch_export/ops/ReduceDims.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// (Σ |x|^p)^(1/p), with its limits for 0 and the infinities.
static Value vectorNorm(Emitter &emit, Value x, double p, const ReduceDims &reduced) {
  auto reduce = [&](ReduceKind kind, Value value) {
    return emit.reduce(kind, value, reduced.dims, reduced.keep);
  };
  if (p == 2)
    return emit.unary<SqrtOp>(reduce(ReduceKind::Sum, emit.binary<MulOp>(x, x)));
  Value size = emit.unary<AbsOp>(x);
  if (std::isinf(p))
    return reduce(p > 0 ? ReduceKind::Max : ReduceKind::Min, size);
  if (p == 0) {
    Value hits = emit.compare(CompareDirection::NE, x, emit.like(x, 0));
    return reduce(ReduceKind::Sum, emit.cast(hits, elementOf(x)));
  }
  if (p == 1)
    return reduce(ReduceKind::Sum, size);
  Value sum = reduce(ReduceKind::Sum, emit.binary<PowOp>(size, emit.like(size, p)));
  return emit.binary<PowOp>(sum, emit.like(sum, 1 / p));
}

static void importNorm(Node &node, StringRef order) {
  Value x = node.tensor("self");
  ReduceDims reduced = readDims(node, x);
  double p = node.has(order) ? node.real(order) : 2;
  x = node.emit.cast(x, node.dtype("dtype", elementOf(x)));
  node.result(
      emitWide(node.emit, x, [&](Value wide) { return vectorNorm(node.emit, wide, p, reduced); }));
}

static void importVectorNorm(Node &node) { importNorm(node, "ord"); }
static void importPNorm(Node &node) { importNorm(node, "p"); }

/// v brought to the norm g in each part along one dimension, or, for -1, as a whole.
static void importWeightNorm(Node &node) {
  Emitter &emit = node.emit;
  Value v = node.tensor("v"), g = node.tensor("g");
  expectFloat(v);
  int64_t dim = node.integer("dim", 0);
  ReduceDims reduced{dim == -1 ? allDims(v) : allDimsBut(v, node.dim(dim, typeOf(v).getRank())),
                     true};
  Value norm = emitWide(emit, v, [&](Value wide) { return vectorNorm(emit, wide, 2, reduced); });
  node.result(0, emit.binary<MulOp>(v, emit.binary<DivOp>(g, norm)));
  if (node.wants(1))
    node.result(1, norm);
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

/// Between each row of one and each row of the other.
static void importCdist(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("x1"), y = node.tensor("x2");
  expectRank(x, 2);
  expectRank(y, 2);
  node.ignore({"compute_mode"});
  Shape left(shapeOf(x)), right(shapeOf(y));
  left.insert(left.end() - 1, 1);
  right.insert(right.end() - 2, 1);
  double p = node.real("p", 2);
  Value difference = emit.binary<SubOp>(emit.reshape(x, left), emit.reshape(y, right));
  node.result(vectorNorm(emit, difference, p, {{typeOf(difference).getRank() - 1}, false}));
}

/// Between all pairs of rows, the first row's first.
static void importPdist(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  expectExactRank(x, 2);
  constexpr int64_t most = 1 << 12;
  if (shapeOf(x)[0] > most)
    throw ImportError("pairs of more than " + std::to_string(most) + " rows are not supported");
  SmallVector<int64_t> first, second;
  for (int64_t i = 0; i < shapeOf(x)[0]; ++i)
    for (int64_t j = i + 1; j < shapeOf(x)[0]; ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  Value difference = emit.binary<SubOp>(emit.gather(x, emit.integers(first), 0),
                                        emit.gather(x, emit.integers(second), 0));
  node.result(vectorNorm(emit, difference, node.real("p", 2), {{1}, false}));
}

static void importCosineSimilarity(Node &node) { // of vectors no shorter than ε
  Emitter &emit = node.emit;
  auto [x, y] = emit.together(node.tensor("x1"), node.tensor("x2"));
  int64_t dim = node.dim(node.integer("dim", 1), typeOf(x).getRank());
  double epsilon = node.real("eps", 1e-8);
  auto unit = [&](Value value) {
    Value norm = vectorNorm(emit, value, 2, {{dim}, true});
    return emit.binary<DivOp>(value, emit.binary<MaxOp>(norm, emit.like(norm, epsilon)));
  };
  Value product = emit.binary<MulOp>(unit(x), unit(y));
  node.result(emit.reduce(ReduceKind::Sum, product, {dim}, false));
}

/// The norm of a difference.
static void importDist(Node &node) {
  Value difference = node.emit.binary<SubOp>(node.tensor("self"), node.tensor("other"));
  node.result(vectorNorm(node.emit, difference, node.real("p", 2), {allDims(difference), false}));
}

/// Frobenius' norm of the last two dimensions.
static void importMatrixNorm(Node &node) {
  Value x = node.tensor("self");
  expectRank(x, 2);
  if (node.text("ord", "fro") != "fro")
    throw ImportError("only Frobenius' norm of matrices is supported");
  ReduceDims reduced{node.dims(node.integers("dim", {-2, -1}), typeOf(x).getRank()),
                     node.flag("keepdim", false)};
  x = node.emit.cast(x, node.dtype("dtype", elementOf(x)));
  node.result(
      emitWide(node.emit, x, [&](Value wide) { return vectorNorm(node.emit, wide, 2, reduced); }));
}

Value weft::frontend::aten::emitPairwiseDistance(Emitter &emit, Value x, Value y, double p,
                                                 double epsilon, bool keep) {
  Value difference = emit.binary<SubOp>(x, y);
  expectRank(difference, 1);
  difference = emit.binary<AddOp>(difference, emit.like(difference, epsilon));
  return vectorNorm(emit, difference, p, {{typeOf(difference).getRank() - 1}, keep});
}

static void importPairwiseDistance(Node &node) {
  node.result(emitPairwiseDistance(node.emit, node.tensor("x1"), node.tensor("x2"),
                                   node.real("p", 2), node.real("eps", 1e-6),
                                   node.flag("keepdim", false)));
}

void weft::frontend::aten::addNorms(OpTable &table) {
  table["aten._cdist_forward.default"] = importCdist;
  table["aten._pdist_forward.default"] = importPdist;
  table["aten._weight_norm.default"] = importWeightNorm;
  table["aten._weight_norm_interface.default"] = importWeightNorm;
  table["aten.cdist.default"] = importCdist;
  table["aten.cosine_similarity.default"] = importCosineSimilarity;
  table["aten.dist.default"] = importDist;
  table["aten.linalg_matrix_norm.str_ord"] = importMatrixNorm;
  table["aten.linalg_vector_norm.default"] = importVectorNorm;
  table["aten.norm.Scalar"] = importPNorm;
  table["aten.norm.ScalarOpt_dim"] = importPNorm;
  table["aten.norm.ScalarOpt_dim_dtype"] = importPNorm;
  table["aten.norm.ScalarOpt_dtype"] = importPNorm;
  table["aten.pairwise_distance.default"] = importPairwiseDistance;
  table["aten.pdist.default"] = importPdist;
}
