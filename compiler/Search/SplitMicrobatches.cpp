#include "compiler/Search/SplitMicrobatches.h"

#include "compiler/Sharding/BatchDimensions.h"
#include "compiler/Sharding/Microbatches.h"
#include "compiler/Sharding/Partitioner.h"
#include "compiler/Sharding/PlannedModule.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/TensorBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

namespace {
/// Splits @main over a mesh that stands for time.
class MicrobatchSplitter {
public:
  MicrobatchSplitter(ModuleOp module, func::FuncOp main, int64_t count)
      : module(module), main(main), count(count) {}

  LogicalResult split() {
    addMesh();
    bool good = succeeded(partition()) && succeeded(convert()) && succeeded(checkSums(main));
    removeMesh();
    return success(good);
  }

  LogicalResult stack() {
    addMesh();
    bool good = succeeded(markBatches());
    removeMesh();
    return success(good);
  }

private:
  void addMesh();
  LogicalResult partition();
  LogicalResult checkBatch(const PlannedPart &planned);
  LogicalResult convert();
  LogicalResult convert(Operation &op);
  void convertOffset(dist::OffsetOp op);
  void convertSum(dist::AllReduceOp op);
  void markSignature();
  LogicalResult markBatches();
  void removeMesh();

  ModuleOp module;
  func::FuncOp main;
  int64_t count;
  dist::MeshOp mesh;
};
} // namespace

void MicrobatchSplitter::addMesh() {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Attribute axis = dist::MeshAxisAttr::get(module.getContext(), "batch", count);
  mesh = dist::MeshOp::create(builder, module.getLoc(), "microbatches", builder.getArrayAttr(axis),
                              DenseI64ArrayAttr(), /*first_device=*/0);
}

/// The batch must be there, and divide.
LogicalResult MicrobatchSplitter::checkBatch(const PlannedPart &planned) {
  BatchDimensions batch(planned.function->graph);
  if (batch.size() > 0 && batch.size() % count == 0)
    return success();
  return main.emitError() << "expected a batch that " << count
                          << " microbatches divide, got: " << batch.size();
}

LogicalResult MicrobatchSplitter::partition() {
  std::optional<PlannedPart> planned = PlannedPart::get(module, {main, {}, mesh});
  if (!planned || failed(checkBatch(*planned)))
    return failure();
  const ShardingGraph &graph = planned->function->graph;
  BatchDimensions batch(graph);
  for (auto [number, tensor] : llvm::enumerate(graph.tensors))
    if (batch.isBatchInput(tensor))
      planned->shardings->seed(number, tensor.batchDim, fullAxis(planned->mesh, 0));
  planned->shardings->run();
  planned->annotate();
  return Partitioner(main, mesh, /*keepsWeights=*/true).run();
}

/// What a value is called in messages.
static std::string describe(Operation *op) {
  std::string name = getSourceName(op->getLoc()).str();
  return (name.empty() ? "" : "'" + name + "', ") + op->getName().getStringRef().str() + ",";
}

/// Whether an operation, not a view, reads a dimension that cannot be split.
static bool needsWhole(Operation *op) {
  auto interface = dyn_cast<FactorRuleOpInterface>(op);
  if (!interface || isa<BroadcastOp, ReshapeOp, SliceOp, TransposeOp>(op))
    return false;
  FactorRule rule = interface.getFactorRule();
  return llvm::any_of(llvm::enumerate(rule.factors), [&](const auto &factor) {
    return factor.value().kind != FactorKind::Parallel &&
           factor.value().kind != FactorKind::Reduction && factor.value().size > 1 &&
           rule.inOperand(factor.index(), 0);
  });
}

/// What made the batch be joined: the first operation that needs it whole and comes of the joined
/// value, else what reads that.
static Operation *findCause(Operation *joined) {
  SmallVector<Operation *> queue(joined->getUsers());
  llvm::DenseSet<Operation *> seen(queue.begin(), queue.end());
  for (size_t next = 0; next < queue.size(); ++next) {
    if (needsWhole(queue[next]))
      return queue[next];
    for (Operation *user : queue[next]->getUsers())
      if (seen.insert(user).second)
        queue.push_back(user);
  }
  return queue.empty() ? joined : queue.front();
}

/// Microbatches follow one another in the batch, on any mesh.
void MicrobatchSplitter::convertOffset(dist::OffsetOp op) {
  ImplicitLocOpBuilder located(op.getLoc(), op);
  TensorBuilder builder(located);
  auto block = DenseElementsAttr::get(op.getType(), op.getBlockAttr());
  Value number = builder.make<dist::MicrobatchOp>(op.getType());
  op.replaceAllUsesWith(builder.mul(number, builder.make<ConstantOp>(block)));
  op.erase();
}

void MicrobatchSplitter::convertSum(dist::AllReduceOp op) {
  ImplicitLocOpBuilder located(op.getLoc(), op);
  TensorBuilder builder(located);
  auto type = cast<RankedTensorType>(op.getType());
  bool widens = isa<FloatType>(type.getElementType()) && type.getElementTypeBitWidth() < 32;
  Type sum = widens ? withElementType(type, located.getF32Type()) : Type(type);
  Value result = builder.make<dist::AccumulateOp>(sum, op.getInput());
  // What is made of the sum in its own type is made without a detour.
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (auto cast = dyn_cast<CastOp>(user); cast && cast.getType() == sum)
      cast.replaceAllUsesWith(result);
  op.replaceAllUsesWith(builder.castTo(result, type.getElementType()));
  op.erase();
}

