// Windows of convolutions and window reductions: geometry and verifiers.

#include "dialects/Weft/IR/Windows.h"

#include "dialects/Weft/IR/Verify.h"

using namespace mlir;
using namespace weft;

SmallVector<WindowDim> weft::makeWindows(ArrayRef<int64_t> extents, ArrayRef<int64_t> window,
                                         ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations,
                                         ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                                         ArrayRef<int64_t> inputDilations) {
  SmallVector<WindowDim> windows;
  for (size_t dim = 0; dim < extents.size(); ++dim)
    windows.push_back({extents[dim], window[dim], strides[dim], dilations[dim], low[dim], high[dim],
                       inputDilations.empty() ? 1 : inputDilations[dim]});
  return windows;
}

SmallVector<WindowDim> weft::windowsOf(ConvOp op) {
  return makeWindows(shapeOf(op.getInput()).drop_front(2), shapeOf(op.getKernel()).drop_front(2),
                     op.getStrides(), op.getDilations(), op.getLow(), op.getHigh(),
                     op.getInputDilations().value_or(ArrayRef<int64_t>()));
}

SmallVector<WindowDim> weft::windowsOf(ConvKernelGradientOp op) {
  return makeWindows(shapeOf(op.getInput()).drop_front(2), shapeOf(op.getResult()).drop_front(2),
                     op.getStrides(), op.getDilations(), op.getLow(), op.getHigh(),
                     op.getInputDilations().value_or(ArrayRef<int64_t>()));
}

SmallVector<WindowDim> weft::windowsOf(ReduceWindowOp op) {
  return makeWindows(shapeOf(op.getInput()), op.getWindow(), op.getStrides(), op.getDilations(),
                     op.getLow(), op.getHigh(),
                     op.getInputDilations().value_or(ArrayRef<int64_t>()));
}

namespace {
struct WindowList {
  StringRef name;
  ArrayRef<int64_t> values;
  bool isPositive; ///< whether entries are 1 or more
};
} // namespace

/// Numbers of a window are below this, so that their sums and products are, too.
static constexpr int64_t windowLimit = int64_t(1) << 31;

static LogicalResult verifyLists(Operation *op, int64_t count, ArrayRef<WindowList> lists) {
  for (const WindowList &list : lists) {
    if (failed(verifyCount(op, list.name, list.values, count)))
      return failure();
    int64_t least = list.isPositive ? 1 : 1 - windowLimit;
    for (int64_t value : list.values)
      if (value < least || value >= windowLimit)
        return op->emitOpError() << "expected " << list.name << " within [" << least << ", "
                                 << windowLimit << "), got: " << value;
  }
  return success();
}

/// C1 and C2 of a convolution; `what` its result is called.
template <typename Op>
static LogicalResult verifyConvolution(Op op, Value kernelValue, StringRef what, Value result) {
  ArrayRef<int64_t> input = shapeOf(op.getInput()), kernel = shapeOf(kernelValue);
  if (input.size() < 3 || kernel.size() != input.size())
    return op.emitOpError() << "expected input and kernel of one rank >= 3, got: " << input.size()
                            << ", " << kernel.size();
  int64_t groups = op.getGroups();
  SmallVector<WindowList> lists{{"strides", op.getStrides(), true},
                                {"low", op.getLow(), false},
                                {"high", op.getHigh(), false},
                                {"dilations", op.getDilations(), true}};
  if (op.getInputDilations())
    lists.push_back({"input_dilations", *op.getInputDilations(), true});
  if (failed(verifyLists(op, input.size() - 2, lists)))
    return failure();
  if (groups < 1 || input[1] % groups != 0 || kernel[0] % groups != 0)
    return op.emitOpError() << "expected channels and outputs to be multiples of groups, got: "
                            << input[1] << ", " << kernel[0] << ", " << groups;
  if (kernel[1] != input[1] / groups)
    return op.emitOpError() << "expected the kernel to take channels / groups, got: " << kernel[1]
                            << " != " << input[1] / groups;
  SmallVector<int64_t> expected = {input[0], kernel[0]};
  for (const WindowDim &dim : windowsOf(op))
    expected.push_back(dim.positions());
  if (failed(verifyElement(op, "kernel", kernelValue, elementOf(op.getInput()))) ||
      failed(verifyElement(op, what, result, elementOf(op.getInput()))))
    return failure();
  return verifyShape(op, what, result, expected);
}

LogicalResult ConvOp::verify() {
  return verifyConvolution(*this, getKernel(), "result", getResult());
}

LogicalResult ConvKernelGradientOp::verify() {
  return verifyConvolution(*this, getResult(), "gradient", getGradient());
}

LogicalResult ReduceWindowOp::verify() {
  SmallVector<WindowList> lists{{"window", getWindow(), true},
                                {"strides", getStrides(), true},
                                {"dilations", getDilations(), true},
                                {"low", getLow(), false},
                                {"high", getHigh(), false}};
  if (getInputDilations())
    lists.push_back({"input_dilations", *getInputDilations(), true});
  return verifyLists(*this, rankOf(getInput()), lists);
}

LogicalResult ReduceWindowOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> extents = shapeOf(adaptor.getInput());
  ArrayRef<int64_t> dilations = adaptor.getInputDilations().value_or(ArrayRef<int64_t>());
  for (ArrayRef<int64_t> list : {adaptor.getWindow(), adaptor.getStrides(), adaptor.getDilations(),
                                 adaptor.getLow(), adaptor.getHigh()})
    if (list.size() != extents.size())
      return failure();
  if ((!dilations.empty() && dilations.size() != extents.size()) ||
      llvm::is_contained(adaptor.getStrides(), 0))
    return failure();
  SmallVector<int64_t> shape;
  for (const WindowDim &dim :
       makeWindows(extents, adaptor.getWindow(), adaptor.getStrides(), adaptor.getDilations(),
                   adaptor.getLow(), adaptor.getHigh(), dilations))
    shape.push_back(dim.positions());
  types.push_back(RankedTensorType::get(shape, elementOf(adaptor.getInput())));
  return success();
}
