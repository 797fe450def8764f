// Operators that find positions or depend on them.

#include "frontends/onnx/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

template <ReduceKind Kind> static void importArg(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  int64_t axis = node.dim(node.getInt("axis", 0), typeOf(x).getRank());
  bool last = node.getInt("select_last_index", 0) != 0;
  Value position = emitArg(emit, Kind, x, axis, last);
  if (node.getInt("keepdims", 1) == 0) {
    Shape shape(shapeOf(position));
    shape.erase(shape.begin() + axis);
    position = emit.reshape(position, shape);
  }
  node.result(position);
}

static void importCumSum(Node &node) {
  Value x = node.operand(0);
  int64_t axis = node.dim(node.integer(1, "the axis"), typeOf(x).getRank());
  auto flag = [&](StringRef name) {
    return node.getInt(name, 0) ? node.emit.builder.getUnitAttr() : UnitAttr();
  };
  Value sums = node.emit.create<CumsumOp>(typeOf(x), x, node.emit.builder.getI64IntegerAttr(axis),
                                          flag("exclusive"), flag("reverse"));
  node.result(sums);
}

/// Only of constants: the number of results depends on the values.
static void importNonZero(Node &node) {
  Value x = node.operand(0);
  SmallVector<Shape> found = positionsOfNonZero(node.constant(0, "the operand"));
  int64_t rank = typeOf(x).getRank(), count = rank == 0 ? 0 : found.front().size();
  Shape flat;
  for (const Shape &positions : found)
    llvm::append_range(flat, positions);
  node.result(node.emit.reshape(node.emit.integers(flat), {rank, count}));
}

static void importOneHot(Node &node) {
  Emitter &emit = node.emit;
  Value indices = node.operand(0), values = node.operand(2);
  const Tensor &depthValue = node.constant(1, "the depth");
  if (depthValue.size() != 1 || typeOf(values).getNumElements() != 2)
    throw ImportError("expected one depth and two values");
  double depth = storedNumbersOf<double>(depthValue).front();
  if (!(depth >= 1 && depth < double(int64_t(1) << 40)))
    throw ImportError("a depth of " + std::to_string(depth) + " is out of range");
  int64_t axis = node.dim(node.getInt("axis", -1), typeOf(indices).getRank(), /*inclusive=*/true);
  Value whole = emit.cast(indices, emit.builder.getI64Type());
  Value negative = emit.compare(CompareDirection::LT, whole, emit.like(whole, 0));
  whole =
      emit.select(negative, emit.binary<AddOp>(whole, emit.like(whole, std::floor(depth))), whole);
  Value hot = emitOneHot(emit, whole, int64_t(depth), axis);
  values = emit.reshape(values, {2});
  Value off = emit.reshape(emit.sliceDim(values, 0, 0, 1), {}),
        on = emit.reshape(emit.sliceDim(values, 0, 1, 1), {});
  node.result(emit.select(hot, on, off));
}

static void importTopK(Node &node) {
  Value x = node.operand(0);
  int64_t k = node.integer(1, "k"), axis = node.dim(node.getInt("axis", -1), typeOf(x).getRank());
  node.ignore({"sorted"}); // what need not be sorted may be
  TopK found = emitTopK(node.emit, x, k, axis, node.getInt("largest", 1) != 0);
  node.result(0, found.values);
  node.beginResult(1);
  node.result(1, found.positions);
}

/// Keeps the upper (lower) triangle, diagonal `k` included.
static void importTrilu(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectRank(x, 2);
  int64_t k = node.has(1) ? node.integer(1, "k") : 0, limit = int64_t(1) << 40;
  Shape matrix(shapeOf(x).take_back(2));
  Value row = emit.iota(matrix, 0), column = emit.iota(matrix, 1);
  Value diagonal = emit.binary<AddOp>(row, emit.like(row, double(std::clamp(k, -limit, limit))));
  bool upper = node.getInt("upper", 1) != 0;
  Value kept = emit.compare(upper ? CompareDirection::GE : CompareDirection::LE, column, diagonal);
  node.result(emit.select(kept, x, emit.like(x, 0)));
}

void weft::frontend::addSearch(OpTable &table) {
  table["ArgMax"] = importArg<ReduceKind::Max>;
  table["ArgMin"] = importArg<ReduceKind::Min>;
  table["CumSum"] = importCumSum;
  table["NonZero"] = importNonZero;
  table["OneHot"] = importOneHot;
  table["TopK"] = importTopK;
  table["Trilu"] = importTrilu;
}
