#include "driver/PlanSearch.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

using namespace weft;

namespace {
/// Stands for the simulator of short programs: what it says of plans, by their cluster's name.
struct Simulator {
  struct Said {
    double seconds, bytes;
  };
  std::map<std::string, Said> said;
  std::vector<std::string> shortest, all; ///< that were asked for
  /// Of what is counted, which is as much as may be, what programs allocate beside `bytes`.
  double share = 0;

  std::vector<bool> simulate(llvm::ArrayRef<Candidate *> some, Programs which) {
    for (Candidate *candidate : some) {
      const std::string &name = candidate->plan.cluster();
      bool isTightened = candidate->plan.memory_limit() > 0;
      (which == Programs::Shortest ? shortest : all).push_back(name + (isTightened ? "-" : ""));
      plan::Prediction &prediction = *candidate->plan.mutable_prediction();
      candidate->expectedSeconds = said.at(name).seconds;
      if (which == Programs::Shortest)
        continue;
      prediction.set_memory_limit_bytes(100);
      double counted = isTightened ? static_cast<double>(candidate->plan.memory_limit()) : 90;
      prediction.set_memory_bytes(counted);
      prediction.set_simulated_seconds(said.at(name).seconds);
      prediction.set_allocated_bytes(said.at(name).bytes + share * counted);
    }
    return std::vector<bool>(some.size(), true);
  }

  void settle(PlanSearch &search) {
    search.settle([](const plan::Plan &) { return mlir::OwningOpRef<mlir::ModuleOp>(); },
                  [this](llvm::ArrayRef<Candidate *> some, Programs which, double) {
                    return simulate(some, which);
                  });
  }
};
} // namespace

/// Tells a search of plans and their prices.
static void expect(PlanSearch &search,
                   std::initializer_list<std::pair<const char *, double>> plans) {
  for (auto [name, price] : plans) {
    plan::Plan plan;
    plan.set_cluster(name);
    plan.add_meshes();
    plan.mutable_prediction()->set_step_seconds(price);
    search.expect(std::move(plan), PlanStatus::Applied);
  }
}

static std::string getBest(const PlanSearch &search) {
  return search.getCandidates().front().plan.cluster();
}

using Names = std::vector<std::string>;

TEST_CASE("the shortest programs tell which of those that are priced alike is the best") {
  Simulator programs{{{"a", {12, 50}}, {"b", {10, 50}}, {"c", {11, 50}}}, {}, {}};
  PlanSearch search;
  expect(search, {{"a", 10}, {"far", 13}, {"b", 12}, {"c", 11}});
  programs.settle(search);
  CHECK(getBest(search) == "b");
  CHECK(programs.shortest == Names{"a", "c", "b"});
  CHECK(programs.all == Names{"b"});
}

TEST_CASE(
    "what takes longer by its price, as others did, is looked at only where those do not fit") {
  for (double bytes : {50.0, 101.0}) {
    Simulator programs{{{"a", {12, bytes}}, {"b", {12.6, bytes}}, {"c", {12, 50}}}, {}, {}};
    PlanSearch search;
    expect(search, {{"a", 10}, {"b", 10.5}, {"c", 12}}); // no less than 0.9 · 1.2 · 12
    programs.settle(search);
    CHECK(programs.shortest == Names{"a", "b"});
    CHECK(getBest(search) == (bytes < 100 ? "a" : "c"));
  }
}

TEST_CASE("where the best by its shortest program does not fit, the next one is taken") {
  Simulator programs{{{"a", {12, 50}}, {"b", {10, 101}}, {"c", {11, 50}}}, {}, {}};
  PlanSearch search;
  expect(search, {{"a", 10}, {"b", 12}, {"c", 11}});
  programs.settle(search);
  CHECK(getBest(search) == "c");
  CHECK(programs.all == Names{"b", "b-", "b-", "b-", "c"});
}

TEST_CASE("two that do not fit tell what fits") {
  // 105 are allocated, then 60 + 81 / 2; 97 are where 74 are counted.
  Simulator programs{{{"a", {10, 60}}}, {}, {}, /*share=*/0.5};
  PlanSearch search;
  expect(search, {{"a", 10}});
  programs.settle(search);
  CHECK(programs.all == Names{"a", "a-", "a-"});
  const Candidate &best = search.getCandidates().front();
  CHECK(best.fits());
  CHECK(best.plan.prediction().memory_bytes() == 73);
}

TEST_CASE("of so many as are shown all programs are simulated, and of those that are near") {
  Simulator programs{
      {{"a", {12, 50}}, {"b", {10, 50}}, {"c", {11, 50}}, {"d", {10.1, 50}}}, {}, {}};
  for (size_t shown : {1, 3}) {
    programs.all.clear();
    PlanSearch search(/*timeBudget=*/0, shown, /*shortlist=*/4);
    expect(search, {{"a", 10}, {"b", 10}, {"c", 10}, {"d", 10}});
    programs.settle(search);
    CHECK(getBest(search) == "b");
    CHECK(programs.all == (shown == 1 ? Names{"b", "d"} : Names{"b", "d", "c"}));
  }
}

TEST_CASE("no more than the shortlist is looked at where something fits") {
  Simulator programs{{{"a", {12, 50}}, {"b", {10, 50}}, {"c", {9, 50}}}, {}, {}};
  PlanSearch search(/*timeBudget=*/0, /*shown=*/1, /*shortlist=*/2);
  expect(search, {{"a", 10}, {"b", 11}, {"c", 12}});
  programs.settle(search);
  CHECK(getBest(search) == "b");
  CHECK(programs.all == Names{"a", "b"}); // two are simulated at once
}
