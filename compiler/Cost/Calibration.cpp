#include "compiler/Cost/Calibration.h"

#include "compiler/Cluster/ClusterText.h"
#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/Compute.h"
#include "compiler/Cost/FitCollectives.h"
#include "compiler/Cost/LeastSquares.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>

using namespace weft;

namespace {

using Row = std::vector<double>;

/// Which instructions are meant.
using WorkFilter = std::function<bool(const InstructionWork &)>;

bool isKernel(const InstructionWork &work) { return work.kind == InstructionWork::Kind::Kernel; }
bool isConvolution(const InstructionWork &work) {
  return work.kind == InstructionWork::Kind::Convolution;
}
bool isLayer(const InstructionWork &work) {
  return work.kind == InstructionWork::Kind::Product && work.batch == 1;
}
bool isBatch(const InstructionWork &work) {
  return work.kind == InstructionWork::Kind::Product && work.batch > 1;
}

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

double getMatmulFlop(const Sample &matmul) {
  return 2 * static_cast<double>(matmul.at[0]) * static_cast<double>(matmul.at[1]) *
         static_cast<double>(matmul.at[2]);
}

Matmul toMatmul(const Sample &matmul) {
  return {1, matmul.at[0], matmul.at[1], matmul.at[2], "f32"};
}

double getOperandBytes(int64_t m, int64_t n, int64_t k) {
  return 4 * static_cast<double>(k) * static_cast<double>(m + n);
}

double getOperandBytes(const Sample &matmul) {
  return getOperandBytes(matmul.at[0], matmul.at[1], matmul.at[2]);
}

double getOperandBytes(const InstructionWork &product) {
  return getOperandBytes(product.m, product.n, product.k);
}

double getResultBytes(const Sample &matmul) {
  return 4 * static_cast<double>(matmul.at[0]) * static_cast<double>(matmul.at[1]);
}

std::string getRanks(const std::string &transport) {
  return transport == "local" ? "threads" : "processes";
}

/// The rate of each size.
void addBuffers(google::protobuf::RepeatedPtrField<cluster::BufferRate> &buffers,
                const CollectiveFit &fit, const std::string &source) {
  for (auto [bytes, rate] : fit.rates) {
    cluster::BufferRate &buffer = *buffers.Add();
    setQuantity(*buffer.mutable_buffer(), static_cast<double>(bytes), "B", source);
    setQuantity(*buffer.mutable_seen(), 1e-9 * rate, "GB/s", source);
  }
}

/// Builds the description piece by piece.
class HostDescription {
public:
  explicit HostDescription(const HostSamples &samples) : samples(samples) {}

  std::optional<cluster::Cluster> make(std::string &problem);

private:
  double getLaunch(bool oneThread) const;
  double getWake() const { return std::max(0.0, getLaunch(false) - getLaunch(true)); }
  bool describeProducts(cluster::Device &device);
  void describeDevice(cluster::Device &device);
  void describeCopies(cluster::Device &device);
  void describeInstructions(cluster::Device &device);
  void describeLayers(cluster::Device &device);
  void describePack(cluster::Device &device);
  bool isInCaches(const InstructionWork &product) const;
  void describeCrowd();
  void describeTier(cluster::Tier &tier, const CollectiveFit &fit);
  void addDeviceCurves();
  void addInstructionCurve(const std::string &name, const std::vector<std::string> &axes,
                           const WorkFilter &isMeant);
  void addTerms(cluster::Curve &curve, const std::string &transport, bool crowded);
  void addCollectiveCurves();

  const HostSamples &samples;
  cluster::Cluster cluster;
  DeviceModel streams; ///< what copies tell, and nothing else
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
    double flop = getMatmulFlop(sample);
    best = std::max(best, flop / sample.seconds);
    terms.push_back({flop, flop / static_cast<double>(sample.at[2])});
    double moved = getStreamSeconds(streams, getOperandBytes(sample), CostConstants()) +
                   getStreamSeconds(streams, getResultBytes(sample), CostConstants());
    seconds.push_back(std::max(sample.seconds - launch - moved, sample.seconds * 0.1));
  }
  Row fitted = fitNonNegative(terms, seconds);
  if (fitted.empty() || fitted[0] <= 0)
    return false;
  cluster::Peak &peak = *device.add_peaks();
  peak.set_dtype("f32");
  std::string source = "fitted to oneDNN's products on all cores at the same time (curve 'matmul')";
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
  setQuantity(*device.mutable_wake(), getWake() * 1e6, "us", "what a pool of all cores adds");
  describeCopies(device);
}

