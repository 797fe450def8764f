#include "passes/Lowering/Selection.h"

#include "compiler/Kernel/StateUpdates.h"
#include "compiler/Kernel/StridedView.h"
#include "compiler/Lowering/Messages.h"
#include "compiler/Sharding/Microbatches.h"
#include "compiler/Sharding/OutlineStages.h"
#include "dialects/Dist/IR/Sharding.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;
using exec::ArenaKind;

/// The stage, through whose part every microbatch goes; null of other parts.
static Attribute getStage(Part part) {
  return part.call ? part.call->getAttr(kPipelineStageAttr) : Attribute();
}

Selection::Selection(ModuleOp module, const Parts &all, ArrayRef<unsigned> own,
                     exec::ProgramOp program, FlatSymbolRefAttr mesh, KernelMachine machine)
    : module(module), main(all.main), context(module.getContext()), symbols(module),
      program(program), mesh(mesh), machine(machine), segment(program), weights(segment) {
  for (unsigned part : own)
    parts.push_back(all.parts[part]);
  for (auto transfer : main.getBody().front().getOps<dist::TransferOp>())
    tags[transfer] = tags.size() + 1;
}

LogicalResult Selection::run(OpBuilder &builder) {
  for (Part part : parts)
    addInputs(part);
  if (failed(addStates()) || failed(addWeights()))
    return failure();
  for (Part part : parts)
    if (failed(run(part)))
      return failure();
  createMembers(builder);
  return success();
}

LogicalResult Selection::run(Part part) {
  func::FuncOp function = part.function;
  segment.begin(part.call ? function.getSymName() : "forward", getStage(part) != nullptr);
  findSends(part);
  findGradients(part);
  if (failed(addReceives(part)))
    return failure();
  for (BlockArgument argument : function.getArguments()) {
    if (failed(addSends(part, argument)))
      return failure();
    addObservations(argument);
  }
  current = part;
  for (Operation &op : function.getBody().front()) {
    if (readsBucket(&op) && failed(flushBucket()))
      return failure();
    FailureOr<bool> waits = joinBucket(&op);
    if (failed(waits))
      return failure();
    if (!*waits && (failed(lower(&op)) || failed(handOut(op.getResults()))))
      return failure();
  }
  return success(succeeded(flushBucket()) && succeeded(addOutputs(part)));
}

LogicalResult Selection::handOut(ValueRange results) {
  for (Value result : results) {
    if (failed(addSends(current, result)))
      return failure();
    addObservations(result);
  }
  return success();
}

LogicalResult Selection::lower(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LoadOp, dist::LoadShardOp, dist::StoreShardOp, func::ReturnOp, StoreOp>(
          [](auto) { return success(); })
      .Case<AttentionBackwardOp, AttentionOp, BroadcastOp, func::CallOp, ConcatOp, ConstantOp,
            ConvKernelGradientOp, ConvOp, DotGeneralOp, dist::AllGatherOp, dist::AllReduceOp,
            dist::AllToAllOp, dist::OffsetOp, dist::PermuteOp, dist::ReduceScatterOp, dist::SliceOp,
            ReshapeOp, SliceOp, TransposeOp>([&](auto op) { return lowerOp(op); })
      .Default([](Operation *op) {
        return op->emitError() << "no instruction does this operation: expected kernels to be "
                                  "formed first (--weft-form-kernels)";
      });
}

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

Selection::Port Selection::makePort(exec::Direction direction, DictionaryAttr attributes, Type type,
                                    unsigned number, const View &local) const {
  Builder builder(context);
  auto get = [&](StringRef name) { return attributes ? attributes.get(name) : Attribute(); };
  auto name = dyn_cast_or_null<StringAttr>(get("weft.name"));
  if (!name)
    name = builder.getStringAttr((direction == exec::Direction::Input ? "input_" : "output_") +
                                 Twine(number));
  auto global = dyn_cast_or_null<TypeAttr>(get(dist::kGlobalTypeAttr));
  auto globalType = cast<RankedTensorType>(global ? global.getValue() : type);
  auto sharding = dyn_cast_or_null<dist::ShardingAttr>(get(dist::kShardingAttr));
  SmallVector<Attribute> dims(globalType.getRank(), builder.getArrayAttr({}));
  if (sharding && global)
    for (auto [dim, axes] : llvm::zip_equal(dims, sharding.getDims()))
      dim = toExecAxes(context, axes.getAxes());
  ArrayAttr valid;
  if (sharding && global)
    valid = getValidExtents(dist::lookupMesh(main, sharding.getMesh()), sharding,
                            globalType.getShape(), local.shape);
  SmallVector<int64_t> shape(globalType.getShape());
  auto along = dyn_cast_or_null<IntegerAttr>(get(dist::kMicrobatchDimAttr));
  if (along)
    shape[along.getInt()] *= main->getAttrOfType<IntegerAttr>(dist::kMicrobatchesAttr).getInt();
  return {direction, name,  builder.getDenseI64ArrayAttr(shape), builder.getArrayAttr(dims),
          local,     valid, along ? along.getInt() : 0,          number};
}

