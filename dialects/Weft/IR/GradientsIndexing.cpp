// Gradients of gathers and scatters (WeftStructural.td), one case an operation, alphabetical: that
// of a gather adds up by a scatter what was taken from one place, that of a scatter gathers.

#include "dialects/Weft/IR/GradientBuilder.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// `indices` with one more dimension, of one.
static Value asTuples(GradientBuilder &b, Value indices) {
  SmallVector<int64_t> shape(shapeOf(indices));
  shape.push_back(1);
  return b.reshape(indices, shape);
}

/// The gradient [outer…, indices…, inner…] goes to rows of the table with its axis in front.
LogicalResult GatherOp::buildGradients(GradientBuilder &b) {
  if (getOffset())
    return failure();
  int64_t axis = getAxis(), rank = rankOf(getTable()), width = rankOf(getIndices());
  SmallVector<int64_t> toFront, fromFront, rows{shapeOf(getTable())[axis]};
  for (int64_t dim = 0; dim < width; ++dim)
    toFront.push_back(axis + dim);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis) {
      toFront.push_back(dim < axis ? dim : dim - 1 + width);
      rows.push_back(shapeOf(getTable())[dim]);
    }
  for (int64_t dim = 0; dim < rank; ++dim)
    fromFront.push_back(dim == axis ? 0 : dim < axis ? dim + 1 : dim);
  Value updates = axis == 0 ? b.of() : b.make<TransposeOp>(b.of(), toFront);
  auto type = RankedTensorType::get(rows, elementOf(getTable()));
  Value sum = b.make<ScatterNdOp>(type, ScatterKind::Add, b.splat(type, 0.0),
                                  asTuples(b, getIndices()), updates);
  b.set(0, axis == 0 ? sum : b.make<TransposeOp>(sum, fromFront));
  return success();
}

LogicalResult GatherElementsOp::buildGradients(GradientBuilder &b) {
  b.set(0, b.make<ScatterElementsOp>(getInput().getType(), ScatterKind::Add,
                                     b.splat(getInput(), 0.0), getIndices(), b.of(), getAxis()));
  return success();
}

/// Index tuples that hold the numbers of their batches, too.
static Value withBatches(GradientBuilder &b, GatherNdOp op) {
  Type wide = Builder(op.getContext()).getI64Type();
  Value indices = b.castTo(op.getIndices(), wide);
  SmallVector<int64_t> shape(shapeOf(indices));
  int64_t axis = shape.size() - 1;
  shape.back() = 1;
  SmallVector<Value> parts;
  for (int64_t dim = 0; dim < int64_t(op.getBatchDims()); ++dim)
    parts.push_back(b.make<IotaOp>(RankedTensorType::get(shape, wide), dim));
  parts.push_back(indices);
  return b.make<ConcatOp>(parts, axis);
}

