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

  /// Of windows of one element: dilates and pads `result`, that of the windows over the input as it
  /// is.
  Value runBehind(Value result, ArrayRef<WindowDim> windows) {
    int64_t leading = rankOf(result) - windows.size();
    Value dilated = dilate(result, windows);
    SmallVector<int64_t> shape(shapeOf(dilated)), starts(leading, 0), strides(shape.size(), 1);
    SmallVector<int64_t> low(leading, 0), high(leading, 0);
    for (auto [size, dim] : llvm::zip_equal(MutableArrayRef(shape).drop_front(leading), windows)) {
      // Zeros that dilation has put behind the last element are padding, as far as that goes.
      int64_t end = std::clamp<int64_t>(dim.dilatedExtent() + dim.high, 0, size);
      starts.push_back(std::clamp<int64_t>(-dim.low, 0, end));
      size = end - starts.back();
      low.push_back(std::max<int64_t>(dim.low, 0));
      high.push_back(dim.positions() - low.back() - size);
    }
    Value kept = slice(dilated, shape, starts, strides);
    if (llvm::all_of(low, [](int64_t pad) { return pad == 0; }) && low == high)
      return kept;
    return PadOp::create(builder, loc, kept, makeFill(), low, high);
  }

private:
  Value makeFill() {
    return ConstantOp::create(
        builder, loc, DenseElementsAttr::get(RankedTensorType::get({}, fill.getType()), fill));
  }

  Value slice(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> starts,
              ArrayRef<int64_t> strides) {
    if (shape == shapeOf(value))
      return value;
    return SliceOp::create(builder, loc, RankedTensorType::get(shape, elementOf(value)), value,
                           starts, strides);
  }

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
    SmallVector<int64_t> low(high.size(), 0);
    return reshape(PadOp::create(builder, loc, reshape(input, rows), makeFill(), low, high),
                   joined);
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
    return slice(input, shape, starts, strides);
  }

  OpBuilder &builder;
  Location loc;
  TypedAttr fill;
};

struct DecomposeWindows : weft::impl::DecomposeWindowsBase<DecomposeWindows> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto conv = dyn_cast<ConvOp>(op); conv && isDilatedPoints(conv))
        dilateBehind(conv);
      else if (conv)
        decompose(conv, Builder(op).getZeroAttr(elementOf(conv.getResult())));
      else if (auto gradient = dyn_cast<ConvKernelGradientOp>(op))
        decompose(gradient, Builder(op).getZeroAttr(elementOf(gradient.getResult())));
      else if (auto reduce = dyn_cast<ReduceWindowOp>(op))
        decompose(reduce, getIdentity(reduce.getKind(), elementOf(reduce.getResult())));
    });
  }

private:
  /// Whether each output is made of one element of the input, or of none.
  static bool isDilatedPoints(ConvOp op) {
    SmallVector<WindowDim> windows = windowsOf(op);
    auto isPoint = [](const WindowDim &dim) { return dim.window == 1 && dim.stride == 1; };
    return llvm::all_of(windows, isPoint) &&
           llvm::any_of(windows, [](const WindowDim &dim) { return dim.inputDilation > 1; });
  }

  /// Zeros give zeros: they need not be multiplied.
  static void dilateBehind(ConvOp op) {
    SmallVector<WindowDim> windows = windowsOf(op);
    OpBuilder builder(op);
    SmallVector<int64_t> shape(shapeOf(op.getResult()).take_front(2)), zeros(windows.size(), 0),
        ones(windows.size(), 1);
    llvm::append_range(shape, shapeOf(op.getInput()).drop_front(2));
    Value points = ConvOp::create(
        builder, op.getLoc(), RankedTensorType::get(shape, elementOf(op.getResult())),
        op.getInput(), op.getKernel(), ones, zeros, zeros, ones, op.getGroups(),
        /*inputDilations=*/DenseI64ArrayAttr());
    auto zero = builder.getZeroAttr(elementOf(op.getResult()));
    op.replaceAllUsesWith(InputBuilder(builder, op.getLoc(), zero).runBehind(points, windows));
    op.erase();
  }

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
