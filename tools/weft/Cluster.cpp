//===- Cluster.cpp - weft cluster -----------------------------------------===//

#include "compiler/Cluster/Catalog.h"
#include "compiler/Cluster/ClusterText.h"
#include "compiler/Cluster/Topology.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Command.h"
#include "tools/weft/Messages.h"
#include "tools/weft/Output.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

using namespace weft;
using namespace weft::tool;

namespace {

struct ClusterOptions {
  std::string action, spec;
};

int listClusters(const Common &common) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const cluster::Preset &preset : getCatalog().presets()) {
    if (common.json)
      json.push_back({{"name", preset.name()},
                      {"device", preset.device()},
                      {"description", preset.description()}});
    else
      runtime::print("{:<14} {:<16} {}\n", preset.name(), preset.device(), preset.description());
  }
  if (common.json)
    printJsonValue(json);
  else if (!common.quiet)
    runtime::print("\nNAME:N is a cluster of N nodes, A:N+B:M one of two groups; weft cluster show "
                   "NAME:N prints it.\n");
  return Exit::Ok;
}

/// The protobuf form of JSON, whose field names are those of cluster.proto.
int printJson(const cluster::Cluster &cluster) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(cluster, &text, options).ok())
    return fail(Exit::Failure, "cannot write cluster '" + cluster.name() + "' as JSON");
  runtime::printText(text);
  return Exit::Ok;
}

/// A line of comment for each group, then the description.
void printText(const cluster::Cluster &cluster) {
  for (const GroupModel &group : makeClusterModel(cluster).groups) {
    std::string tiers;
    for (const TierModel &tier : group.tiers)
      tiers += fmt::format("{}{} {} ({:.4g} GB/s a link, {:.4g} seen)", tiers.empty() ? "" : " x ",
                           tier.fanout, tier.name, tier.rate / 1e9, tier.seen / 1e9);
    runtime::print("# {}: {} devices '{}' ({:.4g} GB, {:.4g} GB/s), {}\n", group.name,
                   group.getNumDevices(), group.device.name, group.device.memory / 1e9,
                   group.device.bandwidth / 1e9, tiers);
  }
  runtime::printText(printCluster(cluster));
}

int runCluster(const ClusterOptions &options, const Common &common) {
  if (options.action == "list") {
    if (!options.spec.empty())
      return fail(Exit::Usage, "weft cluster list takes no name; weft cluster show " +
                                   options.spec + " prints one");
    return listClusters(common);
  }
  if (options.spec.empty())
    return fail(Exit::Usage, "weft cluster show needs the name of a cluster or a file");
  std::string problem;
  std::optional<cluster::Cluster> cluster = resolveCluster(options.spec, problem);
  if (!cluster)
    return fail(isClusterPath(options.spec) ? Exit::BadInput : Exit::Usage, problem);
  if (common.json)
    return printJson(*cluster);
  printText(*cluster);
  return Exit::Ok;
}

} // namespace

CLI::App *weft::tool::addCluster(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("cluster", "list the clusters that weft knows, or show one");
  auto options = std::make_shared<ClusterOptions>();
  command->add_option("action", options->action, "list or show")
      ->required()
      ->check(CLI::IsMember({"list", "show"}))
      ->type_name("list|show");
  command
      ->add_option("name", options->spec,
                   "a name, NAME:N for N nodes, A:N+B:M, or a file (-: the standard input)")
      ->type_name("NAME");
  command->footer("Every number is shown with its unit and where it comes from.\n\n"
                  "Examples:\n  weft cluster list\n  weft cluster show dgx-a100:16\n"
                  "  weft cluster show dgx-h100:4+p4d:2 > mixed.txtpb");
  run = [options, &common] { return runCluster(*options, common); };
  return command;
}
