//===- SelectionStates.cpp - states change where they lie -----------------===//
//
// A state has one block of memory, which loads read and stores set at the step's end. What is
// stored, or a part of it, is computed into its place there where what the place held is not read
// any more (StateUpdates.h); else it is copied there at the step's end.
//
//===----------------------------------------------------------------------===//

#include "compiler/Kernel/StateUpdates.h"
#include "compiler/Kernel/StridedView.h"
#include "compiler/Sharding/Microbatches.h"
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

/// The part of a view from `start` on along `axis`.
static View cutPart(View view, int64_t axis, int64_t start, int64_t extent) {
  view.offset = view.offset.plus(start * view.strides[axis]);
  view.shape[axis] = extent;
  return view;
}

static bool isSameView(const View &a, const View &b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.shape == b.shape &&
         sameStrides(a.shape, a.strides, b.strides);
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The operand of a transpose or reshape whose result is this view; none where it is no view.
static std::optional<View> undoView(Operation *op, const View &view) {
  View from = view;
  from.shape = Extents(shapeOf(op->getOperand(0)));
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    from.strides.resize(from.shape.size());
    for (auto [to, dim] : llvm::enumerate(transpose.getPermutation()))
      from.strides[dim] = view.strides[to];
    return from;
  }
  std::optional<Strides> strides = reshapeStrides(view.shape, view.strides, from.shape);
  if (!strides)
    return std::nullopt;
  from.strides = *strides;
  return from;
}

/// What of a region an operation that costs nothing looks at; all of it where that is hard to say.
static View narrow(Operation *op, const View &region) {
  auto slice = dyn_cast<SliceOp>(op);
  if (!slice || region.shape != Extents(shapeOf(slice.getInput())))
    return region;
  View part = region;
  part.shape = Extents(shapeOf(slice.getResult()));
  for (auto [dim, start, step] : llvm::enumerate(slice.getStarts(), slice.getStrides())) {
    part.offset = part.offset.plus(start * part.strides[dim]);
    part.strides[dim] *= step;
  }
  return part;
}

/// The view that a transpose or reshape makes of one; the same where it makes none, or of others.
static View follow(Operation *op, const View &region) {
  View view = region;
  if (!isa<ReshapeOp, TransposeOp>(op) || region.shape != Extents(shapeOf(op->getOperand(0))))
    return narrow(op, region);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation())) {
      view.shape[to] = region.shape[from];
      view.strides[to] = region.strides[from];
    }
    return view;
  }
  view.shape = Extents(shapeOf(op->getResult(0)));
  std::optional<Strides> strides = reshapeStrides(region.shape, region.strides, view.shape);
  if (!strides)
    return region;
  view.strides = *strides;
  return view;
}

/// What reads a value that lies in a state, through views that cost nothing.
void Selection::findReaders(Value value, State &state, const View &region, Operation *version) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (handsOutGradient(use)) {
      if (Operation *maker = value.getDefiningOp()) // behind which it is looked at
        state.readers.push_back({maker, value, region, version});
      continue;
    }
    if (isa<BroadcastOp, dist::SliceOp, ReshapeOp, SliceOp, TransposeOp>(user))
      findReaders(user->getResult(0), state, follow(user, region), version);
    // Views that strides cannot express are copied.
    if (!isa<BroadcastOp, dist::SliceOp, SliceOp, TransposeOp>(user))
      state.readers.push_back({user, value, region, version});
  }
}

void Selection::addPlaces(Value value, const Place &place) {
  places[value].push_back(place);
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ReshapeOp, TransposeOp>(op)) {
    if (std::optional<View> from = undoView(op, place.view))
      addPlaces(op->getOperand(0), {place.symbol, *from});
  } else if (auto concat = dyn_cast_or_null<ConcatOp>(op)) {
    auto axis = static_cast<int64_t>(concat.getAxis());
    int64_t start = 0;
    for (Value part : concat.getInputs()) {
      int64_t extent = shapeOf(part)[axis];
      addPlaces(part, {place.symbol, cutPart(place.view, axis, start, extent)});
      start += extent;
    }
  } else if (auto call = dyn_cast_or_null<func::CallOp>(op)) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
    for (auto [number, operand] : llvm::enumerate(call.getOperands())) {
      auto result = kernel.getArgAttrOfType<IntegerAttr>(number, inPlaceAttrName);
      if (result && call.getResult(result.getInt()) == value &&
          operand.getType() == value.getType())
        addPlaces(operand, place);
    }
  }
}

