#include "compiler/Cost/Calibration.h"
#include "compiler/Cluster/ClusterText.h"
#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/LeastSquares.h"

#include <catch2/catch.hpp>

using namespace weft;

/// Four cores of 40 GFLOP/s with half depth 24, 10 GB/s copies, and collectives of 3 us, 2 us a
/// step and 5 GB/s, measured without noise; eight ranks take turns and have another time.
static HostSamples getIdealHost() {
  HostSamples samples;
  samples.cores = 4;
  samples.memory = 16e9;
  samples.launches = {{{1}, 1e-7}, {{4}, 5e-6}};
  for (int64_t bytes : {1 << 20, 1 << 26})
    samples.copies.push_back({{bytes}, 2.0 * static_cast<double>(bytes) / 10e9});
  for (int64_t size : {64, 256, 512})
    for (int64_t depth : {32, 512})
      samples.matmuls.push_back(
          {{size, size, depth},
           1e-7 + 2.0 * static_cast<double>(size * size) * static_cast<double>(depth + 24) / 40e9 +
               4.0 * static_cast<double>(size * size + 2 * size * depth) / 10e9});
  for (auto [name, kind, passes] : {std::tuple("all_reduce", CollectiveKind::AllReduce, 2),
                                    std::tuple("all_gather", CollectiveKind::AllGather, 1)}) {
    CollectiveSamples series{"local", name, kind, {}};
    for (int64_t ranks : {2, 4, 8})
      for (int64_t bytes : {1 << 10, 1 << 16, 1 << 22}) {
        auto n = static_cast<double>(ranks);
        double traffic = passes * (n - 1) / n * static_cast<double>(bytes);
        series.samples.push_back(
            {{ranks, bytes},
             ranks > 4 ? 50e-6 + traffic / 1e9 : 3e-6 + passes * (n - 1) * 2e-6 + traffic / 5e9});
      }
    samples.collectives.push_back(series);
  }
  return samples;
}

TEST_CASE("calibration finds the host that the samples are of") {
  std::string problem;
  std::optional<cluster::Cluster> host = describeHost(getIdealHost(), problem);
  INFO(problem);
  REQUIRE(host);
  CHECK(host->devices(0).peaks(0).seen().value() == Approx(40));
  CHECK(host->devices(0).half_depth().value() == Approx(24));
  CHECK(host->devices(0).copy().value() == Approx(10));
  CHECK(host->groups(0).tiers(0).seen().value() == Approx(5));
  CHECK(host->library().call().value() == Approx(3));
  CHECK(host->library().protocols(0).hops(0).ring().value() == Approx(2));
  REQUIRE(host->curves_size() == 5);
  for (const cluster::Curve &curve : host->curves())
    CHECK(curve.mean_error() < 1e-6);
  CHECK(parseCluster(printCluster(*host), "host", problem));
}

TEST_CASE("curves hold what the cost model says of the description") {
  std::string problem;
  HostSamples samples = getIdealHost();
  std::optional<cluster::Cluster> host = describeHost(samples, problem);
  REQUIRE(host);
  ClusterModel model = makeClusterModel(*host);
  for (const CollectiveSamples &series : samples.collectives) {
    auto curve = std::find_if(host->curves().begin(), host->curves().end(), [&](const auto &curve) {
      return curve.name() == "local " + series.name;
    });
    REQUIRE(curve != host->curves().end());
    for (const cluster::Curve::Point &point : curve->points())
      if (point.at(0) <= samples.cores)
        CHECK(getCollectiveSeconds(model, model.groups[0], {{point.at(0)}, {1}}, series.kind,
                                   static_cast<double>(point.at(1)),
                                   {}) == Approx(point.predicted()));
  }
}

TEST_CASE("one disturbed point moves little") {
  HostSamples samples = getIdealHost();
  samples.matmuls[0].seconds *= 3;
  samples.collectives[0].samples[4].seconds *= 3;
  std::string problem;
  std::optional<cluster::Cluster> host = describeHost(samples, problem);
  REQUIRE(host);
  CHECK(host->devices(0).peaks(0).seen().value() == Approx(40).epsilon(0.05));
  CHECK(host->groups(0).tiers(0).seen().value() == Approx(5).epsilon(0.05));
}

TEST_CASE("a few percent of noise moves what is found by a few percent") {
  HostSamples samples = getIdealHost();
  double sign = 1;
  for (Sample &sample : samples.matmuls)
    sample.seconds *= 1 + 0.03 * (sign = -sign);
  std::string problem;
  std::optional<cluster::Cluster> host = describeHost(samples, problem);
  REQUIRE(host);
  CHECK(host->devices(0).peaks(0).seen().value() == Approx(40).epsilon(0.05));
}

