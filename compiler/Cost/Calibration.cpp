#include "compiler/Cost/Calibration.h"

#include "compiler/Cluster/ClusterText.h"
#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/Compute.h"
#include "compiler/Cost/LeastSquares.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <set>

using namespace weft;

namespace {

using Row = std::vector<double>;

void setQuantity(cluster::Quantity &quantity, double value, const char *unit,
                 const std::string &source, cluster::Provenance provenance = cluster::MEASURED) {
  quantity.set_value(value);
  quantity.set_unit(unit);
  quantity.set_provenance(provenance);
  quantity.set_source(source);
}

/// A curve of what `predict` makes of each sample, of which there is one at least.
cluster::Curve &addCurve(cluster::Cluster &cluster, const std::string &name,
                         const std::vector<std::string> &axes, const std::vector<Sample> &samples,
                         const std::function<double(const Sample &)> &predict) {
  cluster::Curve &curve = *cluster.add_curves();
  curve.set_name(name);
  for (const std::string &axis : axes)
    curve.add_axes(axis);
  double error = 0;
  for (const Sample &sample : samples) {
    cluster::Curve::Point &point = *curve.add_points();
    for (int64_t extent : sample.at)
      point.add_at(extent);
    point.set_measured(sample.seconds);
    point.set_predicted(predict(sample));
    error += std::abs(point.predicted() / sample.seconds - 1);
  }
  curve.set_mean_error(error / static_cast<double>(samples.size()));
  return curve;
}

void addTerm(cluster::Curve &curve, const std::string &name, double value, const char *unit,
             const std::string &source) {
  cluster::Curve::Term &term = *curve.add_terms();
  term.set_name(name);
  setQuantity(*term.mutable_value(), value, unit, source);
}

double getFlop(const Sample &matmul) {
  return 2 * static_cast<double>(matmul.at[0]) * static_cast<double>(matmul.at[1]) *
         static_cast<double>(matmul.at[2]);
}

/// Call, step and traffic of a collective.
Row getTerms(CollectiveKind kind, const Sample &sample) {
  auto ranks = static_cast<double>(sample.at[0]), bytes = static_cast<double>(sample.at[1]);
  auto steps = static_cast<double>(getRingPasses(kind)) * (ranks - 1);
  return {1, steps, getRankTraffic(kind, ranks, bytes)};
}

/// What collectives of a transport take.
struct CollectiveFit {
  double call = 0, step = 0; ///< s
  double traffic = 0;        ///< s a byte

  double predict(CollectiveKind kind, const Sample &sample) const {
    Row terms = getTerms(kind, sample);
    return call * terms[0] + step * terms[1] + traffic * terms[2];
  }
};

/// Whether ranks have to take turns: there they behave like another machine, with a fit of its own.
bool areCrowded(const HostSamples &samples, const Sample &sample) {
  return sample.at[0] > std::max<int64_t>(2, samples.cores);
}

std::optional<CollectiveFit> fitCollectives(const HostSamples &samples,
                                            const std::string &transport, bool crowded) {
  std::vector<Row> terms;
  Row seconds;
  std::set<int64_t> ranks;
  for (const CollectiveSamples &series : samples.collectives)
    for (const Sample &sample : series.samples)
      if (series.transport == transport && areCrowded(samples, sample) == crowded) {
        terms.push_back(getTerms(series.kind, sample));
        seconds.push_back(sample.seconds);
        ranks.insert(sample.at[0]);
      }
  if (ranks.size() == 1) // which does not tell calls and steps apart
    for (Row &row : terms)
      row[1] = 0;
  Row fitted = fitNonNegative(terms, seconds);
  if (fitted.empty() || fitted[2] <= 0)
    return std::nullopt;
  return CollectiveFit{fitted[0], fitted[1], fitted[2]};
}

std::string getRanks(const std::string &transport) {
  return transport == "local" ? "threads" : "processes";
}

/// Builds the description piece by piece.
class HostDescription {
public:
  explicit HostDescription(const HostSamples &samples) : samples(samples) {}

