#include "compiler/Plan/WrittenDecisions.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/Decisions.h"
#include "compiler/Sharding/FunctionGraph.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include <map>

using namespace mlir;
using namespace weft;

namespace {
/// Reads what is written in one module.
class Reader {
public:
  Reader(ModuleOp module, func::FuncOp main, dist::MeshOp mesh)
      : module(module), main(main), mesh(getMeshShape(mesh)),
        propagated(main->hasAttr(dist::kPropagatedAttr)) {}

  std::vector<plan::Decision> read() {
    readValues();
    readResults();
    readWeights();
    return std::move(decisions);
  }

private:
  void add(std::string name, dist::ShardingAttr attr, bool decided);
  void readValues();
  void readResults();
  void readWeights();

  ModuleOp module;
  func::FuncOp main;
  MeshShape mesh;
  bool propagated;
  std::vector<plan::Decision> decisions;
};
} // namespace

void Reader::add(std::string name, dist::ShardingAttr attr, bool decided) {
  plan::Decision &decision = decisions.emplace_back();
  decision.set_value(std::move(name));
  *decision.mutable_sharding() = toPlan(fromAttr(attr, mesh), mesh);
  decision.set_origin(decided ? plan::USER : plan::PROPAGATED);
  decision.set_reason(decided ? "written in the model" : "noted in the model");
}

void Reader::readValues() {
  ValueNames names(main);
  SymbolTable symbols(module);
  auto read = [&](Value value) {
    dist::ShardingAttr attr = getKeptSharding(value);
    if (!attr)
      return;
    bool couldBeWeight = value.getDefiningOp<LoadOp>() && symbols.lookup(names.get(value));
    add((couldBeWeight ? valuePrefix.str() : "") + names.get(value), attr, isDecided(value));
  };
  Block &body = main.getBody().front();
  llvm::for_each(body.getArguments(), read);
  for (Operation &op : body)
    llvm::for_each(op.getResults(), read);
}

void Reader::readResults() {
  for (unsigned index = 0; index < main.getNumResults(); ++index)
    if (dist::ShardingAttr attr = getKeptSharding(main, index))
      add(resultPrefix.str() + getResultName(main, index), attr,
          !propagated || main.getResultAttr(index, dist::kPinnedAttr));
}

void Reader::readWeights() {
  for (auto weight : module.getOps<WeightOp>())
    if (dist::ShardingAttr attr = dist::getStorageSharding(weight, mesh.name))
      add((weightPrefix + weight.getSymName()).str(), attr,
          !propagated || dist::isStoragePinned(weight, mesh.name));
}

/// Removes every annotation that the dist dialect knows.
static void strip(ModuleOp module) {
  module.walk([](Operation *op) {
    for (StringRef name :
         {dist::kShardingAttr, dist::kShardingsAttr, dist::kPinnedAttr, dist::kPropagatedAttr})
      op->removeDiscardableAttr(name);
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return;
    for (StringRef text : {dist::kShardingAttr, dist::kPinnedAttr}) {
      auto name = StringAttr::get(op->getContext(), text);
      for (unsigned index = 0; index < function.getNumArguments(); ++index)
        function.removeArgAttr(index, name);
      for (unsigned index = 0; index < function.getNumResults(); ++index)
        function.removeResultAttr(index, name);
    }
  });
}

std::optional<WrittenDecisions> weft::takeWrittenDecisions(ModuleOp module) {
  WrittenDecisions written;
  auto meshes = llvm::to_vector(module.getOps<dist::MeshOp>());
  if (meshes.empty())
    return written;
  if (meshes.size() > 1) {
    meshes[1].emitOpError() << "expected at most one mesh in a model, got: " << meshes.size();
    return std::nullopt;
  }
  dist::MeshOp mesh = meshes.front();
  written.mesh = toPlan(getMeshShape(mesh));
  if (std::optional<ArrayRef<int64_t>> order = mesh.getDeviceOrder())
    written.mesh->mutable_device_order()->Add(order->begin(), order->end());
  auto main = module.lookupSymbol<func::FuncOp>("main");
  written.decisions = Reader(module, main, mesh).read();
  strip(module);
  mesh.erase();
  return written;
}

std::string weft::addWrittenDecisions(const WrittenDecisions &written, plan::Plan &plan) {
  if (!written.mesh)
    return "";
  *plan.mutable_meshes(0) = *written.mesh;
  std::map<std::string, std::string> decided;
  for (plan::Decision &decision : *plan.mutable_decisions()) {
    decision.mutable_sharding()->set_mesh(written.mesh->name());
    decided[decision.value()] = decision.sharding().SerializeAsString();
  }
  for (const plan::Decision &decision : written.decisions) {
    auto [entry, fresh] =
        decided.try_emplace(decision.value(), decision.sharding().SerializeAsString());
    if (fresh)
      *plan.add_decisions() = decision;
    else if (entry->second != decision.sharding().SerializeAsString())
      return "'" + decision.value() + "' is decided otherwise in the model";
  }
  return "";
}