/// Memory that keeps its value between steps, or, of sums over microbatches, through a step: that
/// changes where it lies too.
View Selection::allocateState(WeightOp weight, RankedTensorType type) {
  auto number = weight->getAttrOfType<IntegerAttr>(kAccumulatorAttr);
  if (number)
    if (auto known = accumulators.find(number.getInt()); known != accumulators.end())
      return known->second;
  ArenaKind kind = weight.getSpace() == MemorySpace::Host ? ArenaKind::Host : ArenaKind::State;
  View view = segment.allocate(kind, type.getElementType(), type.getShape());
  segment.keepAlways(view.buffer);
  if (number)
    accumulators[number.getInt()] = view;
  return view;
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
    state.view = allocateState(weight, type);
    state.start = start;
    state.strides = strides;
    if (sharding)
      state.valid =
          getValidExtents(dist::lookupMesh(op, sharding.getMesh()), sharding,
                          cast<RankedTensorType>(weight.getType()).getShape(), type.getShape());
  } else if (ArrayRef<int64_t>(state.view.shape) != type.getShape() || state.start != start) {
    return op->emitError() << "expected all loads and stores of @" << symbol.getValue()
                           << " to have one sharding";
  }
  if (!stores) {
    views[value] = state.view;
    return success();
  }
  state.store = op;
  addPlaces(value, {symbol, state.view});
  return success();
}

LogicalResult Selection::addStates() {
  SmallVector<Operation *> loads;
  for (Part part : parts)
    for (Operation &op : part.function.getBody().front()) {
      order[&op] = order.size();
      StringAttr symbol = getStoredSymbol(&op) ? getStoredSymbol(&op) : getLoadedSymbol(&op);
      auto weight = symbol ? symbols.lookup<WeightOp>(symbol) : WeightOp();
      if (!weight || !isChanged(weight.getKind()))
        continue;
      if (failed(addState(&op, symbol, weight)))
        return failure();
      if (!getStoredSymbol(&op))
        loads.push_back(&op);
    }
  for (Operation *load : loads) {
    State &state = states.find(getLoadedSymbol(load))->second;
    findReaders(load->getResult(0), state, state.view, nullptr);
  }
  for (auto &[value, list] : places)
    if (isa_and_nonnull<ConcatOp, func::CallOp>(value.getDefiningOp()))
      for (const Place &place : list)
        findReaders(value, states.find(place.symbol)->second, place.view, value.getDefiningOp());
  return success();
}

//===----------------------------------------------------------------------===//
// In place
//===----------------------------------------------------------------------===//

/// The first and last index that a view reaches in each dimension of the block; none where that
/// cannot be told.
static std::optional<SmallVector<std::pair<int64_t, int64_t>>> findBox(const View &view,
                                                                       const View &block) {
  if (!view.offset.isConstant() || llvm::is_contained(view.shape, 0))
    return std::nullopt;
  SmallVector<std::pair<int64_t, int64_t>> box;
  int64_t rest = view.offset.getConstant();
  for (int64_t stride : block.strides) {
    box.push_back({rest / stride, rest / stride});
    rest %= stride;
  }
  for (auto [extent, stride] : llvm::zip_equal(view.shape, view.strides)) {
    if (extent == 1)
      continue;
    auto dim = llvm::find_if(block.strides, [&](int64_t of) { return of <= stride; }) -
               block.strides.begin();
    if (stride == 0 || stride % block.strides[dim] != 0)
      return std::nullopt;
    box[dim].second += (extent - 1) * (stride / block.strides[dim]);
  }
  for (auto [range, extent] : llvm::zip_equal(box, block.shape))
    if (range.second >= extent)
      return std::nullopt;
  return box;
}

static bool overlap(const View &a, const View &b, const View &block) {
  auto left = findBox(a, block), right = findBox(b, block);
  return !left || !right || llvm::all_of(llvm::zip_equal(*left, *right), [](auto ranges) {
    auto [x, y] = ranges;
    return x.first <= y.second && y.first <= x.second;
  });
}

bool Selection::isFree(const Place &place, Operation *op, function_ref<bool(Value)> mayRead) const {
  const State &state = states.find(place.symbol)->second;
  return llvm::all_of(state.readers, [&](const State::Reader &reader) {
    bool isNewer = reader.version && order.lookup(reader.version) >= order.lookup(op);
    if (reader.user == op && !isNewer)
      return mayRead(reader.value) || !overlap(reader.region, place.view, state.view);
    bool atEnd = isa<func::ReturnOp>(reader.user) || getStoredSymbol(reader.user);
    return isNewer || (!atEnd && order.lookup(reader.user) < order.lookup(op)) ||
           !overlap(reader.region, place.view, state.view);
  });
}

const Selection::Place *Selection::findPlace(Value result, ArrayRef<int64_t> strides,
                                             function_ref<bool(Value)> mayRead) const {
  auto found = places.find(result);
  if (found == places.end())
    return nullptr;
  for (const Place &place : found->second)
    if (sameStrides(place.view.shape, place.view.strides, strides) &&
        isFree(place, result.getDefiningOp(), mayRead))
      return &place;
  return nullptr;
}

