// Reductions over windows, and the gradients of those that choose an element.

#include "frontends/stablehlo/ops/OpTable.h"

#include "frontends/common/Identity.h"
#include "frontends/stablehlo/Bodies.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// Larger windows are made of smaller ones rather than element by element.
static constexpr int64_t maxWindowElements = 1024;

namespace {
/// The windows of an operation along all dimensions, read and checked.
struct Windows {
  Shape sizes, strides, dilations, baseDilations, low, high;

  Windows(Instruction &op, size_t rank)
      : sizes(op.requiredInts("window_dimensions", rank)),
        strides(given(op, "window_strides", rank)), dilations(given(op, "window_dilations", rank)),
        baseDilations(given(op, "base_dilations", rank)) {
    std::tie(low, high) = op.getPairs("padding", rank);
    for (const Shape *numbers : {&sizes, &strides, &dilations, &baseDilations})
      for (int64_t number : *numbers)
        if (number < 1 || number > maxTensorBytes)
          throw ImportError("expected sizes, strides and dilations of windows of 1 or more, got " +
                            describe(*numbers));
  }
  static Shape given(Instruction &op, StringRef name, size_t rank) {
    return op.attribute(name) ? op.requiredInts(name, rank) : Shape(rank, 1);
  }
  /// Of one window, or one more than maxWindowElements.
  int64_t elements() const {
    int64_t product = 1;
    for (int64_t size : sizes)
      product = std::min(product * std::min(size, maxWindowElements + 1), maxWindowElements + 1);
    return product;
  }
  /// How many windows lie along `dim` of a padded extent.
  int64_t count(int64_t dim, int64_t extent) const {
    int64_t reach = (sizes[dim] - 1) * dilations[dim] + 1;
    return extent < reach ? 0 : (extent - reach) / strides[dim] + 1;
  }
};
} // namespace

/// `size` elements along `dim`, from `start`, `stride` apart.
static Value every(Emitter &emit, Value x, int64_t dim, int64_t start, int64_t size,
                   int64_t stride) {
  Shape starts(shapeOf(x).size(), 0), sizes(shapeOf(x)), strides(starts.size(), 1);
  starts[dim] = start;
  sizes[dim] = size;
  strides[dim] = stride;
  return emit.slice(x, starts, sizes, strides);
}

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

/// Joins two lists of values with the region.
static SmallVector<Value> join(Instruction &op, ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
  SmallVector<Value> operands(lhs);
  operands.append(rhs.begin(), rhs.end());
  SmallVector<Value> joined = op.walker.lift(op.region(0), operands);
  if (joined.size() != lhs.size())
    throw ImportError("expected as many results of its region as it reduces values");
  return joined;
}

/// Windows along one dimension. Those of 2^k elements are made of two of half the size each; one of
/// any size is made of the powers in it, left to right.
static SmallVector<Value> reduceAlong(Instruction &op, SmallVector<Value> values, int64_t dim,
                                      const Windows &windows) {
  int64_t extent = shapeOf(values.front())[dim], size = windows.sizes[dim];
  int64_t dilation = windows.dilations[dim], count = windows.count(dim, extent);
  int64_t stride = windows.strides[dim];
  SmallVector<Value> result;
  int64_t covered = 0; // elements of each window that `result` holds
  for (int64_t power = 1;; power *= 2) {
    if (size & power) {
      SmallVector<Value> part;
      for (Value value : values)
        part.push_back(every(op.emit, value, dim, covered * dilation, count, stride));
      result = result.empty() ? part : join(op, result, part);
      covered += power;
    }
    if (covered == size)
      return result;
    // Windows of twice as many elements.
    int64_t reach = power * dilation, left = shapeOf(values.front())[dim] - reach;
    SmallVector<Value> first, second;
    for (Value value : values) {
      first.push_back(op.emit.sliceDim(value, dim, 0, left));
      second.push_back(op.emit.sliceDim(value, dim, reach, left));
    }
    values = join(op, first, second);
  }
}

