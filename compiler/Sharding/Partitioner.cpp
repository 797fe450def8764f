#include "compiler/Sharding/Partitioner.h"

#include "compiler/Sharding/Decisions.h"
#include "compiler/Sharding/FunctionGraph.h"
#include "dialects/Dist/IR/Sharding.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

Partitioner::Partitioner(func::FuncOp main, dist::MeshOp mesh, bool keepsWeights)
    : main(main), mesh(getMeshShape(mesh)), keepsWeights(keepsWeights),
      batchAxes(getBatchAxes(this->mesh)), builder(main.getContext()), values(this->mesh, builder),
      backward(main) {
  if (auto module = main->getParentOfType<ModuleOp>())
    for (auto weight : module.getOps<WeightOp>()) {
      if (isChanged(weight.getKind()))
        states[weight.getSymNameAttr()] = weight;
      else if (dist::isStoragePinned(weight, this->mesh.name))
        pinned[weight.getSymNameAttr()] =
            fromAttr(dist::getStorageSharding(weight, this->mesh.name), this->mesh);
    }
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

TensorSharding Partitioner::annotated(Value value) const {
  dist::ShardingAttr attr = dist::getSharding(value);
  if (!attr)
    return TensorSharding::replicated(cast<ShapedType>(value.getType()).getRank());
  return fromAttr(attr.withoutPartial(), mesh);
}

TensorSharding Partitioner::annotatedResult(unsigned index) {
  if (dist::ShardingAttr attr = getKeptSharding(main, index))
    return fromAttr(attr, mesh);
  return annotated(main.getBody().front().getTerminator()->getOperand(index));
}

LogicalResult Partitioner::checkShardings() {
  auto check = [&](Value value) {
    dist::ShardingAttr attr = dist::getSharding(value);
    return attr ? checkSharding(value, attr, mesh.name) : success();
  };
  for (BlockArgument argument : main.getArguments()) {
    if (!isa<RankedTensorType>(argument.getType()))
      return main.emitOpError() << "expected tensors as arguments of @main, got: "
                                << argument.getType();
    if (failed(check(argument)))
      return failure();
  }
  for (auto [index, type] : llvm::enumerate(main.getResultTypes()))
    if (dist::ShardingAttr attr = getKeptSharding(main, index))
      if (failed(checkSharding(main, "result " + std::to_string(index), attr, type, mesh.name)))
        return failure();
  for (Operation &op : main.getBody().front())
    for (Value result : op.getResults())
      if (failed(check(result)))
        return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

FactorAxes Partitioner::resolve(Operation &op, const FactorRule &rule) const {
  SmallVector<TensorSharding, 4> shardings;
  for (Value value :
       llvm::concat<Value>(llvm::to_vector(op.getOperands()), llvm::to_vector(op.getResults())))
    shardings.push_back(annotated(value));
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    if (isDecided(result)) // a decision may leave a result partial
      shardings[op.getNumOperands() + index] = fromAttr(dist::getSharding(result), mesh);
  SmallVector<TensorState, 4> states;
  for (auto [index, sharding] : llvm::enumerate(shardings)) {
    bool isOperand = index < op.getNumOperands();
    Value value = isOperand ? op.getOperand(index) : op.getResult(index - op.getNumOperands());
    auto type = cast<ShapedType>(value.getType());
    TensorState &state = states.emplace_back();
    state.factors = isOperand ? &rule.operands[index] : &rule.results[index - op.getNumOperands()];
    state.sharding = &sharding;
    state.bytes = type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
    state.weight = isOperand && (values.getView(value) || parameters.contains(value));
    state.batch = batchAxes;
    state.open = isOperand && values.isSource(value);
    state.decided = isDecided(value);
  }
  return expressible(rule, resolveFactors(rule, states));
}

/// How an operation is split: as a plan says, else as its tensors lie.
FailureOr<OperationSplit> Partitioner::splitOf(Operation &op, const FactorRule &rule) const {
  FailureOr<std::optional<OperationSplit>> given = getSplit(op, rule, mesh);
  if (failed(given))
    return failure();
  if (*given)
    return **given;
  FactorAxes axes = leavingSums(op, rule, resolve(op, rule), batchAxes, values);
  return OperationSplit{axes, carriedSums(op, rule, axes, values)};
}

/// A decided sharding is kept for the value, but its operation may be computed otherwise: that
/// costs, so it is said.
void Partitioner::remarkIfSplitIsLost(Operation &op, const FactorRule &rule,
                                      const FactorAxes &axes) const {
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    TensorSharding wanted = annotated(result);
    if (!isDecided(result) || wanted.isReplicated())
      continue;
    TensorSharding computed = factorsToSharding(rule, rule.results[index], axes).sharding;
    if (computed.isReplicated())
      op.emitRemark() << describePlace(result) << " is pinned to " << str(mesh, wanted) << ", but "
                      << op.getName()
                      << " cannot be split so: it is computed whole on every device, then split";
  }
}

/// What is loaded or made where it is used has no place of its own: a sharding decided for it says
/// how its use is split. Where something else decided that, it is said.
void Partitioner::remarkIfReadOtherwise(Operation &op, Value operand,
                                        const TensorSharding &wanted) const {
  if (!isDecided(operand) || (!values.getView(operand) && !values.isSource(operand)))
    return;
  TensorSharding decided = annotated(operand);
  bool refines = llvm::all_of(llvm::zip_equal(wanted.dims, decided.dims), [](auto dims) {
    return rest(std::get<0>(dims), std::get<1>(dims)).has_value();
  });
  if (!refines)
    op.emitRemark() << describePlace(operand) << " is pinned to " << str(mesh, decided) << ", but "
                    << op.getName() << " is split otherwise and takes it as " << str(mesh, wanted);
}

/// A dimension that lies split but that the operation's rule cannot split is joined: that costs, so
/// it is said.
void Partitioner::remarkIfReadWhole(Operation &op, const FactorRule &rule, unsigned index,
                                    const TensorSharding &wanted) const {
  Value operand = op.getOperand(index);
  TensorSharding lies = annotated(operand);
  // Loads are made as they are read; what needs a whole batch of microbatches is an error there.
  if (keepsWeights || values.getView(operand) || values.isSource(operand))
    return;
  for (auto [dim, factors] : llvm::enumerate(rule.operands[index])) {
    if (lies.dims[dim].empty() || !wanted.dims[dim].empty())
      continue;
    TensorSharding alone = TensorSharding::replicated(lies.dims.size());
    alone.dims[dim] = lies.dims[dim];
    ToFactors split = projectToFactors(rule, rule.operands[index], alone);
    bool maySplit = split.exact && expressible(rule, split.axes) == split.axes &&
                    llvm::all_of(factors, [&](unsigned factor) {
                      FactorKind kind = rule.factors[factor].kind;
                      return split.axes[factor].empty() || kind == FactorKind::Parallel ||
                             kind == FactorKind::Reduction;
                    });
    if (!maySplit)
      op.emitRemark() << describePlace(operand) << " is split along dimension " << dim << " by "
                      << str(mesh, lies.dims[dim]) << ", but " << op.getName()
                      << " cannot be: it reads it whole there";
  }
}

LogicalResult Partitioner::noPath(Operation &op, Value value, const TensorSharding &wanted) const {
  ArrayRef<LocalForm> forms = values.getForms(value);
  return op.emitOpError() << "expected a way to bring " << describePlace(value) << " to "
                          << str(mesh, wanted) << ", got none from "
                          << str(mesh, forms.empty() ? annotated(value) : forms.front().sharding);
}

/// Brings a result whose sharding was decided there, however its operation was split, so that no
/// use sees it otherwise. A sum may wait for its reduction in either case.
LogicalResult Partitioner::keepDecision(Operation &op, OpResult result,
                                        const TensorSharding &computed) {
  if (!isDecided(result))
    return success();
  TensorSharding wanted = fromAttr(dist::getSharding(result), mesh);
  setPartial(wanted, wanted.partial, wanted.reduction);
  if (computed.dims == wanted.dims && (wanted.partial.empty() || computed == wanted))
    return success();
  Value local = values.get(result, wanted);
  if (!local)
    return noPath(op, result, wanted);
  values.keepOnly(result, {wanted, local});
  return success();
}

/// Gives the padding of an operand that its operation reads across values that change nothing.
Value Partitioner::maskPadding(const FactorRule &rule, unsigned operand, Value global,
                               const TensorSharding &sharding, Value local) {
  ArrayRef<int64_t> shape = cast<ShapedType>(global.getType()).getShape();
  // What a step begins with is read in blocks that were cleared, what another mesh sends is not.
  auto isCleared = [&](Value value) {
    auto load = value.getDefiningOp<dist::LoadShardOp>();
    return load ? !states.contains(load.getWeightAttr().getAttr()) : main.getSymName() == "main";
  };
  for (auto [dim, factors] : llvm::enumerate(rule.operands[operand])) {
    std::optional<LeadingFactor> lead = leadingFactorOf(rule, factors);
    if (!lead || !isPadded(shape[dim], sharding.dims[dim]))
      continue;
    const Factor &factor = rule.factors[lead->factor];
    bool reduces = factor.kind == FactorKind::Reduction;
    if (!reduces && rule.indices != operand)
      continue;
    ReduceKind kind = reduces ? factor.reduction : ReduceKind::Sum;
    if (kind == ReduceKind::Sum && isZeroPadded(local, dim, isCleared))
      continue;
    local = dist::MaskPaddingOp::create(builder, global.getLoc(), local.getType(),
                                        dist::ReduceKindAttr::get(builder.getContext(), kind),
                                        local, builder.getI64IntegerAttr(dim),
                                        builder.getI64IntegerAttr(shape[dim]),
                                        toAxesAttr(builder.getContext(), sharding.dims[dim], mesh),
                                        FlatSymbolRefAttr::get(builder.getContext(), mesh.name));
  }
  return local;
}

LogicalResult Partitioner::visitCompute(Operation &op) {
  FactorRule rule = cast<FactorRuleOpInterface>(op).getFactorRule();
  FailureOr<OperationSplit> split = splitOf(op, rule);
  if (failed(split))
    return failure();
  remarkIfSplitIsLost(op, rule, split->axes);
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    TensorSharding wanted = getOperandForm(rule, index, *split);
    remarkIfReadOtherwise(op, operand, wanted);
    remarkIfReadWhole(op, rule, index, wanted);
    Value local = values.get(operand, wanted);
    if (!local)
      return noPath(op, operand, wanted);
    operands.push_back(maskPadding(rule, index, operand, wanted, local));
  }
  return buildResults(op, rule, *split, operands);
}

