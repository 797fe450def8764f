//===- Json.h - what several commands print as JSON -------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_JSON_H
#define WEFT_TOOLS_WEFT_JSON_H

#include "runtime/Inspect/InspectReport.h"

#include <nlohmann/json.hpp>

namespace weft::tool {

/// A collective as `weft plan`, `inspect`, `explain` and `run` print it with --json.
nlohmann::ordered_json toJson(const runtime::CollectiveRecord &record);
/// The same, and whether weights are moved.
nlohmann::ordered_json toJson(const runtime::InspectedCollective &collective);

/// Adds "mesh", of a program on one mesh, and "meshes".
void addMeshes(const runtime::InspectReport &report, nlohmann::ordered_json &json);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_JSON_H
