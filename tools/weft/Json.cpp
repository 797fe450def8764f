#include "tools/weft/Json.h"

using namespace weft;

nlohmann::ordered_json weft::tool::toJson(const runtime::CollectiveRecord &record) {
  if (record.isTransfer())
    return {{"kind", record.kind},         {"from", record.mesh},    {"to", record.to},
            {"dtype", record.dtype},       {"bytes", record.bytes},  {"count", record.count},
            {"messages", record.messages}, {"source", record.source}};
  nlohmann::ordered_json json{{"kind", record.kind},           {"axes", record.axes},
                              {"reduction", record.reduction}, {"dtype", record.dtype},
                              {"bytes", record.bytes},         {"count", record.count},
                              {"source", record.source}};
  if (!record.mesh.empty())
    json["mesh"] = record.mesh;
  return json;
}

void weft::tool::addMeshes(const runtime::InspectReport &report, nlohmann::ordered_json &json) {
  auto describe = [](const runtime::InspectReport::Mesh &mesh) {
    auto axes = nlohmann::ordered_json::object();
    for (const auto &[axis, size] : mesh.axes)
      axes[axis] = size;
    return axes;
  };
  if (report.meshes.size() == 1)
    json["mesh"] = describe(report.meshes.front());
  json["meshes"] = nlohmann::ordered_json::array();
  for (const runtime::InspectReport::Mesh &mesh : report.meshes)
    json["meshes"].push_back(nlohmann::ordered_json{
        {"name", mesh.name}, {"axes", describe(mesh)}, {"devices", {mesh.firstRank, mesh.ranks}}});
}

nlohmann::ordered_json weft::tool::toJson(const runtime::InspectedCollective &collective) {
  nlohmann::ordered_json json = toJson(collective.record);
  json["moves"] = collective.movesWeights ? "weights" : "activations";
  return json;
}
