// Gradients of what moves windows: convolutions and window reductions, alphabetical.
//
// With x dilated by `input dilation`, position p of a window sees the element
// p·stride - low + e·dilation of x under its element e. Sums over that relation:
//
//   over p and e, for each element of x    strides and input dilations exchanged, windows reversed
//   over p, for each e                     the kernel's gradient
//   over e, for each p                     the operation itself

#include "dialects/Weft/IR/GradientBuilder.h"
#include "dialects/Weft/IR/Windows.h"

using namespace mlir;
using namespace weft;

namespace {
/// Attributes of a windowed operation.
struct WindowLists {
  SmallVector<int64_t> window, strides, dilations, low, high, inputDilations;

  void add(const WindowDim &dim) {
    window.push_back(dim.window);
    strides.push_back(dim.stride);
    dilations.push_back(dim.dilation);
    low.push_back(dim.low);
    high.push_back(dim.high);
    inputDilations.push_back(dim.inputDilation);
  }
  /// None where there are none.
  DenseI64ArrayAttr getInputDilations(MLIRContext *context) const {
    if (llvm::all_of(inputDilations, [](int64_t dilation) { return dilation == 1; }))
      return DenseI64ArrayAttr();
    return DenseI64ArrayAttr::get(context, inputDilations);
  }
};
} // namespace

/// Pads at the end, or takes away, so that a window has as many positions as wanted.
static WindowDim withPositions(WindowDim dim, int64_t positions) {
  dim.high = (positions - 1) * dim.stride + dim.dilation * (dim.window - 1) + 1 -
             dim.dilatedExtent() - dim.low;
  return dim;
}

/// The window over the positions of `dim` that stands at each element of its input, reversed.
static WindowDim overPositions(const WindowDim &dim) {
  WindowDim result{dim.positions(), dim.window};
  result.stride = dim.inputDilation;
  result.dilation = dim.dilation;
  result.low = dim.dilation * (dim.window - 1) - dim.low;
  result.inputDilation = dim.stride;
  return withPositions(result, dim.extent);
}

