// Structural operations of random models.
#include "compiler/Interpret/Numbers.h"
#include "compiler/Interpret/Strided.h"
#include "test/property/Generator.h"

using namespace mlir;
using namespace weft;
using namespace weft::property;

bool Generator::broadcast() {
  Node node = pick();
  if (node.tensor.size() > 512)
    return false;
  SmallVector<int64_t> shape, dims;
  for (int64_t dim = 0; dim <= node.rank(); ++dim) {
    if (random.oneIn(3))
      shape.push_back(random.pick<int64_t>({2, 3, 4}));
    if (dim == node.rank())
      break;
    dims.push_back(shape.size());
    shape.push_back(node.shape()[dim] == 1 ? extent() : node.shape()[dim]);
  }
  return bool(broadcastTo(node, node.type().clone(shape), dims));
}

bool Generator::concat() {
  Node node = pick(1);
  int64_t axis = random.below(node.rank());
  SmallVector<Value> parts{node.value};
  bool exact = node.exact;
  for (int64_t count = random.between(1, 2); count > 0; --count) {
    SmallVector<int64_t> shape(node.shape());
    if (random.oneIn(2))
      shape[axis] = extent();
    Node part = shape == node.shape() ? partner(node) : leaf(f32(shape), -2, 2);
    exact &= part.exact;
    parts.push_back(part.value);
  }
  random.shuffle(parts);
  return bool(take(ConcatOp::create(builder, location(), parts, axis), exact));
}

bool Generator::cumsum() {
  Node node = random.oneIn(2) ? pick(1) : pickInteger();
  if (node.rank() == 0)
    return false;
  auto flag = [&] { return random.oneIn(2) ? builder.getUnitAttr() : UnitAttr(); };
  return bool(
      take(CumsumOp::create(builder, location(), node.type(), node.value,
                            builder.getI64IntegerAttr(random.below(node.rank())), flag(), flag()),
           !isFloat(node.tensor.kind())));
}

bool Generator::gather() {
  Node table = random.oneIn(2)
                   ? addWeight(f32({random.pick<int64_t>({7, 8, 12, 16}), extent() * 2}), -2, 2)
                   : pick(1);
  int64_t axis = random.oneIn(2) ? 0 : random.below(table.rank());
  Node index = indices(randomShape(random.between(0, 2)), table.shape()[axis]);
  return bool(
      take(GatherOp::create(builder, location(), table.value, index.value, axis), table.exact));
}

bool Generator::gatherElements() {
  Node node = pick(1);
  int64_t axis = random.below(node.rank());
  SmallVector<int64_t> shape(node.shape());
  shape[axis] = extent();
  Node index = indices(shape, node.shape()[axis]);
  return bool(take(GatherElementsOp::create(builder, location(), node.value, index.value, axis),
                   node.exact));
}

bool Generator::gatherNd() {
  Node node = pick(2);
  int64_t batch = random.below(2);
  SmallVector<int64_t> shape(node.shape().take_front(batch));
  shape.push_back(extent());
  shape.push_back(1);
  Node index = indices(shape, node.shape()[batch]);
  return bool(
      take(GatherNdOp::create(builder, location(), node.value, index.value, batch), node.exact));
}

bool Generator::iota() {
  SmallVector<int64_t> shape = randomShape(random.between(1, 3));
  Node positions =
      take(IotaOp::create(builder, location(), i64(shape), random.below(shape.size())), true);
  return bool(apply("add", {positions, leaf(positions.type(), -9, 9)}, true));
}

/// Moves, selects or joins elements of a type other than f32 and i64. Floats narrower than f32 are
/// not added up: their sums depend on the order.
bool Generator::otherType() {
  Type elements[] = {builder.getF16Type(),
                     builder.getBF16Type(),
                     builder.getF64Type(),
                     builder.getIntegerType(8),
                     builder.getIntegerType(16),
                     builder.getIntegerType(32),
                     builder.getIntegerType(8, false),
                     builder.getIntegerType(16, false),
                     builder.getIntegerType(32, false),
                     builder.getIntegerType(64, false)};
  Type element = elements[random.below(10)];
  Node node = cast(pick(1, /*exact=*/true), element);
  bool adds = !element.isF16() && !element.isBF16();
  int64_t axis = random.below(node.rank());
  switch (random.below(adds ? 5 : 4)) {
  case 0: { // joined with itself in reverse
    SmallVector<int64_t> dims{axis};
    Node reverse =
        take(ReverseOp::create(builder, location(), node.type(), node.value, dims), node.exact);
    node = apply("max", {node, reverse}, true);
    break;
  }
  case 1:
    node = take(ConcatOp::create(builder, location(), ValueRange{node.value, node.value}, axis),
                node.exact);
    break;
  case 2: {
    Node index = indices(randomShape(random.between(0, 2)), node.shape()[axis]);
    node = take(GatherOp::create(builder, location(), node.value, index.value, axis), node.exact);
    break;
  }
  default: {
    bool exact = node.exact && !element.isF64();
    auto kind = adds && random.oneIn(2) ? ReduceKind::Sum : ReduceKind(1 + random.below(2));
    SmallVector<int64_t> dims{axis};
    node = take(ReduceOp::create(builder, location(), kind, node.value, dims), exact);
    break;
  }
  }
  return random.oneIn(4) || bool(cast(node, builder.getF32Type()));
}

