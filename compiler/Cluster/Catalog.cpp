#include "compiler/Cluster/Catalog.h"

#include "compiler/Cluster/ClusterText.h"
#include "compiler/Cluster/Units.h"
#include "compiler/Plan/PlanSyntax.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <google/protobuf/text_format.h>
#include <vector>

using namespace weft;

/// catalog.txtpb; its tests parse it, so that it cannot be malformed here.
static const char catalogText[] = {
#include "compiler/Cluster/catalog.inc"
};

const cluster::Catalog &weft::getCatalog() {
  static const cluster::Catalog catalog = [] {
    cluster::Catalog parsed;
    google::protobuf::TextFormat::ParseFromString(std::string(catalogText, sizeof(catalogText)),
                                                  &parsed);
    return parsed;
  }();
  return catalog;
}

namespace {

/// One `NAME:N` of a specification.
struct Part {
  const cluster::Preset *preset = nullptr;
  int64_t count = 1;
};

std::vector<std::string> splitAt(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char letter : text)
    if (letter == separator)
      parts.emplace_back();
    else
      parts.back() += letter;
  return parts;
}

const cluster::Preset *findPreset(const std::string &name, std::string &problem) {
  std::vector<std::string> names;
  for (const cluster::Preset &preset : getCatalog().presets()) {
    if (preset.name() == name)
      return &preset;
    names.push_back(preset.name());
  }
  std::string hint = didYouMean(name, names);
  problem = fmt::format("no cluster '{}'{} known: {}, or the path of a description", name,
                        hint.empty() ? ";" : hint, fmt::join(names, ", "));
  return nullptr;
}

std::optional<Part> parsePart(const std::string &text, std::string &problem) {
  size_t colon = text.find(':');
  Part part;
  part.preset = findPreset(text.substr(0, colon), problem);
  if (!part.preset)
    return std::nullopt;
  if (colon == std::string::npos)
    return part;
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data() + colon + 1, end, part.count);
  if (error != std::errc() || stop != end || part.count < 1 || part.count > maxClusterDevices) {
    problem = fmt::format("cluster '{}': expected a number from 1 to {} behind ':', got: '{}'",
                          text, maxClusterDevices, text.substr(colon + 1));
    return std::nullopt;
  }
  return part;
}

template <typename Range> const auto &findNamed(const Range &range, const std::string &name) {
  return *std::find_if(range.begin(), range.end(),
                       [&](const auto &entry) { return entry.name() == name; });
}

void addGroup(const Part &part, cluster::Cluster &cluster) {
  const cluster::Preset &preset = *part.preset;
  cluster::Group &group = *cluster.add_groups();
  group.set_name(preset.name());
  group.set_device(preset.device());
  *group.mutable_tiers() = preset.tiers();
  if (preset.has_host())
    *group.mutable_host() = preset.host();
  group.mutable_tiers()->rbegin()->set_fanout(part.count);
  for (const cluster::Device &device : cluster.devices())
    if (device.name() == preset.device())
      return;
  *cluster.add_devices() = findNamed(getCatalog().devices(), preset.device());
}

/// The network between groups: that of the slowest.
void joinGroups(cluster::Cluster &cluster) {
  const cluster::Tier *slowest = nullptr;
  auto getRate = [](const cluster::Tier &tier) {
    return inBaseUnits(tier.links(), Dimension::Number) *
           inBaseUnits(tier.seen(), Dimension::BytesPerSecond);
  };
  for (const cluster::Group &group : cluster.groups())
    if (!slowest || getRate(*group.tiers().rbegin()) < getRate(*slowest))
      slowest = &*group.tiers().rbegin();
  cluster::Tier &joint = *cluster.mutable_joint();
  joint = *slowest;
  joint.set_name("joint");
  joint.set_medium(cluster::NETWORK);
  joint.set_fanout(cluster.groups_size());
  joint.clear_members();
  joint.clear_in_network();
  for (cluster::Quantity *quantity : {joint.mutable_rate(), joint.mutable_seen()}) {
    quantity->set_provenance(cluster::ASSUMED);
    quantity->set_source("as the slowest of the groups' networks");
  }
}

} // namespace

bool weft::isClusterPath(const std::string &spec) {
  return spec == "-" || spec.find('/') != std::string::npos || spec.ends_with(".txtpb");
}

std::optional<cluster::Cluster> weft::resolveCluster(const std::string &spec,
                                                     std::string &problem) {
  if (isClusterPath(spec))
    return readCluster(spec, problem);
  cluster::Cluster cluster;
  cluster.set_version(clusterVersion);
  cluster.set_name(spec);
  for (const std::string &text : splitAt(spec, '+')) {
    std::optional<Part> part = parsePart(text, problem);
    if (!part)
      return std::nullopt;
    if (cluster.groups().empty())
      *cluster.mutable_library() = findNamed(getCatalog().libraries(), part->preset->library());
    else if (cluster.library().name() != part->preset->library()) {
      problem = fmt::format("cluster '{}': groups of the libraries '{}' and '{}' cannot be joined",
                            spec, cluster.library().name(), part->preset->library());
      return std::nullopt;
    }
    addGroup(*part, cluster);
  }
  if (cluster.groups_size() > 1)
    joinGroups(cluster);
  if (std::string why = validateCluster(cluster); !why.empty()) {
    problem = why;
    return std::nullopt;
  }
  return cluster;
}