/// What waits for the backward pass lies as it is read there from where it is made on: a part of
/// what is there is cut as soon as that is, so that not all of it waits.
LogicalResult Partitioner::visitWaiting(Operation &op) {
  FactorRule rule = cast<FactorRuleOpInterface>(op).getFactorRule();
  FailureOr<OperationSplit> split = splitOf(op, rule);
  if (failed(split))
    return failure();
  Value input = op.getOperand(0);
  TensorSharding wanted = getOperandForm(rule, 0, *split);
  Operation *last = values.findLastToCut(input, localType(input.getType(), wanted));
  if (last && !parameters.contains(input)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(last);
    values.get(input, wanted);
  }
  return visitCompute(op);
}

/// Builds the operation on local operands, and registers its results.
LogicalResult Partitioner::buildResults(Operation &op, const FactorRule &rule,
                                        const OperationSplit &split, ValueRange operands) {
  SmallVector<TensorSharding, 1> shardings;
  SmallVector<Type, 1> types;
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    shardings.push_back(getResultForm(rule, index, split));
    types.push_back(localType(result.getType(), shardings.back()));
  }
  SmallVector<Value> results = buildShard(builder, &op, rule, split.axes, operands, types, mesh);
  for (auto [result, sharding, local] : llvm::zip_equal(op.getResults(), shardings, results))
    values.addForm(result, sharding, local);
  for (auto [result, sharding] : llvm::zip_equal(op.getResults(), shardings))
    if (failed(keepDecision(op, result, sharding)))
      return failure();
  return success();
}

