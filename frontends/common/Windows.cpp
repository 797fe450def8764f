// Pooling and convolutions.

#include "frontends/common/Composites.h"

#include "compiler/Interpret/Strided.h"
#include "dialects/Weft/IR/Windows.h"
#include "frontends/common/Identity.h"
#include "frontends/common/Limits.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

static SmallVector<WindowDim> windowsOver(ArrayRef<int64_t> extents, const Pooling &pooling) {
  return makeWindows(extents, pooling.window, pooling.strides, pooling.dilations, pooling.low,
                     pooling.high);
}

void Pooling::coverAll(ArrayRef<int64_t> extents) {
  for (auto [dim, each] : llvm::enumerate(windowsOver(extents, *this))) {
    int64_t reach = each.dilation * (each.window - 1) + 1;
    int64_t room = each.extent + each.low + each.high - reach;
    int64_t positions = llvm::divideCeilSigned(room, each.stride) + 1;
    if ((positions - 1) * each.stride >= each.extent + each.low)
      --positions;
    if (positions > 0)
      high[dim] += std::max<int64_t>((positions - 1) * each.stride - room, 0);
  }
}

Shape weft::frontend::pooledShape(Value x, const Pooling &pooling) {
  int64_t spatial = pooling.window.size();
  Shape shape(shapeOf(x));
  auto windows = windowsOver(ArrayRef(shape).take_back(spatial), pooling);
  for (auto [size, window] : llvm::zip_equal(MutableArrayRef(shape).take_back(spatial), windows)) {
    size = window.positions();
    if (size == 0)
      throw ImportError("a window of " + std::to_string(window.window) + " does not fit " +
                        describe(x));
  }
  return shape;
}

/// `values` for the spatial dimensions, `fill` for those before.
static Shape forAllDims(Value x, ArrayRef<int64_t> values, int64_t fill) {
  Shape all(typeOf(x).getRank() - values.size(), fill);
  llvm::append_range(all, values);
  return all;
}

Value weft::frontend::emitPool(Emitter &emit, ReduceKind kind, Value x, const Pooling &pooling) {
  return emit.create<ReduceWindowOp>(
      typeOf(x).clone(pooledShape(x, pooling)), kind, x, forAllDims(x, pooling.window, 1),
      forAllDims(x, pooling.strides, 1), forAllDims(x, pooling.dilations, 1),
      forAllDims(x, pooling.low, 0), forAllDims(x, pooling.high, 0), DenseI64ArrayAttr());
}

Value weft::frontend::emitAveragePool(Emitter &emit, Value x, const Pooling &pooling,
                                      ArrayRef<int64_t> paddedLow, ArrayRef<int64_t> paddedHigh,
                                      int64_t divisor) {
  Value sums = emitPool(emit, ReduceKind::Sum, x, pooling);
  if (divisor != 0)
    return emit.binary<DivOp>(sums, emit.like(sums, double(divisor)));
  // How many elements each window has does not depend on the leading dimensions.
  size_t spatial = pooling.window.size();
  Shape extents = forAllDims(x, shapeOf(x).take_back(spatial), 1);
  Pooling counted = pooling;
  for (size_t dim = 0; dim < spatial; ++dim) {
    extents[extents.size() - spatial + dim] += paddedLow[dim] + paddedHigh[dim];
    counted.low[dim] -= paddedLow[dim];
    counted.high[dim] -= paddedHigh[dim];
  }
  Value counts = emitPool(emit, ReduceKind::Sum, emit.splat(typeOf(x).clone(extents), 1), counted);
  return emit.binary<DivOp>(sums, counts);
}

static void checkSearched(ArrayRef<int64_t> window) {
  int64_t elements = 1;
  for (int64_t size : window)
    if (llvm::MulOverflow(elements, size, elements) || elements > maxSearchedWindow)
      throw ImportError("positions in windows of more than " + std::to_string(maxSearchedWindow) +
                        " elements are not supported");
}

