//===- Dual.cpp - lower bounds by message passing -------------------------===//

#include "compiler/Search/Solver/Dual.h"

#include "compiler/Search/Solver/Least.h"
#include "compiler/Support/SlackTree.h"

#include <algorithm>

using namespace weft::solver;

static constexpr int lanes = 8; ///< rows of tables are padded to this many entries

std::vector<double> weft::solver::sumPrices(std::span<const double> prices) {
  std::vector<double> sums(prices.size() + 1, 0.0);
  for (size_t t = 0; t < prices.size(); ++t)
    sums[t + 1] = sums[t] + prices[t];
  return sums;
}

int64_t weft::solver::trivialBound(const Core &core) {
  int64_t bound = core.constant;
  for (int u = 0; u < core.numNodes(); ++u)
    bound += *std::min_element(&core.cost[core.strategy[u]],
                               &core.cost[core.strategy[u]] + core.size[u]);
  for (const Core::Edge &e : core.edges) {
    const int64_t *table = &core.tables[e.table];
    bound += *std::min_element(table, table + size_t(core.size[e.first]) * core.size[e.second]);
  }
  return bound;
}

Dual::Dual(const Core &core)
    : core(core), tables(core, lanes), prices(core.capacity.size(), 0.0),
      choice(core.numNodes(), 0) {
  size_t total = 0, widest = 0;
  for (int u = 0; u < core.numNodes(); ++u) {
    begin.push_back(total);
    total += tables.padded(u);
    widest = std::max<size_t>(widest, tables.padded(u));
    int before = 0, behind = 0;
    for (const Core::Neighbour &v : core.neighbours(u))
      ++(v.node < u ? before : behind);
    share.push_back(1.0f / float(std::max({before, behind, 1})));
  }
  unary.assign(total, float(core.penalty));
  size_t length = 0;
  for (const Core::Edge &e : core.edges) {
    where.push_back({length, length + tables.padded(e.first)});
    length += tables.padded(e.first) + tables.padded(e.second);
  }
  messages.assign(length, 0.0f);
  gathered.resize(widest);
  sent.resize(widest);
  setPrices(prices);
}

void Dual::setPrices(std::span<const double> newPrices) {
  prices.assign(newPrices.begin(), newPrices.end());
  std::vector<double> sums = sumPrices(prices);
  offset = 0;
  for (size_t t = 0; t < prices.size(); ++t)
    offset -= prices[t] * double(core.capacity[t]);
  std::vector<double> priced;
  for (int u = 0; u < core.numNodes(); ++u) {
    priced.assign(core.size[u], 0.0);
    for (int s = 0; s < core.size[u]; ++s)
      priced[s] = double(std::min(core.cost[core.strategy[u] + s], core.penalty));
    for (const Core::Usage &usage : core.usages(u)) {
      double price = sums[usage.end] - sums[usage.begin];
      for (int s = 0; s < core.size[u]; ++s)
        priced[s] += price * double(core.amounts[usage.amount + s]);
    }
    for (int s = 0; s < core.size[u] && !excluded.empty(); ++s)
      if (excluded[core.strategy[u] + s])
        priced[s] += double(core.penalty);
    double least = *std::min_element(priced.begin(), priced.end());
    offset += least;
    for (int s = 0; s < core.size[u]; ++s)
      unary[begin[u] + s] = float(priced[s] - least);
  }
}

float *Dual::message(int edge, int to) {
  return &messages[core.edges[edge].first == to ? where[edge].toFirst : where[edge].toSecond];
}
const float *Dual::message(int edge, int to) const {
  return const_cast<Dual *>(this)->message(edge, to);
}

/// Sums what is known at a node, less its least, which the pass has proved.
void Dual::gather(int node) {
  int width = tables.padded(node), size = core.size[node];
  std::copy_n(&unary[begin[node]], width, gathered.data());
  for (const Core::Neighbour &v : core.neighbours(node)) {
    const float *from = message(v.edge, node);
    for (int s = 0; s < width; ++s)
      gathered[s] += from[s];
  }
  float least = getLeast(gathered.data(), size);
  choice[node] = int(std::find(gathered.begin(), gathered.end(), least) - gathered.begin());
  proved += least;
  for (int s = 0; s < size; ++s)
    gathered[s] -= least;
}

void Dual::send(int node, const Core::Neighbour &to, float part) {
  const float *back = message(to.edge, node);
  float *out = message(to.edge, to.node);
  int size = core.size[node], width = tables.padded(to.node);
  for (int s = 0; s < size; ++s)
    sent[s] = part * gathered[s] - back[s];
  minPlus(sent.data(), tables.row(to.edge, to.node, 0), size, width, out);
  float least = getLeast(out, core.size[to.node]);
  proved += least;
  for (int t = 0; t < width; ++t)
    out[t] -= least;
}

double Dual::sweep() {
  for (int u = 0; u < core.numNodes(); ++u) {
    gather(u);
    for (const Core::Neighbour &v : core.neighbours(u))
      if (v.node > u)
        send(u, v, share[u]);
  }
  proved = 0;
  for (int u = core.numNodes(); u-- > 0;) {
    gather(u);
    for (const Core::Neighbour &v : core.neighbours(u))
      if (v.node < u)
        send(u, v, share[u]);
  }
  return proved + offset;
}

std::vector<int> Dual::decode() const {
  std::vector<int> answer(core.numNodes(), 0);
  SlackTree left(core.capacity);
  std::vector<double> score;
  for (int u = 0; u < core.numNodes(); ++u) {
    int size = core.size[u];
    score.assign(&unary[begin[u]], &unary[begin[u]] + size);
    for (const Core::Neighbour &v : core.neighbours(u)) {
      const float *from = v.node < u ? tables.row(v.edge, u, answer[v.node]) : message(v.edge, u);
      for (int s = 0; s < size; ++s)
        score[s] += from[s];
    }
    for (const Core::Usage &usage : core.usages(u)) {
      int64_t slack = left.leastOver(usage.begin, usage.end);
      for (int s = 0; s < size; ++s)
        if (core.amounts[usage.amount + s] > slack)
          score[s] += double(core.penalty);
    }
    answer[u] = int(std::min_element(score.begin(), score.end()) - score.begin());
    for (const Core::Usage &usage : core.usages(u))
      left.take(usage.begin, usage.end, core.amounts[usage.amount + answer[u]]);
  }
  return answer;
}
