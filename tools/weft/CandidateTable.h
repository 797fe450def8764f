//===- CandidateTable.h - the best few plans --------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_CANDIDATETABLE_H
#define WEFT_TOOLS_WEFT_CANDIDATETABLE_H

#include "driver/PlanSearch.h"

#include <nlohmann/json.hpp>

namespace weft::tool {

/// The best `count` plans that a search tried, for people: mesh, microbatches, what is computed
/// again, the step, memory; and what was left out for lack of time.
void printCandidates(const PlanSearch &search, size_t count);

/// The same for machines.
nlohmann::ordered_json listCandidates(const PlanSearch &search, size_t count);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_CANDIDATETABLE_H
