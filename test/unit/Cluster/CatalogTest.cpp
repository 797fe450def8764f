#include "compiler/Cluster/Catalog.h"
#include "compiler/Cluster/ClusterText.h"
#include "compiler/Cluster/Topology.h"

#include <catch2/catch.hpp>

using namespace weft;
using Catch::Matchers::Contains;

static std::string problemOf(const std::string &spec) {
  std::string problem;
  CHECK_FALSE(resolveCluster(spec, problem));
  return problem;
}

static ClusterModel resolve(const std::string &spec) {
  std::string problem;
  std::optional<cluster::Cluster> cluster = resolveCluster(spec, problem);
  INFO(problem);
  REQUIRE(cluster);
  return makeClusterModel(*cluster);
}

TEST_CASE("every preset is a valid cluster, and its text form reads back the same") {
  REQUIRE(getCatalog().presets_size() >= 8);
  for (const cluster::Preset &preset : getCatalog().presets()) {
    std::string problem;
    std::optional<cluster::Cluster> made = resolveCluster(preset.name() + ":2", problem);
    INFO(preset.name() << ": " << problem);
    REQUIRE(made);
    std::optional<cluster::Cluster> read = parseCluster(printCluster(*made), "it", problem);
    INFO(problem);
    REQUIRE(read);
    CHECK(read->SerializeAsString() == made->SerializeAsString());
  }
}

TEST_CASE("N counts nodes, and devices of this host") {
  CHECK(resolve("dgx-a100:16").getNumDevices() == 128);
  CHECK(resolve("p3.16xlarge").getNumDevices() == 8);
  CHECK(resolve("cpu:4").getNumDevices() == 4);
}

TEST_CASE("numbers reach the model in base units") {
  ClusterModel model = resolve("p3.16xlarge:48");
  REQUIRE(model.groups.size() == 1);
  const GroupModel &group = model.groups[0];
  CHECK(group.device.getRate("f16").peak == Approx(125e12));
  CHECK(group.device.memory == 16.0 * (1 << 30));
  REQUIRE(group.tiers.size() == 2);
  CHECK(group.tiers[0].getSeen(8, 1e9) == Approx(140e9));
  CHECK(group.tiers[0].getSeen(4, 1e9) == Approx(91e9));
  CHECK(group.tiers[1].rate == Approx(25e9 / 8));
  CHECK(group.tiers[1].fanout == 48);
}

TEST_CASE("a type without products of its own is computed as a wider one") {
  DeviceModel v100 = resolve("p3.16xlarge").groups[0].device;
  CHECK(v100.getRate("bf16").peak == Approx(125e12));
  CHECK(v100.getRate("tf32").peak == Approx(15.7e12));
  CHECK(resolve("dgx-a100").groups[0].device.getRate("f8").peak == Approx(312e12));
  CHECK(resolve("cpu").groups[0].device.getRate("f64").peak == Approx(64e9));
}

TEST_CASE("groups are joined by the slower network") {
  ClusterModel model = resolve("dgx-a100:4+p4d:2");
  CHECK(model.getNumDevices() == 48);
  REQUIRE(model.joint);
  CHECK(model.joint->links == 4);
  CHECK(model.joint->rate == Approx(12.5e9));
}

TEST_CASE("groups of one device describe it once") {
  std::string problem;
  std::optional<cluster::Cluster> cluster = resolveCluster("dgx-a100:4+p4de:2", problem);
  REQUIRE(cluster);
  CHECK(cluster->devices_size() == 1);
}

TEST_CASE("wrong specifications say what is right") {
  CHECK_THAT(problemOf("dgx-a10:4"), Contains("did you mean 'dgx-a100'?"));
  CHECK_THAT(problemOf("supercomputer"), Contains("known: cpu, p3.16xlarge"));
  CHECK_THAT(problemOf("dgx-a100:0"), Contains("expected a number from 1 to"));
  CHECK_THAT(problemOf("dgx-a100:2x"), Contains("got: '2x'"));
  CHECK_THAT(problemOf("dgx-a100:9999999"), Contains("at most 16777216 devices, got: 79999992"));
  CHECK_THAT(problemOf("cpu:2+p4d:1"), Contains("cannot be joined"));
  CHECK_THAT(problemOf("no/such.txtpb"), Contains("cannot read cluster description"));
}
