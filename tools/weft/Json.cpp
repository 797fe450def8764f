#include "tools/weft/Json.h"

using namespace weft;

nlohmann::ordered_json weft::tool::toJson(const runtime::CollectiveRecord &record) {
  return {{"kind", record.kind},    {"axes", record.axes},   {"reduction", record.reduction},
          {"dtype", record.dtype},  {"bytes", record.bytes}, {"count", record.count},
          {"source", record.source}};
}

nlohmann::ordered_json weft::tool::toJson(const runtime::InspectedCollective &collective) {
  nlohmann::ordered_json json = toJson(collective.record);
  json["moves"] = collective.movesWeights ? "weights" : "activations";
  return json;
}