Value weft::frontend::emitPoolPositions(Emitter &emit, Value x, Value pooled,
                                        const Pooling &pooling, ArrayRef<int64_t> strides) {
  checkSearched(pooling.window);
  int64_t leading = typeOf(x).getRank() - pooling.window.size();
  Shape result(shapeOf(pooled)), low = forAllDims(x, pooling.low, 0);
  double least = identityOf(ReduceKind::Max, elementOf(x));
  Value padded = emit.pad(x, emit.splat(typeOf(x).clone(ArrayRef<int64_t>()), least), low,
                          forAllDims(x, pooling.high, 0));
  // The same for all leading dimensions.
  Shape places = forAllDims(x, shapeOf(pooled).drop_front(leading), 1);
  Value origin = emit.splat(RankedTensorType::get(places, emit.builder.getI64Type()), 0);
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    Value step = emit.iota(places, leading + dim);
    step = emit.binary<MulOp>(step, emit.like(step, double(pooling.strides[dim] * stride)));
    origin = emit.binary<AddOp>(origin, step);
  }
  constexpr double none = double(int64_t(1) << 52);
  Value found = emit.splat(RankedTensorType::get(result, emit.builder.getI64Type()), none);
  forEachPosition(pooling.window, [&](ArrayRef<int64_t> element, int64_t) {
    Shape starts(leading, 0);
    int64_t offset = 0;
    for (auto [dim, at] : llvm::enumerate(element)) {
      starts.push_back(at * pooling.dilations[dim]);
      offset += (starts.back() - pooling.low[dim]) * strides[dim];
    }
    Value here = emit.slice(padded, starts, result, forAllDims(x, pooling.strides, 1));
    Value hit = emit.compare(CompareDirection::EQ, here, pooled);
    if (isa<FloatType>(elementOf(x))) // NaN is the maximum where it is, and equals nothing
      hit = emit.binary<OrOp>(hit, emit.compare(CompareDirection::NE, here, here));
    Value position = emit.binary<AddOp>(origin, emit.like(origin, double(offset)));
    found = emit.binary<MinOp>(found, emit.select(hit, position, emit.like(origin, none)));
  });
  return found;
}

[[noreturn]] static void refuseKernel(Value x, Value kernel, int64_t groups) {
  throw ImportError("kernel " + describe(kernel) + " does not fit " + describe(x) + " in " +
                    std::to_string(groups) + " groups");
}

/// Whether both are of one type and the input's channels fall into groups.
static bool isGrouped(Value x, Value kernel, int64_t groups) {
  return elementOf(x) == elementOf(kernel) && groups >= 1 && shapeOf(x)[1] % groups == 0;
}

Value weft::frontend::emitConv(Emitter &emit, Value x, Value kernel, const Windows &windows,
                               int64_t groups) {
  ArrayRef<int64_t> in = shapeOf(x), k = shapeOf(kernel);
  if (!isGrouped(x, kernel, groups) || k[0] % groups != 0 || k[1] != in[1] / groups)
    refuseKernel(x, kernel, groups);
  Shape shape{in[0], k[0]};
  for (const WindowDim &dim : makeWindows(in.drop_front(2), k.drop_front(2), windows.strides,
                                          windows.dilations, windows.low, windows.high)) {
    if (dim.positions() == 0)
      throw ImportError("the window of " + describe(kernel) + " exceeds " + describe(x));
    shape.push_back(dim.positions());
  }
  return emit.create<ConvOp>(typeOf(x).clone(shape), x, kernel, windows.strides, windows.low,
                             windows.high, windows.dilations, groups);
}

Value weft::frontend::emitTransposedConv(Emitter &emit, Value x, Value kernel,
                                         const Windows &windows, int64_t groups) {
  ArrayRef<int64_t> in = shapeOf(x), k = shapeOf(kernel);
  int64_t rank = in.size();
  if (!isGrouped(x, kernel, groups) || k[0] != in[1])
    refuseKernel(x, kernel, groups);
  // [g·c, o, …] becomes [g·o, c, …], reversed in space.
  Shape split{groups, k[0] / groups, k[1]}, order{0, 2, 1}, joined{groups * k[1], k[0] / groups};
  Shape space, low, high, result{in[0], groups * k[1]};
  for (int64_t dim = 2; dim < rank; ++dim) {
    split.push_back(k[dim]);
    joined.push_back(k[dim]);
    order.push_back(dim + 1);
    space.push_back(dim);
    int64_t reach = windows.dilations[dim - 2] * (k[dim] - 1);
    low.push_back(reach - windows.low[dim - 2]);
    high.push_back(reach - windows.high[dim - 2]);
    WindowDim window{in[dim],
                     k[dim],
                     1,
                     windows.dilations[dim - 2],
                     low.back(),
                     high.back(),
                     windows.strides[dim - 2]};
    result.push_back(window.positions());
  }
  if (llvm::is_contained(result, 0))
    throw ImportError("nothing is left of the transposed convolution of " + describe(x));
  Value turned = emit.reshape(emit.transpose(emit.reshape(kernel, split), order), joined);
  return emit.create<ConvOp>(typeOf(x).clone(result), x, emit.reverse(turned, space),
                             Shape(rank - 2, 1), low, high, windows.dilations, groups,
                             emit.builder.getDenseI64ArrayAttr(windows.strides));
}
