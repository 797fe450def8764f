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
                     builder.getIntegerType(8, false)};
  Type element = elements[random.below(7)];
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

/// `count` indices below `extent`, none twice (one counted from the end).
static std::vector<int64_t> distinctIndices(Random &random, int64_t count, int64_t extent) {
  std::vector<int64_t> all(extent);
  for (int64_t i = 0; i < extent; ++i)
    all[i] = i;
  random.shuffle(all);
  all.resize(count);
  all[0] -= extent;
  return all;
}

bool Generator::scatterInto(const Node &node, ArrayRef<int64_t> indexShape,
                            const std::vector<int64_t> &numbers, ArrayRef<int64_t> updateShape,
                            int64_t axis) {
  Node index = leafOf(tensorOf(i64(indexShape), numbers));
  Node updates = leaf(f32(updateShape), -2, 2);
  auto kind = ScatterKind(random.below(5));
  bool exact = node.exact && kind != ScatterKind::Add && kind != ScatterKind::Mul;
  if (axis < 0)
    return bool(take(ScatterNdOp::create(builder, location(), node.type(), kind, node.value,
                                         index.value, updates.value),
                     exact));
  return bool(take(ScatterElementsOp::create(builder, location(), node.type(), kind, node.value,
                                             index.value, updates.value, axis),
                   exact));
}

bool Generator::scatterElements() {
  Node node = pick(1);
  int64_t axis = random.below(node.rank()), extent = node.shape()[axis];
  SmallVector<int64_t> shape(node.shape());
  shape[axis] = random.between(1, extent);
  int64_t inner = elementCount(ArrayRef(shape).drop_front(axis + 1)),
          outer = elementCount(ArrayRef(shape).take_front(axis));
  std::vector<int64_t> numbers(elementCount(shape));
  for (int64_t block = 0; block < outer; ++block)
    for (int64_t column = 0; column < inner; ++column)
      for (auto [i, index] : llvm::enumerate(distinctIndices(random, shape[axis], extent)))
        numbers[(block * shape[axis] + i) * inner + column] = index;
  return scatterInto(node, shape, numbers, shape, axis);
}

bool Generator::scatterNd() {
  Node node = pick(1);
  int64_t rows = node.shape()[0], count = random.between(1, rows);
  SmallVector<int64_t> shape(node.shape());
  shape[0] = count;
  return scatterInto(node, {count, 1}, distinctIndices(random, count, rows), shape, -1);
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

bool Generator::transposeStep() {
  Node node = pick(2);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, node.rank()));
  random.shuffle(order);
  return bool(transpose(node, order));
}