/// Ports stand in the order of @main, whatever part they are of: people give some by their place.
void Selection::addPort(const Port &port) {
  auto isBefore = [](const Port &a, const Port &b) {
    return std::pair(a.direction, a.number) < std::pair(b.direction, b.number);
  };
  ports.insert(llvm::upper_bound(ports, port, isBefore), port);
}

/// An argument that the user gives; parts that lie alike on one mesh share it.
void Selection::addInput(Part part, unsigned number) {
  func::FuncOp function = part.function;
  BlockArgument argument = function.getArgument(number);
  if (part.call)
    number = cast<BlockArgument>(part.call.getOperand(number)).getArgNumber();
  auto type = cast<RankedTensorType>(argument.getType());
  bool isOfMicrobatch = main.getArgAttr(number, dist::kMicrobatchDimAttr) != nullptr;
  View view = segment.allocate(isOfMicrobatch ? ArenaKind::Ports : ArenaKind::Activations,
                               type.getElementType(), type.getShape());
  Port port = makePort(exec::Direction::Input, main.getArgAttrDict(number), argument.getType(),
                       number, view);
  auto same = llvm::find_if(ports, [&](const Port &other) {
    return other.name == port.name && other.sharding == port.sharding;
  });
  views[argument] = same == ports.end() ? view : same->local;
  if (same != ports.end())
    return;
  segment.keepAlways(view.buffer);
  addPort(port);
}

void Selection::addInputs(Part part) {
  func::FuncOp function = part.function;
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    if (!part.call || isa<BlockArgument>(part.call.getOperand(number)))
      addInput(part, number);
}

/// Whether a result of @main is a gradient: looked at where it is made, kept for nobody.
static bool isGradient(func::FuncOp main, unsigned number) {
  auto role = main.getResultAttrOfType<StringAttr>(number, "weft.role");
  return role && role.getValue() == "gradient";
}

bool Selection::handsOutGradient(OpOperand &use) const {
  Operation *end = use.getOwner();
  if (!isa<func::ReturnOp>(end))
    return false;
  unsigned number = use.getOperandNumber();
  if (end->getParentOp() == main)
    return isGradient(main, number);
  for (Part part : parts)
    if (part.call && end->getParentOp() == part.function)
      return llvm::all_of(part.call.getResult(number).getUses(),
                          [&](OpOperand &other) { return handsOutGradient(other); });
  return false;
}

void Selection::findGradients(Part part) {
  func::FuncOp function = part.function;
  Operation *end = function.getBody().front().getTerminator();
  for (auto [number, value] :
       llvm::enumerate(main.getBody().front().getTerminator()->getOperands())) {
    if (!isGradient(main, number))
      continue;
    if (!part.call)
      gradients[value].push_back(number);
    else if (value.getDefiningOp() == part.call)
      gradients[end->getOperand(cast<OpResult>(value).getResultNumber())].push_back(number);
  }
}

void Selection::addObservations(Value value) {
  auto found = gradients.find(value);
  if (found == gradients.end())
    return;
  const View &view = views.at(value);
  for (unsigned number : found->second) {
    Port port = makePort(exec::Direction::Gradient, main.getResultAttrDict(number), value.getType(),
                         number, view);
    exec::ObserveOp::create(segment.getBuilder(), value.getLoc(), port.name,
                            segment.getOperand(view),
                            segment.getPrice(value.getLoc(), {}, {}, 0, "observe"));
    addPort(port);
  }
}

