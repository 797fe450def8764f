#include "compiler/Cluster/ClusterText.h"
#include "compiler/Cluster/Catalog.h"

#include <catch2/catch.hpp>
#include <functional>

using namespace weft;
using Catch::Matchers::Contains;

/// What is wrong with dgx-a100:2 after a change.
static std::string problemAfter(const std::function<void(cluster::Cluster &)> &change) {
  std::string problem;
  std::optional<cluster::Cluster> cluster = resolveCluster("dgx-a100:2", problem);
  REQUIRE(cluster);
  change(*cluster);
  return validateCluster(*cluster);
}

TEST_CASE("a syntax error has a place") {
  std::string problem;
  CHECK_FALSE(parseCluster("version: 1\nnam: \"x\"\n", "c.txtpb", problem));
  CHECK_THAT(problem, Contains("c.txtpb:2:"));
}

TEST_CASE("validation names the place, the rule and the value") {
  CHECK_THAT(problemAfter([](cluster::Cluster &c) { c.set_version(7); }),
             Contains("expected version 1, got: 7"));
  CHECK_THAT(problemAfter([](cluster::Cluster &c) {
               c.mutable_groups(0)->mutable_tiers(1)->mutable_rate()->set_unit("GB");
             }),
             Contains("tier 'infiniband', rate: expected a unit of 'B/s', got: 'GB'"));
  CHECK_THAT(problemAfter([](cluster::Cluster &c) {
               c.mutable_devices(0)->mutable_memory()->set_value(-1);
             }),
             Contains("memory: expected a positive number, got: -1"));
  CHECK_THAT(problemAfter([](cluster::Cluster &c) {
               c.mutable_devices(0)->mutable_launch()->clear_provenance();
             }),
             Contains("launch: expected a provenance"));
  CHECK_THAT(
      problemAfter([](cluster::Cluster &c) { c.mutable_groups(0)->set_device("a100-sxm4-80g"); }),
      Contains("did you mean 'a100-sxm4-80gb'?"));
  CHECK_THAT(problemAfter([](cluster::Cluster &c) {
               c.mutable_devices(0)->mutable_peaks(0)->mutable_seen()->set_value(400);
             }),
             Contains("seen 400 TFLOP/s exceeds the stated 312 TFLOP/s"));
  CHECK_THAT(problemAfter([](cluster::Cluster &c) {
               cluster::Peak &peak = *c.mutable_devices(0)->mutable_peaks(0);
               *peak.mutable_sustained() = peak.seen();
               peak.mutable_sustained()->set_value(300);
             }),
             Contains("sustained 300 TFLOP/s exceeds the best seen 271 TFLOP/s"));
  CHECK_THAT(problemAfter([](cluster::Cluster &c) { *c.add_groups() = c.groups(0); }),
             Contains("tier ''"));
  CHECK_THAT(problemAfter([](cluster::Cluster &c) { c.clear_groups(); }), Contains("no groups"));
  CHECK_THAT(problemAfter(
                 [](cluster::Cluster &c) { c.mutable_groups(0)->mutable_tiers(0)->set_fanout(0); }),
             Contains("fan-out of at least 1, got: 0"));
  CHECK_THAT(problemAfter(
                 [](cluster::Cluster &c) { c.mutable_groups(0)->mutable_tiers(0)->add_buffers(); }),
             Contains("tier 'nvlink', buffer: expected a unit of 'B', got: ''"));
}