  std::optional<cluster::Cluster> make(std::string &problem);

private:
  double getLaunch(bool oneThread) const;
  bool describeProducts(cluster::Device &device);
  void describeDevice(cluster::Device &device);
  void describeTier(cluster::Tier &tier, const CollectiveFit &fit);
  void addDeviceCurves();
  void addTerms(cluster::Curve &curve, const std::string &transport, bool crowded);
  void addCollectiveCurves();

  const HostSamples &samples;
  cluster::Cluster cluster;
};

/// Seconds of an empty kernel on so many threads; 0 if that was not measured.
double HostDescription::getLaunch(bool oneThread) const {
  for (const Sample &sample : samples.launches)
    if ((sample.at[0] == 1) == oneThread)
      return sample.seconds;
  return 0;
}

bool HostDescription::describeProducts(cluster::Device &device) {
  double launch = getLaunch(true), best = 0;
  std::vector<Row> terms;
  Row seconds;
  for (const Sample &sample : samples.matmuls) {
    double flop = getFlop(sample);
    best = std::max(best, flop / sample.seconds);
    terms.push_back({flop, flop / static_cast<double>(sample.at[2])});
    seconds.push_back(std::max(sample.seconds - launch, sample.seconds * 0.1));
  }
  Row fitted = fitNonNegative(terms, seconds);
  if (fitted.empty() || fitted[0] <= 0)
    return false;
  cluster::Peak &peak = *device.add_peaks();
  peak.set_dtype("f32");
  std::string source = "fitted to oneDNN's products on one core (curve 'matmul')";
  setQuantity(*peak.mutable_seen(), 1e-9 / fitted[0], "GFLOP/s", source);
  setQuantity(*peak.mutable_peak(), std::max(best * 1e-9, 1e-9 / fitted[0]), "GFLOP/s",
              "the best product measured, or what the fit tends to");
  setQuantity(*device.mutable_half_depth(), fitted[1] / fitted[0], "1", source);
  return true;
}

void HostDescription::describeDevice(cluster::Device &device) {
  device.set_name("cpu-core");
  const Sample &largest =
      *std::max_element(samples.copies.begin(), samples.copies.end(),
                        [](const Sample &a, const Sample &b) { return a.at[0] < b.at[0]; });
  double copy = 2e-9 * static_cast<double>(largest.at[0]) / largest.seconds;
  setQuantity(*device.mutable_memory(), samples.memory / static_cast<double>(samples.cores), "B",
              "a core's part of the host's");
  std::string source = "the largest copy, on all cores at the same time, read and written";
  setQuantity(*device.mutable_bandwidth(), copy, "GB/s", source);
  setQuantity(*device.mutable_copy(), copy, "GB/s", source);
  setQuantity(*device.mutable_processors(), 1, "1", "by definition", cluster::SPEC);
  setQuantity(*device.mutable_tile(), 1, "1", "remainders are masked", cluster::ASSUMED);
  setQuantity(*device.mutable_launch(), getLaunch(true) * 1e6, "us",
              "an empty kernel on one thread");
}

void HostDescription::describeTier(cluster::Tier &tier, const CollectiveFit &fit) {
  std::string source = "fitted to collectives between " + getRanks(samples.transport) +
                       " (curves '" + samples.transport + " …')";
  tier.set_name("memory");
  tier.set_medium(cluster::MEMORY);
  tier.set_fanout(samples.cores);
  setQuantity(*tier.mutable_links(), 1, "1", "by definition", cluster::SPEC);
  setQuantity(*tier.mutable_rate(), 1e-9 / fit.traffic, "GB/s", source);
  setQuantity(*tier.mutable_seen(), 1e-9 / fit.traffic, "GB/s", source);
  cluster::Library &library = *cluster.mutable_library();
  library.set_name("weft-" + samples.transport);
  setQuantity(*library.mutable_call(), fit.call * 1e6, "us", source);
  cluster::Protocol &protocol = *library.add_protocols();
  protocol.set_name("copy");
  setQuantity(*protocol.mutable_share(), 1, "1", "by definition", cluster::SPEC);
  setQuantity(*protocol.mutable_ring_base(), 0, "us", "in `call`", cluster::SPEC);
  setQuantity(*protocol.mutable_tree_base(), 0, "us", "in `call`", cluster::SPEC);
  cluster::Hop &hop = *protocol.add_hops();
  hop.set_medium(cluster::MEMORY);
  setQuantity(*hop.mutable_ring(), fit.step * 1e6, "us", source);
  setQuantity(*hop.mutable_tree(), fit.step * 1e6, "us", source);
}

void HostDescription::addDeviceCurves() {
  CostConstants constants;
  DeviceModel device = makeClusterModel(cluster).groups[0].device;
  addCurve(cluster, "matmul", {"m", "n", "k"}, samples.matmuls, [&](const Sample &sample) {
    return getMatmulSeconds(device, {1, sample.at[0], sample.at[1], sample.at[2], "f32"},
                            constants);
  });
  addCurve(cluster, "copy", {"bytes"}, samples.copies, [&](const Sample &sample) {
    return 2 * static_cast<double>(sample.at[0]) / device.copy;
  });
  double launch = getLaunch(true), wake = std::max(0.0, getLaunch(false) - launch);
  cluster::Curve &launches =
      addCurve(cluster, "launch", {"threads"}, samples.launches,
               [&](const Sample &sample) { return launch + (sample.at[0] > 1 ? wake : 0); });
  addTerm(launches, "launch", launch * 1e6, "us", "an empty kernel on one thread");
  addTerm(launches, "wake", wake * 1e6, "us", "what a pool of all cores adds");
}

/// Terms of ranks that take turns are called so.
void HostDescription::addTerms(cluster::Curve &curve, const std::string &transport, bool crowded) {
  std::optional<CollectiveFit> fit = fitCollectives(samples, transport, crowded);
  if (!fit)
    return;
  std::string prefix = crowded ? "crowded " : "";
  std::string source = "fitted to all collectives between " + getRanks(transport) +
                       (crowded ? ", more of them than cores" : "");
  addTerm(curve, prefix + "call", fit->call * 1e6, "us", source);
  addTerm(curve, prefix + "step", fit->step * 1e6, "us", source);
  addTerm(curve, prefix + "rate", 1e-9 / fit->traffic, "GB/s", source);
}

void HostDescription::addCollectiveCurves() {
  for (const CollectiveSamples &series : samples.collectives) {
    std::optional<CollectiveFit> fits[] = {fitCollectives(samples, series.transport, false),
                                           fitCollectives(samples, series.transport, true)};
    cluster::Curve &curve = addCurve(cluster, series.transport + " " + series.name,
                                     {"ranks", "bytes"}, series.samples, [&](const Sample &sample) {
                                       const auto &fit = fits[areCrowded(samples, sample) ? 1 : 0];
                                       return fit ? fit->predict(series.kind, sample) : 0;
                                     });
    addTerms(curve, series.transport, false);
    addTerms(curve, series.transport, true);
  }
}

std::optional<cluster::Cluster> HostDescription::make(std::string &problem) {
  cluster.set_version(clusterVersion);
  cluster.set_name("host");
  cluster::Group &group = *cluster.add_groups();
  group.set_name("host");
  group.set_device("cpu-core");
  cluster::Device &device = *cluster.add_devices();
  if (samples.copies.empty() || !describeProducts(device)) {
    problem = "the products measured do not fit a rate and a depth";
    return std::nullopt;
  }
  describeDevice(device);
  std::optional<CollectiveFit> collectives =
      fitCollectives(samples, samples.transport, /*crowded=*/false);
  if (!collectives) {
    problem = "the collectives measured between " + getRanks(samples.transport) +
              " do not fit a latency and a rate";
    return std::nullopt;
  }
  describeTier(*group.add_tiers(), *collectives);
  problem = validateCluster(cluster);
  if (!problem.empty())
    return std::nullopt;
  addDeviceCurves();
  addCollectiveCurves();
  return cluster;
}

} // namespace

std::optional<cluster::Cluster> weft::describeHost(const HostSamples &samples,
                                                   std::string &problem) {
  return HostDescription(samples).make(problem);
}
