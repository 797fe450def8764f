#include "compiler/Cost/Memory.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace weft;

static const CostConstants constants;

TEST_CASE("memory folds to its peak, with who holds it") {
  MemoryProfile profile = foldMemory({{0, MemoryClass::Weights, 100},
                                      {1, MemoryClass::Activations, 40},
                                      {2, MemoryClass::Activations, 40},
                                      {3, MemoryClass::Activations, -40},
                                      {3, MemoryClass::Communication, 30},
                                      {4, MemoryClass::Communication, -30}},
                                     constants);
  REQUIRE(profile.points.size() == 5);
  CHECK(profile.peakTime == 2);
  CHECK(profile.atPeak[static_cast<size_t>(MemoryClass::Activations)] == 80);
  CHECK(profile.atPeak[static_cast<size_t>(MemoryClass::Communication)] == 0);
  CHECK(profile.getPeak() == Approx(180 * (1 + constants.allocatorReserve)));
  CHECK(profile.points[3].bytes == 170); // what goes at 3 goes before what comes
}

TEST_CASE("sharded state of 7.5 billion parameters over 64 ranks, ZeRO table 1") {
  auto getGigabytes = [](int stage) {
    MemoryBytes bytes = getStateBytesPerParameter(stage, 64, 2);
    return 7.5 * std::accumulate(bytes.begin(), bytes.end(), 0.0);
  };
  CHECK(getGigabytes(0) == Approx(120));
  CHECK(getGigabytes(1) == Approx(31.4).epsilon(0.01));
  CHECK(getGigabytes(2) == Approx(16.6).epsilon(0.01));
  CHECK(getGigabytes(3) == Approx(1.9).epsilon(0.02));
}

TEST_CASE("activations of a layer, Korthikanti table 2") {
  LayerActivations layer{2048, 1, 12288, 96, 1};
  double block = 2048.0 * 12288;
  CHECK(getLayerActivationBytes(layer) == Approx(block * (34 + 5 * 96 * 2048.0 / 12288)));
  layer.tensorDegree = 8;
  CHECK(getLayerActivationBytes(layer) == Approx(block * (10 + 24.0 / 8 + 10)));
  layer.sequenceParallel = true;
  layer.recompute = Recompute::Selective;
  CHECK(getLayerActivationBytes(layer) == Approx(block * 34 / 8));
  layer.recompute = Recompute::Full;
  layer.sequenceParallel = false;
  CHECK(getLayerActivationBytes(layer) == Approx(2 * block));
}
