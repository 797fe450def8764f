//===- TightenPlans.cpp - plans that are held to less ---------------------===//
//
// The part of PlanSearch that tries again what does not fit.
//
//===----------------------------------------------------------------------===//

#include "driver/PlanSearch.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace weft;

/// How often the search is held to less than may be held, and to what part of what would do.
static constexpr int maxTightened = 3;
static constexpr double tightenedShare = 0.99;

/// What two candidates say may be too much: no less than this part of what one does.
static constexpr double leastTightened = 0.8;

/// Up to this part of what may be held, what a program holds beside what the search counts is much
/// the same where that is less.
static constexpr double steadyShare = 0.3;

/// Tries a candidate again with lower limits of what the search counts; adds what comes of it.
void PlanSearch::retry(Candidate trial, const Maker &make) {
  const plan::Plan from = trial.plan;
  trial = {withoutSearch(from), PlanStatus::Applied, candidates.size(),
           /*isOpen=*/true,     trial.countedLimit,  trial.limits};
  if (trial.countedLimit > 0)
    trial.plan.set_memory_limit(static_cast<int64_t>(trial.countedLimit));
  simulate({&trial}, make);
  trial.plan.set_memory_limit(from.memory_limit());
  if (trial.status == PlanStatus::Applied)
    trial.plan.mutable_prediction()->set_memory_limit_bytes(from.prediction().memory_limit_bytes());
  candidates.push_back(std::move(trial));
}

/// What the search is to keep to where a program of it allocates too much: less than it counted by
/// what that is too much, or, where the program holds far more than is counted, in proportion.
static double getWanted(double counted, double allocated, double allowed) {
  double uncounted = allocated - counted;
  return uncounted < steadyShare * allowed ? allowed - uncounted : counted * allowed / allocated;
}

/// The same, a little less. Where one that was held to more is known, less by what the two say.
static double getTighter(const Candidate &candidate, const Candidate *looser) {
  const plan::Prediction &expected = candidate.plan.prediction();
  double allowed = candidate.getAllowedBytes(), counted = expected.memory_bytes();
  double wanted = getWanted(counted, expected.allocated_bytes(), allowed);
  if (looser) {
    const plan::Prediction &before = looser->plan.prediction();
    double share =
        (before.allocated_bytes() - expected.allocated_bytes()) / (before.memory_bytes() - counted);
    if (share > 0 && share < 1)
      wanted = std::max(counted - (expected.allocated_bytes() - allowed) / share,
                        leastTightened * wanted);
  }
  return tightenedShare * wanted;
}

/// The same of stages: each that is too much is held to less by itself.
static BytesByGroup getTighter(const Candidate &candidate) {
  BytesByGroup limits = candidate.limits;
  double allowed = candidate.getAllowedBytes();
  for (auto [group, allocated] : candidate.allocated)
    if (auto counted = candidate.counted.find(group);
        counted != candidate.counted.end() && allocated > allowed)
      limits[group] = tightenedShare * getWanted(counted->second, allocated, allowed);
  return limits;
}

const Candidate &PlanSearch::simulateTrial(const plan::Plan &plan, BytesByGroup limits,
                                           std::shared_ptr<PartAnswers> answers,
                                           MakeModule makeModule) {
  Maker make{makeModule, nullptr, std::move(answers)};
  Candidate trial{plan, PlanStatus::Applied, candidates.size(), /*isOpen=*/true};
  trial.limits = std::move(limits);
  simulate({&trial}, make);
  candidates.push_back(std::move(trial));
  tighten(0, trialLimit, make);
  sortByBest();
  return candidates.front();
}

/// Where a simulated candidate's program allocates more than may be held, holds what the search
/// counts to so much less, a few times. One that takes as long as the best that fits is left as it
/// is: with less memory it would take longer still. Seconds of what fits, else infinite.
double PlanSearch::tighten(size_t number, double best, const Maker &make) {
  std::optional<size_t> looser;
  for (int round = 0; round < maxTightened; ++round) {
    const Candidate &last = candidates[number];
    if (last.status != PlanStatus::Applied || last.fits() || !last.isSimulated() ||
        last.getSeconds() >= best || skip())
      break;
    Candidate trial = last;
    if (last.counted.size() > 1)
      trial.limits = getTighter(last);
    else
      trial.countedLimit = getTighter(last, looser ? &candidates[*looser] : nullptr);
    retry(std::move(trial), make);
    looser = std::exchange(number, candidates.size() - 1);
  }
  return getFitting(number);
}