TEST_CASE("kernels, convolutions and batches of products are rated as a core's part") {
  HostSamples samples = getIdealHost();
  InstructionWork kernel, convolution, batch;
  kernel.additions = 1e9; // 5 G additions/s on each of four cores
  kernel.bytesRead = kernel.bytesWritten = 4;
  convolution.kind = InstructionWork::Kind::Convolution;
  convolution.m = convolution.n = convolution.k = 1024;
  batch = convolution;
  batch.kind = InstructionWork::Kind::Product;
  batch.batch = 8;
  std::string problem;
  std::optional<cluster::Cluster> plain = describeHost(samples, problem);
  REQUIRE(plain);
  DeviceModel cores = shareHost(makeClusterModel(*plain), 1).groups[0].device;
  CHECK_FALSE(plain->devices(0).has_convolution());
  samples.instructions = {{kernel, 1e9 / 20e9},
                          {convolution, 2 * getInstructionSeconds(cores, convolution, {})},
                          {batch, 4 * getInstructionSeconds(cores, batch, {})}};
  std::optional<cluster::Cluster> host = describeHost(samples, problem);
  REQUIRE(host);
  CHECK(host->devices(0).arithmetic().value() == Approx(5));
  CHECK(host->devices(0).convolution().value() == Approx(0.5));
  CHECK(host->devices(0).batched().value() == Approx(0.25));
  for (const char *name : {"kernels", "convolutions", "batches"}) {
    auto curve = std::find_if(host->curves().begin(), host->curves().end(),
                              [&](const auto &curve) { return curve.name() == name; });
    REQUIRE(curve != host->curves().end());
    CHECK(curve->mean_error() < 0.01);
  }
}

TEST_CASE("products reach what they do in a program") {
  HostSamples samples = getIdealHost();
  std::string problem;
  std::optional<cluster::Cluster> plain = describeHost(samples, problem);
  REQUIRE(plain);
  plain->mutable_devices(0)->mutable_peaks(0)->mutable_seen()->set_value(32);
  DeviceModel slower = shareHost(makeClusterModel(*plain), 1).groups[0].device;
  for (int64_t depth : {768, 3072}) {
    InstructionWork layer;
    layer.kind = InstructionWork::Kind::Product;
    layer.m = layer.n = 1024;
    layer.k = depth;
    samples.instructions.push_back({layer, getInstructionSeconds(slower, layer, {})});
  }
  std::optional<cluster::Cluster> host = describeHost(samples, problem);
  REQUIRE(host);
  CHECK(host->devices(0).peaks(0).seen().value() == Approx(32).epsilon(0.01));
  CHECK(host->devices(0).half_depth().value() == Approx(24));
  CHECK(host->devices(0).peaks(0).peak().value() >= 40);
}

TEST_CASE("operands that no cache holds are read at a rate of their own") {
  HostSamples samples = getIdealHost();
  double operands = 4.0 * 2048 * (64 + 8192), result = 4.0 * 64 * 8192; // on four cores
  InstructionWork layer;
  layer.kind = InstructionWork::Kind::Product;
  layer.m = 64;
  layer.n = 8192;
  layer.k = 2048;
  samples.instructions = {
      {layer, 5.1e-6 + 2.0 * 64 * 8192 * (2048 + 24) / 160e9 + operands / 8e9 + result / 40e9}};
  std::string problem;
  std::optional<cluster::Cluster> host = describeHost(samples, problem);
  REQUIRE(host);
  CHECK(host->devices(0).peaks(0).seen().value() == Approx(40));
  CHECK(host->devices(0).pack().value() == Approx(2).epsilon(0.01));
  samples.instructions[0].seconds -= operands / 8e9; // as fast as from a cache
  host = describeHost(samples, problem);
  REQUIRE(host);
  CHECK(host->devices(0).pack().value() > 40);
}

TEST_CASE("ranks that take turns have terms of their own") {
  std::string problem;
  std::optional<cluster::Cluster> host = describeHost(getIdealHost(), problem);
  REQUIRE(host);
  CHECK(host->crowded().call().value() == Approx(50));
  CHECK(host->crowded().rate().value() == Approx(1));
}

TEST_CASE("each size of buffer has the rate at which collectives move it") {
  HostSamples samples = getIdealHost();
  for (CollectiveSamples &series : samples.collectives)
    for (Sample &sample : series.samples)
      if (sample.at[0] <= samples.cores && sample.at[1] >= 1 << 22) // out of the caches: 1 GB/s
        sample.seconds +=
            getRankTraffic(series.kind, static_cast<double>(sample.at[0]), 0x1p22) * (1e-9 - 2e-10);
  std::string problem;
  std::optional<cluster::Cluster> host = describeHost(samples, problem);
  REQUIRE(host);
  const cluster::Tier &tier = host->groups(0).tiers(0);
  REQUIRE(tier.buffers_size() == 2);
  CHECK(tier.buffers(0).buffer().value() == 1 << 16);
  CHECK(tier.buffers(0).seen().value() == Approx(5));
  CHECK(tier.buffers(1).seen().value() == Approx(1));
  CHECK(tier.seen().value() == Approx(1));
  CHECK(tier.rate().value() == Approx(5));
  for (const cluster::Curve &curve : host->curves())
    CHECK(curve.mean_error() < 1e-6);
}

TEST_CASE("coefficients are never negative") {
  std::vector<double> fitted = fitNonNegative({{1, 1}, {1, 2}, {1, 3}}, {3, 2, 1});
  REQUIRE(fitted.size() == 2);
  CHECK(fitted[0] > 0);
  CHECK(fitted[1] == 0);
  CHECK(fitNonNegative({}, {}).empty());
}

TEST_CASE("samples that fit no host are refused with the reason") {
  HostSamples samples = getIdealHost();
  samples.transport = "mpi"; // of which there are none
  std::string problem;
  CHECK_FALSE(describeHost(samples, problem));
  CHECK(problem == "the collectives measured between processes do not fit a latency and a rate");
  samples = getIdealHost();
  samples.matmuls.clear();
  CHECK_FALSE(describeHost(samples, problem));
  CHECK(problem == "the products measured do not fit a rate and a depth");
}
