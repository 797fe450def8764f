// Convolutions of any layout.

#include "frontends/stablehlo/ops/OpTable.h"

#include "frontends/stablehlo/AttributeText.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// The dimensions in weft's order.
static Shape orderOf(const ConvDims::Operand &operand) {
  Shape order{operand.first, operand.second};
  llvm::append_range(order, operand.spatial);
  return order;
}

/// Groups of the batch become groups of features: [g·n, c, …] to [n, g·c, …].
static Value batchToFeatures(Emitter &emit, Value x, int64_t groups) {
  Shape sizes(shapeOf(x)), split(sizes), order{1, 0, 2};
  split[0] /= groups;
  split.insert(split.begin(), groups);
  for (size_t dim = 3; dim < split.size(); ++dim)
    order.push_back(dim);
  sizes[0] /= groups;
  sizes[1] *= groups;
  return emit.reshape(emit.transpose(emit.reshape(x, split), order), sizes);
}

static void importConvolution(Instruction &op) {
  Emitter &emit = op.emit;
  op.expectOperands(2);
  ConvDims dims = parseConvDims(op.attribute("dimension_numbers"));
  size_t spatial = dims.input.spatial.size();
  RankedTensorType type = op.resultType();
  for (Value operand : op.allOperands())
    expectExactRank(operand, spatial + 2);
  if (type.getRank() != int64_t(spatial + 2) || spatial == 0)
    throw ImportError("expected spatial dimensions and a result of the operands' rank");
  auto ones = [&](StringRef name) {
    Shape numbers = op.attribute(name) ? op.requiredInts(name, spatial) : Shape(spatial, 1);
    if (llvm::any_of(numbers, [](int64_t number) { return number < 1; }))
      throw ImportError("expected numbers of 1 or more in '" + name.str() + "', got " +
                        describe(numbers));
    return numbers;
  };
  Shape strides = ones("window_strides"), inputDilation = ones("lhs_dilation");
  Shape dilations = ones("rhs_dilation"), reversal(spatial, 0);
  if (op.attribute("window_reversal"))
    reversal = op.requiredInts("window_reversal", spatial);
  auto [low, high] = op.getPairs("padding", spatial);
  int64_t groups = op.getInt("feature_group_count", 1), batches = op.getInt("batch_group_count", 1);
  // bf16 operands with a result of f32 lose nothing.
  Value x = emit.transpose(emit.cast(op.operand(0), type.getElementType()), orderOf(dims.input));
  Value kernel =
      emit.transpose(emit.cast(op.operand(1), type.getElementType()), orderOf(dims.kernel));
  expectFloat(x);
  if (groups < 1 || batches < 1 || (groups > 1 && batches > 1) || shapeOf(x)[0] % batches != 0 ||
      shapeOf(kernel)[0] % (groups * batches) != 0 || shapeOf(x)[1] != shapeOf(kernel)[1] * groups)
    throw ImportError("cannot convolve " + describe(x) + " with " + describe(kernel) + " in " +
                      std::to_string(groups) + " and " + std::to_string(batches) + " groups");
  Shape reversed;
  for (size_t dim = 0; dim < spatial; ++dim)
    if (reversal[dim])
      reversed.push_back(dim + 2);
  kernel = emit.reverse(kernel, reversed);
  if (batches > 1)
    x = batchToFeatures(emit, x, batches);
  bool isDilated = llvm::any_of(inputDilation, [](int64_t number) { return number != 1; });
  auto dilated = isDilated ? emit.builder.getDenseI64ArrayAttr(inputDilation) : DenseI64ArrayAttr();
  Shape order = orderOf(dims.output), back(order.size(), 0), shape;
  for (auto [index, dim] : llvm::enumerate(order)) {
    back[dim] = index;
    shape.push_back(type.getDimSize(dim));
  }
  Value result = emit.create<ConvOp>(type.clone(shape), x, kernel, strides, low, high, dilations,
                                     groups * batches, dilated);
  op.result(emit.transpose(result, back));
}

void stablehlo::addConvolution(OpTable &table) {
  table["stablehlo.convolution"] = importConvolution;
}
