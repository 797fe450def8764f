// Factor rules of WeftStructural.td and WeftSymbols.td, one case an operation, alphabetical.

#include "dialects/Weft/IR/RuleBuilder.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Windows.h"

#include <numeric>

using namespace mlir;
using namespace weft;

/// The rule of an operation on one tensor that keeps its shape and may be split wherever
/// `splittable` says.
static FactorRule sameShapeRule(Operation *op, SumLinearity linearity,
                                function_ref<bool(int64_t)> splittable) {
  RuleBuilder rule(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getOperand(0))))
    rule.parallelIf(splittable(dim), "d", size).in(0, dim).out(dim);
  return rule.take(linearity);
}

/// The rule of an operation without operands, any dimension of which may be split where
/// `splittable`.
static FactorRule sourceRule(Operation *op, bool splittable) {
  RuleBuilder rule(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getResult(0))))
    rule.parallelIf(splittable, "d", size).out(dim);
  return rule.take();
}

FactorRule BroadcastOp::getFactorRule() {
  RuleBuilder rule(*this);
  ArrayRef<int64_t> dims = getDims();
  for (auto [dim, size] : llvm::enumerate(shapeOf(getResult()))) {
    rule.parallel("d", size).out(dim);
    if (auto *at = llvm::find(dims, static_cast<int64_t>(dim)); at != dims.end())
      rule.in(0, at - dims.begin());
  }
  return rule.take(SumLinearity::Joint);
}

FactorRule ConcatOp::getFactorRule() {
  RuleBuilder rule(*this);
  for (auto [dim, size] : llvm::enumerate(shapeOf(getResult()))) {
    rule.parallelIf(dim != getAxis(), dim == getAxis() ? "c" : "d", size).out(dim);
    for (auto [operand, input] : llvm::enumerate(getInputs())) {
      if (dim == getAxis())
        rule.replicated("c", shapeOf(input)[dim]);
      rule.in(operand, dim);
    }
  }
  return rule.take(SumLinearity::Joint);
}

FactorRule ConstantOp::getFactorRule() { return sourceRule(*this, getValue().isSplat()); }

SmallVector<Value> ConstantOp::buildLocal(OpBuilder &builder, ValueRange, TypeRange resultTypes,
                                          LocalShards &) {
  auto value = cast<DenseElementsAttr>(getValue());
  if (value.isSplat())
    value = value.resizeSplat(cast<ShapedType>(resultTypes.front()));
  return {ConstantOp::create(builder, getLoc(), value)};
}

FactorRule CumsumOp::getFactorRule() {
  return sameShapeRule(*this, SumLinearity::Joint,
                       [&](int64_t dim) { return dim != static_cast<int64_t>(getAxis()); });
}

/// Along `axis` a shard yields the rows that it holds and zeros elsewhere: a partial sum.
FactorRule GatherOp::getFactorRule() {
  RuleBuilder rule(*this);
  rule.indexedBy(1);
  ArrayRef<int64_t> table = shapeOf(getTable()), indices = shapeOf(getIndices());
  int64_t axis = getAxis(), rows = indices.size();
  bool splittable = !getOffset() && !elementOf(getTable()).isInteger(1);
  if (splittable)
    rule.reduction("v", table[axis]).in(0, axis);
  else
    rule.replicated("v", table[axis]).in(0, axis);
  for (int64_t dim = 0; dim < axis; ++dim)
    rule.parallel("d", table[dim]).in(0, dim).out(dim);
  for (int64_t dim = 0; dim < rows; ++dim)
    rule.parallel("i", indices[dim]).in(1, dim).out(axis + dim);
  for (int64_t dim = axis + 1; dim < static_cast<int64_t>(table.size()); ++dim)
    rule.parallel("d", table[dim]).in(0, dim).out(dim - 1 + rows);
  return rule.take(SumLinearity::First);
}