LogicalResult GatherNdOp::buildGradients(GradientBuilder &b) {
  Value indices = getBatchDims() == 0 ? getIndices() : withBatches(b, *this);
  b.set(0, b.make<ScatterNdOp>(getInput().getType(), ScatterKind::Add, b.splat(getInput(), 0.0),
                               indices, b.of()));
  return success();
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

namespace {
/// What the gradients of both scatters need of them: to gather from where updates went, and to
/// scatter other values to there.
class Scatter {
public:
  Scatter(GradientBuilder &b, ScatterElementsOp op) : Scatter(b, op, op.getKind(), op.getDrop()) {
    axis = op.getAxis();
    if (op.getDrop())
      clamp(shapeOf(input)[*axis]);
  }

  Scatter(GradientBuilder &b, ScatterNdOp op) : Scatter(b, op, op.getKind(), op.getDrop()) {
    if (op.getDrop())
      clamp(shapeOf(input).take_front(shapeOf(indices).back()));
  }

  void build();

private:
  Scatter(GradientBuilder &b, Operation *op, ScatterKind kind, bool drops)
      : b(b), kind(kind), drops(drops), input(op->getOperand(0)), indices(op->getOperand(1)),
        places(indices), updates(op->getOperand(2)), result(op->getResult(0)),
        wide(Builder(op->getContext()).getI64Type()) {}

  void clamp(ArrayRef<int64_t> limits);
  Value gather(Value from);
  Value gatherTuples(Value from);
  Value scatter(ScatterKind kind, Value into, Value of);
  Value isZero(Value value) {
    return b.make<CompareOp>(CompareDirection::EQ, value, b.splat(value, 0.0));
  }
  /// Which updates are there at the end: the last to each place; null if all.
  Value last();

  void buildAdd();
  void buildSet();
  void buildMul();
  void buildExtreme();

  GradientBuilder &b;
  ScatterKind kind;
  bool drops;
  Value input, indices, places, updates, result; ///< places: indices, all of them within limits
  Type wide;
  std::optional<int64_t> axis; ///< none: scatter_nd
  Value inside;                ///< which indices (elements, or tuples) are not dropped; null: all
};
} // namespace

/// Finds which indices are dropped, and sends these anywhere. `limits` has one entry, or one for
/// each of a tuple.
void Scatter::clamp(ArrayRef<int64_t> limits) {
  Value numbers = b.castTo(indices, wide);
  auto type = cast<RankedTensorType>(numbers.getType());
  auto constant = [&](ArrayRef<int64_t> values) {
    int64_t last = type.getRank() - 1;
    SmallVector<int64_t> dims{last}, shape{type.getDimSize(last)};
    if (axis || values.size() == 1)
      return Value(b.make<ConstantOp>(DenseElementsAttr::get(type, values.front())));
    auto row = DenseElementsAttr::get(RankedTensorType::get(shape, wide), values);
    return b.broadcast(b.make<ConstantOp>(row), type, dims);
  };
  if (!axis && limits.empty())
    return;
  Value none = constant(SmallVector<int64_t>(limits.size(), 0));
  SmallVector<int64_t> greatest;
  for (int64_t limit : limits)
    greatest.push_back(limit - 1);
  Value top = constant(greatest);
  inside = b.make<AndOp>(b.make<CompareOp>(CompareDirection::GE, numbers, none),
                         b.make<CompareOp>(CompareDirection::LE, numbers, top));
  if (!axis)
    inside = b.reduce(ReduceKind::Min, inside, {type.getRank() - 1});
  places = b.make<MaxOp>(b.make<MinOp>(numbers, top), none);
}

/// What is where the updates went; zeros for those that are dropped.
Value Scatter::gather(Value from) {
  if (axis) {
    Value taken = b.make<GatherElementsOp>(from, places, *axis);
    return inside ? b.make<SelectOp>(inside, taken, b.splat(taken, 0.0)) : taken;
  }
  Value taken = gatherTuples(from);
  if (!inside)
    return taken;
  auto type = cast<RankedTensorType>(taken.getType());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(inside)));
  Value whole = b.broadcast(inside, type.clone(elementOf(inside)), dims);
  return b.make<SelectOp>(whole, taken, b.splat(taken, 0.0));
}

/// Tuples of no index take the whole.
Value Scatter::gatherTuples(Value from) {
  ArrayRef<int64_t> shape = shapeOf(places);
  if (shape.back() != 0)
    return b.make<GatherNdOp>(from, places, 0);
  SmallVector<int64_t> all(shape.drop_back()), dims;
  for (int64_t size : shapeOf(from)) {
    dims.push_back(all.size());
    all.push_back(size);
  }
  return b.broadcast(from, RankedTensorType::get(all, elementOf(from)), dims);
}

Value Scatter::scatter(ScatterKind kind, Value into, Value of) {
  if (axis)
    return b.make<ScatterElementsOp>(into.getType(), kind, into, indices, of, *axis, drops);
  return b.make<ScatterNdOp>(into.getType(), kind, into, indices, of, drops);
}

