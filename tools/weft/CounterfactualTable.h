//===- CounterfactualTable.h - what another choice would cost ---*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COUNTERFACTUALTABLE_H
#define WEFT_TOOLS_WEFT_COUNTERFACTUALTABLE_H

#include "driver/Counterfactual.h"

#include <nlohmann/json.hpp>

namespace weft::tool {

/// What the best other way would cost, and which of the two is cheaper where.
void printCounterfactual(const Counterfactual &counterfactual);

nlohmann::ordered_json toJson(const Counterfactual &counterfactual);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COUNTERFACTUALTABLE_H