/// Where a view of a weight lies that people decided about, as far as that can be seen through it.
void Partitioner::addPlace(Operation &op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (auto found = pinned.find(load.getWeightAttr().getAttr()); found != pinned.end())
      values.addPlace(load.getResult(), found->second);
    return;
  }
  std::optional<TensorSharding> place = values.getPlace(op.getOperand(0));
  if (!place)
    return;
  FactorRule rule = cast<FactorRuleOpInterface>(op).getFactorRule();
  if (std::optional<TensorSharding> own = seeThrough(&op, rule, *place))
    values.addPlace(op.getResult(0), *own);
}

/// A view of a weight is not computed: it is loaded so.
bool Partitioner::visitView(Operation &op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (keepsWeights)
      return keepLoad(load), true;
    if (WeightOp state = states.lookup(load.getWeightAttr().getAttr()))
      return loadState(load, state), true;
    values.addView(
        load.getResult(),
        WeightView::whole(load.getWeightAttr(), cast<ShapedType>(load.getType()).getShape()));
    addPlace(op);
    return true;
  }
  if (isView(&op) && parameters.contains(op.getOperand(0)))
    parameters.insert(op.getResult(0));
  const WeightView *from = op.getNumOperands() == 1 ? values.getView(op.getOperand(0)) : nullptr;
  std::optional<WeightView> view = from ? from->through(&op) : std::nullopt;
  if (!view)
    return false;
  values.addView(op.getResult(0), *view);
  addPlace(op);
  return true;
}