bool Generator::pad() {
  Node node = pick();
  SmallVector<int64_t> low, high;
  for (int64_t dim = 0; dim < node.rank(); ++dim) {
    bool padded = random.oneIn(2);
    low.push_back(padded ? random.below(3) : 0);
    high.push_back(padded ? random.below(4) : 0);
  }
  Node value = splat(f32({}), 0.25);
  return bool(
      take(PadOp::create(builder, location(), node.value, value.value, low, high), node.exact));
}

bool Generator::reduce() {
  Node node = random.oneIn(4) ? pickInteger() : pick(1);
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < node.rank(); ++dim)
    if (random.oneIn(2))
      dims.push_back(dim);
  auto kind = ReduceKind(random.below(4));
  if (kind == ReduceKind::Prod) // keeps products of many factors in range
    node = isFloat(node.tensor.kind()) ? unitRange(node) : apply("sign", {node}, true);
  bool exact = !isFloat(node.tensor.kind()) || kind == ReduceKind::Max || kind == ReduceKind::Min;
  return bool(
      take(ReduceOp::create(builder, location(), kind, node.value, dims), exact && node.exact));
}

bool Generator::reduceWindow() {
  Node node = random.oneIn(3) ? pickInteger() : pick(1);
  if (node.tensor.size() > 2048)
    return false;
  auto kind = ReduceKind(random.below(3)); // products of many would leave the range
  SmallVector<int64_t> window, strides, dilations, low, high, spread;
  for (int64_t size : node.shape()) {
    bool whole = random.oneIn(2);
    int64_t inputDilation = whole || random.oneIn(2) ? 1 : random.between(1, 2);
    int64_t extent = (size - 1) * inputDilation + 1;
    spread.push_back(inputDilation);
    dilations.push_back(random.between(1, 2));
    window.push_back(whole ? 1 : random.between(1, std::min<int64_t>(3, (extent - 1) / 2 + 1)));
    strides.push_back(whole ? 1 : random.between(1, 3));
    // Every window holds an element: identities of max and min are not finite.
    int64_t most = inputDilation == 1 ? dilations.back() * (window.back() - 1) : 0;
    low.push_back(whole ? 0 : random.between(most ? -1 : 0, most));
    high.push_back(whole ? 0 : random.between(0, most));
    if (extent + low.back() + high.back() < dilations.back() * (window.back() - 1) + 1)
      return false;
  }
  DenseI64ArrayAttr inputDilations;
  if (llvm::any_of(spread, [](int64_t dilation) { return dilation != 1; })) {
    kind = ReduceKind::Sum;
    inputDilations = builder.getDenseI64ArrayAttr(spread);
  }
  bool exact = !isFloat(node.tensor.kind()) || kind != ReduceKind::Sum;
  return bool(take(ReduceWindowOp::create(builder, location(), kind, node.value, window, strides,
                                          dilations, low, high, inputDilations),
                   exact && node.exact));
}

bool Generator::reshapeStep() { return bool(pickRank(random.between(1, 4))); }

bool Generator::reverse() {
  Node node = pick(1);
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < node.rank(); ++dim)
    if (random.oneIn(2))
      dims.push_back(dim);
  return bool(
      take(ReverseOp::create(builder, location(), node.type(), node.value, dims), node.exact));
}

/// `count` indices of rows: none twice for `Set`. With `drops` some lie outside; without it some
/// count from the end.
static std::vector<int64_t> scatterIndices(Random &random, int64_t count, int64_t extent,
                                           ScatterKind kind, bool drops) {
  std::vector<int64_t> all(std::max(count, extent));
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = int64_t(i) % extent;
  if (kind != ScatterKind::Set)
    for (int64_t &index : all)
      index = random.below(extent);
  random.shuffle(all);
  all.resize(count);
  if (drops)
    all[random.below(count)] = random.pick<int64_t>({-1, extent, extent + 7, -extent - 3});
  else
    all[0] -= extent;
  return all;
}

