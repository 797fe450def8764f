#include "compiler/Plan/WrittenDecisions.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/Decisions.h"
#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/Parts.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include <map>

using namespace mlir;
using namespace weft;

namespace {
/// Reads what is written in one part of a module, or in all of it.
class Reader {
public:
  Reader(ModuleOp module, func::FuncOp main, dist::MeshOp mesh)
      : module(module), main(main), mesh(getMeshShape(mesh)),
        propagated(main->hasAttr(dist::kPropagatedAttr)) {}

  std::vector<plan::Decision> read(bool withWeights) {
    readValues();
    readResults();
    if (withWeights)
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
    if (dist::ShardingAttr attr = getKeptSharding(main, index);
        attr && !getResultName(main, index).empty())
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

static plan::Mesh takeMesh(dist::MeshOp mesh) {
  plan::Mesh message = toPlan(getMeshShape(mesh));
  message.set_first_device(mesh.getFirstDevice());
  if (std::optional<ArrayRef<int64_t>> order = mesh.getDeviceOrder())
    message.mutable_device_order()->Add(order->begin(), order->end());
  return message;
}

/// Checks that the parts of a module and its meshes go together.
static LogicalResult checkMeshes(const Parts &parts, ArrayRef<dist::MeshOp> meshes) {
  if (!parts.parts.front().call) {
    if (meshes.size() > 1)
      return dist::MeshOp(meshes[1]).emitOpError()
             << "expected at most one mesh in a model that is not in parts, got: " << meshes.size();
    return success();
  }
  for (const Part &part : parts.parts)
    if (!func::FuncOp(part.function)->hasAttr(dist::kMeshAttr))
      return func::FuncOp(part.function).emitOpError()
             << "expected each part of a model to name its mesh, dist.mesh = @…";
  for (dist::MeshOp mesh : meshes)
    if (llvm::none_of(parts.parts, [&](const Part &part) { return part.mesh == mesh; }))
      return mesh.emitOpError() << "expected a part on each mesh, got none on @"
                                << mesh.getSymName();
  return success();
}

std::optional<WrittenDecisions> weft::takeWrittenDecisions(ModuleOp module) {
  WrittenDecisions written;
  auto meshes = llvm::to_vector(module.getOps<dist::MeshOp>());
  auto main = module.lookupSymbol<func::FuncOp>("main");
  written.inParts = callsParts(main);
  if (meshes.empty() && !written.inParts)
    return written;
  std::optional<Parts> parts;
  if (written.inParts || meshes.size() == 1)
    parts = getParts(module);
  else
    parts = Parts{main, {{main, {}, meshes.front()}}, {}, {}};
  if (!parts || failed(checkMeshes(*parts, meshes)))
    return std::nullopt;
  llvm::SmallPtrSet<Operation *, 4> read; // meshes whose weights were
  for (const Part &part : parts->parts) {
    dist::MeshOp mesh = part.mesh;
    llvm::append_range(
        written.decisions,
        Reader(module, part.function, mesh).read(read.insert(mesh.getOperation()).second));
  }
  strip(module);
  for (dist::MeshOp mesh : meshes) {
    written.meshes.push_back(takeMesh(mesh));
    mesh.erase();
  }
  return written;
}

std::string weft::addWrittenDecisions(const WrittenDecisions &written, plan::Plan &plan) {
  if (written.meshes.empty())
    return "";
  plan.mutable_meshes()->Assign(written.meshes.begin(), written.meshes.end());
  plan.set_in_parts(written.inParts);
  std::map<std::pair<std::string, std::string>, std::string> decided; // by value and mesh
  for (plan::Decision &decision : *plan.mutable_decisions()) {
    if (!written.inParts && decision.sharding().mesh().empty())
      decision.mutable_sharding()->set_mesh(written.meshes.front().name());
    decided[{decision.value(), decision.sharding().mesh()}] =
        decision.sharding().SerializeAsString();
  }
  for (const plan::Decision &decision : written.decisions) {
    auto [entry, fresh] = decided.try_emplace({decision.value(), decision.sharding().mesh()},
                                              decision.sharding().SerializeAsString());
    if (fresh)
      *plan.add_decisions() = decision;
    else if (entry->second != decision.sharding().SerializeAsString())
      return "'" + decision.value() + "' is decided otherwise in the model";
  }
  return "";
}
