//===- Counterfactual.cpp - what another choice would cost ----------------===//

#include "driver/Counterfactual.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "driver/Diagnostics.h"
#include "driver/PlanSearch.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace weft;

/// Plans that are simulated of those found with another choice.
static constexpr size_t maxSimulated = 2;

//===----------------------------------------------------------------------===//
// Ways to lie
//===----------------------------------------------------------------------===//

/// The form without any part of an axis.
static TensorSharding without(TensorSharding form, AxisRef axis) {
  for (AxisList &dim : form.dims)
    dim = headWithout(dim, {axis});
  form.partial.clear();
  return form;
}

/// Whether what is read in the form `now` may be stored in `form`, and is not read otherwise then.
static bool mayStayAs(const TensorSharding &now, const TensorSharding &form) {
  return llvm::all_of(llvm::zip_equal(now.dims, form.dims), [](const auto &dims) {
    return std::get<1>(dims).empty() || std::get<0>(dims) == std::get<1>(dims);
  });
}

std::vector<TensorSharding> weft::listOtherForms(const PlannedPart &part, unsigned tensor) {
  const ShardingGraph &graph = part.function->graph;
  const ShardingGraph::Tensor &described = graph.tensors[tensor];
  BatchDimensions batch(graph);
  TensorSharding now = getHeldForm(part, tensor);
  auto load = part.function->values[tensor].getDefiningOp<LoadOp>();
  bool isReadFreely = load && !part.function->states.contains(load.getWeight());
  std::vector<TensorSharding> forms;
  auto add = [&](const TensorSharding &form) {
    if (!(isReadFreely ? mayStayAs(now, form) : form == now) && !llvm::is_contained(forms, form))
      forms.push_back(form);
  };
  for (auto [number, axis] : llvm::enumerate(part.mesh.axes)) {
    AxisRef whole = fullAxis(part.mesh, number);
    TensorSharding rest = without(now, whole);
    if (axis.size == 1)
      continue;
    add(rest);
    for (auto [dim, size] : llvm::enumerate(described.shape)) {
      bool isOdd = isBatchAxis(axis.name) && !described.weight && !batch.has(tensor, dim);
      if (isOdd || localExtent(size, rest.dims[dim]) % axis.size != 0)
        continue;
      TensorSharding form = rest;
      append(form.dims[dim], {whole});
      add(form);
    }
  }
  return forms;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// The plan as it was before anything was searched, with the value pinned.
static plan::Plan pin(const plan::Plan &plan, const PlannedPart &part, const std::string &name,
                      const TensorSharding &form) {
  plan::Plan open = withoutSearch(plan);
  auto isSame = [&](const plan::Decision &decision) {
    return decision.value() == name && decision.sharding().mesh() == part.mesh.name;
  };
  auto &decisions = *open.mutable_decisions();
  decisions.erase(std::remove_if(decisions.begin(), decisions.end(), isSame), decisions.end());
  plan::Decision &decision = *open.add_decisions();
  decision.set_value(name);
  *decision.mutable_sharding() = toPlan(form, part.mesh);
  decision.set_origin(plan::USER);
  return open;
}

static PlanCost toCost(const PlanAnswer &answer) {
  const PlanAnswer::Priced &priced = *answer.priced;
  return {priced.simulation.seconds, priced.simulation.getFullest().peakBytes, priced.waterfall,
          answer.collectives};
}

static std::optional<PlanCost> simulateQuietly(ModuleOp model, const plan::Plan &plan) {
  QuietDiagnostics quiet(model.getContext());
  OwningOpRef<ModuleOp> copy(model.clone());
  std::optional<PlannedModule> planned = applyQuietly(*copy, plan);
  if (!planned)
    return std::nullopt;
  Result<PlanAnswer> answer = answerPlan(*copy, *planned, plan);
  if (answer.failed() || !answer->priced)
    return std::nullopt;
  return toCost(*answer);
}

Counterfactual weft::compareForms(ModuleOp model, const plan::Plan &plan, const PlanAnswer &answer,
                                  const PlannedPart &part, unsigned tensor,
                                  const std::string &name) {
  Counterfactual result;
  result.cluster = plan.cluster();
  result.chosen = toCost(answer);
  PlanSearch search;
  result.isPlan = plan.prediction().simulated_seconds() > 0;
  if (!result.isPlan) {
    plan::Plan same = pin(plan, part, name, getHeldForm(part, tensor));
    if (const Candidate *candidate = search.attempt(model, same); candidate->fits())
      if (std::optional<PlanCost> cost = simulateQuietly(model, candidate->plan))
        result.chosen = std::move(*cost);
  }
  std::vector<std::pair<std::string, Candidate>> plans;
  for (const TensorSharding &form : listOtherForms(part, tensor)) {
    std::string sharding = str(part.mesh, form);
    const Candidate *candidate = search.attempt(model, pin(plan, part, name, form));
    if (candidate->status != PlanStatus::Applied) {
      result.impossible.push_back(sharding);
      continue;
    }
    result.tried.push_back(sharding);
    plans.emplace_back(sharding, *candidate);
  }
  llvm::sort(plans, [](const auto &a, const auto &b) { return a.second.isCheaperThan(b.second); });
  for (const auto &[sharding, candidate] : llvm::ArrayRef(plans).take_front(maxSimulated))
    if (std::optional<PlanCost> cost = simulateQuietly(model, candidate.plan))
      if (!result.best || cost->seconds < result.best->cost.seconds)
        result.best = {sharding, std::move(*cost)};
  return result;
}
