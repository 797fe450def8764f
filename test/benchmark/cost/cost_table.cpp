//===- cost_table.cpp - predictions for tables of measurements ------------===//
//
//   cost_table steps TABLE.csv [--set NAME=VALUE]… [--without TERM]…     a row for each step
//   cost_table allreduce TABLE.csv CLUSTER RANKS [--set …]               a row for each size
//   cost_table constants                                                 what can be set
//
// Prints CSV: row number, measured, predicted, and the terms, in seconds.
//
//===----------------------------------------------------------------------===//

#include "compiler/Cluster/Catalog.h"
#include "compiler/Cost/Collectives.h"
#include "test/benchmark/cost/GptStep.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <stdexcept>

using namespace weft;
using namespace weft::benchmark;

namespace {

const std::map<std::string, double ProfilerConstants::*> profilerConstants = {
    {"profilerLayer", &ProfilerConstants::layer},
    {"profilerSoftmax", &ProfilerConstants::softmax},
    {"profilerEnds", &ProfilerConstants::ends},
};

void setOption(StepOptions &options, const std::string &text) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  double value = equals == std::string::npos ? 0 : std::stod(text.substr(equals + 1));
  if (auto found = profilerConstants.find(name); found != profilerConstants.end())
    options.profiler.*(found->second) = value;
  else if (equals == std::string::npos || !setConstant(options.constants, name, value))
    throw std::runtime_error("no constant '" + name + "' (see cost_table constants)");
}

void leaveOut(StepOptions &options, const std::string &name) {
  const auto *found = std::find(partNames.begin(), partNames.end(), name);
  if (found == partNames.end())
    throw std::runtime_error("no term '" + name + "'");
  options.without.insert(static_cast<Part>(found - partNames.begin()));
}

ClusterModel resolve(const std::string &spec) {
  std::string problem;
  std::optional<cluster::Cluster> cluster = resolveCluster(spec, problem);
  if (!cluster)
    throw std::runtime_error(problem);
  return makeClusterModel(*cluster);
}

/// The cluster of a row, made once.
class Clusters {
public:
  const ClusterModel &get(const StepRow &row) {
    auto found = known.find(row.cluster);
    if (found == known.end())
      found = known.emplace(row.cluster, resolve(row.cluster)).first;
    if (int64_t devices = found->second.groups[0].getNumDevices(); row.gpus > devices)
      throw std::runtime_error(
          fmt::format("cluster '{}' has {} devices, got: {} gpus", row.cluster, devices, row.gpus));
    return found->second;
  }

private:
  std::map<std::string, ClusterModel> known;
};

void predictSteps(const std::string &path, const StepOptions &options) {
  Clusters clusters;
  fmt::print("row,measured,predicted,{},memory\n", fmt::join(partNames, ","));
  int number = 0;
  for (const StepRow &row : readTable(path)) {
    try {
      StepPrediction prediction = predictStep(row, clusters.get(row), options);
      fmt::print("{},{:.6g},{:.6g},{:.5g},{:.4g}\n", number++, row.measured, prediction.seconds,
                 fmt::join(prediction.parts, ","), prediction.memory);
    } catch (const std::runtime_error &error) {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, row.line, error.what()));
    }
  }
}

/// Bytes and out-of-place nanoseconds are the first and the fourth column.
void predictAllReduce(const std::string &path, const std::string &spec, int64_t ranks,
                      const StepOptions &options) {
  ClusterModel cluster = resolve(spec);
  const GroupModel &group = cluster.groups[0];
  GroupShape shape = placeGroup(group, 1, ranks);
  shape.sharers.assign(shape.sharers.size(), 1);
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line))
    throw std::runtime_error("cannot read " + path);
  fmt::print("bytes,measured,predicted\n");
  while (std::getline(file, line)) {
    double bytes = 0, nanoseconds = 0;
    if (std::sscanf(line.c_str(), "%lf,%*[^,],%*[^,],%lf", &bytes, &nanoseconds) != 2)
      throw std::runtime_error("malformed line in " + path + ": " + line);
    double seconds = getCollectiveSeconds(cluster, group, shape, CollectiveKind::AllReduce, bytes,
                                          options.constants);
    fmt::print("{:.0f},{:.6g},{:.6g}\n", bytes, nanoseconds * 1e-9, seconds);
  }
}

void printConstants(const StepOptions &options) {
  for (const ConstantInfo &info : listConstants())
    fmt::print("{}|{:.6g}|{}|{}|{}\n", info.name, options.constants.*info.value, info.unit,
               info.provenance, info.source);
  for (const auto &[name, value] : profilerConstants)
    fmt::print("{}|{:.6g}|s|fitted|vtrain_single.csv, for it alone: gaps of its profiler\n", name,
               options.profiler.*value);
}

int run(const std::vector<std::string> &words) {
  StepOptions options;
  std::vector<std::string> names;
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] == "--set" && i + 1 < words.size())
      setOption(options, words[++i]);
    else if (words[i] == "--without" && i + 1 < words.size())
      leaveOut(options, words[++i]);
    else
      names.push_back(words[i]);
  if (names.size() == 2 && names[0] == "steps")
    predictSteps(names[1], options);
  else if (names.size() == 4 && names[0] == "allreduce")
    predictAllReduce(names[1], names[2], std::stoll(names[3]), options);
  else if (names.size() == 1 && names[0] == "constants")
    printConstants(options);
  else
    throw std::runtime_error("usage: cost_table steps TABLE | allreduce TABLE CLUSTER RANKS | "
                             "constants [--set NAME=VALUE]… [--without TERM]…");
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception &error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
