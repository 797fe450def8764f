#include "compiler/Kernel/StateUpdates.h"

#include "compiler/Kernel/FusionRoles.h"
#include "compiler/Kernel/StridedView.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"

using namespace mlir;
using namespace weft;

StringAttr weft::getLoadedSymbol(Operation *op) {
  if (auto load = dyn_cast_or_null<dist::LoadShardOp>(op))
    return load.getWeightAttr().getAttr();
  auto load = dyn_cast_or_null<LoadOp>(op);
  return load ? load.getWeightAttr().getAttr() : StringAttr();
}

StringAttr weft::getStoredSymbol(Operation *op) {
  if (auto store = dyn_cast_or_null<dist::StoreShardOp>(op))
    return store.getWeightAttr().getAttr();
  auto store = dyn_cast_or_null<StoreOp>(op);
  return store ? store.getWeightAttr().getAttr() : StringAttr();
}

Value weft::getUnviewed(Value value) {
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

StringAttr weft::getViewedState(Value value) {
  for (Operation *op = value.getDefiningOp(); op; op = value.getDefiningOp()) {
    if (StringAttr symbol = getLoadedSymbol(op))
      return symbol;
    if (!isa<ReshapeOp, TransposeOp>(op) && !(isa<SliceOp>(op) && op->hasAttr(inPlaceAttrName)))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

llvm::SmallVector<std::pair<StringAttr, Operation *>> weft::findUpdates(Block &block) {
  SmallVector<std::pair<StringAttr, Operation *>> updates;
  for (Operation &op : block) {
    StringAttr symbol = getStoredSymbol(&op);
    SmallVector<Value> stack;
    if (symbol)
      stack.push_back(op.getOperand(0));
    for (bool isStored = true; !stack.empty(); isStored = false) {
      Operation *update = getUnviewed(stack.pop_back_val()).getDefiningOp();
      if (!update || (!isStored && !update->hasAttr(inPlaceAttrName)) || isa<SliceOp>(update))
        continue;
      updates.push_back({symbol, update});
      if (!update->hasAttr(inPlaceAttrName))
        continue;
      if (auto written = dyn_cast<UpdateOpInterface>(update))
        stack.push_back(written.getDestination());
      else
        llvm::append_range(stack, update->getOperands());
    }
  }
  return updates;
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

/// Where along `axis` a value that is a slice of the state, whole in all other dimensions, starts.
static std::optional<int64_t> startInState(Value value, int64_t axis, StringAttr state) {
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice || getLoadedSymbol(slice.getInput().getDefiningOp()) != state ||
      llvm::any_of(slice.getStrides(), [](int64_t stride) { return stride != 1; }))
    return std::nullopt;
  ArrayRef<int64_t> from = cast<ShapedType>(slice.getInput().getType()).getShape(),
                    to = cast<ShapedType>(slice.getType()).getShape();
  for (int64_t dim = 0; dim < static_cast<int64_t>(from.size()); ++dim)
    if (dim != axis && from[dim] != to[dim])
      return std::nullopt;
  return slice.getStarts()[axis];
}

std::optional<SmallVector<UpdatePart>> weft::orderParts(Operation *op, StringAttr state) {
  auto join = cast<JoinOpInterface>(op);
  int64_t axis = join.getJoinedDim();
  SmallVector<UpdatePart> up, down, others;
  bool stays = false;
  int64_t start = 0;
  for (Value part : join.getParts()) {
    std::optional<int64_t> from = startInState(part, axis, state);
    stays |= from == start;
    if (!from)
      others.push_back({part, start, {}});
    else if (*from != start)
      (*from > start ? up : down).push_back({part, start, from});
    start += cast<ShapedType>(part.getType()).getDimSize(axis);
  }
  if ((!up.empty() && !down.empty()) || (up.empty() && down.empty() && !stays))
    return std::nullopt;
  std::reverse(down.begin(), down.end());
  up.append(down);
  up.append(others);
  return up;
}

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

namespace {
/// Where a value lies in the memory of a state, in elements.
struct StatePlace {
  int64_t start = 0;
  Strides strides;
};

/// Marks what one store needs.
class UpdateMarker {
public:
  explicit UpdateMarker(StringAttr state) : state(state) {}

  void markStored(Value stored) {
    mark(stored, {0, getRowMajorStrides(shapeOf(stored))}, /*isStored=*/true);
  }

private:
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  }
  static bool isSame(Value value, const StatePlace &a, const StatePlace &b) {
    return a.start == b.start &&
           llvm::all_of(llvm::zip(shapeOf(value), a.strides, b.strides), [](auto dim) {
             auto [size, left, right] = dim;
             return size == 1 || left == right;
           });
  }

  bool mark(Value value, const StatePlace &place, bool isStored = false);
  bool markUpdate(UpdateOpInterface op, const StatePlace &place);
  bool markJoin(JoinOpInterface op, const StatePlace &place, bool isStored);
  std::optional<StatePlace> locate(Value value) const;

  StringAttr state;
  llvm::DenseMap<Value, StatePlace> changed; ///< results of marked updates
};
} // namespace

/// Where a value lies that is a view of the state, or of what changed a part of it.
std::optional<StatePlace> UpdateMarker::locate(Value value) const {
  Operation *op = value.getDefiningOp();
  if (getLoadedSymbol(op) == state)
    return StatePlace{0, getRowMajorStrides(shapeOf(value))};
  if (auto found = changed.find(value); found != changed.end())
    return found->second;
  if (!isa_and_nonnull<ReshapeOp, SliceOp, TransposeOp>(op))
    return std::nullopt;
  std::optional<StatePlace> from = locate(op->getOperand(0));
  if (!from)
    return std::nullopt;
  StatePlace to{from->start, {}};
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (int64_t dim : transpose.getPermutation())
      to.strides.push_back(from->strides[dim]);
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (auto [start, step, stride] :
         llvm::zip_equal(slice.getStarts(), slice.getStrides(), from->strides)) {
      to.start += start * stride;
      to.strides.push_back(step * stride);
    }
  } else {
    std::optional<Strides> strides =
        reshapeStrides(shapeOf(op->getOperand(0)), from->strides, shapeOf(value));
    if (!strides)
      return std::nullopt;
    to.strides = *strides;
  }
  return to;
}

/// Marks what makes a value that has a place in the state; returns whether anything was.
bool UpdateMarker::mark(Value value, const StatePlace &place, bool isStored) {
  Operation *op = value.getDefiningOp();
  if (auto update = dyn_cast_or_null<UpdateOpInterface>(op))
    return markUpdate(update, place);
  if (auto join = dyn_cast_or_null<JoinOpInterface>(op))
    return markJoin(join, place, isStored);
  StatePlace from{place.start, {}};
  if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
    from.strides.resize(place.strides.size());
    for (auto [to, dim] : llvm::enumerate(transpose.getPermutation()))
      from.strides[dim] = place.strides[to];
    return mark(transpose.getInput(), from);
  }
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op))
    if (std::optional<Strides> strides =
            reshapeStrides(shapeOf(value), place.strides, shapeOf(reshape.getInput()))) {
      from.strides = *strides;
      return mark(reshape.getInput(), from);
    }
  return false;
}