LogicalResult MicrobatchSplitter::convert(Operation &op) {
  if (auto offset = dyn_cast<dist::OffsetOp>(op))
    return convertOffset(offset), success();
  auto reduce = dyn_cast<dist::AllReduceOp>(op);
  if (!reduce) {
    Operation *user = findCause(&op);
    return user->emitError() << describe(user)
                             << " needs the whole batch, not a microbatch at a time: "
                             << kWholeBatchHint;
  }
  if (reduce.getReduction() != ReduceKind::Sum)
    return op.emitError() << describe(reduce.getInput().getDefiningOp())
                          << " joins the batch otherwise than by a sum: " << kWholeBatchHint;
  return convertSum(reduce), success();
}

/// What is refused behind the first may be so because of it.
LogicalResult MicrobatchSplitter::convert() {
  for (Operation &op : llvm::make_early_inc_range(main.getBody().front()))
    if (isa<dist::DistDialect>(op.getDialect()) && failed(convert(op)))
      return failure();
  markSignature();
  return success();
}

/// Which dimension of arguments and results is of one microbatch.
void MicrobatchSplitter::markSignature() {
  Builder builder(module.getContext());
  auto dimOf = [&](dist::ShardingAttr sharding) -> IntegerAttr {
    for (auto [dim, axes] :
         llvm::enumerate(sharding ? sharding.getDims() : ArrayRef<dist::DimShardingAttr>()))
      if (!axes.getAxes().empty())
        return builder.getI64IntegerAttr(dim);
    return {};
  };
  for (unsigned index = 0; index < main.getNumArguments(); ++index) {
    IntegerAttr dim = dimOf(main.getArgAttrOfType<dist::ShardingAttr>(index, dist::kShardingAttr));
    for (StringRef name : {dist::kShardingAttr, dist::kGlobalTypeAttr})
      main.removeArgAttr(index, builder.getStringAttr(name));
    if (dim)
      main.setArgAttr(index, dist::kMicrobatchDimAttr, dim);
  }
  for (unsigned index = 0; index < main.getNumResults(); ++index) {
    IntegerAttr dim =
        dimOf(main.getResultAttrOfType<dist::ShardingAttr>(index, dist::kShardingAttr));
    for (StringRef name : {dist::kShardingAttr, dist::kGlobalTypeAttr})
      main.removeResultAttr(index, builder.getStringAttr(name));
    if (dim)
      main.setResultAttr(index, dist::kMicrobatchDimAttr, dim);
  }
  main->setAttr(dist::kMicrobatchesAttr, builder.getI64IntegerAttr(count));
}

/// A batch of the model becomes a microbatch.
LogicalResult MicrobatchSplitter::markBatches() {
  std::optional<PlannedPart> planned = PlannedPart::get(module, {main, {}, mesh});
  if (!planned)
    return failure();
  const ShardingGraph &graph = planned->function->graph;
  BatchDimensions batch(graph);
  if (batch.size() == 0)
    return main.emitError("expected inputs with a batch, to take several of");
  Builder builder(module.getContext());
  for (BlockArgument argument : main.getArguments()) {
    const ShardingGraph::Tensor &tensor =
        graph.tensors[planned->function->tensors.lookup(argument)];
    if (batch.isBatchInput(tensor))
      main.setArgAttr(argument.getArgNumber(), dist::kMicrobatchDimAttr,
                      builder.getI64IntegerAttr(tensor.batchDim));
  }
  main->setAttr(dist::kMicrobatchesAttr, builder.getI64IntegerAttr(count));
  return checkSums(main);
}

void MicrobatchSplitter::removeMesh() {
  mesh.erase();
  for (auto weight : module.getOps<WeightOp>())
    for (StringRef name : {dist::kShardingAttr, dist::kShardingsAttr, dist::kPinnedAttr})
      weight->removeAttr(name);
}

/// @main of a module that has neither parts nor a mesh; null after an error.
static func::FuncOp findWhole(ModuleOp module) {
  std::optional<Parts> parts = getParts(module);
  if (!parts)
    return {};
  if (!parts->parts.front().call && !parts->parts.front().mesh)
    return parts->main;
  parts->main.emitError("expected a model in one part, and without a mesh, to go through its batch "
                        "in microbatches");
  return {};
}

LogicalResult weft::splitMicrobatches(ModuleOp module, int64_t count) {
  if (count <= 1)
    return success();
  func::FuncOp main = findWhole(module);
  return main ? MicrobatchSplitter(module, main, count).split() : failure();
}

LogicalResult weft::stackMicrobatches(ModuleOp module, int64_t count) {
  if (count <= 1)
    return success();
  func::FuncOp main = findWhole(module);
  return main ? MicrobatchSplitter(module, main, count).stack() : failure();
}
