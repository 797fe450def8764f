#include "compiler/Plan/ApplyPlan.h"

#include "compiler/Plan/OperationSplits.h"
#include "compiler/Plan/PlanEnums.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/BackwardPass.h"
#include "compiler/Sharding/Decisions.h"
#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/PartAssignment.h"
#include "compiler/Sharding/Parts.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Messages to plain forms and back
//===----------------------------------------------------------------------===//

MeshShape weft::getMeshShape(const plan::Mesh &mesh) {
  MeshShape shape{mesh.name(), {}};
  for (const plan::Axis &axis : mesh.axes())
    shape.axes.push_back({axis.name(), axis.size()});
  return shape;
}

MeshShape weft::getMeshShape(const plan::Plan &plan, const plan::Decision &decision) {
  const std::string &name = decision.sharding().mesh();
  for (const plan::Mesh &mesh : plan.meshes())
    if (name.empty() ? checkAxes(decision, mesh).empty() : mesh.name() == name)
      return getMeshShape(mesh);
  return getMeshShape(plan.meshes(0));
}

plan::Mesh weft::toPlan(const MeshShape &mesh) {
  plan::Mesh message;
  message.set_name(mesh.name);
  for (const MeshAxis &axis : mesh.axes) {
    message.add_axes()->set_name(axis.name);
    message.mutable_axes()->rbegin()->set_size(axis.size);
  }
  return message;
}

AxisList weft::fromPlan(const PlanAxes &axes, const MeshShape &mesh) {
  AxisList list;
  for (const plan::AxisRef &axis : axes) {
    unsigned index = *mesh.find(axis.name());
    append(list,
           axis.size() == 0 ? fullAxis(mesh, index) : AxisRef{index, axis.pre(), axis.size()});
  }
  return list;
}

TensorSharding weft::fromPlan(const plan::Sharding &message, const MeshShape &mesh) {
  TensorSharding sharding;
  for (const plan::DimSharding &dim : message.dims()) {
    sharding.dims.push_back(fromPlan(dim.axes(), mesh));
    sharding.dims.back().unit = dim.unit() == 0 ? 1 : dim.unit();
  }
  sharding.partial = fromPlan(message.partial(), mesh);
  sharding.reduction = *fromPlan(message.reduction());
  return sharding;
}

plan::AxisRef weft::toPlan(AxisRef ref, const MeshShape &mesh) {
  const MeshAxis &axis = mesh.axes[ref.axis];
  plan::AxisRef message;
  message.set_name(axis.name);
  if (ref.pre == 1 && ref.size == axis.size)
    return message;
  message.set_pre(ref.pre);
  message.set_size(ref.size);
  return message;
}

plan::Sharding weft::toPlan(const TensorSharding &sharding, const MeshShape &mesh) {
  plan::Sharding message;
  message.set_mesh(mesh.name);
  for (const AxisList &list : sharding.dims) {
    plan::DimSharding *dim = message.add_dims();
    for (AxisRef axis : list)
      *dim->add_axes() = toPlan(axis, mesh);
    if (list.unit != 1)
      dim->set_unit(list.unit);
  }
  for (AxisRef axis : sharding.partial)
    *message.add_partial() = toPlan(axis, mesh);
  message.set_reduction(toPlan(sharding.reduction));
  return message;
}

//===----------------------------------------------------------------------===//
// Application
//===----------------------------------------------------------------------===//

std::string weft::getResultName(func::FuncOp main, unsigned index) {
  auto name = main.getResultAttrOfType<StringAttr>(index, "weft.name");
  if (name)
    return name.str();
  return main.getSymName() == "main" ? std::to_string(index) : "";
}

namespace {
/// What a decision is about: one of these.
struct DecisionTarget {
  Value value;
  WeightOp weight;
  std::optional<unsigned> result; ///< of the function

  explicit operator bool() const { return value || weight || result; }
};

/// Pins decisions in one part.
class PlanApplier {
public:
  PlanApplier(ModuleOp module, func::FuncOp main, MeshShape mesh, const ValueNames &names)
      : module(module), main(main), mesh(std::move(mesh)), names(names) {
    llvm::StringMap<WeightOp> all;
    for (auto weight : module.getOps<WeightOp>())
      all[weight.getSymName()] = weight;
    if (main.getSymName() == "main")
      weights = std::move(all);
    else
      for (auto load : main.getBody().front().getOps<LoadOp>())
        weights[load.getWeight()] = all.lookup(load.getWeight());
    for (unsigned index = 0; index < main.getNumResults(); ++index)
      if (std::string name = getResultName(main, index); !name.empty())
        results[name] = index;
  }