/// An update writes into what it changes where that lies in its place.
bool UpdateMarker::markUpdate(UpdateOpInterface op, const StatePlace &place) {
  Value input = op.getDestination(), result = op->getResult(0);
  if (op->hasAttr(inPlaceAttrName))
    return false; // for another state that gets the same value
  if (isa_and_nonnull<UpdateOpInterface>(getUnviewed(input).getDefiningOp()))
    mark(input, place);
  std::optional<StatePlace> from = locate(input);
  if (!from || !isSame(input, *from, place))
    return false;
  op->setAttr(inPlaceAttrName, UnitAttr::get(op->getContext()));
  if (!isRowMajor(shapeOf(result), place.strides))
    setResultStrides(op->getResult(0), place.strides);
  changed[result] = place;
  for (Operation *view = input.getDefiningOp();
       isa_and_nonnull<ReshapeOp, SliceOp, TransposeOp>(view);
       view = view->getOperand(0).getDefiningOp())
    if (isa<SliceOp>(view))
      view->setAttr(inPlaceAttrName, UnitAttr::get(op->getContext()));
  return true;
}

/// Parts are changed in their places, or stay, or are copied there.
bool UpdateMarker::markJoin(JoinOpInterface op, const StatePlace &place, bool isStored) {
  int64_t axis = op.getJoinedDim();
  bool keeps = isStored && orderParts(op, state).has_value();
  StatePlace part = place;
  for (Value input : op.getParts()) {
    std::optional<StatePlace> from = locate(input);
    keeps |= (from && isSame(input, *from, part)) || mark(input, part);
    part.start += shapeOf(input)[axis] * place.strides[axis];
  }
  if (keeps)
    op->setAttr(inPlaceAttrName, UnitAttr::get(op->getContext()));
  return keeps;
}

void weft::markStateUpdates(Block &block) {
  for (Operation &op : block)
    if (StringAttr state = getStoredSymbol(&op))
      UpdateMarker(state).markStored(op.getOperand(0));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Whether an operation's element at a place needs only its operands' elements in that place.
static bool keepsPlace(Operation *op) { return isa<ElementwiseOpInterface, ReshapeOp>(op); }

bool weft::canUpdate(func::FuncOp kernel, unsigned argument, unsigned result) {
  Block &body = kernel.getBody().front();
  BlockArgument input = body.getArgument(argument);
  auto from = cast<RankedTensorType>(input.getType()),
       to = cast<RankedTensorType>(body.getTerminator()->getOperand(result).getType());
  if (from.getElementType() != to.getElementType() || from.getNumElements() != to.getNumElements())
    return false;
  llvm::DenseSet<Value> reached{input};
  unsigned results = 0;
  bool reduces = false;
  for (Operation &op : body) {
    bool reads = llvm::any_of(op.getOperands(), [&](Value v) { return reached.contains(v); });
    if (isa<func::ReturnOp>(op)) {
      results = llvm::count_if(op.getOperands(), [&](Value v) { return reached.contains(v); });
      continue;
    }
    MemberKind kind = getMemberKind(&op);
    reduces |= !isa<ConstantOp, IotaOp>(op) && kind != MemberKind::Pointwise &&
               kind != MemberKind::Indexing;
    if (!reads)
      continue;
    if (!keepsPlace(&op))
      return false;
    reached.insert(op.result_begin(), op.result_end());
  }
  // What a later pass over the row computes from the argument would find it changed.
  return !reduces || results == 0 ||
         (results == 1 && reached.contains(body.getTerminator()->getOperand(result)));
}