/// Scatters the updates' numbers beside them, and looks which have stayed.
Value Scatter::last() {
  ArrayRef<int64_t> shape = shapeOf(indices);
  SmallVector<int64_t> tuples(axis ? shape : shape.drop_back());
  SmallVector<int64_t> heads(axis ? shapeOf(input) : shapeOf(input).take_front(shape.back()));
  int64_t count = axis ? shape[*axis] : ShapedType::getNumElements(tuples);
  if (count <= 1)
    return Value();
  Value numbers = axis ? b.make<IotaOp>(RankedTensorType::get(shape, wide), *axis)
                       : b.reshape(b.make<IotaOp>(RankedTensorType::get({count}, wide), 0), tuples);
  auto type = RankedTensorType::get(heads, wide);
  Value none = b.make<ConstantOp>(DenseElementsAttr::get(type, int64_t(0)));
  Value written = scatter(ScatterKind::Set, none, numbers);
  Value read = axis ? b.make<GatherElementsOp>(written, places, *axis) : gatherTuples(written);
  Value stays = b.make<CompareOp>(CompareDirection::EQ, read, numbers);
  auto whole = cast<RankedTensorType>(updates.getType()).clone(elementOf(stays));
  return b.broadcast(stays, whole, llvm::to_vector(llvm::seq<int64_t>(0, tuples.size())));
}

void Scatter::buildAdd() {
  if (b.wants(0))
    b.set(0, b.of());
  if (b.wants(2))
    b.set(2, gather(b.of()));
}

void Scatter::buildSet() {
  Value none = b.splat(updates, 0.0);
  if (b.wants(0))
    b.set(0, scatter(ScatterKind::Set, b.of(), none));
  if (!b.wants(2))
    return;
  Value taken = gather(b.of()), stays = last();
  b.set(2, stays ? b.make<SelectOp>(stays, taken, none) : taken);
}

/// An update's gradient has the product of the others to its place, which is not that of all
/// divided by it where it is zero.
void Scatter::buildMul() {
  if (b.wants(0))
    b.set(0, b.mul(b.of(), scatter(ScatterKind::Mul, b.splat(input, 1.0), updates)));
  if (!b.wants(2))
    return;
  Value none = b.splat(updates, 0.0), zero = isZero(updates);
  Value others = b.make<SelectOp>(zero, b.splat(updates, 1.0), updates);
  Value product = gather(b.mul(b.of(), scatter(ScatterKind::Mul, input, others)));
  Value own = b.castTo(zero, elementOf(updates));
  Value zeros = gather(scatter(ScatterKind::Add, b.splat(input, 0.0), own));
  Value hasOther = b.make<CompareOp>(CompareDirection::GT, b.sub(zeros, own), none);
  b.set(2, b.make<SelectOp>(hasOther, none, b.make<DivOp>(product, others)));
}

/// All that are the result share its gradient evenly.
void Scatter::buildExtreme() {
  Type element = elementOf(b.widen(b.of()));
  auto hits = [&](Value value, Value of) {
    return b.castTo(b.make<CompareOp>(CompareDirection::EQ, value, of), element);
  };
  Value ofInput = hits(input, result), ofUpdates = hits(updates, gather(result));
  Value count = scatter(ScatterKind::Add, ofInput, ofUpdates);
  Value share = b.make<DivOp>(b.widen(b.of()), count);
  if (b.wants(0))
    b.set(0, b.castTo(b.mul(ofInput, share), elementOf(input)));
  if (b.wants(2))
    b.set(2, b.castTo(b.mul(ofUpdates, gather(share)), elementOf(input)));
}

void Scatter::build() {
  // A tensor without elements is not read: there is no place to send what is dropped.
  if (ShapedType::getNumElements(shapeOf(input)) == 0 ||
      ShapedType::getNumElements(shapeOf(updates)) == 0) {
    if (b.wants(0))
      b.set(0, b.of());
    return;
  }
  switch (kind) {
  case ScatterKind::Set:
    return buildSet();
  case ScatterKind::Add:
    return buildAdd();
  case ScatterKind::Mul:
    return buildMul();
  case ScatterKind::Max:
  case ScatterKind::Min:
    return buildExtreme();
  }
}

LogicalResult ScatterElementsOp::buildGradients(GradientBuilder &b) {
  if (getOffset())
    return failure();
  Scatter(b, *this).build();
  return success();
}

LogicalResult ScatterNdOp::buildGradients(GradientBuilder &b) {
  if (getOffset())
    return failure();
  Scatter(b, *this).build();
  return success();
}
