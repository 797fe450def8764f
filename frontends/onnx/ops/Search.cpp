// Operators that find positions or depend on them.

#include "frontends/onnx/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// The first (last) position along `axis` of the extreme among the elements where `candidates` is
/// true, as i64 with that dimension kept; `extreme` has it kept too.
static Value positionOf(Emitter &emit, Value x, Value extreme, Value candidates, int64_t axis,
                        bool last) {
  Value hit = emit.compare(CompareDirection::EQ, x, extreme);
  if (candidates)
    hit = emit.binary<AndOp>(hit, candidates);
  Value positions = emit.iota(shapeOf(x), axis);
  Value none = emit.like(positions, last ? -1.0 : double(shapeOf(x)[axis]));
  Value found = emit.select(hit, positions, none);
  return emit.reduce(last ? ReduceKind::Max : ReduceKind::Min, found, {axis}, /*keepDims=*/true);
}

template <ReduceKind Kind> static void importArg(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  int64_t axis = node.dim(node.getInt("axis", 0), typeOf(x).getRank());
  bool last = node.getInt("select_last_index", 0) != 0;
  Value position = positionOf(emit, x, emit.reduce(Kind, x, {axis}, true), {}, axis, last);
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
  std::vector<double> numbers = numbersOf<double>(node.constant(0, "the operand"));
  int64_t rank = typeOf(x).getRank();
  std::vector<std::vector<int64_t>> found(rank);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0)
      continue;
    int64_t rest = i;
    for (int64_t dim = rank; dim-- > 0; rest /= shapeOf(x)[dim])
      found[dim].push_back(rest % shapeOf(x)[dim]);
  }
  Shape flat;
  for (const std::vector<int64_t> &positions : found)
    llvm::append_range(flat, positions);
  int64_t count = rank == 0 ? 0 : found.front().size();
  node.result(node.emit.reshape(node.emit.integers(flat), {rank, count}));
}

static void importOneHot(Node &node) {
  Emitter &emit = node.emit;
  Value indices = node.operand(0), values = node.operand(2);
  const Tensor &depthValue = node.constant(1, "the depth");
  if (depthValue.size() != 1 || typeOf(values).getNumElements() != 2)
    throw ImportError("expected one depth and two values");
  double depth = numbersOf<double>(depthValue).front();
  if (!(depth >= 1 && depth < double(int64_t(1) << 40)))
    throw ImportError("a depth of " + std::to_string(depth) + " is out of range");
  int64_t axis = node.dim(node.getInt("axis", -1), typeOf(indices).getRank(), /*inclusive=*/true);
  Value whole = emit.cast(indices, emit.builder.getI64Type());
  Value negative = emit.compare(CompareDirection::LT, whole, emit.like(whole, 0));
  whole =
      emit.select(negative, emit.binary<AddOp>(whole, emit.like(whole, std::floor(depth))), whole);
  Shape shape(shapeOf(indices));
  shape.insert(shape.begin() + axis, 1);
  Value wanted = emit.reshape(whole, shape);
  shape[axis] = int64_t(depth);
  Value hot =
      emit.compare(CompareDirection::EQ, emit.broadcast(wanted, shape), emit.iota(shape, axis));
  values = emit.reshape(values, {2});
  Value off = emit.reshape(emit.sliceDim(values, 0, 0, 1), {}),
        on = emit.reshape(emit.sliceDim(values, 0, 1, 1), {});
  node.result(emit.select(hot, on, off));
}

/// The extreme is found, taken out, and so on: right for the few that mixtures of experts ask for.
static void importTopK(Node &node) {
  constexpr int64_t mostRounds = 64;
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  int64_t k = node.integer(1, "k"), axis = node.dim(node.getInt("axis", -1), typeOf(x).getRank());
  if (k < 1 || k > shapeOf(x)[axis] || k > mostRounds)
    throw ImportError("k = " + std::to_string(k) + " is out of range: 1 to " +
                      std::to_string(std::min(shapeOf(x)[axis], mostRounds)));
  bool largest = node.getInt("largest", 1) != 0;
  node.ignore({"sorted"}); // what need not be sorted may be
  ReduceKind kind = largest ? ReduceKind::Max : ReduceKind::Min;
  double infinity = std::numeric_limits<double>::infinity();
  Value worst = emit.like(x, largest ? -infinity : infinity);
  Value left = emit.splat(typeOf(x).clone(emit.builder.getI1Type()), 1);
  SmallVector<Value> values, positions;
  for (int64_t round = 0; round < k; ++round) {
    values.push_back(emit.reduce(kind, emit.select(left, x, worst), {axis}, true));
    positions.push_back(positionOf(emit, x, values.back(), left, axis, false));
    Value taken = emit.broadcast(positions.back(), shapeOf(x));
    left = emit.binary<AndOp>(
        left, emit.compare(CompareDirection::NE, emit.iota(shapeOf(x), axis), taken));
  }
  node.result(0, emit.concat(values, axis));
  node.beginResult(1);
  node.result(1, emit.concat(positions, axis));
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
