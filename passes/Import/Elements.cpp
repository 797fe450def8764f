#include "passes/Import/Elements.h"

#include "dialects/Weft/IR/Verify.h"

using namespace mlir;
using namespace weft;

Coordinates weft::inRows(ArrayRef<int64_t> shape, int64_t index) {
  Coordinates at;
  for (int64_t dim = 0; dim + 1 < static_cast<int64_t>(shape.size()); ++dim)
    at.push_back(shape[dim] == 1 ? Coordinate() : Coordinate{dim, 0});
  at.push_back({-1, index});
  return at;
}

std::optional<Coordinates> weft::throughView(const ViewMap &map, ArrayRef<Coordinate> at) {
  Coordinates from(map.fromShape().size());
  for (const ViewMap::Group &group : map.groups()) {
    if (group.from.size() == 1 && group.to.size() == 1) {
      from[group.from.front()] = at[group.to.front()];
      continue;
    }
    int64_t flat = 0;
    for (int64_t to : group.to) {
      if (!at[to].isNumber())
        return std::nullopt;
      flat = flat * map.toShape()[to] + at[to].index;
    }
    for (int64_t dim : llvm::reverse(group.from)) {
      from[dim].index = flat % map.fromShape()[dim];
      flat /= map.fromShape()[dim];
    }
  }
  return from;
}

/// The coordinates in a slice's operand; none where it takes a part along what is not a number.
static std::optional<Coordinates> throughSlice(SliceOp slice, ArrayRef<Coordinate> at) {
  Coordinates from(at);
  for (auto [dim, coordinate] : llvm::enumerate(from)) {
    if (coordinate.isNumber())
      coordinate.index = slice.getStarts()[dim] + coordinate.index * slice.getStrides()[dim];
    else if (shapeOf(slice.getInput())[dim] != shapeOf(slice.getResult())[dim])
      return std::nullopt;
  }
  return from;
}

/// One step from an element of a result to that of an operand; false where there is none.
static bool step(Element &element, MatchedOps &matched) {
  Operation *op = element.value.getDefiningOp();
  std::optional<Coordinates> from;
  if (std::optional<ViewMap> map = ViewMap::of(op)) {
    from = throughView(*map, element.at);
  } else if (auto slice = dyn_cast_or_null<SliceOp>(op)) {
    from = throughSlice(slice, element.at);
  } else if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
    from.emplace();
    for (auto [dim, size] : llvm::zip(broadcast.getDims(), shapeOf(broadcast.getInput())))
      from->push_back(size == 1 ? Coordinate() : element.at[dim]);
  } else if (auto neg = dyn_cast_or_null<NegOp>(op)) {
    element.negated = !element.negated;
    matched.insert(neg);
    from = element.at;
  }
  if (from) {
    element = {op->getOperand(0), *from, element.negated};
    return true;
  }
  auto concat = dyn_cast_or_null<ConcatOp>(op);
  if (!concat || !element.at[concat.getAxis()].isNumber())
    return false;
  matched.insert(concat);
  Coordinate &along = element.at[concat.getAxis()];
  for (Value input : concat.getInputs()) {
    element.value = input;
    if (along.index < shapeOf(input)[concat.getAxis()])
      break;
    along.index -= shapeOf(input)[concat.getAxis()];
  }
  return true;
}

Element weft::trace(Element element, MatchedOps &matched) {
  while (step(element, matched))
    ;
  return element;
}
