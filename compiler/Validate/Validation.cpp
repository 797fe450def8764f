#include "compiler/Validate/Validation.h"
#include "compiler/Cluster/Catalog.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>

using namespace weft;
using namespace weft::validate;

const ClusterModel &Clusters::get(const std::string &name) {
  auto found = known.find(name);
  if (found != known.end())
    return found->second;
  std::string problem;
  std::optional<cluster::Cluster> cluster = resolveCluster(name, problem);
  if (!cluster)
    throw std::runtime_error(problem);
  return known.emplace(name, makeClusterModel(*cluster)).first->second;
}

const ClusterModel &Clusters::get(const StepRow &row) {
  const ClusterModel &cluster = get(row.cluster);
  if (int64_t devices = cluster.groups[0].getNumDevices(); row.gpus > devices)
    throw std::runtime_error(
        fmt::format("cluster '{}' has {} devices, got: {} gpus", row.cluster, devices, row.gpus));
  return cluster;
}

std::optional<double> RowResult::getError() const {
  if (row.measured <= 0)
    return std::nullopt;
  return prediction.seconds / row.measured - 1;
}

namespace {

/// What does not depend on how a step is split.
auto getWorkload(const StepRow &row) {
  return std::tuple(row.model, row.hidden, row.layers, row.heads, row.sequence, row.vocabulary,
                    row.getFeedForward(), row.getKvHeads(), row.dtype, row.cluster, row.gpus,
                    row.globalBatch);
}

/// Predicted and measured seconds.
using Pair = std::pair<double, double>;

/// Nothing where all measured times are the same.
std::optional<double> getTau(const std::vector<Pair> &pairs) {
  int64_t total = 0, agree = 0;
  for (size_t i = 0; i < pairs.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      double predicted = pairs[i].first - pairs[j].first;
      double measured = pairs[i].second - pairs[j].second;
      total += measured != 0;
      agree += predicted * measured > 0;
    }
  if (total == 0)
    return std::nullopt;
  return 2 * static_cast<double>(agree) / static_cast<double>(total) - 1;
}

/// Of plans predicted alike the table's first is the one chosen.
double getRegret(const std::vector<Pair> &pairs) {
  double best = pairs[0].second;
  for (const Pair &pair : pairs)
    best = std::min(best, pair.second);
  auto faster = [](const Pair &a, const Pair &b) { return a.first < b.first; };
  return std::min_element(pairs.begin(), pairs.end(), faster)->second / best - 1;
}

std::optional<double> getMean(const std::vector<double> &values) {
  if (values.empty())
    return std::nullopt;
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> getMedian(std::vector<double> values) {
  if (values.empty())
    return std::nullopt;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void summarize(Validation &validation) {
  std::vector<double> errors, sizes;
  std::map<decltype(getWorkload(StepRow())), std::vector<Pair>> workloads;
  for (const RowResult &result : validation.rows)
    if (std::optional<double> error = result.getError()) {
      errors.push_back(*error);
      sizes.push_back(std::abs(*error));
      workloads[getWorkload(result.row)].emplace_back(result.prediction.seconds,
                                                      result.row.measured);
    }
  std::vector<double> taus, regrets;
  for (const auto &[workload, pairs] : workloads) {
    if (pairs.size() < 2)
      continue;
    regrets.push_back(getRegret(pairs));
    if (std::optional<double> tau = getTau(pairs))
      taus.push_back(*tau);
  }
  validation.mean = getMean(sizes);
  validation.median = getMedian(sizes);
  validation.bias = getMean(errors);
  validation.tau = getMean(taus);
  validation.regret = getMean(regrets);
}

} // namespace

Validation weft::validate::validateTable(const std::string &path, const StepOptions &options,
                                         std::vector<std::string> *others) {
  Clusters clusters;
  Validation validation;
  for (StepRow &row : readStepTable(path, others)) {
    try {
      StepPrediction prediction = predictStep(row, clusters.get(row), options);
      validation.rows.push_back({std::move(row), prediction});
    } catch (const std::runtime_error &error) {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, row.line, error.what()));
    }
  }
  summarize(validation);
  return validation;
}
