//===- cost_table.cpp - predictions for tables of measurements ------------===//
//
//   cost_table steps TABLE.csv [--set NAME=VALUE]… [--without TERM]…     a row for each step
//   cost_table allreduce TABLE.csv CLUSTER RANKS [--set …]               a row for each size
//   cost_table operations TABLE.csv [--set …]                            a row for each operation
//   cost_table constants                                                 what can be set
//
// Prints CSV: row number, measured, predicted, and the terms, in seconds.
//
//===----------------------------------------------------------------------===//

#include "compiler/Cost/Collectives.h"
#include "compiler/Validate/OperationTable.h"
#include "compiler/Validate/Validation.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <stdexcept>

using namespace weft;
using namespace weft::validate;

namespace {

const std::map<std::string, double ProfilerConstants::*> profilerConstants = {
    {"profilerLayer", &ProfilerConstants::layer},
    {"profilerSoftmax", &ProfilerConstants::softmax},
    {"profilerEnds", &ProfilerConstants::ends},
};

const std::map<std::string, double OperationProfiler::*> operationConstants = {
    {"profilerCall", &OperationProfiler::call},
    {"profilerFirst", &OperationProfiler::first},
};

struct Options : StepOptions {
  OperationProfiler operations;
};

void setOption(Options &options, const std::string &text) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  double value = equals == std::string::npos ? 0 : std::stod(text.substr(equals + 1));
  if (auto found = profilerConstants.find(name); found != profilerConstants.end())
    options.profiler.*(found->second) = value;
  else if (auto found = operationConstants.find(name); found != operationConstants.end())
    options.operations.*(found->second) = value;
  else if (equals == std::string::npos || !setConstant(options.constants, name, value))
    throw std::runtime_error("no constant '" + name + "' (see cost_table constants)");
}

void leaveOut(StepOptions &options, const std::string &name) {
  const auto *found = std::find(partNames.begin(), partNames.end(), name);
  if (found == partNames.end())
    throw std::runtime_error("no term '" + name + "'");
  options.without.insert(static_cast<Part>(found - partNames.begin()));
}

void predictSteps(const std::string &path, const StepOptions &options) {
  fmt::print("row,measured,predicted,{},memory\n", fmt::join(partNames, ","));
  int number = 0;
  for (const RowResult &result : validateTable(path, options).rows)
    fmt::print("{},{:.6g},{:.6g},{:.5g},{:.4g}\n", number++, result.row.measured,
               result.prediction.seconds, fmt::join(result.prediction.parts, ","),
               result.prediction.memory);
}

/// On one node of the table's GPUs.
void predictOperations(const std::string &path, const Options &options) {
  Clusters clusters;
  const ClusterModel &cluster = clusters.get("p3.16xlarge");
  fmt::print("op,tp,forward,predicted_forward,backward,predicted_backward\n");
  for (const OperationRow &row : readOperationTable(path)) {
    OperationTimes times;
    try {
      times = predictOperation(row, cluster, options.constants, options.operations);
    } catch (const std::runtime_error &error) {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, row.line, error.what()));
    }
    fmt::print("{},{},{:.6g},{:.6g},{:.6g},{:.6g}\n", row.operation, row.tensor, row.forward,
               times.forward, row.backward, times.backward);
  }
}

/// Bytes and out-of-place nanoseconds are the first and the fourth column.
void predictAllReduce(const std::string &path, const std::string &spec, int64_t ranks,
                      const StepOptions &options) {
  Clusters clusters;
  const ClusterModel &cluster = clusters.get(spec);
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

void printConstants(const Options &options) {
  for (const ConstantInfo &info : listConstants())
    fmt::print("{}|{:.6g}|{}|{}|{}\n", info.name, options.constants.*info.value, info.unit,
               info.provenance, info.source);
  for (const auto &[name, value] : profilerConstants)
    fmt::print("{}|{:.6g}|s|fitted|vtrain_single.csv, for it alone: gaps of its profiler\n", name,
               options.profiler.*value);
  for (const auto &[name, value] : operationConstants)
    fmt::print("{}|{:.6g}|s|fitted|v100_ops.csv, for it alone: what the host adds there\n", name,
               options.operations.*value);
}

int run(const std::vector<std::string> &words) {
  Options options;
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
  else if (names.size() == 2 && names[0] == "operations")
    predictOperations(names[1], options);
  else if (names.size() == 1 && names[0] == "constants")
    printConstants(options);
  else
    throw std::runtime_error("usage: cost_table steps TABLE | allreduce TABLE CLUSTER RANKS | "
                             "operations TABLE | constants [--set NAME=VALUE]… [--without TERM]…");
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
