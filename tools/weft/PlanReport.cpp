#include "tools/weft/PlanReport.h"

#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Partition/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;
using namespace weft::tool;
namespace dist = weft::dist;

static int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * ((tensor.getElementTypeBitWidth() + 7) / 8);
}

static std::string elementName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << cast<RankedTensorType>(type).getElementType();
  return text;
}

/// The collective that an operation is; none if it is not one.
static std::optional<CollectiveUse> describe(Operation &op) {
  auto axes =
      llvm::TypeSwitch<Operation *, ArrayAttr>(&op)
          .Case<dist::AllGatherOp, dist::AllReduceOp, dist::AllToAllOp, dist::ReduceScatterOp>(
              [](auto collective) { return collective.getAxes(); })
          .Case([](dist::PermuteOp permute) { return permute.getFrom(); })
          .Default(ArrayAttr());
  if (!axes)
    return std::nullopt;
  CollectiveUse use;
  use.kind = op.getName().stripDialect().str();
  use.dtype = elementName(op.getResult(0).getType());
  use.source = weft::getSourceName(op.getResult(0));
  use.bytes = std::max(bytesOf(op.getOperand(0).getType()), bytesOf(op.getResult(0).getType()));
  for (dist::AxisRefAttr axis : dist::getAxisRefs(axes))
    use.axes.push_back(axis.getName().str());
  if (auto reduce = dyn_cast<dist::AllReduceOp>(op))
    use.reduction = stringifyEnum(reduce.getReduction()).str();
  if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op))
    use.reduction = stringifyEnum(scatter.getReduction()).str();
  return use;
}

/// The elements that a load reads, whatever the order of its dimensions: two loads of one block are
/// held once.
static Attribute blockOf(dist::LoadShardOp load) {
  Builder builder(load.getContext());
  SmallVector<std::tuple<int64_t, int64_t, Attribute>> dims;
  for (auto [stride, size, axes] :
       llvm::zip_equal(load.getStrides(), load.getShape(), load.getSharding().getDims()))
    dims.push_back({stride, size, axes});
  llvm::sort(dims, [](const auto &a, const auto &b) {
    return std::pair(std::get<0>(a), std::get<1>(a)) > std::pair(std::get<0>(b), std::get<1>(b));
  });
  SmallVector<Attribute> parts{load.getWeightAttr(), load.getStartAttr()};
  for (auto [stride, size, axes] : dims)
    parts.append({builder.getI64IntegerAttr(stride), builder.getI64IntegerAttr(size), axes});
  return builder.getArrayAttr(parts);
}

std::optional<PlanReport> weft::tool::reportPlan(ModuleOp planned) {
  OwningOpRef<ModuleOp> module(planned.clone());
  PassManager passes(planned.getContext());
  passes.addPass(createPartition());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(*module)))
    return std::nullopt;
  PlanReport report;
  for (dist::MeshOp mesh : module->getOps<dist::MeshOp>())
    report.ranks = mesh.getNumDevices();
  llvm::DenseSet<Attribute> blocks;
  llvm::StringSet<> weights;
  SymbolTable symbols(*module);
  module->walk([&](Operation *op) {
    if (auto load = dyn_cast<dist::LoadShardOp>(op)) {
      if (blocks.insert(blockOf(load)).second)
        report.weightBytes += bytesOf(load.getType());
      if (auto weight = symbols.lookup<weft::WeightOp>(load.getWeight());
          weights.insert(load.getWeight()).second)
        report.wholeWeightBytes += bytesOf(weight.getType());
    } else if (std::optional<CollectiveUse> use = describe(*op)) {
      report.collectives.push_back(*use);
    }
  });
  return report;
}

nlohmann::ordered_json weft::tool::toJson(const CollectiveUse &collective) {
  nlohmann::ordered_json json{{"kind", collective.kind},
                              {"axes", collective.axes},
                              {"dtype", collective.dtype},
                              {"bytes", collective.bytes},
                              {"count", 1},
                              {"source", collective.source}};
  if (!collective.reduction.empty())
    json["reduction"] = collective.reduction;
  return json;
}
