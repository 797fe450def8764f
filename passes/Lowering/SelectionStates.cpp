//===- SelectionStates.cpp - states change where they lie -----------------===//
//
// A state has one block of memory, which loads read and stores set at the step's end. What is
// stored is computed into that block where its old value is not read any more (StateUpdates.h);
// else it is copied there at the step's end.
//
//===----------------------------------------------------------------------===//

#include "compiler/Kernel/StateUpdates.h"
#include "compiler/Kernel/StridedView.h"
#include "dialects/Dist/IR/Sharding.h"
#include "passes/Lowering/Selection.h"

using namespace mlir;
using namespace weft;
using exec::ArenaKind;

//===----------------------------------------------------------------------===//
// Setting up
//===----------------------------------------------------------------------===//

/// The sharding of a load or store of a block; null for those of whole tensors.
static dist::ShardingAttr getSharding(Operation *op) {
  if (auto load = dyn_cast<dist::LoadShardOp>(op))
    return load.getSharding();
  auto store = dyn_cast<dist::StoreShardOp>(op);
  return store ? store.getSharding() : dist::ShardingAttr();
}

/// What reads a value that is loaded from a state, through views that cost nothing.
void Selection::findReaders(Value value, State &state) {
  for (Operation *user : value.getUsers()) {
    if (isa<BroadcastOp, dist::SliceOp, ReshapeOp, SliceOp, TransposeOp>(user))
      findReaders(user->getResult(0), state);
    // Views that strides cannot express are copied.
    if (!isa<BroadcastOp, dist::SliceOp, SliceOp, TransposeOp>(user))
      state.readers.push_back({user, value});
  }
}

LogicalResult Selection::addState(Operation *op, StringAttr symbol, WeightOp weight) {
  bool stores = static_cast<bool>(getStoredSymbol(op));
  Value value = stores ? op->getOperand(0) : op->getResult(0);
  auto type = cast<RankedTensorType>(value.getType());
  Extents strides = getRowMajorStrides(cast<RankedTensorType>(weight.getType()).getShape());
  dist::ShardingAttr sharding = getSharding(op);
  auto start = sharding ? getBlockStart(context, sharding, type.getShape(), strides)
                        : exec::AffineAttr::get(context, 0);
  auto [entry, isNew] = states.try_emplace(symbol);
  State &state = entry->second;
  if (isNew) {
    state.view = segment.allocate(ArenaKind::State, type.getElementType(), type.getShape());
    segment.keepAlways(state.view.buffer);
    state.start = start;
    state.strides = strides;
  } else if (ArrayRef<int64_t>(state.view.shape) != type.getShape() || state.start != start) {
    return op->emitError() << "expected all loads and stores of @" << symbol.getValue()
                           << " to have one sharding";
  }
  if (!stores) {
    views[value] = state.view;
    return success();
  }
  state.store = op;
  storedAs[getUnviewed(value)].push_back(symbol);
  return success();
}

LogicalResult Selection::addStates() {
  SmallVector<Operation *> loads;
  for (Part part : parts)
    for (Operation &op : part.function.getBody().front()) {
      order[&op] = order.size();
      StringAttr symbol = getStoredSymbol(&op) ? getStoredSymbol(&op) : getLoadedSymbol(&op);
      auto weight = symbol ? symbols.lookup<WeightOp>(symbol) : WeightOp();
      if (!weight || weight.getKind() != WeightKind::State)
        continue;
      if (failed(addState(&op, symbol, weight)))
        return failure();
      if (!getStoredSymbol(&op))
        loads.push_back(&op);
    }
  for (Operation *load : loads)
    findReaders(load->getResult(0), states.find(getLoadedSymbol(load))->second);
  return success();
}

//===----------------------------------------------------------------------===//
// In place
//===----------------------------------------------------------------------===//

const Selection::State *Selection::findStateOf(Value result,
                                               function_ref<bool(Value)> mayRead) const {
  auto stored = storedAs.find(result);
  if (stored == storedAs.end())
    return nullptr;
  Operation *op = result.getDefiningOp();
  for (StringAttr symbol : stored->second) {
    const State &state = states.find(symbol)->second;
    Value value = state.store->getOperand(0);
    std::optional<Strides> strides = getViewStrides(value);
    bool fits = strides && isRowMajor(cast<RankedTensorType>(value.getType()).getShape(), *strides);
    bool isFree = llvm::all_of(state.readers, [&](const auto &reader) {
      auto [user, read] = reader;
      bool atEnd = isa<func::ReturnOp>(user) || getStoredSymbol(user);
      return user == op ? mayRead(read) : !atEnd && order.lookup(user) < order.lookup(op);
    });
    if (fits && isFree)
      return &state;
  }
  return nullptr;
}

