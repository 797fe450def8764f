#include "compiler/Cluster/ClusterText.h"

#include "compiler/Plan/TextProto.h"

using namespace weft;

static const char what[] = "cluster description";

std::optional<cluster::Cluster> weft::parseCluster(const std::string &text, const std::string &name,
                                                   std::string &problem) {
  cluster::Cluster cluster;
  problem = parseTextProto(text, name, what, cluster);
  if (!problem.empty())
    return std::nullopt;
  if (std::string why = validateCluster(cluster); !why.empty()) {
    problem = "cluster description " + name + ": " + why;
    return std::nullopt;
  }
  return cluster;
}

std::optional<cluster::Cluster> weft::readCluster(const std::filesystem::path &path,
                                                  std::string &problem) {
  std::optional<std::string> text = readTextFile(path, what, problem);
  return text ? parseCluster(*text, path.string(), problem) : std::nullopt;
}

std::string weft::printCluster(const cluster::Cluster &cluster) {
  return printTextProto(cluster,
                        "A cluster of weft: edit numbers as you like, then `--cluster THIS`.");
}
