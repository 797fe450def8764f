// Products: dot_general and conv.
#include "compiler/Interpret/Blocks.h"
#include "compiler/Interpret/Families.h"
#include "compiler/Interpret/Numbers.h"
#include "compiler/Interpret/Strided.h"
#include "dialects/Weft/IR/Windows.h"

using namespace mlir;
using namespace weft;

/// The dimensions of a tensor of `rank` that are in neither list.
static SmallVector<int64_t> otherDims(int64_t rank, ArrayRef<int64_t> batch,
                                      ArrayRef<int64_t> contract) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
      others.push_back(dim);
  return others;
}

static int64_t extentOf(const Tensor &tensor, ArrayRef<int64_t> dims) {
  int64_t extent = 1;
  for (int64_t dim : dims)
    extent *= tensor.shape()[dim];
  return extent;
}

Tensor weft::evaluateDotGeneral(Operation *op, const Tensor &lhs, const Tensor &rhs) {
  auto dot = cast<DotGeneralOp>(op);
  auto rows = otherDims(lhs.rank(), dot.getLhsBatch(), dot.getLhsContract());
  auto columns = otherDims(rhs.rank(), dot.getRhsBatch(), dot.getRhsContract());
  int64_t b = extentOf(lhs, dot.getLhsBatch()), k = extentOf(lhs, dot.getLhsContract());
  int64_t m = extentOf(lhs, rows), n = extentOf(rhs, columns);
  SmallVector<int64_t> lhsOrder(dot.getLhsBatch()), rhsOrder(dot.getRhsBatch());
  llvm::append_range(lhsOrder, rows); // lhs as [b, m, k], rhs as [b, k, n]
  llvm::append_range(lhsOrder, dot.getLhsContract());
  llvm::append_range(rhsOrder, dot.getRhsContract());
  llvm::append_range(rhsOrder, columns);
  return withNumber(lhs.kind(), [&](auto number) {
    using Number = decltype(number);
    std::vector<Number> left = numbersOf<Number>(transposed(lhs, lhsOrder));
    std::vector<Number> right = numbersOf<Number>(transposed(rhs, rhsOrder)), out(b * m * n, 0);
    for (int64_t row = 0; row < b * m; ++row)
      for (int64_t i = 0; i < k; ++i) {
        Number factor = left[row * k + i];
        const Number *from = right.data() + (row / m * k + i) * n;
        Number *to = out.data() + row * n;
        for (int64_t column = 0; column < n; ++column)
          to[column] = addNumbers(to[column], multiplyNumbers(factor, from[column]));
      }
    return tensorOf(resultType(op), out);
  });
}

namespace {
/// A convolution on arrays of doubles.
struct Convolution {
  SmallVector<WindowDim> windows;
  ArrayRef<int64_t> in, window, out; ///< shapes, spatial dimensions only
  int64_t channels, outputs;         ///< of one group
  SmallVector<int64_t> inStrides = rowMajorStrides(in);

  /// The input element under a window's element at an output position; -1 where there is none.
  int64_t inputAt(ArrayRef<int64_t> position, ArrayRef<int64_t> element) {
    int64_t number = 0;
    for (auto [dim, each] : llvm::enumerate(windows)) {
      int64_t at = each.inputAt(position[dim], element[dim]);
      if (at < 0)
        return -1;
      number += at * inStrides[dim];
    }
    return number;
  }
};
} // namespace

/// Visits one image and group: `visit(input element, kernel element, result element)` for every
/// product that a convolution sums. Input [channels, in…], kernel [outputs, channels, window…],
/// result [outputs, out…].
static void forEachProduct(Convolution &conv,
                           llvm::function_ref<void(int64_t, int64_t, int64_t)> visit) {
  int64_t inSize = elementCount(conv.in), windowSize = elementCount(conv.window);
  int64_t outSize = elementCount(conv.out);
  forEachPosition(conv.window, [&](ArrayRef<int64_t> offset, int64_t tap) {
    forEachPosition(conv.out, [&](ArrayRef<int64_t> position, int64_t at) {
      int64_t from = conv.inputAt(position, offset);
      if (from < 0)
        return;
      for (int64_t o = 0; o < conv.outputs; ++o)
        for (int64_t c = 0; c < conv.channels; ++c)
          visit(c * inSize + from, (o * conv.channels + c) * windowSize + tap, o * outSize + at);
    });
  });
}

/// Visits all products of a convolution of these shapes.
static void forEachProduct(ArrayRef<WindowDim> windows, ArrayRef<int64_t> input,
                           ArrayRef<int64_t> kernel, ArrayRef<int64_t> result, int64_t groups,
                           llvm::function_ref<void(int64_t, int64_t, int64_t)> visit) {
  Convolution work{SmallVector<WindowDim>(windows),
                   input.drop_front(2),
                   kernel.drop_front(2),
                   result.drop_front(2),
                   kernel[1],
                   kernel[0] / groups};
  int64_t inBlock = work.channels * elementCount(work.in);
  int64_t kernelBlock = work.outputs * work.channels * elementCount(work.window);
  int64_t outBlock = work.outputs * elementCount(work.out);
  for (int64_t block = 0; block < input[0] * groups; ++block)
    forEachProduct(work, [&](int64_t from, int64_t weight, int64_t to) {
      visit(block * inBlock + from, block % groups * kernelBlock + weight, block * outBlock + to);
    });
}

Tensor weft::evaluateConv(Operation *op, const Tensor &input, const Tensor &kernel) {
  auto conv = cast<ConvOp>(op);
  RankedTensorType type = resultType(op);
  std::vector<double> in = numbersOf<double>(input), weights = numbersOf<double>(kernel);
  std::vector<double> out(type.getNumElements(), 0);
  forEachProduct(
      windowsOf(conv), input.shape(), kernel.shape(), type.getShape(), conv.getGroups(),
      [&](int64_t from, int64_t weight, int64_t to) { out[to] += in[from] * weights[weight]; });
  return tensorOf(type, out);
}

Tensor weft::evaluateConvKernelGradient(Operation *op, const Tensor &input,
                                        const Tensor &gradient) {
  auto conv = cast<ConvKernelGradientOp>(op);
  RankedTensorType type = resultType(op);
  std::vector<double> in = numbersOf<double>(input), slope = numbersOf<double>(gradient);
  std::vector<double> out(type.getNumElements(), 0);
  forEachProduct(
      windowsOf(conv), input.shape(), type.getShape(), gradient.shape(), conv.getGroups(),
      [&](int64_t from, int64_t weight, int64_t to) { out[weight] += in[from] * slope[to]; });
  return tensorOf(type, out);
}