static WindowLists makeLists(ArrayRef<WindowDim> dims,
                             llvm::function_ref<WindowDim(const WindowDim &)> map) {
  WindowLists lists;
  for (const WindowDim &dim : dims)
    lists.add(map(dim));
  return lists;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> withSpatial(ArrayRef<int64_t> leading, Value from) {
  SmallVector<int64_t> shape(leading);
  llvm::append_range(shape, shapeOf(from).drop_front(2));
  return shape;
}

/// Transposes the leading dimensions; those behind stay.
static Value permuteLeading(GradientBuilder &b, Value value, ArrayRef<int64_t> leading) {
  SmallVector<int64_t> permutation(leading);
  for (int64_t dim = leading.size(); dim < rankOf(value); ++dim)
    permutation.push_back(dim);
  return b.make<TransposeOp>(value, permutation);
}

/// The kernel [o, c/groups, …] as that from outputs to inputs, [c, o/groups, …], reversed.
static Value reversedKernel(GradientBuilder &b, Value kernel, int64_t groups) {
  int64_t outputs = shapeOf(kernel)[0], channels = shapeOf(kernel)[1];
  SmallVector<int64_t> spatial = llvm::to_vector(llvm::seq<int64_t>(2, rankOf(kernel)));
  Value reversed = b.make<ReverseOp>(kernel.getType(), kernel, spatial);
  if (groups == 1)
    return permuteLeading(b, reversed, {1, 0});
  Value apart = b.reshape(reversed, withSpatial({groups, outputs / groups, channels}, kernel));
  Value exchanged = permuteLeading(b, apart, {0, 2, 1});
  return b.reshape(exchanged, withSpatial({groups * channels, outputs / groups}, kernel));
}

static Value makeConv(GradientBuilder &b, RankedTensorType type, Value input, Value kernel,
                      const WindowLists &lists, int64_t groups) {
  return b.make<ConvOp>(type, input, kernel, lists.strides, lists.low, lists.high, lists.dilations,
                        groups, lists.getInputDilations(type.getContext()));
}

LogicalResult ConvOp::buildGradients(GradientBuilder &b) {
  // Windows have an element; what has no elements has no gradient.
  if (getResult().getType().getNumElements() == 0)
    return success();
  SmallVector<WindowDim> dims = windowsOf(*this);
  if (b.wants(0))
    b.set(0, makeConv(b, cast<RankedTensorType>(getInput().getType()), b.of(),
                      reversedKernel(b, getKernel(), getGroups()), makeLists(dims, overPositions),
                      getGroups()));
  if (!b.wants(1))
    return success();
  b.set(1, b.make<ConvKernelGradientOp>(getKernel().getType(), getInput(), b.of(), getStrides(),
                                        getLow(), getHigh(), getDilations(), getGroups(),
                                        getInputDilationsAttr()));
  return success();
}

/// It is linear in both: that of the input is a convolution of the gradient like the input's own,
/// that of the gradient the convolution itself, with the gradient that arrives for a kernel.
LogicalResult ConvKernelGradientOp::buildGradients(GradientBuilder &b) {
  if (getResult().getType().getNumElements() == 0)
    return success();
  SmallVector<WindowDim> dims = windowsOf(*this);
  if (b.wants(0))
    b.set(0, makeConv(b, cast<RankedTensorType>(getInput().getType()), getGradient(),
                      reversedKernel(b, b.of(), getGroups()), makeLists(dims, overPositions),
                      getGroups()));
  if (b.wants(1))
    b.set(1, b.make<ConvOp>(getGradient().getType(), getInput(), b.of(), getStrides(), getLow(),
                            getHigh(), getDilations(), getGroups(), getInputDilationsAttr()));
  return success();
}

//===----------------------------------------------------------------------===//
// Window reductions
//===----------------------------------------------------------------------===//

static Value makeReduction(GradientBuilder &b, ReduceKind kind, Value input,
                           const WindowLists &lists) {
  return b.make<ReduceWindowOp>(kind, input, lists.window, lists.strides, lists.dilations,
                                lists.low, lists.high, lists.getInputDilations(input.getContext()));
}

/// The window of the one element that is `element` of the window of `dim`.
static WindowDim singleOf(const WindowDim &dim, int64_t element) {
  WindowDim result = dim;
  result.window = 1;
  result.low = dim.low - element * dim.dilation;
  return withPositions(result, dim.positions());
}

/// Calls `visit` with each element of a window, in row-major order.
static void forEachElement(ArrayRef<WindowDim> dims,
                           llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  int64_t count = 1;
  for (const WindowDim &dim : dims)
    count *= dim.window;
  SmallVector<int64_t> element(dims.size(), 0);
  for (int64_t number = 0; number < count; ++number) {
    visit(element);
    for (size_t dim = dims.size(); dim-- > 0;) {
      if (++element[dim] < dims[dim].window)
        break;
      element[dim] = 0;
    }
  }
}

namespace {
/// Gradients of reductions that need to see their windows' elements: each is one tensor of the
/// result's shape.
class WindowGradient {
public:
  WindowGradient(GradientBuilder &b, ReduceWindowOp op)
      : b(b), op(op), dims(windowsOf(op)), context(op.getContext()) {}

  Value ofExtreme();
  Value ofProduct();

private:
  RankedTensorType wideType(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Builder(context).getI64Type());
  }
  Value integer(RankedTensorType type, int64_t value) {
    return b.make<ConstantOp>(DenseElementsAttr::get(type, value));
  }
  WindowLists listsAt(ArrayRef<int64_t> element) const {
    WindowLists lists;
    for (auto [dim, at] : llvm::zip_equal(dims, element))
      lists.add(singleOf(dim, at));
    return lists;
  }
  Value numberAt(ArrayRef<int64_t> element, size_t first);

  GradientBuilder &b;
  ReduceWindowOp op;
  SmallVector<WindowDim> dims;
  MLIRContext *context;
};
} // namespace

/// The row-major number, within the dimensions from `first` on, of the input's element under an
/// element of each window.
Value WindowGradient::numberAt(ArrayRef<int64_t> element, size_t first) {
  RankedTensorType type = wideType(shapeOf(op.getResult()));
  Value number = integer(type, 0);
  for (size_t dim = first; dim < dims.size(); ++dim) {
    Value at = b.mul(b.make<IotaOp>(type, dim), integer(type, dims[dim].stride));
    int64_t shift = element[dim] * dims[dim].dilation - dims[dim].low;
    at = b.add(at, integer(type, shift));
    if (dims[dim].inputDilation != 1)
      at = b.make<DivOp>(at, integer(type, dims[dim].inputDilation));
    number = b.add(b.mul(number, integer(type, dims[dim].extent)), at);
  }
  return number;
}