/// A shard of the table is told where its rows start and how many the whole table has, so that an
/// index is checked against the whole before it is masked.
SmallVector<Value> GatherOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                        TypeRange resultTypes, LocalShards &shards) {
  constexpr unsigned rowFactor = 0; // getFactorRule adds it first
  if (getOffset() || !shards.isSplit(rowFactor))
    return cloneWithTypes(builder, *this, operands, resultTypes);
  auto extent = builder.getI64IntegerAttr(shapeOf(getTable())[getAxis()]);
  Value offset = shards.offset(builder, getLoc(), rowFactor);
  auto local = GatherOp::create(builder, getLoc(), resultTypes, operands[0], operands[1], offset,
                                getAxisAttr(), extent);
  local->setDiscardableAttrs(getOperation()->getDiscardableAttrDictionary());
  return {local.getResult()};
}

FactorRule GatherElementsOp::getFactorRule() {
  RuleBuilder rule(*this);
  rule.indexedBy(1);
  ArrayRef<int64_t> input = shapeOf(getInput()), indices = shapeOf(getIndices());
  for (auto [dim, size] : llvm::enumerate(indices)) {
    bool along = dim == getAxis();
    rule.parallelIf(along || size == input[dim], along ? "i" : "d", size).in(1, dim).out(dim);
    if (along || size != input[dim])
      rule.replicated("v", input[dim]);
    rule.in(0, dim);
  }
  return rule.take(SumLinearity::First);
}

FactorRule GatherNdOp::getFactorRule() {
  RuleBuilder rule(*this);
  rule.indexedBy(1);
  ArrayRef<int64_t> input = shapeOf(getInput()), indices = shapeOf(getIndices());
  int64_t batch = getBatchDims(), last = indices.size() - 1, used = batch + indices.back();
  for (int64_t dim = 0; dim < last; ++dim) {
    rule.parallel(dim < batch ? "b" : "i", indices[dim]).in(1, dim).out(dim);
    if (dim < batch)
      rule.in(0, dim);
  }
  rule.replicated("t", indices.back()).in(1, last);
  for (int64_t dim = batch; dim < static_cast<int64_t>(input.size()); ++dim) {
    rule.parallelIf(dim >= used, dim >= used ? "d" : "v", input[dim]).in(0, dim);
    if (dim >= used)
      rule.out(last + dim - used);
  }
  return rule.take(SumLinearity::First);
}

FactorRule IotaOp::getFactorRule() { return sourceRule(*this, /*splittable=*/true); }

/// Positions of a shard count from where it starts.
SmallVector<Value> IotaOp::buildLocal(OpBuilder &builder, ValueRange, TypeRange resultTypes,
                                      LocalShards &shards) {
  Type type = resultTypes.front();
  Value positions = IotaOp::create(builder, getLoc(), type, getDimAttr());
  if (!shards.isSplit(getDim()))
    return {positions};
  Value offset = shards.offset(builder, getLoc(), getDim());
  Type scalar = RankedTensorType::get({}, elementOf(positions));
  if (scalar != offset.getType())
    offset = CastOp::create(builder, getLoc(), scalar, offset);
  Value start = BroadcastOp::create(builder, getLoc(), type, offset, ArrayRef<int64_t>());
  return {AddOp::create(builder, getLoc(), positions, start)};
}

FactorRule LoadOp::getFactorRule() { return sourceRule(*this, /*splittable=*/true); }

FactorRule PadOp::getFactorRule() {
  RuleBuilder rule(*this);
  for (auto [dim, size] : llvm::enumerate(shapeOf(getInput()))) {
    bool whole = getLow()[dim] == 0 && getHigh()[dim] == 0;
    rule.parallelIf(whole, "d", size).in(0, dim);
    if (!whole)
      rule.replicated("p", shapeOf(getResult())[dim]);
    rule.out(dim);
  }
  return rule.take(SumLinearity::Joint);
}

FactorRule ReduceOp::getFactorRule() {
  RuleBuilder rule(*this);
  unsigned next = 0;
  for (auto [dim, size] : llvm::enumerate(shapeOf(getInput()))) {
    if (llvm::is_contained(getDims(), static_cast<int64_t>(dim)))
      rule.reduction("k", size, getKind()).in(0, dim);
    else
      rule.parallel("d", size).in(0, dim).out(next++);
  }
  return rule.take(getKind() == ReduceKind::Sum ? SumLinearity::Joint : SumLinearity::None);
}