  /// Pins what the decision is about, if the part holds it; returns whether it does.
  bool apply(const plan::Decision &decision);
  bool holds(StringRef name) const { return static_cast<bool>(find(name)); }
  const std::string &getMesh() const { return mesh.name; }
  const ValueNames &getNames() const { return names; }

  PlanStatus status = PlanStatus::Applied;

private:
  DecisionTarget find(StringRef name) const;
  Type typeOf(const DecisionTarget &target);
  void pin(const DecisionTarget &target, dist::ShardingAttr attr);
  bool isFirst(const DecisionTarget &target, const plan::Decision &decision);
  bool fits(const plan::Decision &decision, RankedTensorType type);
  void worsen(PlanStatus now) { status = std::max(status, now); }

  ModuleOp module;
  func::FuncOp main;
  MeshShape mesh;
  const ValueNames &names;
  llvm::StringMap<WeightOp> weights; ///< of a part those that it loads
  llvm::StringMap<unsigned> results;
  llvm::DenseMap<const void *, const plan::Decision *> decided; ///< by value, or weight
};
} // namespace

DecisionTarget PlanApplier::find(StringRef name) const {
  if (StringRef rest = name; rest.consume_front(weightPrefix))
    return {{}, weights.lookup(rest), {}};
  Value value = names.lookup(name);
  if (value && value.getDefiningOp<LoadOp>() && weights.contains(name))
    value = {}; // the load of a weight of that name: its storage is meant
  if (value || weights.contains(name))
    return {value, value ? WeightOp() : weights.lookup(name), {}};
  if (StringRef rest = name; rest.consume_front(valuePrefix))
    return {names.lookup(rest), {}, {}};
  if (StringRef rest = name; rest.consume_front(resultPrefix))
    if (auto found = results.find(rest); found != results.end())
      return {{}, {}, found->second};
  return {};
}

Type PlanApplier::typeOf(const DecisionTarget &target) {
  if (target.value)
    return target.value.getType();
  if (target.result)
    return main.getResultTypes()[*target.result];
  return target.weight ? WeightOp(target.weight).getType() : Type();
}

void PlanApplier::pin(const DecisionTarget &target, dist::ShardingAttr attr) {
  auto pinned = UnitAttr::get(module.getContext());
  if (target.value)
    return pinSharding(target.value, attr);
  if (target.result) {
    main.setResultAttr(*target.result, dist::kShardingAttr, attr);
    return main.setResultAttr(*target.result, dist::kPinnedAttr, pinned);
  }
  dist::setStorageSharding(target.weight, attr, /*pinned=*/true);
}

/// Whether nothing was decided about the subject before under another name.
bool PlanApplier::isFirst(const DecisionTarget &target, const plan::Decision &decision) {
  if (target.result) // has one name
    return true;
  const void *key =
      target.value ? target.value.getAsOpaquePointer() : WeightOp(target.weight).getOperation();
  auto [entry, fresh] = decided.try_emplace(key, &decision);
  if (fresh)
    return true;
  module.emitError() << "two decisions about one value: '" << entry->second->value() << "' and '"
                     << decision.value() << "' are the same";
  worsen(PlanStatus::Infeasible);
  return false;
}

bool PlanApplier::apply(const plan::Decision &decision) {
  DecisionTarget target = find(decision.value());
  if (!target)
    return false;
  auto tensor = dyn_cast<RankedTensorType>(typeOf(target));
  if (tensor && isFirst(target, decision) && fits(decision, tensor))
    pin(target, toAttr(module.getContext(), fromPlan(decision.sharding(), mesh), mesh));
  return true;
}

