//===- PlanTable.h - a plan for people and for machines ---------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PLANTABLE_H
#define WEFT_TOOLS_WEFT_PLANTABLE_H

#include "driver/PlanAnswer.h"
#include "driver/PlanSearch.h"
#include "tools/weft/Command.h"

#include <nlohmann/json.hpp>

namespace weft::tool {

/// Shows what a plan decides and comes to: one screen (with -v every decision), JSON with --json,
/// nothing with --quiet. Of the plans that a search tried the best `topK` are listed, one of them
/// alone not.
void showPlan(const plan::Plan &plan, const PlanAnswer &answer, const PlanSearch &search,
              size_t topK, const Common &common);

/// `user`, `propagated`, `chosen`
std::string getOriginName(plan::Origin origin);

/// The axes with their sizes: `data=2, model=4`
std::string describeAxes(const plan::Mesh &mesh);

/// The JSON of `showPlan`.
nlohmann::ordered_json makePlanJson(const plan::Plan &plan, const PlanAnswer &answer,
                                    const PlanSearch &search, size_t topK);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PLANTABLE_H