/// The first of the greatest of each window has its gradient. It is found by its number, at which
/// gradients are added up. Padding is never the greatest: infinities count as the largest finite
/// number.
Value WindowGradient::ofExtreme() {
  Value x = op.getInput(), result = op.getResult();
  const llvm::fltSemantics &semantics = cast<FloatType>(elementOf(x)).getFloatSemantics();
  bool isMax = op.getKind() == ReduceKind::Max;
  APFloat worst = APFloat::getLargest(semantics, /*Negative=*/isMax);
  auto bounded = [&](Value value) {
    return b.join(op.getKind(), value, b.splat(cast<RankedTensorType>(value.getType()), worst));
  };
  // Found once more: where the elements are computed again, so is what they are compared with.
  Value input = bounded(x), extreme;
  forEachElement(dims, [&](ArrayRef<int64_t> element) {
    Value part = makeReduction(b, op.getKind(), input, listsAt(element));
    extreme = extreme ? b.join(op.getKind(), extreme, part) : part;
  });
  extreme = bounded(extreme); // what sees nothing but padding finds no element
  size_t first =
      llvm::find_if(dims, [](const WindowDim &dim) { return !dim.isTrivial(); }) - dims.begin();
  RankedTensorType type = wideType(shapeOf(result));
  Value number = integer(type, -1), none = number;
  forEachElement(dims, [&](ArrayRef<int64_t> element) {
    Value part = makeReduction(b, op.getKind(), input, listsAt(element));
    Value isHit = b.make<AndOp>(b.make<CompareOp>(CompareDirection::EQ, part, extreme),
                                b.make<CompareOp>(CompareDirection::EQ, number, none));
    number = b.make<SelectOp>(isHit, numberAt(element, first), number);
  });
  auto flat = [&](Value value) {
    SmallVector<int64_t> shape(shapeOf(value).take_front(first));
    shape.push_back(ShapedType::getNumElements(shapeOf(value).drop_front(first)));
    return b.reshape(value, shape);
  };
  Value sums = flat(b.splat(x, 0.0));
  // A window that sees nothing has nowhere to put its gradient.
  Value sum = b.make<ScatterElementsOp>(sums.getType(), ScatterKind::Add, sums, flat(number),
                                        flat(b.of()), first, /*drop=*/true);
  return b.reshape(sum, shapeOf(x));
}

/// Each element has the product of the others.
Value WindowGradient::ofProduct() {
  SmallVector<Value> parts;
  SmallVector<WindowLists, 0> lists;
  forEachElement(dims, [&](ArrayRef<int64_t> element) {
    lists.push_back(listsAt(element));
    parts.push_back(makeReduction(b, ReduceKind::Prod, op.getInput(), lists.back()));
  });
  SmallVector<Value> before{b.of()};
  for (Value part : ArrayRef(parts).drop_back())
    before.push_back(b.mul(before.back(), part));
  Value after, sum;
  for (size_t i = parts.size(); i-- > 0;) {
    Value share = after ? b.mul(before[i], after) : before[i];
    after = after ? b.mul(after, parts[i]) : parts[i];
    SmallVector<WindowDim> single =
        makeWindows(shapeOf(op.getInput()), lists[i].window, lists[i].strides, lists[i].dilations,
                    lists[i].low, lists[i].high, lists[i].inputDilations);
    Value placed = makeReduction(b, ReduceKind::Sum, share, makeLists(single, overPositions));
    sum = sum ? b.add(sum, placed) : placed;
  }
  return sum;
}

LogicalResult ReduceWindowOp::buildGradients(GradientBuilder &b) {
  if (getResult().getType().getNumElements() == 0)
    return success();
  if (getKind() == ReduceKind::Sum)
    b.set(0, makeReduction(b, ReduceKind::Sum, b.of(), makeLists(windowsOf(*this), overPositions)));
  else if (getKind() == ReduceKind::Prod)
    b.set(0, WindowGradient(b, *this).ofProduct());
  else
    b.set(0, WindowGradient(b, *this).ofExtreme());
  return success();
}
