#include "passes/Import/ViewMap.h"

#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/ViewChain.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace weft;

/// Minimal groups of the dimensions of two shapes of as many elements.
static SmallVector<ViewMap::Group> reshapeGroups(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<ViewMap::Group> groups;
  size_t i = 0, j = 0;
  auto skipUnits = [](ArrayRef<int64_t> shape, size_t &dim) {
    while (dim < shape.size() && shape[dim] == 1)
      ++dim;
    return dim < shape.size();
  };
  while (skipUnits(from, i) && skipUnits(to, j)) {
    ViewMap::Group group;
    int64_t left = 1, right = 1;
    do {
      if (left <= right) {
        if (skipUnits(from, i))
          group.from.push_back(i), left *= from[i++];
      } else if (skipUnits(to, j)) {
        group.to.push_back(j), right *= to[j++];
      }
    } while (left != right || group.to.empty());
    groups.push_back(group);
  }
  return groups;
}

std::optional<ViewMap> ViewMap::of(Operation *view) {
  if (!isa_and_nonnull<ReshapeOp, TransposeOp>(view))
    return std::nullopt;
  ViewMap map;
  map.from.assign(shapeOf(view->getOperand(0)).begin(), shapeOf(view->getOperand(0)).end());
  map.to.assign(shapeOf(view->getResult(0)).begin(), shapeOf(view->getResult(0)).end());
  if (llvm::is_contained(map.from, 0))
    return std::nullopt;
  if (auto transpose = dyn_cast<TransposeOp>(view)) {
    for (auto [dim, source] : llvm::enumerate(transpose.getPermutation()))
      map.all.push_back({{source}, {static_cast<int64_t>(dim)}});
  } else {
    map.all = reshapeGroups(map.from, map.to);
  }
  return map;
}

ViewMap ViewMap::identity(Value value) {
  ViewMap map;
  map.from.assign(shapeOf(value).begin(), shapeOf(value).end());
  map.to = map.from;
  for (int64_t dim = 0; dim < rankOf(value); ++dim)
    map.all.push_back({{dim}, {dim}});
  return map;
}

const ViewMap::Group *ViewMap::groupOf(int64_t toDim) const {
  for (const Group &group : all)
    if (llvm::is_contained(group.to, toDim))
      return &group;
  return nullptr;
}

std::optional<Dims> ViewMap::sourcesOf(int64_t toDim) const {
  const Group *group = groupOf(toDim);
  if (!group)
    return Dims();
  if (group->to.size() != 1)
    return std::nullopt;
  return group->from;
}

std::optional<int64_t> ViewMap::sourceOf(int64_t toDim) const {
  std::optional<Dims> sources = sourcesOf(toDim);
  if (!sources || sources->size() != 1)
    return std::nullopt;
  return sources->front();
}

int64_t weft::countOthersThanOne(ArrayRef<int64_t> shape) {
  return shape.size() - llvm::count(shape, 1);
}

Operation *weft::sinkableView(Value value) {
  Operation *view = value.getDefiningOp();
  if (!ViewMap::of(view) || isWeightView(value))
    return nullptr;
  if (isa<ReshapeOp>(view) &&
      countOthersThanOne(shapeOf(view->getOperand(0))) < countOthersThanOne(shapeOf(value)))
    return nullptr;
  return view;
}

Value weft::resizeSplat(OpBuilder &builder, ConstantOp splat, RankedTensorType type) {
  return ConstantOp::create(builder, splat.getLoc(),
                            cast<DenseElementsAttr>(splat.getValue()).resizeSplat(type));
}

Value weft::repeatView(OpBuilder &builder, Location loc, Operation *like, Value operand,
                       Type type) {
  if (auto transpose = dyn_cast<TransposeOp>(like))
    return TransposeOp::create(builder, loc, type, operand, transpose.getPermutation());
  return ReshapeOp::create(builder, loc, type, operand);
}

static bool isSameView(Operation *view, Operation *other) {
  if (!other || other->getName() != view->getName() ||
      shapeOf(other->getOperand(0)) != shapeOf(view->getOperand(0)))
    return false;
  auto transpose = dyn_cast<TransposeOp>(view);
  return !transpose || transpose.getPermutation() == cast<TransposeOp>(other).getPermutation();
}

/// Dimensions of the view's operand along which a broadcast to its result can be made before it, in
/// the order of the broadcast's operand; none where a group is covered in part, or the order
/// changes.
static std::optional<Dims> undoneBroadcast(Operation *view, BroadcastOp broadcast) {
  std::optional<ViewMap> map = ViewMap::of(view);
  ArrayRef<int64_t> dims = broadcast.getDims();
  Dims sources;
  for (auto [dim, size] : llvm::zip(dims, shapeOf(broadcast.getInput()))) {
    const ViewMap::Group *group = map->groupOf(dim);
    if (size == 1 || !group ||
        !llvm::all_of(group->to, [&](int64_t other) { return llvm::is_contained(dims, other); }))
      return std::nullopt;
    if (group->to.front() == dim)
      llvm::append_range(sources, group->from);
  }
  if (!llvm::is_sorted(sources))
    return std::nullopt;
  return sources;
}

/// The opposite view of a value.
static Value viewBack(OpBuilder &builder, Operation *view, Value operand, RankedTensorType type) {
  auto transpose = dyn_cast<TransposeOp>(view);
  if (!transpose)
    return ReshapeOp::create(builder, operand.getLoc(), type, operand);
  return TransposeOp::create(builder, operand.getLoc(), type, operand,
                             invertPermutationVector(transpose.getPermutation()));
}

bool weft::canUndoView(Operation *view, Value operand) {
  if (isSameView(view, operand.getDefiningOp()))
    return true;
  if (operand.getDefiningOp<ConstantOp>())
    return splatNumber(operand).has_value();
  if (isWeightView(operand))
    return true;
  auto broadcast = operand.getDefiningOp<BroadcastOp>();
  return broadcast && undoneBroadcast(view, broadcast);
}

Value weft::undoView(OpBuilder &builder, Operation *view, Value operand) {
  if (isSameView(view, operand.getDefiningOp()))
    return operand.getDefiningOp()->getOperand(0);
  auto type = RankedTensorType::get(shapeOf(view->getOperand(0)), elementOf(operand));
  if (auto constant = operand.getDefiningOp<ConstantOp>())
    return resizeSplat(builder, constant, type);
  if (isWeightView(operand))
    return viewBack(builder, view, operand, type);
  auto broadcast = operand.getDefiningOp<BroadcastOp>();
  Dims dims = *undoneBroadcast(view, broadcast);
  SmallVector<int64_t> shape;
  for (int64_t dim : dims)
    shape.push_back(type.getShape()[dim]);
  Value input = broadcast.getInput();
  if (shapeOf(input) != ArrayRef<int64_t>(shape))
    input = ReshapeOp::create(builder, operand.getLoc(),
                              RankedTensorType::get(shape, type.getElementType()), input);
  return BroadcastOp::create(builder, operand.getLoc(), type, input, dims);
}
