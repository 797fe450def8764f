//===- DecomposeWindows.cpp - windows over inputs as they are -------------===//

#include "dialects/Weft/IR/Identity.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/Windows.h"
#include "passes/Lowering/Passes.h"

namespace weft {
#define GEN_PASS_DEF_DECOMPOSEWINDOWS
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

static bool isPlain(const WindowDim &dim) {
  return dim.inputDilation == 1 && dim.low >= 0 && dim.high >= 0;
}

namespace {

/// The input of a windowed operation made so that its windows are plain.
class InputBuilder {
public:
  InputBuilder(OpBuilder &builder, Location loc, TypedAttr fill)
      : builder(builder), loc(loc), fill(fill) {}

  /// `windows` are the last dimensions of `input`.
  Value run(Value input, ArrayRef<WindowDim> windows) {
    return crop(dilate(input, windows), windows);
  }

private:
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return ReshapeOp::create(builder, loc, RankedTensorType::get(shape, elementOf(value)), value);
  }

  /// Each element becomes a row of its own of `inputDilation` elements, the others filled.
  Value dilate(Value input, ArrayRef<WindowDim> windows) {
    int64_t leading = rankOf(input) - windows.size();
    SmallVector<int64_t> rows(shapeOf(input).take_front(leading)), joined(rows), high(leading, 0);
    for (const WindowDim &dim : windows) {
      rows.append({dim.extent, 1});
      high.append({0, dim.inputDilation - 1});
      joined.push_back(dim.extent * dim.inputDilation);
    }
    if (joined == shapeOf(input))
      return input;
    Value scalar = ConstantOp::create(
        builder, loc, DenseElementsAttr::get(RankedTensorType::get({}, fill.getType()), fill));
    SmallVector<int64_t> low(high.size(), 0);
    return reshape(PadOp::create(builder, loc, reshape(input, rows), scalar, low, high), joined);
  }

  /// Leaves out what negative padding takes away, and what dilation has put behind the last
  /// element.
  Value crop(Value input, ArrayRef<WindowDim> windows) {
    int64_t leading = rankOf(input) - windows.size();
    SmallVector<int64_t> shape(shapeOf(input)), starts(leading, 0), strides(shape.size(), 1);
    for (auto [size, dim] : llvm::zip_equal(MutableArrayRef(shape).drop_front(leading), windows)) {
      starts.push_back(std::clamp<int64_t>(-dim.low, 0, dim.dilatedExtent()));
      int64_t end = dim.dilatedExtent() + std::min<int64_t>(dim.high, 0);
      size = std::max<int64_t>(end - starts.back(), 0);
    }
    if (shape == shapeOf(input))
      return input;
    return SliceOp::create(builder, loc, RankedTensorType::get(shape, elementOf(input)), input,
                           starts, strides);
  }

  OpBuilder &builder;
  Location loc;
  TypedAttr fill;
};

struct DecomposeWindows : weft::impl::DecomposeWindowsBase<DecomposeWindows> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto conv = dyn_cast<ConvOp>(op))
        decompose(conv, Builder(op).getZeroAttr(elementOf(conv.getResult())));
      else if (auto gradient = dyn_cast<ConvKernelGradientOp>(op))
        decompose(gradient, Builder(op).getZeroAttr(elementOf(gradient.getResult())));
      else if (auto reduce = dyn_cast<ReduceWindowOp>(op))
        decompose(reduce, getIdentity(reduce.getKind(), elementOf(reduce.getResult())));
    });
  }

private:
  template <typename Op> static void decompose(Op op, TypedAttr fill) {
    SmallVector<WindowDim> windows = windowsOf(op);
    if (llvm::all_of(windows, isPlain))
      return;
    OpBuilder builder(op);
    op.getInputMutable().assign(
        InputBuilder(builder, op.getLoc(), fill).run(op.getInput(), windows));
    auto notNegative = [](ArrayRef<int64_t> padding) {
      return llvm::map_to_vector(padding,
                                 [](int64_t amount) { return std::max<int64_t>(amount, 0); });
    };
    op.setLow(notNegative(op.getLow()));
    op.setHigh(notNegative(op.getHigh()));
    op.removeInputDilationsAttr();
  }
};

} // namespace
