// Operators that make tensors, and those that look values up in sorted ones.

#include "compiler/Interpret/Numbers.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// What a new tensor holds is not defined: zeros are as good as anything.
static void importEmpty(Node &node) {
  Builder &builder = node.emit.builder;
  node.ignore({"physical_layout", "stride"});
  bool isLike = node.has("self");
  Type element = isLike ? elementOf(node.tensor("self")) : Type(builder.getF32Type());
  Shape shape = node.has("size") ? node.integers("size") : Shape(shapeOf(node.tensor("self")));
  auto type = tensorType(shape, node.dtype("dtype", element));
  node.result(node.emit.splat(type, 0));
}

static void importEye(Node &node) {
  Emitter &emit = node.emit;
  int64_t rows = node.integer("n"), columns = node.integer("m", rows);
  auto type = tensorType({rows, columns}, node.dtype("dtype", emit.builder.getF32Type()));
  Value on = emit.compare(CompareDirection::EQ, emit.iota(type.getShape(), 0),
                          emit.iota(type.getShape(), 1));
  node.result(emit.cast(on, type.getElementType()));
}

/// All elements a number or a tensor of one element, in the type of `self`.
static void importFill(Node &node) {
  Value self = node.tensor("self");
  Value value = operandAs(node, "value", elementOf(self));
  node.result(node.emit.broadcast(node.emit.reshape(value, {}), shapeOf(self)));
}

static void importZero(Node &node) { node.result(node.emit.like(node.tensor("self"), 0)); }

/// `src` in the type and shape of `self`.
static void importCopy(Node &node) {
  Value self = node.tensor("self");
  Value source = node.emit.cast(node.tensor("src"), elementOf(self));
  node.result(node.emit.broadcast(source, shapeOf(self)));
}

/// `steps` numbers from `start` to `end`: from either end to the middle, as ATen rounds them.
static std::vector<double> evenSteps(Node &node) {
  int64_t steps = node.integer("steps");
  constexpr int64_t most = 1 << 24;
  if (steps < 0 || steps > most)
    throw ImportError(std::to_string(steps) + " steps are out of range");
  double start = node.real("start"), end = node.real("end");
  double step = steps > 1 ? (end - start) / double(steps - 1) : 0;
  std::vector<double> numbers(steps);
  for (int64_t i = 0; i < steps; ++i)
    numbers[i] =
        i < steps / 2 || steps == 1 ? start + step * double(i) : end - step * double(steps - 1 - i);
  return numbers;
}

static void finishSteps(Node &node, const std::vector<double> &numbers) {
  Type element = node.dtype("dtype", node.emit.builder.getF32Type());
  auto type = tensorType({int64_t(numbers.size())}, element);
  node.result(node.emit.constant(tensorOf(type, numbers)));
}

static void importLinspace(Node &node) { finishSteps(node, evenSteps(node)); }

static void importLogspace(Node &node) {
  std::vector<double> numbers = evenSteps(node);
  double base = node.real("base", 10);
  for (double &number : numbers)
    number = std::pow(base, number);
  finishSteps(node, numbers);
}

//===----------------------------------------------------------------------===//
// Sorted tables
//===----------------------------------------------------------------------===//

/// How many entries of the table stand before each value: those below it, and with `right` those
/// equal to it.
static void countBefore(Node &node, Value table, Value values, bool right) {
  Emitter &emit = node.emit;
  Type type = promoteTypes(elementOf(table), elementOf(values));
  Shape shape(shapeOf(values)), row(shape.size(), 1);
  shape.push_back(shapeOf(table).back());
  if (typeOf(table).getRank() > 1) {
    if (shapeOf(table).drop_back() != shapeOf(values).drop_back())
      throw ImportError("values " + describe(values) + " do not fit table " + describe(table));
    row = Shape(shapeOf(table).drop_back());
    row.push_back(1);
  }
  row.push_back(shape.back());
  Shape column(shapeOf(values));
  column.push_back(1);
  Value entries = emit.broadcast(emit.reshape(emit.cast(table, type), row), shape);
  Value wanted = emit.broadcast(emit.reshape(emit.cast(values, type), column), shape);
  bool isNarrow = node.flag("out_int32", false);
  Type index = isNarrow ? emit.builder.getI32Type() : emit.builder.getI64Type();
  // What is no number stands behind all entries: none is known to lie behind it.
  CompareDirection behind = right ? CompareDirection::GT : CompareDirection::GE;
  Value before = emit.cast(emit.unary<NotOp>(emit.compare(behind, entries, wanted)), index);
  node.result(emit.reduce(ReduceKind::Sum, before, {int64_t(shape.size()) - 1}, false));
}

static void importBucketize(Node &node) {
  expectExactRank(node.tensor("boundaries"), 1);
  Value values = operandAs(node, "self", promotedType(node, {"self"}));
  countBefore(node, node.tensor("boundaries"), values, node.flag("right", false));
}

static void importSearchsorted(Node &node) {
  Value table = node.tensor("sorted_sequence");
  expectRank(table, 1);
  if (Value sorter = node.optionalTensor("sorter"))
    throw ImportError("'sorter' is not supported");
  bool right = node.text("side", "left") == "right" || node.flag("right", false);
  countBefore(node, table, operandAs(node, "self", promotedType(node, {"self"})), right);
}

void weft::frontend::aten::addCreate(OpTable &table) {
  table["aten.bucketize.Scalar"] = importBucketize;
  table["aten.bucketize.Tensor"] = importBucketize;
  table["aten.copy.default"] = importCopy;
  table["aten.empty.memory_format"] = importEmpty;
  table["aten.empty_like.default"] = importEmpty;
  table["aten.empty_permuted.default"] = importEmpty;
  table["aten.empty_strided.default"] = importEmpty;
  table["aten.eye.default"] = importEye;
  table["aten.eye.m"] = importEye;
  table["aten.fill.Scalar"] = importFill;
  table["aten.fill.Tensor"] = importFill;
  table["aten.linspace.default"] = importLinspace;
  table["aten.logspace.default"] = importLogspace;
  table["aten.new_empty.default"] = importEmpty;
  table["aten.new_empty_strided.default"] = importEmpty;
  table["aten.searchsorted.Scalar"] = importSearchsorted;
  table["aten.searchsorted.Tensor"] = importSearchsorted;
  table["aten.zero.default"] = importZero;
}