/// The largest block is what memory moves; caches hold the others.
void HostDescription::describeCopies(cluster::Device &device) {
  streams.copy = 1e9 * device.copy().value();
  std::map<int64_t, double> blocks;
  for (const Sample &sample : samples.copies)
    blocks[2 * sample.at[0]] = 2 * static_cast<double>(sample.at[0]) / sample.seconds;
  blocks.erase(std::prev(blocks.end()));
  for (auto [bytes, rate] : blocks) {
    cluster::CopyRate &copy = *device.add_copies();
    std::string source = "copies of half as much, on all cores at the same time (curve 'copy')";
    setQuantity(*copy.mutable_block(), static_cast<double>(bytes), "B", source);
    setQuantity(*copy.mutable_rate(), 1e-9 * rate, "GB/s", source);
    streams.copies[static_cast<double>(bytes)] = rate;
  }
}

/// Some samples against what the model says of each: the factor between them, beyond the `rest`.
double fitFactor(
    const std::vector<InstructionSample> &samples, const WorkFilter &isMeant,
    const std::function<double(const InstructionWork &)> &predict,
    const std::function<double(const InstructionWork &)> &rest = [](const auto &) { return 0; }) {
  std::vector<Row> terms;
  Row seconds;
  for (const InstructionSample &sample : samples)
    if (isMeant(sample.work)) {
      terms.push_back({predict(sample.work) - rest(sample.work)});
      seconds.push_back(std::max(sample.seconds - rest(sample.work), 0.1 * sample.seconds));
    }
  Row fitted = fitNonNegative(terms, seconds);
  return fitted.empty() ? 0 : fitted[0];
}

/// Whether the caches of all cores hold the operands; else they come from memory altogether.
bool HostDescription::isInCaches(const InstructionWork &product) const {
  auto cores = static_cast<double>(samples.cores);
  return streams.copies.empty() ||
         getOperandBytes(product) < 2 * cores * streams.copies.rbegin()->first;
}

/// Products alone have their operands in caches as soon as they can be; those of a program find
/// there what others left.
void HostDescription::describeLayers(cluster::Device &device) {
  ClusterModel whole = shareHost(makeClusterModel(cluster), /*ranks=*/1);
  DeviceModel unlimited = whole.groups[0].device;
  unlimited.rates["f32"].sustained = std::numeric_limits<double>::infinity();
  auto getSeconds = [](const DeviceModel &model) {
    return [&model](const InstructionWork &work) {
      return getInstructionSeconds(model, work, CostConstants());
    };
  };
  auto isMeant = [&](const InstructionWork &work) { return isLayer(work) && isInCaches(work); };
  double factor = fitFactor(samples.instructions, isMeant, getSeconds(whole.groups[0].device),
                            getSeconds(unlimited));
  if (factor <= 0)
    return;
  cluster::Quantity &seen = *device.mutable_peaks(0)->mutable_seen();
  setQuantity(seen, seen.value() / factor, "GFLOP/s",
              "fitted to products of layers in a program (curve 'layers')");
}

/// The rate at which operands are read that no cache holds, of products of few rows: what they take
/// beyond their arithmetic.
void HostDescription::describePack(cluster::Device &device) {
  DeviceModel cores = shareHost(makeClusterModel(cluster), /*ranks=*/1).groups[0].device;
  cores.pack = std::numeric_limits<double>::infinity();
  std::vector<Row> terms;
  Row seconds;
  for (const auto &[work, taken] : samples.instructions) {
    if (!isLayer(work) || isInCaches(work))
      continue;
    double rest = taken - getInstructionSeconds(cores, work, CostConstants());
    terms.push_back({getOperandBytes(work)});
    seconds.push_back(std::max(rest, 0.01 * taken));
  }
  Row fitted = fitNonNegative(terms, seconds);
  if (!fitted.empty() && fitted[0] > 0)
    setQuantity(*device.mutable_pack(), 1e-9 / fitted[0] / static_cast<double>(samples.cores),
                "GB/s", "fitted to layers whose weights no cache holds (curve 'layers')");
}

/// Of instructions that all cores shared; a core's part of rates.
void HostDescription::describeInstructions(cluster::Device &device) {
  describeLayers(device);
  describePack(device);
  ClusterModel whole = shareHost(makeClusterModel(cluster), /*ranks=*/1);
  const DeviceModel &cores = whole.groups[0].device;
  auto getSeconds = [&](const InstructionWork &work) {
    return getInstructionSeconds(cores, work, CostConstants());
  };
  double addition = fitFactor(samples.instructions, isKernel,
                              [&](const InstructionWork &work) { return work.additions; });
  if (addition > 0)
    setQuantity(*device.mutable_arithmetic(), 1e-9 / addition / static_cast<double>(samples.cores),
                "GFLOP/s", "fitted to generated kernels of elementary functions (curve 'kernels')");
  if (double factor = fitFactor(samples.instructions, isConvolution, getSeconds); factor > 0)
    setQuantity(*device.mutable_convolution(), 1 / factor, "1",
                "fitted to convolutions (curve 'convolutions')");
  if (double factor = fitFactor(samples.instructions, isBatch, getSeconds); factor > 0)
    setQuantity(*device.mutable_batched(), 1 / factor, "1",
                "fitted to batches of products (curve 'batches')");
}