/// How a state lies: as it was decided, else as its first load or what is stored.
TensorSharding Partitioner::storageOf(WeightOp state) const {
  if (dist::ShardingAttr attr = dist::getStorageSharding(state, mesh.name))
    return fromAttr(attr, mesh);
  for (Operation &op : func::FuncOp(main).getBody().front()) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    if (load && load.getWeight() == state.getSymName())
      return annotated(load.getResult());
    if (store && store.getWeight() == state.getSymName())
      return annotated(store.getValue());
  }
  return TensorSharding::replicated(cast<ShapedType>(state.getType()).getRank());
}

/// Whether a use of a load, or what is made of it to be used, may be brought elsewhere than that is
/// stored: what views show of it is, wherever they are read otherwise.
bool Partitioner::mayBeBrought(LoadOp load, const TensorSharding &stored) const {
  return annotated(load.getResult()) != stored || llvm::any_of(load->getUsers(), isView);
}

/// A state is there as it is stored; uses that want it otherwise bring it there. What is gathered
/// or exchanged for the forward pass is not kept for the backward pass.
void Partitioner::loadState(LoadOp load, WeightOp state) {
  auto [form, isNew] = stateForms.try_emplace(state);
  if (isNew) {
    WeightView whole =
        WeightView::whole(load.getWeightAttr(), cast<ShapedType>(load.getType()).getShape());
    form->second.sharding = storageOf(state);
    form->second.local = values.load(load.getLoc(), load.getType(), whole, form->second.sharding);
  }
  Value local = form->second.local;
  if (state.getKind() == WeightKind::Trained) {
    parameters.insert(load.getResult());
    if (mayBeBrought(load, form->second.sharding) && backward.reads(load)) {
      Value &again = backwardForms[state];
      if (!again)
        again = BarrierOp::create(builder, load.getLoc(), local);
      local = again;
    }
  }
  values.addForm(load.getResult(), form->second.sharding, local);
}

void Partitioner::keepLoad(LoadOp load) {
  auto local = cast<LoadOp>(builder.clone(*load));
  for (StringRef name : {dist::kShardingAttr, dist::kPinnedAttr})
    local->removeDiscardableAttr(name);
  parameters.insert(load.getResult());
  values.addForm(load.getResult(),
                 TensorSharding::replicated(cast<ShapedType>(load.getType()).getRank()), local);
}

LogicalResult Partitioner::keepStore(StoreOp op) {
  TensorSharding whole =
      TensorSharding::replicated(cast<ShapedType>(op.getValue().getType()).getRank());
  Value local = values.get(op.getValue(), whole);
  if (!local)
    return noPath(*op, op.getValue(), whole);
  StoreOp::create(builder, op.getLoc(), op.getWeightAttr(), local);
  return success();
}

