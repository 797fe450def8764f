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

llvm::MapVector<StringAttr, Operation *> weft::findUpdates(Block &block) {
  llvm::MapVector<StringAttr, Operation *> updates;
  for (Operation &op : block)
    if (StringAttr symbol = getStoredSymbol(&op))
      if (Operation *update = getUnviewed(op.getOperand(0)).getDefiningOp())
        updates[symbol] = update;
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

/// An update is written through the view of the state that it reads, if the store undoes that view.
static void markUpdate(UpdateOpInterface update, Value stored, StringAttr state) {
  Value input = update.getDestination();
  std::optional<Strides> strides = getViewStrides(input);
  if (getLoadedSymbol(getUnviewed(input).getDefiningOp()) != state || !strides)
    return;
  auto shape = cast<ShapedType>(update->getResult(0).getType()).getShape();
  if (!isRowMajor(shape, *strides))
    update->setAttr(stridesAttrName, DenseI64ArrayAttr::get(update->getContext(), *strides));
  std::optional<Strides> back = getViewStrides(stored);
  if (back && isRowMajor(cast<ShapedType>(stored.getType()).getShape(), *back))
    update->setAttr(inPlaceAttrName, UnitAttr::get(update->getContext()));
  else
    update->removeAttr(stridesAttrName);
}

void weft::markStateUpdates(Block &block) {
  for (Operation &op : block) {
    StringAttr state = getStoredSymbol(&op);
    if (!state)
      continue;
    Operation *changer = getUnviewed(op.getOperand(0)).getDefiningOp();
    if (auto update = dyn_cast_or_null<UpdateOpInterface>(changer))
      markUpdate(update, op.getOperand(0), state);
    else if (isa_and_nonnull<JoinOpInterface>(changer) &&
             changer->getResult(0) == op.getOperand(0) && orderParts(changer, state))
      changer->setAttr(inPlaceAttrName, UnitAttr::get(changer->getContext()));
  }
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