void HostDescription::describeCrowd() {
  std::optional<CollectiveFit> fit = fitCollectives(samples, samples.transport, /*crowded=*/true);
  if (!fit)
    return;
  std::string source = "fitted to collectives of more ranks than cores";
  cluster::Crowded &crowded = *cluster.mutable_crowded();
  setQuantity(*crowded.mutable_call(), fit->call * 1e6, "us", source);
  setQuantity(*crowded.mutable_step(), fit->step * 1e6, "us", source);
  setQuantity(*crowded.mutable_rate(), 1e-9 * fit->rates.rbegin()->second, "GB/s", source);
  addBuffers(*crowded.mutable_buffers(), *fit, source);
}

void HostDescription::describeTier(cluster::Tier &tier, const CollectiveFit &fit) {
  std::string source = "fitted to collectives between " + getRanks(samples.transport) +
                       " (curves '" + samples.transport + " …')";
  tier.set_name("memory");
  tier.set_medium(cluster::MEMORY);
  tier.set_fanout(samples.cores);
  setQuantity(*tier.mutable_links(), 1, "1", "by definition", cluster::SPEC);
  double best = 0;
  for (auto [bytes, rate] : fit.rates)
    best = std::max(best, rate);
  setQuantity(*tier.mutable_rate(), 1e-9 * best, "GB/s", source);
  setQuantity(*tier.mutable_seen(), 1e-9 * fit.rates.rbegin()->second, "GB/s", source);
  addBuffers(*tier.mutable_buffers(), fit, source);
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
    return getMatmulSeconds(device, toMatmul(sample), constants);
  });
  addCurve(cluster, "copy", {"bytes"}, samples.copies, [&](const Sample &sample) {
    return getStreamSeconds(device, 2 * static_cast<double>(sample.at[0]), constants);
  });
  double launch = getLaunch(true), wake = getWake();
  cluster::Curve &launches =
      addCurve(cluster, "launch", {"threads"}, samples.launches,
               [&](const Sample &sample) { return launch + (sample.at[0] > 1 ? wake : 0); });
  addTerm(launches, "launch", launch * 1e6, "us", "an empty kernel on one thread");
  addTerm(launches, "wake", wake * 1e6, "us", "what a pool of all cores adds");
}

/// Of instructions that a rank with all cores executes.
void HostDescription::addInstructionCurve(const std::string &name,
                                          const std::vector<std::string> &axes,
                                          const WorkFilter &isMeant) {
  ClusterModel whole = shareHost(makeClusterModel(cluster), /*ranks=*/1);
  std::vector<Sample> points;
  std::vector<const InstructionWork *> works;
  for (const InstructionSample &sample : samples.instructions) {
    const InstructionWork &work = sample.work;
    if (!isMeant(work))
      continue;
    if (isKernel(work))
      points.push_back(
          {{std::llround(work.additions), std::llround(work.bytesRead + work.bytesWritten)},
           sample.seconds});
    else
      points.push_back({{work.batch, work.m, work.n, work.k}, sample.seconds});
    works.push_back(&work);
  }
  if (points.empty())
    return;
  addCurve(cluster, name, axes, points, [&](const Sample &point) {
    return getInstructionSeconds(whole.groups[0].device, *works[&point - points.data()],
                                 CostConstants());
  });
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
  for (auto [bytes, rate] : fit->rates)
    addTerm(curve, fmt::format("{}rate of {} KiB", prefix, bytes >> 10), 1e-9 * rate, "GB/s",
            source);
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
  if (!samples.copies.empty())
    describeDevice(device);
  if (samples.copies.empty() || !describeProducts(device)) {
    problem = "the products measured do not fit a rate and a depth";
    return std::nullopt;
  }
  std::optional<CollectiveFit> collectives =
      fitCollectives(samples, samples.transport, /*crowded=*/false);
  if (!collectives) {
    problem = "the collectives measured between " + getRanks(samples.transport) +
              " do not fit a latency and a rate";
    return std::nullopt;
  }
  describeTier(*group.add_tiers(), *collectives);
  describeCrowd();
  describeInstructions(device);
  problem = validateCluster(cluster);
  if (!problem.empty())
    return std::nullopt;
  addDeviceCurves();
  addInstructionCurve("kernels", {"additions", "bytes"}, isKernel);
  addInstructionCurve("layers", {"batch", "m", "n", "k"}, isLayer);
  addInstructionCurve("convolutions", {"groups", "m", "n", "k"}, isConvolution);
  addInstructionCurve("batches", {"batch", "m", "n", "k"}, isBatch);
  addCollectiveCurves();
  return cluster;
}

} // namespace

std::optional<cluster::Cluster> weft::describeHost(const HostSamples &samples,
                                                   std::string &problem) {
  return HostDescription(samples).make(problem);
}