bool PlanApplier::fits(const plan::Decision &decision, RankedTensorType type) {
  if (std::string why = checkAxes(decision, toPlan(mesh)); !why.empty()) { // of another part's mesh
    auto error = module.emitError() << "mesh '" << mesh.name << "': " << why;
    if (decision.sharding().mesh().empty())
      error << "; of the meshes that hold a value name one: VALUE=@" << mesh.name << "[…] of "
            << "--shard, or `mesh` in the plan's sharding";
    worsen(PlanStatus::UnknownName);
    return false;
  }
  TensorSharding sharding = fromPlan(decision.sharding(), mesh);
  if (static_cast<int64_t>(sharding.dims.size()) != type.getRank()) {
    module.emitError() << "cannot pin '" << decision.value() << "' of type " << type
                       << ": expected one {…} per dimension, got: " << sharding.dims.size()
                       << " != " << type.getRank();
    worsen(PlanStatus::Infeasible);
    return false;
  }
  bool good = true;
  for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
    int64_t size = type.getDimSize(dim), unit = axes.unit;
    if (unit == 1 || (unit > 1 && size % unit == 0 && isPadded(size, axes)))
      continue;
    module.emitError()
        << "cannot split dimension " << dim << " of '" << decision.value()
        << "': expected it to be padded by blocks of its unit, which divides it, got: " << size
        << " in units of " << unit << " over " << blocks(axes);
    worsen(PlanStatus::Infeasible);
    good = false;
  }
  return good;
}

static void addMesh(ModuleOp module, const plan::Mesh &mesh) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  SmallVector<Attribute> axes;
  for (const plan::Axis &axis : mesh.axes())
    axes.push_back(dist::MeshAxisAttr::get(builder.getContext(), axis.name(), axis.size()));
  DenseI64ArrayAttr devices;
  if (mesh.device_order_size() > 0)
    devices = builder.getDenseI64ArrayAttr(
        SmallVector<int64_t>(mesh.device_order().begin(), mesh.device_order().end()));
  dist::MeshOp::create(builder, module.getLoc(), mesh.name(), builder.getArrayAttr(axes), devices,
                       mesh.first_device());
}

/// The last value of a module of the model, `h.0` or `h/0`; "" if no name is under that.
static std::string findLastUnder(StringRef module, ArrayRef<const ValueNames *> parts) {
  std::string last;
  // Every name that begins with '/' lies under the name of nothing.
  if (module.empty())
    return last;
  for (const ValueNames *names : parts)
    for (StringRef name : names->all())
      if (StringRef rest = name; rest.consume_front(module) && !rest.empty() &&
                                 (rest.front() == '/' || rest.front() == '.'))
        last = name.str();
  return last;
}

/// Says that no value has that name; a value that raising fused has another.
static PlanStatus refuseUnknown(ModuleOp module, StringRef name, const char *verb,
                                ArrayRef<const ValueNames *> parts) {
  std::vector<std::string> candidates;
  for (const ValueNames *names : parts) {
    if (Value fused = names->findFused(name)) {
      module.emitError() << "cannot " << verb << " '" << name << "': it was fused into "
                         << fused.getDefiningOp()->getName() << " '" << names->get(fused) << "', "
                         << verb << " that value instead";
      return PlanStatus::Infeasible;
    }
    candidates.insert(candidates.end(), names->all().begin(), names->all().end());
  }
  if (std::string last = findLastUnder(name, parts); !last.empty()) {
    module.emitError() << "'" << name
                       << "' is no value but a part of the model, whose last value is '" << last
                       << "'";
    return PlanStatus::UnknownName;
  }
  bool ofWeight = name.consume_front(weightPrefix);
  if (ofWeight)
    candidates.clear();
  for (auto weight : module.getOps<WeightOp>())
    candidates.push_back(weight.getSymName().str());
  module.emitError() << "the model has no " << (ofWeight ? "weight" : "value") << " '" << name
                     << "'" << didYouMean(name.str(), candidates);
  return PlanStatus::UnknownName;
}

/// The meshes that hold what a decision for another mesh is about: "'mesh0', 'mesh2'".
static std::string listHolders(const std::deque<PlanApplier> &appliers,
                               const plan::Decision &decision) {
  std::string text;
  for (const PlanApplier &applier : appliers)
    if (applier.holds(decision.value()))
      text += (text.empty() ? "'" : ", '") + applier.getMesh() + "'";
  return text;
}

