#include "compiler/Search/RangePlans.h"

#include "compiler/Search/MakeProblem.h"
#include "compiler/Training/Differentiate.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

static bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

RangePlanner::RangePlanner(func::FuncOp main, const ClusterModel &cluster, RangeOptions options)
    : main(main), cluster(cluster), options(std::move(options)), ranges(main) {
  FunctionGraph function(main);
  BatchDimensions batch(function.graph);
  for (auto [tensor, value] : llvm::enumerate(function.values))
    batchDims[value] = batch.all()[tensor].find_first();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The operations that these values depend on.
static llvm::DenseSet<Operation *> findMakers(ValueRange values) {
  llvm::DenseSet<Operation *> makers;
  SmallVector<Value> stack(values);
  while (!stack.empty())
    if (Operation *op = stack.pop_back_val().getDefiningOp(); op && makers.insert(op).second)
      llvm::append_range(stack, op->getOperands());
  return makers;
}

/// Makes the function one that has its gradients: by what other blocks hand to it, then by weights.
LogicalResult RangePlanner::differentiate(Program &program) const {
  std::vector<Variable> variables;
  for (auto [index, value] : llvm::enumerate(program.range.arguments))
    if (value.getDefiningOp() && isFloat(value.getType()))
      variables.emplace_back(static_cast<unsigned>(index));
  for (auto weight : program.range.module->getOps<WeightOp>())
    if (weight.getKind() == WeightKind::Parameter && isFloat(weight.getType())) {
      weight.setKind(WeightKind::Trained);
      variables.emplace_back(weight.getSymName());
    }
  if (!options.trains || variables.empty() ||
      llvm::none_of(program.range.results, [](Value value) { return isFloat(value.getType()); }))
    return success();
  FailureOr<func::FuncOp> step = weft::differentiate(program.function, variables, "step");
  if (failed(step))
    return failure();
  program.function.erase();
  program.function = *step;
  Block &body = step->getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op) || (isa<LoadOp>(op) && op.use_empty()))
      op.erase();
  ValueRange results = body.getTerminator()->getOperands();
  program.forward = findMakers(results.take_front(program.range.results.size()));
  return success();
}

FailureOr<RangePlanner::Program *> RangePlanner::getProgram(uint64_t kind, size_t begin,
                                                            size_t end) {
  auto [entry, isNew] = programs.try_emplace(kind);
  Program &program = entry->second;
  if (!isNew)
    return &program;
  program.range = ranges.extract(begin, end);
  program.function = program.range.module->lookupSymbol<func::FuncOp>("main");
  if (failed(differentiate(program))) {
    programs.erase(entry);
    return failure();
  }
  return &program;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// Says on which mesh a module runs, and on no other.
static dist::MeshOp placeOn(ModuleOp module, const MeshShape &mesh) {
  for (auto other : llvm::make_early_inc_range(module.getOps<dist::MeshOp>()))
    other.erase();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  SmallVector<Attribute> axes;
  for (const MeshAxis &axis : mesh.axes)
    axes.push_back(dist::MeshAxisAttr::get(builder.getContext(), axis.name, axis.size));
  return dist::MeshOp::create(builder, module.getLoc(), mesh.name, builder.getArrayAttr(axes),
                              DenseI64ArrayAttr(), /*first_device=*/0);
}

/// What operations are for. Gradients of values have the batch, those of weights are summed up over
/// it.
static std::vector<Phase> findPhases(const llvm::DenseSet<Operation *> &forward,
                                     const FunctionGraph &function) {
  BatchDimensions batch(function.graph);
  std::vector<Phase> phases;
  for (auto [op, node] : llvm::zip_equal(function.operations, function.graph.nodes)) {
    bool hasBatch =
        llvm::any_of(node.results, [&](unsigned tensor) { return batch.all()[tensor].any(); });
    phases.push_back(forward.empty() || forward.contains(op) ? Phase::Forward
                     : hasBatch                              ? Phase::Backward
                                                             : Phase::WeightGradient);
  }
  return phases;
}

FailureOr<StepSplits> RangePlanner::search(Program &program, MeshTables &mesh, double memoryLimit) {
  ModuleOp module = *program.range.module;
  std::optional<PlannedPart> part =
      PlannedPart::get(module, {program.function, {}, placeOn(module, mesh.shape)});
  if (!part)
    return failure();
  FunctionGraph &function = *part->function;
  std::vector<Value> sources = program.range.arguments; // then what the gradients are of
  llvm::copy_if(program.range.results, std::back_inserter(sources),
                [](Value value) { return isFloat(value.getType()); });
  for (auto [argument, source] : llvm::zip(program.function.getArguments(), sources))
    if (auto found = function.tensors.find(argument); found != function.tensors.end())
      function.graph.tensors[found->second].batchDim = batchDims.lookup(source);
  ShardingProblem problem = makeProblem(*part);
  problem.brought.clear(); // without a loss its passes are not known from each other
  std::vector<Phase> phases = findPhases(program.forward, function);
  for (auto [phase, kind] : llvm::zip_equal(phases, problem.kinds))
    kind = llvm::hash_combine(kind, static_cast<int>(phase));
  SearchOptions asked = options.search;
  asked.memoryLimit = memoryLimit;
  ++numSearched;
  return searchPareto(problem, phases, mesh.prices, mesh.tables, asked, options.limits);
}

static std::string describe(const MeshShape &mesh) {
  std::string text;
  for (const MeshAxis &axis : mesh.axes)
    text += axis.name + "=" + std::to_string(axis.size) + ",";
  return text;
}

FailureOr<const StepSplits *> RangePlanner::find(size_t begin, size_t end, const MeshShape &mesh,
                                                 double memoryLimit) {
  if (begin >= end || end > ranges.size())
    return main.emitError() << "expected a range of " << ranges.size() << " blocks, got: [" << begin
                            << ", " << end << ")";
  if (int64_t devices = cluster.groups.front().getNumDevices(); mesh.devices() > devices)
    return main.emitError() << "expected a mesh of at most " << devices
                            << " devices, got: " << mesh.devices();
  auto [kind, isNewRange] = kinds.try_emplace({begin, end}, 0);
  if (isNewRange)
    kind->second = ranges.classify(begin, end);
  std::string name = describe(mesh);
  std::tuple key(kind->second, name, memoryLimit);
  if (auto found = known.find(key); found != known.end())
    return &found->second;
  // Of all that is worth it what fits is all that is worth it of what fits.
  if (auto all = known.find({kind->second, name, 0.0});
      all != known.end() && all->second.isComplete) {
    StepSplits fitting;
    llvm::copy_if(all->second.splits, std::back_inserter(fitting.splits),
                  [&](const StepSplit &split) { return split.cost.memory <= memoryLimit; });
    return &known.emplace(key, std::move(fitting)).first->second;
  }
  FailureOr<Program *> program = getProgram(kind->second, begin, end);
  if (failed(program))
    return failure();
  std::unique_ptr<MeshTables> &tables = meshes[name];
  if (!tables)
    tables = std::make_unique<MeshTables>(mesh, cluster);
  FailureOr<StepSplits> splits = search(**program, *tables, memoryLimit);
  if (failed(splits))
    return failure();
  return &known.emplace(key, std::move(*splits)).first->second;
}
