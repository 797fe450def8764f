// Operators that take or put elements at indices.

#include "frontends/onnx/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

static void expectIntegers(Value indices) {
  if (!elementOf(indices).isInteger() || elementOf(indices).isInteger(1))
    throw ImportError("expected integer indices, got " + describe(indices));
}

/// Constant indices `start, start + stride, …` take a slice, which is free where a gather is not.
static Value gatherAsSlice(Emitter &emit, Value table, Value indices, int64_t axis) {
  const Tensor *known = emit.valueOf(indices);
  if (!known || known->size() == 0 || (known->isSplat() && known->size() > 1) ||
      known->size() > shapeOf(table)[axis])
    return {};
  std::vector<int64_t> numbers = numbersOf<int64_t>(*known);
  for (int64_t &number : numbers)
    number += number < 0 ? shapeOf(table)[axis] : 0;
  int64_t stride = numbers.size() > 1 ? numbers[1] - numbers[0] : 1;
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] < 0 || numbers[i] >= shapeOf(table)[axis] || stride < 1 ||
        numbers[i] != numbers[0] + int64_t(i) * stride)
      return {};
  Shape starts(shapeOf(table).size(), 0), sizes(shapeOf(table)), strides(starts.size(), 1);
  starts[axis] = numbers.front();
  sizes[axis] = numbers.size();
  strides[axis] = stride;
  Shape shape(shapeOf(table).take_front(axis));
  llvm::append_range(shape, shapeOf(indices));
  llvm::append_range(shape, shapeOf(table).drop_front(axis + 1));
  return emit.reshape(emit.slice(table, starts, sizes, strides), shape);
}

static void importGather(Node &node) {
  Value table = node.operand(0), indices = node.operand(1);
  expectIntegers(indices);
  int64_t axis = node.dim(node.getInt("axis", 0), typeOf(table).getRank());
  Value slice = gatherAsSlice(node.emit, table, indices, axis);
  node.result(slice ? slice : node.emit.gather(table, indices, axis));
}

static void importGatherElements(Node &node) {
  Value input = node.operand(0), indices = node.operand(1);
  expectIntegers(indices);
  expectExactRank(indices, typeOf(input).getRank());
  int64_t axis = node.dim(node.getInt("axis", 0), typeOf(input).getRank());
  for (auto [dim, size] : llvm::enumerate(shapeOf(indices)))
    if (int64_t(dim) != axis && size > shapeOf(input)[dim])
      throw ImportError("indices " + describe(indices) + " exceed " + describe(input));
  node.result(node.emit.create<GatherElementsOp>(typeOf(input).clone(shapeOf(indices)), input,
                                                 indices, axis));
}

static void importGatherND(Node &node) {
  Value input = node.operand(0), indices = node.operand(1);
  expectIntegers(indices);
  expectRank(indices, 1);
  int64_t batch = node.getInt("batch_dims", 0), tuple = shapeOf(indices).back();
  int64_t rank = typeOf(input).getRank();
  if (batch < 0 || batch >= std::min(rank, typeOf(indices).getRank()) || tuple < 1 ||
      tuple > rank - batch ||
      shapeOf(input).take_front(batch) != shapeOf(indices).take_front(batch))
    throw ImportError("indices " + describe(indices) + " with " + std::to_string(batch) +
                      " batch dimensions do not fit " + describe(input));
  Shape shape(shapeOf(indices).drop_back());
  llvm::append_range(shape, shapeOf(input).drop_front(batch + tuple));
  node.result(node.emit.create<GatherNdOp>(typeOf(input).clone(shape), input, indices, batch));
}

static ScatterKind scatterKind(Node &node) {
  std::string name = node.getString("reduction", "none");
  if (name == "none")
    return ScatterKind::Set;
  if (name == "add")
    return ScatterKind::Add;
  if (name == "mul")
    return ScatterKind::Mul;
  if (name == "max")
    return ScatterKind::Max;
  if (name == "min")
    return ScatterKind::Min;
  throw ImportError("reduction '" + name + "' is not known");
}

static void expectSameElements(Value input, Value updates) {
  if (elementOf(input) != elementOf(updates))
    throw ImportError("updates " + describe(updates) + " are of another type than " +
                      describe(input));
}

static void importScatterElements(Node &node) {
  Value input = node.operand(0), indices = node.operand(1), updates = node.operand(2);
  expectIntegers(indices);
  expectSameElements(input, updates);
  expectExactRank(indices, typeOf(input).getRank());
  int64_t axis = node.dim(node.getInt("axis", 0), typeOf(input).getRank());
  if (shapeOf(indices) != shapeOf(updates))
    throw ImportError("updates " + describe(updates) + " are not of the shape of indices " +
                      describe(indices));
  if (typeOf(indices).getNumElements() == 0)
    return node.result(input);
  node.result(node.emit.create<ScatterElementsOp>(typeOf(input), scatterKind(node), input, indices,
                                                  updates, axis));
}

static void importScatterND(Node &node) {
  Value input = node.operand(0), indices = node.operand(1), updates = node.operand(2);
  expectIntegers(indices);
  expectSameElements(input, updates);
  expectRank(indices, 1);
  int64_t tuple = shapeOf(indices).back();
  Shape expected(shapeOf(indices).drop_back());
  if (tuple <= typeOf(input).getRank())
    llvm::append_range(expected, shapeOf(input).drop_front(tuple));
  if (tuple < 1 || tuple > typeOf(input).getRank() ||
      shapeOf(updates) != ArrayRef<int64_t>(expected))
    throw ImportError("indices " + describe(indices) + " and updates " + describe(updates) +
                      " do not fit " + describe(input));
  if (typeOf(indices).getNumElements() == 0)
    return node.result(input);
  node.result(
      node.emit.create<ScatterNdOp>(typeOf(input), scatterKind(node), input, indices, updates));
}

void weft::frontend::addIndex(OpTable &table) {
  table["Gather"] = importGather;
  table["GatherElements"] = importGatherElements;
  table["GatherND"] = importGatherND;
  table["Scatter"] = importScatterElements;
  table["ScatterElements"] = importScatterElements;
  table["ScatterND"] = importScatterND;
}
