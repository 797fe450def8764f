// When tensors are there: nodes that do not wait for their turn, sums, and what has no memory.
#include "compiler/Search/TensorLifetimes.h"

#include "test/unit/Search/BruteForce.h"
#include <catch2/catch.hpp>

using namespace weft;

namespace {
/// Two layers' gradients and, behind both, what changes each parameter: an update of two steps.
struct Step : Program {
  unsigned first, second, scaled, changed;

  Step() {
    unsigned x = input({64, 48});
    first = exp(x);
    second = exp(first);
    scaled = exp(first);   // node 2
    changed = exp(scaled); // node 3
    finish(second);
  }
};
} // namespace

TEST_CASE("Nodes are computed in order, eager ones behind what they wait for") {
  Step step;
  TensorLifetimes inOrder(step.problem);
  for (unsigned node = 0; node < 4; ++node)
    CHECK(inOrder.getMoment(node) == node);
  CHECK(inOrder.isLive(step.first, 2)); // read at the end
  step.problem.isEager = {false, false, true, true};
  TensorLifetimes eager(step.problem);
  CHECK(eager.getMoment(0) == 0);
  CHECK(eager.getMoment(2) == 1);
  CHECK(eager.getMoment(3) == 2);
  CHECK(eager.getMoment(1) == 3);
  CHECK(eager.isLive(step.scaled, 1));
  CHECK(eager.isLive(step.scaled, 2));
  CHECK_FALSE(eager.isLive(step.scaled, 3)); // gone before the other layer
}

TEST_CASE("Eager nodes do not wait for numbers that nothing else makes them wait for") {
  Program step;
  unsigned first = step.exp(step.input({64, 48}));
  unsigned second = step.exp(first);
  unsigned rate = step.exp(step.graph.addWeight({}, 4)); // node 2
  FactorRule rule;
  DimFactors rows{rule.add("d0", 64)}, columns{rule.add("d1", 48)};
  rule.operands = {{rows, columns}, {}};
  rule.results = {{rows, columns}};
  unsigned updated = step.graph.addTensor({64, 48}, 4);
  step.graph.addNode(rule, {first, rate}, {updated}); // node 3
  step.finish(second);
  step.problem.isEager = {false, false, true, true};
  TensorLifetimes lifetimes(step.problem);
  CHECK(lifetimes.getMoment(3) < lifetimes.getMoment(1));
}

TEST_CASE("Sums are there from the first microbatch on, and what has no memory never") {
  Step step;
  step.problem.isSum = {false, false, false, true};
  TensorLifetimes sums(step.problem);
  CHECK(sums.isLive(step.changed, 0));
  CHECK_FALSE(sums.isLive(step.scaled, 0));
  double before = sums.getLiveBytes()[2];
  step.problem.isPlaceless.assign(step.graph.tensors.size(), false);
  step.problem.isPlaceless[step.scaled] = true;
  TensorLifetimes placeless(step.problem);
  CHECK_FALSE(placeless.isLive(step.scaled, 2));
  CHECK(placeless.getLiveBytes()[2] == before - 64 * 48 * 4);
}