View Selection::allocateResult(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  DenseI64ArrayAttr given = getResultStrides(cast<OpResult>(value));
  Extents strides = given ? Extents(given.asArrayRef()) : getRowMajorStrides(type.getShape());
  const Place *place = findPlace(value, strides, [](Value) { return false; });
  return views[value] = place ? place->view
                              : segment.allocate(ArenaKind::Activations, type.getElementType(),
                                                 type.getShape(), strides);
}

View Selection::getChanged(func::CallOp op, Value argument, ArrayRef<int64_t> strides, Value result,
                           ArrayRef<int64_t> resultStrides) {
  View view = views.at(argument);
  const Place *place =
      findPlace(result, resultStrides, [&](Value read) { return read == argument; });
  if (place && place->view.buffer == view.buffer && place->view.offset == view.offset &&
      sameStrides(view.shape, view.strides, strides))
    return view;
  View copy = segment.allocate(ArenaKind::Activations, view.dtype, view.shape, strides);
  segment.copy(op.getLoc(), view, copy);
  return copy;
}

std::optional<SmallVector<std::pair<Value, View>>> Selection::findCopies(ConcatOp op,
                                                                         const Place &place) {
  auto axis = static_cast<int64_t>(op.getAxis());
  SmallVector<std::pair<Value, View>> copies;
  bool moves = false;
  int64_t start = 0;
  for (Value part : op.getInputs()) {
    int64_t extent = shapeOf(part)[axis];
    View to = cutPart(place.view, axis, start, extent);
    start += extent;
    if (isSameView(views.at(part), to))
      continue;
    moves |= views.at(part).buffer == to.buffer;
    copies.push_back({part, to});
  }
  if (moves) { // parts of the state move within it
    const State &state = states.find(place.symbol)->second;
    std::optional<SmallVector<UpdatePart>> parts = orderParts(op, place.symbol);
    if (!parts || state.store->getOperand(0) != op.getResult())
      return std::nullopt;
    SmallVector<std::pair<Value, View>> ordered;
    for (const UpdatePart &part : *parts) {
      auto found = llvm::find_if(copies, [&](const auto &copy) {
        return copy.first == part.value &&
               copy.second.offset == place.view.offset.plus(part.start * place.view.strides[axis]);
      });
      if (found == copies.end())
        continue;
      if (!part.from && views.at(part.value).buffer == place.view.buffer)
        return std::nullopt;
      ordered.push_back(*found);
    }
    copies = std::move(ordered);
  }
  for (const auto &[part, to] : copies)
    if (!isFree({place.symbol, to}, op, [](Value) { return true; }))
      return std::nullopt;
  return copies;
}

LogicalResult Selection::lowerOp(ConcatOp op) {
  auto found = places.find(op.getResult());
  if (found == places.end())
    return op.emitError() << "expected a concatenation of parts of a state, which it changes";
  for (const Place &place : found->second)
    if (auto copies = findCopies(op, place)) {
      for (const auto &[part, to] : *copies)
        segment.copy(op.getLoc(), views.at(part), to);
      views[op.getResult()] = place.view;
      return success();
    }
  auto type = cast<RankedTensorType>(op.getType());
  View result = segment.allocate(ArenaKind::Activations, type.getElementType(), type.getShape());
  auto axis = static_cast<int64_t>(op.getAxis());
  int64_t start = 0;
  for (Value part : op.getInputs()) {
    View from = views.at(part);
    segment.copy(op.getLoc(), from, cutPart(result, axis, start, from.shape[axis]));
    start += from.shape[axis];
  }
  views[op.getResult()] = result;
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
  for (OpOperand &use : end->getOpOperands()) {
    Value value = use.get();
    View &view = views.find(value)->second;
    if (!overwritten.contains(view.buffer) || handsOutGradient(use))
      continue;
    View copy = segment.allocate(ArenaKind::Activations, view.dtype, view.shape);
    segment.copy(end->getLoc(), view, copy);
    view = copy;
  }
}

/// What is the same everywhere.
static SplatElementsAttr getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
}

void Selection::storeStates(Block *block) {
  llvm::DenseSet<unsigned> buffers;
  SmallVector<std::pair<View, const State *>> copies;
  SmallVector<std::pair<SplatElementsAttr, const State *>> fills;
  for (auto &[symbol, state] : states)
    buffers.insert(state.view.buffer);
  for (auto &[symbol, state] : states) {
    if (!state.store || state.store->getBlock() != block || liesInState(state))
      continue;
    if (auto splat = getSplat(state.store->getOperand(0))) {
      fills.push_back({splat, &state});
      continue;
    }
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
  for (auto &[splat, state] : fills)
    segment.fill(state->store->getLoc(), state->view, splat.getSplatValue<Attribute>());
}
