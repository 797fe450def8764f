#include "compiler/Cost/FitCollectives.h"

#include "compiler/Cost/LeastSquares.h"

#include <algorithm>
#include <set>
#include <vector>

using namespace weft;

namespace {

/// Samples of one fit, and what belongs to them.
struct Fitted {
  std::vector<std::pair<CollectiveKind, Sample>> samples;
  std::set<int64_t> ranks, sizes; ///< sizes that have a rate
};

double getSteps(CollectiveKind kind, const Sample &sample) {
  return static_cast<double>(getRingPasses(kind)) * static_cast<double>(sample.at[0] - 1);
}

double getTraffic(CollectiveKind kind, const Sample &sample) {
  return getRankTraffic(kind, static_cast<double>(sample.at[0]), static_cast<double>(sample.at[1]));
}

/// The samples that are meant; where none is large, the largest has the rate.
Fitted collect(const HostSamples &samples, const std::string &transport, bool crowded) {
  Fitted fitted;
  int64_t largest = 0;
  for (const CollectiveSamples &series : samples.collectives)
    for (const Sample &sample : series.samples)
      if (series.transport == transport && areCrowded(samples, sample) == crowded) {
        fitted.samples.emplace_back(series.kind, sample);
        fitted.ranks.insert(sample.at[0]);
        largest = std::max(largest, sample.at[1]);
        if (sample.at[1] >= leastBuffer)
          fitted.sizes.insert(sample.at[1]);
      }
  if (fitted.sizes.empty())
    fitted.sizes.insert(largest);
  return fitted;
}

} // namespace

double CollectiveFit::predict(CollectiveKind kind, const Sample &sample) const {
  auto rate = rates.lower_bound(sample.at[1]);
  if (rate == rates.end())
    rate = std::prev(rate);
  return call + step * getSteps(kind, sample) + getTraffic(kind, sample) / rate->second;
}

bool weft::areCrowded(const HostSamples &samples, const Sample &sample) {
  return sample.at[0] > std::max<int64_t>(2, samples.cores);
}

std::optional<CollectiveFit> weft::fitCollectives(const HostSamples &samples,
                                                  const std::string &transport, bool crowded) {
  Fitted from = collect(samples, transport, crowded);
  std::vector<std::vector<double>> terms;
  std::vector<double> seconds;
  for (const auto &[kind, sample] : from.samples) {
    // One number of ranks does not tell calls and steps apart.
    std::vector<double> row = {1, from.ranks.size() == 1 ? 0 : getSteps(kind, sample)};
    auto size = from.sizes.lower_bound(sample.at[1]);
    for (auto each = from.sizes.begin(); each != from.sizes.end(); ++each)
      row.push_back(each == size ? getTraffic(kind, sample) : 0);
    terms.push_back(std::move(row));
    seconds.push_back(sample.seconds);
  }
  std::vector<double> found = fitNonNegative(terms, seconds);
  if (found.empty() || found.back() <= 0)
    return std::nullopt;
  CollectiveFit fit{found[0], found[1], {}};
  // A size whose traffic weighs nothing beside the call moves as the next larger one does.
  double slowness = 0;
  size_t term = found.size();
  for (auto size = from.sizes.rbegin(); size != from.sizes.rend(); ++size) {
    slowness = found[--term] > 0 ? found[term] : slowness;
    fit.rates[*size] = 1 / slowness;
  }
  return fit;
}