LogicalResult Selection::addOutputs(Part part) {
  func::FuncOp function = part.function;
  Operation *end = function.getBody().front().getTerminator();
  Operation *mainEnd = main.getBody().front().getTerminator();
  keepReturned(end);
  storeStates(end->getBlock());
  for (auto [number, value] : llvm::enumerate(mainEnd->getOperands())) {
    if (isGradient(main, number))
      continue;
    Value local = value;
    if (part.call) {
      if (value.getDefiningOp() != part.call)
        continue;
      local = end->getOperand(cast<OpResult>(value).getResultNumber());
    }
    View view = segment.makeContiguous(mainEnd->getLoc(), views.at(local), ArenaKind::Activations);
    segment.keepToEnd(view.buffer);
    addPort(makePort(exec::Direction::Output, main.getResultAttrDict(number), value.getType(),
                     number, view));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Between parts
//===----------------------------------------------------------------------===//

/// Receives stand first: they begin before anything is computed. What another part of this mesh
/// made is where it was left.
LogicalResult Selection::addReceives(Part part) {
  func::FuncOp function = part.function;
  for (unsigned number = 0; part.call && number < function.getNumArguments(); ++number) {
    Value operand = part.call.getOperand(number);
    BlockArgument argument = function.getArgument(number);
    if (auto transfer = operand.getDefiningOp<dist::TransferOp>()) {
      FailureOr<std::pair<MessageSide, MessageSide>> sides = getMessageSides(transfer);
      if (failed(sides))
        return failure();
      views[argument] = addReceive(segment, transfer.getLoc(), transfer.getType(), sides->second,
                                   tags.lookup(transfer));
    } else if (auto call = operand.getDefiningOp<func::CallOp>()) {
      auto from = symbols.lookup<func::FuncOp>(call.getCallee());
      Operation *end = from.getBody().front().getTerminator();
      View view = views.at(end->getOperand(cast<OpResult>(operand).getResultNumber()));
      views[argument] = view; // a copy: the map may grow
      // Stages have frames of their own for what they keep.
      Attribute stage = getStage(part), giver = call->getAttr(kPipelineStageAttr);
      if (stage && giver && stage != giver)
        segment.setKind(view.buffer, ArenaKind::Communication);
    }
  }
  return success();
}

void Selection::findSends(Part part) {
  if (!part.call)
    return;
  func::FuncOp function = part.function;
  Operation *end = function.getBody().front().getTerminator();
  for (OpResult result : part.call.getResults())
    for (Operation *user : result.getUsers())
      if (auto transfer = dyn_cast<dist::TransferOp>(user))
        sends[end->getOperand(result.getResultNumber())].push_back(transfer);
}

/// A part receives when its mesh has done with what @main calls before. For that it may need what
/// other parts of this mesh send, of those that are called before it: behind the last of these it
/// can be waited for, and no mesh waits for another in a circle. What a stage sends of a microbatch
/// is waited for in the stage's last phase of it: other microbatches go through both in between.
FlatSymbolRefAttr Selection::findUntil(Part part, dist::TransferOp transfer) const {
  Operation *receiver = *transfer->user_begin();
  Part last = part;
  for (Part other : parts)
    if (part.call->isBeforeInBlock(other.call) &&
        (getStage(part) ? getStage(part) == getStage(other)
                        : other.call->isBeforeInBlock(receiver)))
      last = other;
  return last.call == part.call ? FlatSymbolRefAttr()
                                : FlatSymbolRefAttr::get(last.function.getSymNameAttr());
}

/// Sends a value to other meshes as soon as it is there.
LogicalResult Selection::addSends(Part part, Value value) {
  auto found = sends.find(value);
  if (found == sends.end())
    return success();
  for (dist::TransferOp transfer : found->second) {
    FailureOr<std::pair<MessageSide, MessageSide>> sides = getMessageSides(transfer);
    if (failed(sides))
      return failure();
    addSend(segment, transfer.getLoc(), views.at(value), sides->first, tags.lookup(transfer),
            findUntil(part, transfer));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Whether a reader takes the value as it is and wants it row-major.
static bool needsRowMajor(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return !isa<DotGeneralOp, BroadcastOp, ReshapeOp, SliceOp, TransposeOp, dist::SliceOp>(user);
  });
}

/// The read of a matrix [k, n, …] as panels [n / extent, k, extent, …].
static WeightRead readPanels(WeightRead read, int64_t extent) {
  read.shape.insert(read.shape.begin(), read.shape[1] / extent);
  read.strides.insert(read.strides.begin(), read.strides[1] * extent);
  read.shape[2] = extent;
  read.rowMajor = true;
  return read;
}

/// The read of a matrix [k, n…] by columns, [n…, k].
static WeightRead readColumns(WeightRead read) {
  std::rotate(read.shape.begin(), read.shape.begin() + 1, read.shape.end());
  std::rotate(read.strides.begin(), read.strides.begin() + 1, read.strides.end());
  read.rowMajor = true;
  return read;
}

/// The view [k, n…] of a matrix that is read so.
static View turnBack(View view) {
  std::rotate(view.shape.rbegin(), view.shape.rbegin() + 1, view.shape.rend());
  std::rotate(view.strides.rbegin(), view.strides.rbegin() + 1, view.strides.rend());
  return view;
}

LogicalResult Selection::addWeights() {
  SmallVector<std::pair<Value, WeightRead>> reads;
  SmallVector<Operation *> loads;
  for (Part part : parts)
    for (Operation &op : part.function.getBody().front())
      if (isa<LoadOp, dist::LoadShardOp>(op))
        loads.push_back(&op);
  for (Operation *loading : loads) {
    Operation &op = *loading;
    Value value = op.getResult(0);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (states.contains(getLoadedSymbol(&op)))
      continue;
    if (auto load = dyn_cast<LoadOp>(op)) {
      reads.emplace_back(value, WeightRead{load.getWeightAttr(), exec::AffineAttr::get(context, 0),
                                           type.getElementType(), Extents(type.getShape()),
                                           getRowMajorStrides(type.getShape()),
                                           needsRowMajor(value), ArrayAttr()});
    } else if (auto load = dyn_cast<dist::LoadShardOp>(op)) {
      auto start = getBlockStart(context, load.getSharding(), type.getShape(), load.getStrides());
      reads.emplace_back(
          value,
          WeightRead{load.getWeightAttr(), start.plus(load.getStart()), type.getElementType(),
                     Extents(type.getShape()), Extents(load.getStrides()), needsRowMajor(value),
                     getValidExtents(dist::lookupMesh(load, load.getSharding().getMesh()),
                                     load.getSharding(), load.getShape(), type.getShape())});
    }
  }
  DenseSet<Value> byColumns;
  for (auto &[value, read] : reads) {
    auto panels = value.getDefiningOp()->getAttrOfType<IntegerAttr>(panelsAttrName);
    if (panels && !read.valid)
      read = readPanels(read, panels.getInt());
    if (!read.valid && value.getDefiningOp()->hasAttr(byColumnsAttrName)) {
      read = readColumns(read);
      byColumns.insert(value);
    }
  }
  for (bool rowMajor : {true, false})
    for (auto &[value, read] : reads)
      if (read.rowMajor == rowMajor)
        views[value] = byColumns.contains(value) ? turnBack(weights.get(read)) : weights.get(read);
  return success();
}

void Selection::addConstantWeight(ConstantOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  std::string name;
  while (name.empty() || symbols.lookup(name))
    name = llvm::formatv("constant_{0}", nextConstant++).str();
  constants.emplace_back(name, op.getValue());
  views[op.getResult()] =
      weights.get({FlatSymbolRefAttr::get(context, name), exec::AffineAttr::get(context, 0),
                   type.getElementType(), Extents(type.getShape()),
                   getRowMajorStrides(type.getShape()), /*rowMajor=*/true, ArrayAttr()});
}

//===----------------------------------------------------------------------===//
// Members of the program
//===----------------------------------------------------------------------===//

void Selection::createMembers(OpBuilder &builder) {
  Location loc = main.getLoc();
  if (llvm::any_of(ArrayRef{ArenaKind::Activations, ArenaKind::Communication},
                   [&](auto kind) { return exec::getNumFrames(program.getSchedule(), kind) > 1; }))
    segment.separateFrames();
  for (auto &[name, value] : constants)
    exec::WeightOp::create(builder, loc, name, value.getElementType(),
                           cast<RankedTensorType>(value.getType()).getShape(), value,
                           /*constant=*/true);
  OpBuilder members = OpBuilder::atBlockBegin(&program.getBody().front());
  for (const Port &port : ports)
    exec::PortOp::create(members, loc, exec::DirectionAttr::get(context, port.direction), port.name,
                         port.shape, port.sharding, mesh, segment.getOperand(port.local),
                         port.valid, members.getI64IntegerAttr(port.along));
  weights.emit(members, loc);
  for (auto &[symbol, state] : states)
    if (!symbols.lookup(symbol)->hasAttr(kAccumulatorAttr))
      exec::WeightBlockOp::create(members, loc, FlatSymbolRefAttr::get(symbol), state.start,
                                  members.getDenseI64ArrayAttr(state.strides),
                                  segment.getOperand(state.view), state.valid);
  segment.finish();
}
