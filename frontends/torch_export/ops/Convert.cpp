// Changes of element type, and tensors made of numbers.

#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"
#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// Devices and layouts are the plan's own; `copy` tells of memory, not of values.
static void importTo(Node &node) {
  Value self = node.tensor("self");
  node.ignore({"copy"});
  node.result(node.emit.cast(self, node.dtype("dtype", elementOf(self))));
}

static void importToOther(Node &node) {
  node.ignore({"copy"});
  node.result(node.emit.cast(node.tensor("self"), elementOf(node.tensor("other"))));
}

//===----------------------------------------------------------------------===//
// Tensors of one number
//===----------------------------------------------------------------------===//

/// All elements `number`. Integers are kept exactly.
static Value filled(Node &node, ArrayRef<int64_t> shape, Type element, const Number &number) {
  tensorType(shape, element);
  return node.emit.broadcast(constantOf(node.emit, number, element), shape);
}

/// The type of a Python number in a tensor of its own.
static Type typeOfNumber(Node &node, const Number &number) {
  Promotion promotion(node.emit.builder.getContext());
  promotion.add(number);
  return promotion.result();
}

static void importFull(Node &node) {
  Number number = node.number("fill_value");
  node.ignore({"names"});
  node.result(
      filled(node, node.integers("size"), node.dtype("dtype", typeOfNumber(node, number)), number));
}

static void importFullLike(Node &node) {
  Value self = node.tensor("self");
  node.result(
      filled(node, shapeOf(self), node.dtype("dtype", elementOf(self)), node.number("fill_value")));
}

static void importNewFull(Node &node) {
  Value self = node.tensor("self");
  node.result(filled(node, node.integers("size"), node.dtype("dtype", elementOf(self)),
                     node.number("fill_value")));
}

static void importScalarTensor(Node &node) { // of the default type, whatever the number is
  node.result(
      filled(node, {}, node.dtype("dtype", node.emit.builder.getF32Type()), node.number("s")));
}

/// Zeros or ones of a given size.
template <int64_t number> static void importConstant(Node &node) {
  node.ignore({"names"});
  node.result(filled(node, node.integers("size"),
                     node.dtype("dtype", node.emit.builder.getF32Type()), number));
}

template <int64_t number> static void importNewConstant(Node &node) {
  Type element = elementOf(node.tensor("self"));
  node.result(filled(node, node.integers("size"), node.dtype("dtype", element), number));
}

template <int64_t number> static void importConstantLike(Node &node) {
  Value self = node.tensor("self");
  node.result(filled(node, shapeOf(self), node.dtype("dtype", elementOf(self)), number));
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static int64_t countSteps(double start, double end, double step) {
  double count = std::ceil((end - start) / step);
  if (step == 0 || !std::isfinite(count) || count < 0 || count > 0x1p48)
    throw ImportError("the range from " + std::to_string(start) + " to " + std::to_string(end) +
                      " by " + std::to_string(step) + " is not possible");
  return int64_t(count);
}

/// start, start + step, … below end. Integers are counted exactly, floats in double.
static void importArange(Node &node) {
  Emitter &emit = node.emit;
  Number zero = int64_t(0), one = int64_t(1);
  Number start = node.has("start") ? node.number("start") : zero, end = node.number("end"),
         step = node.has("step") ? node.number("step") : one;
  Promotion promotion(emit.builder.getContext());
  for (const Number &number : {start, end, step})
    promotion.add(number);
  Type element = node.dtype("dtype", promotion.result());
  int64_t count = countSteps(asDouble(start), asDouble(end), asDouble(step));
  Type wide =
      isa<FloatType>(element) ? Type(emit.builder.getF64Type()) : Type(emit.builder.getI64Type());
  Value positions = emit.cast(emit.iota({count}, 0), wide);
  if (asDouble(step) != 1)
    positions = emit.binary<MulOp>(positions, constantOf(emit, step, wide));
  if (asDouble(start) != 0)
    positions = emit.binary<AddOp>(positions, constantOf(emit, start, wide));
  node.result(emit.cast(positions, element));
}

void weft::frontend::aten::addConvert(OpTable &table) {
  table["aten._to_copy.default"] = importTo;
  table["aten.arange.default"] = importArange;
  table["aten.arange.start"] = importArange;
  table["aten.arange.start_step"] = importArange;
  table["aten.full.default"] = importFull;
  table["aten.full_like.default"] = importFullLike;
  table["aten.new_full.default"] = importNewFull;
  table["aten.new_ones.default"] = importNewConstant<1>;
  table["aten.new_zeros.default"] = importNewConstant<0>;
  table["aten.ones.default"] = importConstant<1>;
  table["aten.ones_like.default"] = importConstantLike<1>;
  table["aten.scalar_tensor.default"] = importScalarTensor;
  table["aten.to.device"] = importTo;
  table["aten.to.dtype"] = importTo;
  table["aten.to.dtype_layout"] = importTo;
  table["aten.to.other"] = importToOther;
  table["aten.type_as.default"] = importToOther;
  table["aten.zeros.default"] = importConstant<0>;
  table["aten.zeros_like.default"] = importConstantLike<0>;
  table["prims.scalar_tensor.default"] = importScalarTensor;
}
