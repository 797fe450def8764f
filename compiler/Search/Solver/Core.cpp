//===- Core.cpp - what is left of a problem after reduction ---------------===//

#include "compiler/Search/Solver/Core.h"

#include <algorithm>

using namespace weft::solver;

Core::Core(Model &model) : capacity(model.capacity), constant(model.constant) {
  std::vector<int> index(model.nodes.size(), -1);
  addNodes(model, index);
  addEdges(model, index);
}

static int64_t largestFinite(std::span<const int64_t> values) {
  int64_t largest = 0;
  for (int64_t value : values)
    if (value < forbidden)
      largest = std::max(largest, std::abs(value));
  return largest;
}

void Core::addNodes(Model &model, std::vector<int> &index) {
  usageBegin.push_back(0);
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const Model::Node &node = model.nodes[i];
    if (!node.alive)
      continue;
    index[i] = numNodes();
    modelNode.push_back(int(i));
    size.push_back(int(node.size()));
    strategy.push_back(cost.size());
    cost.insert(cost.end(), node.cost.begin(), node.cost.end());
    penalty += 2 * largestFinite(node.cost);
    for (const TimedUsage &usage : node.usages) {
      usageLists.push_back({usage.begin, usage.end, amounts.size()});
      amounts.insert(amounts.end(), usage.amount.begin(), usage.amount.end());
    }
    usageBegin.push_back(usageLists.size());
  }
}

void Core::addEdges(Model &model, const std::vector<int> &index) {
  std::vector<std::vector<Neighbour>> lists(numNodes());
  for (size_t e = 0; e < model.edges.size(); ++e) {
    const Model::Edge &edge = model.edges[e];
    if (!edge.alive)
      continue;
    int low = std::min(edge.first, edge.second), high = std::max(edge.first, edge.second);
    std::vector<int64_t> table = model.orientedTable(int(e), low);
    penalty += 2 * largestFinite(table);
    lists[index[low]].push_back({index[high], int(edges.size())});
    lists[index[high]].push_back({index[low], int(edges.size())});
    edges.push_back({index[low], index[high], tables.size()});
    tables.insert(tables.end(), table.begin(), table.end());
  }
  neighbourBegin.push_back(0);
  for (std::vector<Neighbour> &list : lists) {
    std::sort(list.begin(), list.end(),
              [](const Neighbour &a, const Neighbour &b) { return a.node < b.node; });
    neighbourLists.insert(neighbourLists.end(), list.begin(), list.end());
    neighbourBegin.push_back(neighbourLists.size());
  }
}

template <typename Real>
DirectedTables<Real>::DirectedTables(const Core &core, int padding) : core(core), padding(padding) {
  size_t total = 0;
  for (const Core::Edge &e : core.edges) {
    forward.push_back(total);
    total += size_t(core.size[e.first]) * padded(e.second);
    backward.push_back(total);
    total += size_t(core.size[e.second]) * padded(e.first);
  }
  values.assign(total, Real(core.penalty));
  for (size_t i = 0; i < core.edges.size(); ++i) {
    const Core::Edge &e = core.edges[i];
    size_t rows = core.size[e.first], columns = core.size[e.second];
    for (size_t s = 0; s < rows; ++s)
      for (size_t t = 0; t < columns; ++t) {
        Real cost = Real(std::min(core.tables[e.table + s * columns + t], core.penalty));
        values[forward[i] + s * padded(e.second) + t] = cost;
        values[backward[i] + t * padded(e.first) + s] = cost;
      }
  }
}

template class weft::solver::DirectedTables<float>;
template class weft::solver::DirectedTables<double>;