/// Into a value, or into zeros, which alone may be done in parts.
Node Generator::scatterTarget() {
  Node node = pick(1);
  return random.oneIn(3) ? splat(node.type(), 0) : node;
}

bool Generator::scatterElements() {
  Node node = scatterTarget();
  auto kind = ScatterKind(random.below(5));
  bool drops = random.oneIn(3), repeats = kind != ScatterKind::Set;
  int64_t axis = random.below(node.rank()), extent = node.shape()[axis];
  SmallVector<int64_t> shape(node.shape());
  shape[axis] = random.between(1, repeats ? extent + 2 : extent);
  int64_t inner = elementCount(ArrayRef(shape).drop_front(axis + 1)),
          outer = elementCount(ArrayRef(shape).take_front(axis));
  std::vector<int64_t> numbers(elementCount(shape));
  for (int64_t block = 0; block < outer; ++block)
    for (int64_t column = 0; column < inner; ++column)
      for (auto [i, index] :
           llvm::enumerate(scatterIndices(random, shape[axis], extent, kind, drops)))
        numbers[(block * shape[axis] + i) * inner + column] = index;
  Node index = leafOf(tensorOf(i64(shape), numbers)), updates = leaf(f32(shape), -2, 2);
  bool isExact = kind != ScatterKind::Add && kind != ScatterKind::Mul;
  return bool(take(ScatterElementsOp::create(builder, location(), node.type(), kind, node.value,
                                             index.value, updates.value, axis, drops),
                   node.exact && isExact));
}

bool Generator::scatterNd() {
  Node node = scatterTarget();
  auto kind = ScatterKind(random.below(5));
  bool drops = random.oneIn(3), repeats = kind != ScatterKind::Set;
  int64_t depth = random.between(1, std::min<int64_t>(node.rank(), 2));
  int64_t rows = elementCount(node.shape().take_front(depth));
  int64_t count = random.between(1, std::min<int64_t>(repeats ? rows + 3 : rows, 24));
  std::vector<int64_t> numbers;
  for (int64_t row : scatterIndices(random, count, rows, kind, drops)) {
    int64_t width = depth == 2 ? node.shape()[1] : 1, column = (row % width + width) % width;
    numbers.push_back((row - column) / width);
    if (depth == 2)
      numbers.push_back(column);
  }
  SmallVector<int64_t> shape(node.shape().drop_front(depth));
  shape.insert(shape.begin(), count);
  Node index = leafOf(tensorOf(i64({count, depth}), numbers)), updates = leaf(f32(shape), -2, 2);
  bool isExact = kind != ScatterKind::Add && kind != ScatterKind::Mul;
  return bool(take(ScatterNdOp::create(builder, location(), node.type(), kind, node.value,
                                       index.value, updates.value, drops),
                   node.exact && isExact));
}

bool Generator::sliceStep() {
  Node node = pick(1);
  SmallVector<int64_t> starts, shape, strides;
  for (int64_t size : node.shape()) {
    bool whole = random.oneIn(2);
    int64_t stride = whole ? 1 : random.between(1, 2), start = whole ? 0 : random.below(size);
    starts.push_back(start);
    strides.push_back(stride);
    shape.push_back(whole ? size : random.between(1, (size - start - 1) / stride + 1));
  }
  return bool(take(SliceOp::create(builder, location(), f32(shape), node.value, starts, strides),
                   node.exact));
}

/// Sorts a value, or takes some of its extremes; another may follow it.
bool Generator::sort() {
  Node node = random.oneIn(3) ? pickInteger() : pick(1, /*exact=*/true);
  if (node.rank() == 0)
    return false;
  int64_t axis = random.below(node.rank()), extent = node.shape()[axis];
  int64_t count = random.oneIn(2) ? extent : random.between(1, extent);
  auto sorted = SortOp::create(builder, location(), node.value, axis, count, random.oneIn(2));
  Node values = take(sorted, true);
  if (!isFloat(node.tensor.kind()) || random.oneIn(2))
    return bool(values);
  Node payload = partner(node);
  return bool(take(
      GatherElementsOp::create(builder, location(), payload.value, sorted.getPositions(), axis),
      payload.exact));
}

bool Generator::transposeStep() {
  Node node = pick(2);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, node.rank()));
  random.shuffle(order);
  return bool(transpose(node, order));
}
