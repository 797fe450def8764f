#include "passes/Lowering/Selection.h"

#include "dialects/Dist/IR/Sharding.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;
using exec::ArenaKind;

Selection::Selection(ModuleOp module, func::FuncOp main, exec::ProgramOp program,
                     FlatSymbolRefAttr mesh)
    : module(module), main(main), context(module.getContext()), symbols(module), program(program),
      mesh(mesh), segment(program, "forward"), weights(segment) {}

LogicalResult Selection::run(OpBuilder &builder) {
  addInputs();
  if (failed(addWeights()))
    return failure();
  for (Operation &op : main.getBody().front())
    if (failed(lower(&op)))
      return failure();
  createMembers(builder);
  return success();
}

LogicalResult Selection::lower(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LoadOp, dist::LoadShardOp>([](auto) { return success(); })
      .Case<func::ReturnOp>([&](func::ReturnOp op) { return addOutputs(op); })
      .Case<BroadcastOp, func::CallOp, ConstantOp, ConvOp, DotGeneralOp, dist::AllGatherOp,
            dist::AllReduceOp, dist::AllToAllOp, dist::OffsetOp, dist::PermuteOp,
            dist::ReduceScatterOp, dist::SliceOp, ReshapeOp, SliceOp, TransposeOp>(
          [&](auto op) { return lowerOp(op); })
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
  return {direction, name, builder.getDenseI64ArrayAttr(globalType.getShape()),
          builder.getArrayAttr(dims), local};
}

void Selection::addInputs() {
  for (BlockArgument argument : main.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    View view = segment.allocate(ArenaKind::Activations, type.getElementType(), type.getShape());
    segment.keepAlways(view.buffer);
    views[argument] = view;
    unsigned number = argument.getArgNumber();
    ports.push_back(
        makePort(exec::Direction::Input, main.getArgAttrDict(number), type, number, view));
  }
}

LogicalResult Selection::addOutputs(func::ReturnOp op) {
  for (auto [number, value] : llvm::enumerate(op.getOperands())) {
    View view = segment.makeContiguous(op.getLoc(), views.at(value), ArenaKind::Activations);
    segment.keepToEnd(view.buffer);
    ports.push_back(makePort(exec::Direction::Output, main.getResultAttrDict(number),
                             value.getType(), number, view));
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

LogicalResult Selection::addWeights() {
  SmallVector<std::pair<Value, WeightRead>> reads;
  for (Operation &op : main.getBody().front()) {
    if (op.getNumResults() != 1)
      continue;
    Value value = op.getResult(0);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (auto load = dyn_cast<LoadOp>(op)) {
      reads.emplace_back(value,
                         WeightRead{load.getWeightAttr(), exec::AffineAttr::get(context, 0),
                                    type.getElementType(), Extents(type.getShape()),
                                    getRowMajorStrides(type.getShape()), needsRowMajor(value)});
    } else if (auto load = dyn_cast<dist::LoadShardOp>(op)) {
      auto start = getBlockStart(context, load.getSharding(), type.getShape(), load.getStrides());
      reads.emplace_back(value, WeightRead{load.getWeightAttr(), start.plus(load.getStart()),
                                           type.getElementType(), Extents(type.getShape()),
                                           Extents(load.getStrides()), needsRowMajor(value)});
    }
  }
  for (bool rowMajor : {true, false})
    for (auto &[value, read] : reads)
      if (read.rowMajor == rowMajor)
        views[value] = weights.get(read);
  return success();
}

void Selection::addConstantWeight(ConstantOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  std::string name;
  for (unsigned number = 0; name.empty() || symbols.lookup(name); ++number)
    name = llvm::formatv("constant_{0}", constants.size() + number).str();
  constants.emplace_back(name, op.getValue());
  views[op.getResult()] =
      weights.get({FlatSymbolRefAttr::get(context, name), exec::AffineAttr::get(context, 0),
                   type.getElementType(), Extents(type.getShape()),
                   getRowMajorStrides(type.getShape()), /*rowMajor=*/true});
}

//===----------------------------------------------------------------------===//
// Members of the program
//===----------------------------------------------------------------------===//

void Selection::createMembers(OpBuilder &builder) {
  Location loc = main.getLoc();
  for (auto &[name, value] : constants)
    exec::WeightOp::create(builder, loc, name, value.getElementType(),
                           cast<RankedTensorType>(value.getType()).getShape(), value,
                           /*constant=*/true);
  OpBuilder members = OpBuilder::atBlockBegin(&program.getBody().front());
  for (const Port &port : ports)
    exec::PortOp::create(members, loc, exec::DirectionAttr::get(context, port.direction), port.name,
                         port.shape, port.sharding, mesh, segment.getOperand(port.local),
                         members.getI64IntegerAttr(0));
  weights.emit(members, loc);
  segment.finish();
}
