//===- CandidateTable.cpp - the best few plans ----------------------------===//

#include "tools/weft/CandidateTable.h"

#include "compiler/Plan/TrainingPlan.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Bytes.h"
#include "tools/weft/PlanTable.h"
#include "tools/weft/Seconds.h"
#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

using namespace weft;
using namespace weft::tool;
using nlohmann::ordered_json;

/// What a device holds: of its program, else by the search's count.
static double getBytes(const Candidate &candidate) {
  const plan::Prediction &expected = candidate.plan.prediction();
  return candidate.isSimulated() ? expected.allocated_bytes() : expected.memory_bytes();
}

static std::string describeState(const Candidate &candidate) {
  if (candidate.status != PlanStatus::Applied)
    return "does not fit";
  if (!candidate.fits())
    return "its program does not fit";
  return candidate.isSimulated() ? "simulated" : "by the search's prices";
}

static std::string describe(const Candidate &candidate) {
  plan::Training::Offload offload = candidate.plan.training().offload();
  int stages = candidate.plan.meshes_size();
  return describeState(candidate) + (stages > 1 ? fmt::format(", {} stages", stages) : "") +
         (offload == plan::Training::OFFLOAD_NONE ? "" : ", offload " + getOffloadName(offload));
}

void weft::tool::printCandidates(const PlanSearch &search, size_t count) {
  const std::vector<Candidate> &candidates = search.getCandidates();
  runtime::print("\n{:>4}  {:<24} {:>12} {:<10} {:>10} {:>12}\n", "plan", "mesh", "microbatches",
                 "recompute", "step", "memory");
  for (size_t i = 0; i < std::min(count, candidates.size()); ++i) {
    const Candidate &candidate = candidates[i];
    bool isPlan = candidate.status == PlanStatus::Applied;
    std::string mesh = describeAxes(candidate.plan.meshes(0));
    runtime::print("{:>4}  {:<24} {:>12} {:<10} {:>10} {:>12}  {}\n", i + 1,
                   mesh.empty() ? "one device" : mesh,
                   std::max<int64_t>(1, candidate.plan.training().accumulate()),
                   getRecomputeName(candidate.plan.training().recompute()),
                   isPlan ? formatSeconds(candidate.getSeconds()) : "-",
                   isPlan ? formatBytes(static_cast<int64_t>(getBytes(candidate))) : "-",
                   describe(candidate));
  }
  runtime::print("{} plan{} tried\n", candidates.size(), candidates.size() == 1 ? "" : "s");
}

ordered_json weft::tool::listCandidates(const PlanSearch &search, size_t count) {
  ordered_json json = ordered_json::array();
  for (const Candidate &candidate : search.getCandidates()) {
    if (json.size() == count)
      break;
    ordered_json axes = ordered_json::object();
    for (const plan::Axis &axis : candidate.plan.meshes(0).axes())
      axes[axis.name()] = axis.size();
    json.push_back({{"mesh", axes},
                    {"stages", candidate.plan.meshes_size()},
                    {"microbatches", std::max<int64_t>(1, candidate.plan.training().accumulate())},
                    {"recompute", getRecomputeName(candidate.plan.training().recompute())},
                    {"offload", getOffloadName(candidate.plan.training().offload())},
                    {"fits", candidate.fits()},
                    {"simulated", candidate.isSimulated()}});
    if (candidate.status != PlanStatus::Applied)
      continue;
    json.back()["step_seconds"] = candidate.getSeconds();
    json.back()["cost"] = candidate.plan.prediction().step_seconds();
    json.back()["memory_bytes"] = getBytes(candidate);
  }
  return json;
}
