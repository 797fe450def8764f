#ifndef WEFT_TEST_UNIT_COST_CLUSTERS_H
#define WEFT_TEST_UNIT_COST_CLUSTERS_H

#include "compiler/Cluster/Catalog.h"
#include "compiler/Cluster/Topology.h"

#include <catch2/catch.hpp>

inline weft::ClusterModel getCluster(const std::string &spec) {
  std::string problem;
  std::optional<weft::cluster::Cluster> cluster = weft::resolveCluster(spec, problem);
  INFO(problem);
  REQUIRE(cluster);
  return weft::makeClusterModel(*cluster);
}

#endif // WEFT_TEST_UNIT_COST_CLUSTERS_H