/// Running sums: windows that reach from one end to each element.
static Value asCumsum(Instruction &op, Value x, Value init, const Windows &windows) {
  int64_t along = -1;
  for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim) {
    if (windows.strides[dim] != 1 || windows.dilations[dim] != 1 || windows.baseDilations[dim] != 1)
      return {};
    if (windows.sizes[dim] == 1 && windows.low[dim] == 0 && windows.high[dim] == 0)
      continue;
    int64_t size = shapeOf(x)[dim], rest = windows.low[dim] + windows.high[dim];
    if (along >= 0 || windows.sizes[dim] != size || rest != size - 1 ||
        (windows.low[dim] != 0 && windows.high[dim] != 0))
      return {};
    along = dim;
  }
  const Tensor *known = op.emit.valueOf(init);
  bool isZero = known && llvm::all_of(known->raw(), [](char byte) { return byte == 0; });
  if (along < 0 || !isZero || reduceKindOf(op.region(0)) != ReduceKind::Sum)
    return {};
  bool reverse = windows.low[along] == 0;
  Emitter &emit = op.emit;
  return emit.create<CumsumOp>(typeOf(x), x, along, /*exclusive=*/false, reverse);
}

static Value asWindows(Instruction &op, ReduceKind kind, Value x, const Windows &windows) {
  RankedTensorType type = op.resultType();
  bool isDilated = llvm::any_of(windows.baseDilations, [](int64_t number) { return number != 1; });
  OpBuilder &builder = op.emit.builder;
  auto dilated =
      isDilated ? builder.getDenseI64ArrayAttr(windows.baseDilations) : DenseI64ArrayAttr();
  return op.emit.create<ReduceWindowOp>(type, kind, x, windows.sizes, windows.strides,
                                        windows.dilations, windows.low, windows.high, dilated);
}

static void importReduceWindow(Instruction &op) {
  size_t count = op.operands() / 2;
  if (count == 0 || op.operands() != 2 * count || op.results() != count)
    throw ImportError("expected an initial value for each input and a result for each");
  SmallVector<Value> values = op.operandsFrom(0, count), inits = op.operandsFrom(count, 2 * count);
  Windows windows(op, typeOf(values.front()).getRank());
  for (auto [value, init] : llvm::zip_equal(values, inits))
    if (shapeOf(value) != shapeOf(values.front()) || typeOf(init).getRank() != 0 ||
        elementOf(init) != elementOf(value))
      throw ImportError("cannot reduce " + describe(value) + " from " + describe(init));
  for (size_t index = 0; index < count; ++index)
    if (op.resultType(index).getNumElements() == 0)
      throw ImportError("its result has no elements, which is not supported");
  if (count == 1)
    if (Value sums = asCumsum(op, values.front(), inits.front(), windows))
      return op.result(sums);
  std::optional<ReduceKind> kind = count == 1 ? reduceKindOf(op.region(0)) : std::nullopt;
  if (kind && windows.elements() <= maxWindowElements)
    return op.result(
        emitJoinInit(op.emit, *kind, asWindows(op, *kind, values.front(), windows), inits.front()));
  Shape interior(windows.baseDilations);
  for (int64_t &number : interior)
    --number;
  // What pads is not part of any window; where the region is known, so is what changes nothing.
  for (auto [value, init] : llvm::zip_equal(values, inits)) {
    Value padding = kind ? op.emit.like(init, identityOf(*kind, elementOf(init))) : init;
    value = emitPad(op.emit, value, padding, windows.low, windows.high, interior);
  }
  for (int64_t dim = 0; dim < typeOf(values.front()).getRank(); ++dim) {
    if (windows.count(dim, shapeOf(values.front())[dim]) == 0)
      throw ImportError("its windows do not fit");
    values = reduceAlong(op, values, dim, windows);
  }
  for (auto [index, value] : llvm::enumerate(values))
    op.result(index, kind ? emitJoinInit(op.emit, *kind, value, inits[index]) : value);
}

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

/// Each window chooses one element; the source's element is joined into its place. All windows'
/// elements at one place in the window are one strided slice.
class SelectAndScatter {
public:
  SelectAndScatter(Instruction &op, Value x, Value source, Value init, const Windows &windows)
      : op(op), emit(op.emit), windows(windows), source(source), init(init) {
    // The element chosen is one of x: what pads it must not be. Places are compared beside values.
    if (windows.elements() > maxWindowElements)
      throw ImportError("windows of more than " + std::to_string(maxWindowElements) +
                        " elements are not supported");
    Value zero = emit.splat(RankedTensorType::get({}, elementOf(x)), 0);
    Value all = emit.splat(typeOf(x).clone(emit.builder.getI1Type()), 1);
    Value none = emit.splat(RankedTensorType::get({}, emit.builder.getI1Type()), 0);
    Shape interior(windows.sizes.size(), 0);
    padded = emitPad(emit, x, zero, windows.low, windows.high, interior);
    inside = emitPad(emit, all, none, windows.low, windows.high, interior);
    for (auto [dim, size] : llvm::enumerate(shapeOf(padded)))
      if (windows.count(dim, size) != shapeOf(source)[dim])
        throw ImportError("source " + describe(source) + " has not one element for each window");
  }