/// Space is not split: windows would need their neighbours' borders.
FactorRule ReduceWindowOp::getFactorRule() {
  RuleBuilder rule(*this);
  for (auto [dim, window] : llvm::enumerate(windowsOf(*this))) {
    rule.parallelIf(window.isTrivial(), window.isTrivial() ? "d" : "x", window.extent).in(0, dim);
    if (!window.isTrivial())
      rule.replicated("y", shapeOf(getResult())[dim]);
    rule.out(dim);
  }
  return rule.take(getKind() == ReduceKind::Sum ? SumLinearity::Joint : SumLinearity::None);
}

/// The common refinement of the two shapes. Walking both from the major end, what is left of the
/// two present dimensions has a common stride, so their greatest common divisor is a factor of
/// both:
///   4x32x96 -> 128x12x8:  ([d, d1, (d2 d3)]) -> ([(d d1), d2, d3]) {d=4, d1=32, d2=12, d3=8}
/// Where nothing is common (6x4 -> 8x3 after the 2), the rest of both up to the next common
/// boundary stays whole.
FactorRule ReshapeOp::getFactorRule() {
  ArrayRef<int64_t> from = shapeOf(getInput()), to = shapeOf(getResult());
  if (llvm::is_contained(from, 0))
    return FactorRule::replicated(*this);
  RuleBuilder rule(*this);
  size_t i = 0, j = 0;
  int64_t left = 1, right = 1;   // what is not yet in factors of from[i - 1] and of to[j - 1]
  bool aligned = true;           // whether both sides stand at one stride
  int64_t ahead = 1, behind = 1; // products since alignment was lost
  while (true) {
    while (left == 1 && i < from.size())
      left = from[i++];
    while (right == 1 && j < to.size())
      right = to[j++];
    if (left == 1 && right == 1)
      break;
    int64_t common = aligned ? std::gcd(left, right) : 1;
    if (common > 1) {
      rule.parallel("d", common).in(0, i - 1).out(j - 1);
      left /= common, right /= common;
      continue;
    }
    aligned = false;
    if (ahead <= behind && left > 1) {
      rule.replicated("r", left).in(0, i - 1);
      ahead *= std::exchange(left, 1);
    } else {
      rule.replicated("r", right).out(j - 1);
      behind *= std::exchange(right, 1);
    }
    aligned = ahead == behind;
  }
  return rule.take(SumLinearity::Joint);
}

FactorRule ReverseOp::getFactorRule() {
  return sameShapeRule(*this, SumLinearity::Joint,
                       [&](int64_t dim) { return !llvm::is_contained(getDims(), dim); });
}

/// Whether updates may be shared out, each shard giving a partial sum: they are added to nothing.
template <typename Scatter> static bool addsToZeros(Scatter op) {
  return op.getKind() == ScatterKind::Add && splatNumber(op.getInput()) == 0.0;
}

/// Along `axis` a shard takes the updates of the rows that it holds.
FactorRule ScatterElementsOp::getFactorRule() {
  RuleBuilder rule(*this);
  rule.indexedBy(1);
  ArrayRef<int64_t> input = shapeOf(getInput()), indices = shapeOf(getIndices());
  for (auto [dim, size] : llvm::enumerate(input)) {
    bool along = dim == getAxis(), matches = !along && size == indices[dim];
    rule.parallelIf(matches || (along && !getOffset()), matches ? "d" : "v", size);
    rule.in(0, dim).out(dim);
    if (along && addsToZeros(*this))
      rule.reduction("i", indices[dim]);
    else if (!matches)
      rule.replicated("i", indices[dim]);
    rule.in(1, dim).in(2, dim);
  }
  return rule.take();
}

/// As LocalShards::offset, of the factor of dimension `dim` of the input.
template <typename Scatter>
static Value getShardOffset(Scatter op, OpBuilder &builder, int64_t dim, LocalShards &shards) {
  FactorRule rule = op.getFactorRule();
  const DimFactors &factors = rule.operands[0][dim];
  if (op.getOffset() || factors.empty() || !shards.isSplit(factors.front()))
    return {};
  return shards.offset(builder, op.getLoc(), factors.front());
}