PlanStatus weft::pinDecisions(ModuleOp module, ArrayRef<plan::Decision> decisions,
                              FunctionNames &names) {
  std::optional<Parts> parts = getParts(module);
  if (!parts)
    return PlanStatus::Infeasible;
  if (decisions.empty())
    return PlanStatus::Applied; // without a look at the names of all values
  std::deque<PlanApplier> appliers;
  for (const Part &part : parts->parts)
    appliers.emplace_back(module, part.function, getMeshShape(part.mesh), names.of(part.function));
  PlanStatus status = PlanStatus::Applied;
  for (const plan::Decision &decision : decisions) {
    bool isKnown = false;
    for (PlanApplier &applier : appliers)
      if (decision.sharding().mesh().empty() || decision.sharding().mesh() == applier.getMesh())
        isKnown |= applier.apply(decision);
    if (isKnown)
      continue;
    if (std::string others = listHolders(appliers, decision); !others.empty()) {
      module.emitError() << "'" << decision.value() << "' is not on mesh '"
                         << decision.sharding().mesh() << "', it is on " << others;
      status = std::max(status, PlanStatus::UnknownName);
      continue;
    }
    auto known = llvm::map_to_vector(
        appliers, [](const PlanApplier &applier) { return &applier.getNames(); });
    status = std::max(status, refuseUnknown(module, decision.value(), "pin", known));
  }
  for (const PlanApplier &applier : appliers)
    status = std::max(status, applier.status);
  return status;
}

/// The value behind which to cut: of a training step that of the forward pass, where the backward
/// pass computes it again under its name.
static Value findCut(func::FuncOp main, Value named) {
  Operation *loss = BackwardPass(main).getLoss(), *maker = named ? named.getDefiningOp() : nullptr;
  if (!loss || !maker || !loss->isBeforeInBlock(maker))
    return named;
  for (Operation *op = loss; op; op = op->getPrevNode())
    for (Value result : op->getResults())
      if (result.getType() == named.getType() && getSourceName(result) == getSourceName(named))
        return result;
  return named;
}

PlanStatus weft::cutParts(ModuleOp module, const plan::Plan &plan) {
  if (plan.cuts().empty())
    return PlanStatus::Applied;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal() || callsParts(main)) {
    module.emitError() << "expected a function @main with a body to cut into parts";
    return PlanStatus::Infeasible;
  }
  SmallVector<Value> ends;
  ValueNames given(main);
  for (const std::string &cut : plan.cuts()) {
    ends.push_back(findCut(main, given.lookup(cut)));
    if (!ends.back())
      return refuseUnknown(module, cut, "cut behind", &given);
  }
  std::optional<PartAssignment> assignment = assignParts(main, ends);
  if (!assignment)
    return PlanStatus::Infeasible;
  ValueNames names(main); // with those of sums that were parenthesised
  cutMain(module, *assignment, [&](Value value) { return names.get(value); });
  return PlanStatus::Applied;
}

/// Gives parts that were cut their meshes, in their order; written ones name theirs.
static LogicalResult giveMeshes(ModuleOp module, const plan::Plan &plan) {
  SmallVector<func::FuncOp> parts;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main && !main.isExternal() && callsParts(main))
    for (auto call : main.getBody().front().getOps<func::CallOp>())
      if (auto part = module.lookupSymbol<func::FuncOp>(call.getCallee()))
        parts.push_back(part);
  if (plan.in_parts())
    return success();
  auto expected = std::max<int>(static_cast<int>(parts.size()), 1);
  if (expected != plan.meshes_size())
    return module.emitError() << "expected one mesh for each of " << expected
                              << " parts, got: " << plan.meshes_size();
  for (auto [part, mesh] : llvm::zip(parts, plan.meshes()))
    part->setAttr(dist::kMeshAttr, FlatSymbolRefAttr::get(module.getContext(), mesh.name()));
  return success();
}

PlanStatus weft::applyPlan(ModuleOp module, const plan::Plan &plan) {
  if (!module.getOps<dist::MeshOp>().empty()) {
    module.emitError() << "expected a module without a mesh to apply a plan to";
    return PlanStatus::Infeasible;
  }
  for (const plan::Mesh &mesh : llvm::reverse(plan.meshes()))
    addMesh(module, mesh);
  if (failed(giveMeshes(module, plan)) || !getParts(module))
    return PlanStatus::Infeasible;
  std::vector<plan::Decision> decisions(plan.decisions().begin(), plan.decisions().end());
  FunctionNames names;
  PlanStatus pinned = pinDecisions(module, decisions, names);
  return pinned == PlanStatus::Applied ? applySplits(module, plan, names) : pinned;
}