  Value run() {
    choose();
    std::optional<ReduceKind> kind = reduceKindOf(op.region(1));
    if (kind != ReduceKind::Sum)
      throw ImportError("its scatter region is not known: sums are supported");
    Value sum;
    forEachPlace([&](int64_t place, ArrayRef<int64_t> start) {
      Value mine = emit.compare(CompareDirection::EQ, chosen, emit.like(chosen, double(place)));
      Value part = spread(emit.select(mine, source, emit.like(source, 0)), start);
      sum = sum ? emit.binary<AddOp>(sum, part) : part;
    });
    Shape cutLow, cutHigh, none(windows.low.size(), 0);
    for (auto [low, high] : llvm::zip_equal(windows.low, windows.high)) {
      cutLow.push_back(-low);
      cutHigh.push_back(-high);
    }
    sum = emitPad(emit, sum, zeroOf(sum), cutLow, cutHigh, none);
    return emitJoinInit(emit, ReduceKind::Sum, sum, init);
  }

private:
  Value zeroOf(Value like) { return emit.splat(RankedTensorType::get({}, elementOf(like)), 0); }

  void forEachPlace(llvm::function_ref<void(int64_t, ArrayRef<int64_t>)> visit) {
    Shape start(windows.sizes.size(), 0);
    for (int64_t place = 0;; ++place) {
      visit(place, start);
      int64_t dim = start.size() - 1;
      while (dim >= 0 && ++start[dim] == windows.sizes[dim])
        start[dim--] = 0;
      if (dim < 0)
        return;
    }
  }

  /// The element that the region prefers, window by window; the first of equals.
  void choose() {
    Value best, isIn;
    forEachPlace([&](int64_t place, ArrayRef<int64_t> start) {
      Value value = emit.slice(padded, start, shapeOf(source), windows.strides);
      Value valueIn = emit.slice(inside, start, shapeOf(source), windows.strides);
      Value number = emit.splat(typeOf(source).clone(emit.builder.getI32Type()), double(place));
      if (!best) {
        best = value;
        isIn = valueIn;
        chosen = number;
        return;
      }
      Value keep = op.walker.lift(op.region(0), {best, value}).front();
      keep = emit.binary<AndOp>(keep, isIn);
      keep = emit.binary<OrOp>(keep, emit.unary<NotOp>(valueIn));
      best = emit.select(keep, best, value);
      chosen = emit.select(keep, chosen, number);
      isIn = emit.binary<OrOp>(isIn, valueIn);
    });
  }

  /// The windows' elements at `start` back into a tensor of the padded shape.
  Value spread(Value part, ArrayRef<int64_t> start) {
    Shape high, interior;
    for (auto [dim, stride] : llvm::enumerate(windows.strides)) {
      interior.push_back(stride - 1);
      int64_t end = start[dim] + (shapeOf(part)[dim] - 1) * stride + 1;
      high.push_back(shapeOf(padded)[dim] - end);
    }
    return emitPad(emit, part, zeroOf(part), start, high, interior);
  }

  Instruction &op;
  Emitter &emit;
  const Windows &windows;
  Value source, init, padded, inside, chosen;
};

static void importSelectAndScatter(Instruction &op) {
  op.expectOperands(3);
  Value x = op.operand(0), source = op.operand(1), init = op.operand(2);
  expectExactRank(source, typeOf(x).getRank());
  expectExactRank(init, 0);
  if (typeOf(source).getNumElements() == 0)
    throw ImportError("its source has no elements, which is not supported");
  Windows windows(op, typeOf(x).getRank());
  op.result(SelectAndScatter(op, x, source, init, windows).run());
}

void stablehlo::addWindows(OpTable &table) {
  table["stablehlo.reduce_window"] = importReduceWindow;
  table["stablehlo.select_and_scatter"] = importSelectAndScatter;
}
