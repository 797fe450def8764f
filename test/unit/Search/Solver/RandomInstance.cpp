#include "test/unit/Search/Solver/RandomInstance.h"

#include <algorithm>

using namespace weft::solver;

static int64_t drawCost(Random &random, double forbiddenShare) {
  if (random.unit() < forbiddenShare)
    return forbidden + random.below(3);
  return random.unit() < 0.3 ? 0 : random.below(20) - 3;
}

static std::vector<int64_t> drawScope(Random &random, const Shape &shape, size_t nodes) {
  std::vector<int64_t> scope{random.below(nodes), random.below(nodes)};
  if (shape.hyperedges && random.unit() < 0.2)
    scope.resize(1 + 2 * random.below(2), random.below(nodes));
  while (!shape.hyperedges && nodes > 1 && scope[0] == scope[1])
    scope[1] = random.below(nodes);
  return scope;
}

static void addNodes(Random &random, const Shape &shape, Instance &instance) {
  int nodes = 1 + random.below(shape.nodes);
  for (int i = 0; i < nodes; ++i) {
    int64_t begin = random.below(shape.times);
    instance.intervals.push_back({begin, begin + random.below(shape.times)});
    for (int s = random.below(shape.strategies); s >= 0; --s) {
      instance.costs.values.push_back(drawCost(random, shape.forbidden / 10));
      instance.usages.values.push_back(random.below(10));
    }
    instance.costs.close();
    instance.usages.close();
  }
}

Instance weft::solver::randomInstance(Random &random, const Shape &shape) {
  Instance instance;
  addNodes(random, shape, instance);
  for (int e = random.below(shape.edges + 1); e > 0; --e) {
    std::vector<int64_t> scope = drawScope(random, shape, instance.numNodes());
    size_t entries = 1;
    for (int64_t node : scope)
      entries *= instance.costs[node].size();
    instance.edges.values.insert(instance.edges.values.end(), scope.begin(), scope.end());
    instance.edges.close();
    for (size_t i = 0; i < entries; ++i)
      instance.edgeCosts.values.push_back(drawCost(random, shape.forbidden));
    instance.edgeCosts.close();
  }
  if (shape.tightness > 0)
    instance.usageLimit =
        int64_t(shape.tightness * 4.5 * double(instance.numNodes()) * random.unit());
  validate(instance);
  return instance;
}

std::optional<Wide> weft::solver::bruteForce(const Instance &instance) {
  std::optional<Wide> least;
  std::vector<int> answer(instance.numNodes(), 0);
  for (size_t i = 0; i < answer.size();) {
    Evaluation evaluation = evaluate(instance, answer);
    if (evaluation.feasible() && (!least || evaluation.cost < *least))
      least = evaluation.cost;
    for (i = 0; i < answer.size(); ++i) {
      if (++answer[i] < int(instance.costs[i].size()))
        break;
      answer[i] = 0;
    }
  }
  return least;
}
