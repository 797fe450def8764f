// Reductions along dimensions, and softmax.

#include "frontends/onnx/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {
struct ReduceDims {
  Shape dims;
  bool keep;
};
} // namespace

/// Axes are an operand since opset 18 (ReduceSum: 13), an attribute before. None given: all, or
/// none if the node says so.
static ReduceDims reduceDims(Node &node, int64_t operandSince = 18) {
  int64_t rank = typeOf(node.operand(0)).getRank();
  bool keep = node.getInt("keepdims", 1) != 0,
       isNothingAll = !node.getInt("noop_with_empty_axes", 0);
  Shape axes;
  if (node.opset < operandSince)
    axes = node.getInts("axes");
  else if (node.has(1))
    axes = node.integers(1, "axes");
  if (axes.empty() && isNothingAll)
    axes = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, rank));
  return {node.dims(axes, rank), keep};
}

template <ReduceKind Kind> static void reduce(Node &node) {
  auto [dims, keep] = reduceDims(node);
  node.result(node.emit.reduce(Kind, node.operand(0), dims, keep));
}

static void importReduceL1(Node &node) {
  auto [dims, keep] = reduceDims(node);
  node.result(
      node.emit.reduce(ReduceKind::Sum, node.emit.unary<AbsOp>(node.operand(0)), dims, keep));
}

static Value sumOfSquares(Node &node, const ReduceDims &reduced) {
  Value x = node.operand(0);
  return node.emit.reduce(ReduceKind::Sum, node.emit.binary<MulOp>(x, x), reduced.dims,
                          reduced.keep);
}

/// The square root of integers is computed in f32 and truncated.
static Value squareRoot(Emitter &emit, Value x) {
  Type type = elementOf(x);
  if (isa<FloatType>(type))
    return emit.unary<SqrtOp>(x);
  return emit.cast(emit.unary<SqrtOp>(emit.cast(x, emit.builder.getF32Type())), type);
}

static void importReduceL2(Node &node) {
  node.result(squareRoot(node.emit, sumOfSquares(node, reduceDims(node))));
}

static void importReduceLogSum(Node &node) {
  auto [dims, keep] = reduceDims(node);
  expectFloat(node.operand(0));
  node.result(
      node.emit.unary<LogOp>(node.emit.reduce(ReduceKind::Sum, node.operand(0), dims, keep)));
}

static void importReduceLogSumExp(Node &node) {
  auto [dims, keep] = reduceDims(node);
  expectFloat(node.operand(0));
  node.result(emitLogSumExp(node.emit, node.operand(0), dims, keep));
}

static void importReduceMean(Node &node) {
  auto [dims, keep] = reduceDims(node);
  node.result(node.emit.mean(node.operand(0), dims, keep));
}

static void importReduceSum(Node &node) {
  auto [dims, keep] = reduceDims(node, 13);
  node.result(node.emit.reduce(ReduceKind::Sum, node.operand(0), dims, keep));
}

static void importReduceSumSquare(Node &node) { node.result(sumOfSquares(node, reduceDims(node))); }

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Since opset 13 along one dimension; before, along all from `axis` on, taken together.
template <typename Build> static void alongAxis(Node &node, Build build) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectFloat(x);
  int64_t rank = typeOf(x).getRank(),
          axis = node.dim(node.getInt("axis", node.opset >= 13 ? -1 : 1), rank, rank == 0);
  if (node.opset >= 13 || axis == rank - 1)
    return node.result(build(x, axis));
  int64_t rows = 1, columns = 1;
  for (auto [dim, size] : llvm::enumerate(shapeOf(x)))
    (int64_t(dim) < axis ? rows : columns) *= size;
  node.result(emit.reshape(build(emit.reshape(x, {rows, columns}), 1), shapeOf(x)));
}

static void importSoftmax(Node &node) {
  alongAxis(node,
            [&](Value x, int64_t axis) { return node.emit.create<SoftmaxOp>(typeOf(x), x, axis); });
}

static void importLogSoftmax(Node &node) {
  alongAxis(node, [&](Value x, int64_t axis) { return emitLogSoftmax(node.emit, x, axis); });
}

void weft::frontend::addReduce(OpTable &table) {
  table["LogSoftmax"] = importLogSoftmax;
  table["ReduceL1"] = importReduceL1;
  table["ReduceL2"] = importReduceL2;
  table["ReduceLogSum"] = importReduceLogSum;
  table["ReduceLogSumExp"] = importReduceLogSumExp;
  table["ReduceMax"] = reduce<ReduceKind::Max>;
  table["ReduceMean"] = importReduceMean;
  table["ReduceMin"] = reduce<ReduceKind::Min>;
  table["ReduceProd"] = reduce<ReduceKind::Prod>;
  table["ReduceSum"] = importReduceSum;
  table["ReduceSumSquare"] = importReduceSumSquare;
  table["Softmax"] = importSoftmax;
}
