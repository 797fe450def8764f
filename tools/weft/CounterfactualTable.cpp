//===- CounterfactualTable.cpp - what another choice would cost -----------===//

#include "tools/weft/CounterfactualTable.h"

#include "runtime/Support/Console.h"
#include "tools/weft/Bytes.h"
#include "tools/weft/Json.h"
#include "tools/weft/Seconds.h"

#include <cmath>
#include <fmt/format.h>

using namespace weft;
using namespace weft::tool;
using nlohmann::ordered_json;

/// Differences below this part of the step are not worth a line.
static constexpr double leastShare = 1e-4;

/// "3.1 % more", "as much"
static std::string compareShares(double chosen, double other) {
  double percent = chosen > 0 ? 100 * (other / chosen - 1) : 0;
  if (std::abs(percent) < 0.005)
    return "as much";
  return fmt::format("{:.3g} % {}", std::abs(percent), percent > 0 ? "more" : "less");
}

/// The parts of the step in which one of the two is cheaper.
static std::string listDifferences(const PlanCost &chosen, const PlanCost &other, bool dearer) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < chosen.waterfall.size(); ++i) {
    double more = other.waterfall[i].seconds - chosen.waterfall[i].seconds;
    if ((dearer ? more : -more) > leastShare * chosen.seconds)
      parts.push_back(
          fmt::format("{} {}", chosen.waterfall[i].name, formatSeconds(std::abs(more))));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void weft::tool::printCounterfactual(const Counterfactual &counterfactual) {
  const PlanCost &chosen = counterfactual.chosen;
  runtime::print("  {} {} on {}, a device holds {}\n",
                 counterfactual.isPlan ? "a step takes" : "a step of the best plan with this takes",
                 formatSeconds(chosen.seconds), counterfactual.cluster, formatBytes(chosen.bytes));
  if (!counterfactual.best) {
    runtime::print(
        "  no other way was found{}\n",
        counterfactual.impossible.empty()
            ? ": no axis could be moved or left out"
            : fmt::format(": nothing obeys {}", fmt::join(counterfactual.impossible, ", ")));
    return;
  }
  const PlanCost &other = counterfactual.best->cost;
  runtime::print(
      "  the best of {} other way{}, {}: a step takes {}, {}; a device holds {}, {}\n",
      counterfactual.tried.size(), counterfactual.tried.size() == 1 ? "" : "s",
      counterfactual.best->sharding, formatSeconds(other.seconds),
      compareShares(chosen.seconds, other.seconds), formatBytes(other.bytes),
      compareShares(static_cast<double>(chosen.bytes), static_cast<double>(other.bytes)));
  if (std::string more = listDifferences(chosen, other, /*dearer=*/true); !more.empty())
    runtime::print("    it takes more: {}\n", more);
  if (std::string less = listDifferences(chosen, other, /*dearer=*/false); !less.empty())
    runtime::print("    it takes less: {}\n", less);
}

static ordered_json toJson(const PlanCost &cost) {
  ordered_json waterfall = ordered_json::array(), collectives = ordered_json::array();
  for (const WaterfallStep &step : cost.waterfall)
    waterfall.push_back({{"name", step.name}, {"seconds", step.seconds}});
  for (const PricedCollective &collective : cost.collectives) {
    collectives.push_back(toJson(static_cast<const runtime::InspectedCollective &>(collective)));
    collectives.back()["seconds"] = collective.seconds;
  }
  return {{"step_seconds", cost.seconds},
          {"memory_bytes", cost.bytes},
          {"waterfall", waterfall},
          {"collectives", collectives}};
}

ordered_json weft::tool::toJson(const Counterfactual &counterfactual) {
  ordered_json json = {{"cluster", counterfactual.cluster},
                       {"chosen", ::toJson(counterfactual.chosen)},
                       {"tried", counterfactual.tried},
                       {"impossible", counterfactual.impossible}};
  if (counterfactual.best) {
    json["best"] = ::toJson(counterfactual.best->cost);
    json["best"]["sharding"] = counterfactual.best->sharding;
  }
  return json;
}