/// A shard is told where its rows start and how many there are in all, so that an index is checked
/// against the whole before it is left out.
SmallVector<Value> ScatterElementsOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                                 TypeRange resultTypes, LocalShards &shards) {
  Value offset = getShardOffset(*this, builder, getAxis(), shards);
  if (!offset)
    return cloneWithTypes(builder, *this, operands, resultTypes);
  auto extent = builder.getI64IntegerAttr(shapeOf(getInput())[getAxis()]);
  auto local = ScatterElementsOp::create(builder, getLoc(), resultTypes, getKindAttr(), operands[0],
                                         operands[1], operands[2], offset, getAxisAttr(),
                                         getDropAttr(), extent);
  local->setDiscardableAttrs(getOperation()->getDiscardableAttrDictionary());
  return {local.getResult()};
}

/// The first indexed dimension may be split: a shard takes the slices that it holds.
FactorRule ScatterNdOp::getFactorRule() {
  RuleBuilder rule(*this);
  rule.indexedBy(1);
  ArrayRef<int64_t> input = shapeOf(getInput()), indices = shapeOf(getIndices());
  int64_t last = indices.size() - 1, used = indices.back();
  for (int64_t dim = 0; dim < last; ++dim) {
    if (addsToZeros(*this))
      rule.reduction("i", indices[dim]).in(1, dim).in(2, dim);
    else
      rule.replicated("i", indices[dim]).in(1, dim).in(2, dim);
  }
  rule.replicated("t", used).in(1, last);
  for (int64_t dim = 0; dim < static_cast<int64_t>(input.size()); ++dim) {
    bool splits = dim >= used || (dim == 0 && !getOffset());
    rule.parallelIf(splits, dim >= used ? "d" : "v", input[dim]).in(0, dim).out(dim);
    if (dim >= used)
      rule.in(2, last + dim - used);
  }
  return rule.take();
}

SmallVector<Value> ScatterNdOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                           TypeRange resultTypes, LocalShards &shards) {
  bool indexes = shapeOf(getIndices()).back() > 0;
  Value offset = indexes ? getShardOffset(*this, builder, 0, shards) : Value();
  if (!offset)
    return cloneWithTypes(builder, *this, operands, resultTypes);
  auto extent = builder.getI64IntegerAttr(shapeOf(getInput()).front());
  auto local = ScatterNdOp::create(builder, getLoc(), resultTypes, getKindAttr(), operands[0],
                                   operands[1], operands[2], offset, getDropAttr(), extent);
  local->setDiscardableAttrs(getOperation()->getDiscardableAttrDictionary());
  return {local.getResult()};
}

FactorRule SliceOp::getFactorRule() {
  RuleBuilder rule(*this);
  ArrayRef<int64_t> from = shapeOf(getInput()), to = shapeOf(getResult());
  for (auto [dim, size] : llvm::enumerate(from)) {
    bool whole = size == to[dim];
    rule.parallelIf(whole, whole ? "d" : "r", size).in(0, dim);
    if (!whole)
      rule.replicated("r", to[dim]);
    rule.out(dim);
  }
  return rule.take(SumLinearity::Joint);
}

FactorRule SortOp::getFactorRule() {
  RuleBuilder rule(*this);
  ArrayRef<int64_t> input = shapeOf(getInput());
  for (auto [dim, size] : llvm::enumerate(shapeOf(getValues()))) {
    bool along = dim == getAxis();
    rule.parallelIf(!along, along ? "s" : "d", input[dim]).in(0, dim);
    if (size != input[dim])
      rule.replicated("k", size);
    rule.out(dim, 0).out(dim, 1);
  }
  return rule.take();
}

FactorRule StoreOp::getFactorRule() {
  RuleBuilder rule(*this);
  for (auto [dim, size] : llvm::enumerate(shapeOf(getValue())))
    rule.parallel("d", size).in(0, dim);
  return rule.take();
}

FactorRule TransposeOp::getFactorRule() {
  RuleBuilder rule(*this);
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [dim, source] : llvm::enumerate(getPermutation()))
    inverse[source] = dim;
  for (auto [dim, size] : llvm::enumerate(shapeOf(getInput())))
    rule.parallel("d", size).in(0, dim).out(inverse[dim]);
  return rule.take(SumLinearity::Joint);
}
