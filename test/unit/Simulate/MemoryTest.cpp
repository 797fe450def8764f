#include "test/unit/Simulate/Programs.h"

#include <catch2/catch.hpp>

using namespace weft::sim;

TEST_CASE("the peak is known with its owners; what goes makes room for what comes") {
  Instruction first = makeWork(1), second = makeWork(1), third = makeWork(1);
  first.onBegin = {{0, 5}};
  first.onEnd = {{0, -5}};
  second.onBegin = {{0, 6}};
  third.onEnd = {{0, -6}};
  RankClass rankClass = makeClass({first, second, third});
  rankClass.resident = {{1, 10}};
  Program program = makeProgram({rankClass});
  Result result = simulate(program, {.spans = false, .memory = true});
  const MemoryPeak &peak = result.classes[0].memory;
  CHECK(peak.bytes == 16);
  CHECK(peak.seconds == 1);
  CHECK(peak.owners == std::vector<double>{6, 10});
  std::vector<double> activations;
  for (const MemoryPoint &point : result.memory)
    if (point.owner == 0)
      activations.push_back(point.bytes);
  CHECK(activations == std::vector<double>{5, 6, 0});
}

TEST_CASE("a rank that changes nothing has a peak of nothing") {
  Result result = simulate(makeProgram({makeClass({makeWork(1)})}));
  CHECK(result.classes[0].memory.bytes == 0);
  CHECK(result.classes[0].memory.owners == std::vector<double>{0, 0});
}