View Selection::allocateResult(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto given = value.getDefiningOp()->getAttrOfType<DenseI64ArrayAttr>(stridesAttrName);
  Extents strides = given ? Extents(given.asArrayRef()) : getRowMajorStrides(type.getShape());
  const State *state = findStateOf(value, [](Value) { return false; });
  View view{0, exec::AffineAttr::get(context, 0), type.getElementType(), Extents(type.getShape()),
            strides};
  if (state)
    view.buffer = state->view.buffer;
  else
    view =
        segment.allocate(ArenaKind::Activations, type.getElementType(), type.getShape(), strides);
  views[value] = view;
  return view;
}

View Selection::getChanged(func::CallOp op, Value argument, Value result) {
  View view = views.at(argument);
  const State *state = findStateOf(result, [&](Value read) { return read == argument; });
  if (state && state->view.buffer == view.buffer)
    return view;
  View copy = segment.allocate(ArenaKind::Activations, view.dtype, view.shape);
  segment.copy(op.getLoc(), view, copy);
  return copy;
}

/// The part of a view from `start` on along `axis`.
static View cutPart(View view, int64_t axis, int64_t start, int64_t extent) {
  view.offset = view.offset.plus(start * view.strides[axis]);
  view.shape[axis] = extent;
  return view;
}

LogicalResult Selection::lowerOp(ConcatOp op) {
  auto axis = static_cast<int64_t>(op.getAxis());
  auto stored = storedAs.find(op.getResult());
  if (stored == storedAs.end())
    return op.emitError() << "expected a concatenation of parts of a state, which it changes";
  std::optional<SmallVector<UpdatePart>> parts = orderParts(op, stored->second.front());
  const State *state = parts ? findStateOf(op.getResult(), [](Value) { return true; }) : nullptr;
  auto readsIt = [&](const UpdatePart &part) {
    return !part.from && views.at(part.value).buffer == state->view.buffer;
  };
  if (state && (state->store->getOperand(0) != op.getResult() || llvm::any_of(*parts, readsIt)))
    state = nullptr;
  View result = state ? state->view : allocateResult(op.getResult());
  views[op.getResult()] = result;
  if (!state) {
    parts.emplace();
    int64_t start = 0;
    for (Value part : op.getInputs()) {
      parts->push_back({part, start, {}});
      start += cast<RankedTensorType>(part.getType()).getDimSize(axis);
    }
  }
  for (const UpdatePart &part : *parts) {
    View from = views.at(part.value);
    segment.copy(op.getLoc(), from, cutPart(result, axis, part.start, from.shape[axis]));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// At the step's end
//===----------------------------------------------------------------------===//

bool Selection::liesInState(const State &state) const {
  const View &view = views.at(state.store->getOperand(0));
  return view.buffer == state.view.buffer && view.offset == state.view.offset &&
         view.isContiguous();
}

void Selection::keepReturned(Operation *end) {
  llvm::DenseSet<unsigned> overwritten;
  for (auto &[symbol, state] : states)
    if (state.store && state.store->getBlock() == end->getBlock() && !liesInState(state))
      overwritten.insert(state.view.buffer);
  for (Value value : end->getOperands()) {
    View &view = views.find(value)->second;
    if (!overwritten.contains(view.buffer))
      continue;
    View copy = segment.allocate(ArenaKind::Activations, view.dtype, view.shape);
    segment.copy(end->getLoc(), view, copy);
    view = copy;
  }
}

void Selection::storeStates(Block *block) {
  llvm::DenseSet<unsigned> buffers;
  SmallVector<std::pair<View, const State *>> copies;
  for (auto &[symbol, state] : states)
    buffers.insert(state.view.buffer);
  for (auto &[symbol, state] : states) {
    if (!state.store || state.store->getBlock() != block || liesInState(state))
      continue;
    View view = views.at(state.store->getOperand(0));
    if (buffers.contains(view.buffer)) { // another copy may overwrite it
      View kept = segment.allocate(ArenaKind::Activations, view.dtype, view.shape);
      segment.copy(state.store->getLoc(), view, kept);
      view = kept;
    }
    copies.push_back({view, &state});
  }
  for (auto &[view, state] : copies)
    segment.copy(state->store->getLoc(), view, state->view);
}
