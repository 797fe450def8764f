//===- PlanPage.h - a plan as a page for a browser --------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PLANPAGE_H
#define WEFT_TOOLS_WEFT_PLANPAGE_H

#include <nlohmann/json.hpp>
#include <string>

namespace weft::tool {

/// A page of HTML, whole in itself, that shows the JSON of a plan (`makePlanJson`) of this model:
/// what a step takes and a device holds, axes, blocks, collectives, the plans that were tried, and
/// every decision.
std::string makePlanPage(const std::string &model, const nlohmann::ordered_json &plan);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PLANPAGE_H