LogicalResult Partitioner::visitStore(StoreOp op) {
  if (keepsWeights)
    return keepStore(op);
  WeightOp state = states.lookup(op.getWeightAttr().getAttr());
  if (!state)
    return op.emitOpError() << "expected a weft.weight of kind state or trained, got: "
                            << op.getWeightAttr();
  TensorSharding wanted = storageOf(state);
  Value local = values.get(op.getValue(), wanted);
  if (!local)
    return noPath(*op, op.getValue(), wanted);
  dist::StoreShardOp::create(builder, op.getLoc(), op.getWeightAttr(), local,
                             toAttr(builder.getContext(), wanted, mesh));
  return success();
}

LogicalResult Partitioner::visitReturn(func::ReturnOp op) {
  SmallVector<Value> results;
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    TensorSharding wanted = annotatedResult(index);
    Value local = values.get(value, wanted);
    if (!local)
      return noPath(*op, value, wanted);
    results.push_back(local);
  }
  func::ReturnOp::create(builder, op.getLoc(), results);
  return success();
}

LogicalResult Partitioner::visit(Operation &op) {
  if (auto end = dyn_cast<func::ReturnOp>(op))
    return visitReturn(end);
  if (auto store = dyn_cast<StoreOp>(op))
    return visitStore(store);
  if (visitView(op))
    return success();
  if (!isa<FactorRuleOpInterface>(op) || op.getNumResults() == 0)
    return op.emitOpError() << "expected an operation with a factor rule to partition";
  if (op.getNumOperands() == 0 && op.getNumResults() == 1) {
    values.addSource(op.getResult(0));
    return success();
  }
  return isa<BarrierOp>(op) ? visitWaiting(op) : visitCompute(op);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// How an argument comes: as another mesh sends it, else as it is annotated.
TensorSharding Partitioner::arriving(BlockArgument argument) {
  auto attr =
      main.getArgAttrOfType<dist::ShardingAttr>(argument.getArgNumber(), dist::kArrivalAttr);
  return attr ? fromAttr(attr, mesh) : annotated(argument);
}

void Partitioner::addArguments(Block &body) {
  for (BlockArgument argument : main.getArguments()) {
    TensorSharding sharding = arriving(argument);
    Value local = body.addArgument(localType(argument.getType(), sharding), argument.getLoc());
    values.addForm(argument, sharding, local);
  }
}

/// Gives @main the new body and the signature that goes with it.
void Partitioner::finish(Region &body) {
  MLIRContext *context = main.getContext();
  for (auto [index, argument] : llvm::enumerate(main.getArguments())) {
    main.setArgAttr(index, dist::kShardingAttr, toAttr(context, arriving(argument), mesh));
    main.setArgAttr(index, dist::kGlobalTypeAttr, TypeAttr::get(argument.getType()));
    for (StringRef name : {dist::kPinnedAttr, dist::kArrivalAttr})
      main.removeArgAttr(index, StringAttr::get(context, name));
  }
  for (auto [index, type] : llvm::enumerate(main.getResultTypes())) {
    main.setResultAttr(index, dist::kShardingAttr, toAttr(context, annotatedResult(index), mesh));
    main.setResultAttr(index, dist::kGlobalTypeAttr, TypeAttr::get(type));
    main.removeResultAttr(index, StringAttr::get(context, dist::kPinnedAttr));
  }
  main->removeAttr(dist::kPropagatedAttr);
  main.getBody().takeBody(body);
  Block &block = main.getBody().front();
  main.setType(FunctionType::get(context, block.getArgumentTypes(),
                                 block.getTerminator()->getOperandTypes()));
}

LogicalResult Partitioner::run() {
  if (failed(checkShardings()))
    return failure();
  Region body;
  body.push_back(new Block());
  builder.setInsertionPointToStart(&body.front());
  addArguments(body.front());
  for (Operation &op : main.getBody().front())
    if (failed(visit(op)))
      return failure();
  finish(body);
  return success();
}
