//===- Certify.cpp - a bound without rounding -----------------------------===//
//
// With messages M (any integers) the cost of an answer is Σ D_u(s_u) + Σ R_uv(s_u, s_v), where
// D_u = cost_u + Σ M_vu and R_uv = table_uv − M_uv − M_vu. The backward pass moves a whole share of
// D_u to each edge towards lower nodes and takes out the least of every D and R: what was taken out
// is a bound, since what remains is nowhere negative. Costs are scaled by a power of two, so that
// little is lost where messages are rounded; usages are priced in 128 bits and rounded down, the
// capacities' share up.
//
//===----------------------------------------------------------------------===//

#include "compiler/Search/Solver/Dual.h"

#include <algorithm>
#include <cmath>

using namespace weft::solver;

namespace {

class IntegerPass {
public:
  IntegerPass(const Core &core, std::span<const double> prices, std::span<const char> excluded)
      : core(core), excluded(excluded) {
    double degree = 1, largest = 1;
    for (int u = 0; u < core.numNodes(); ++u)
      degree = std::max(degree, double(core.neighbours(u).size()));
    std::vector<double> sums = sumPrices(prices);
    for (int u = 0; u < core.numNodes(); ++u)
      largest = std::max(largest, largestPriced(u, sums));
    for (int64_t cost : core.tables)
      largest = std::max(largest, cost < forbidden ? std::abs(double(cost)) : 0);
    limit = int64_t(std::ldexp(1.0, 61) / (degree + 4));
    shift = std::min(24, int(std::floor(std::log2(double(limit) / largest))));
    priceSums.push_back(0);
    for (double price : prices)
      priceSums.push_back(priceSums.back() +
                          Wide(std::ldexp(std::max(price, 0.0), shift + priceBits)));
  }

  /// Whether the largest numbers fit 64 bits.
  bool fits() const { return shift >= 0; }

  /// Rounded and clamped: any value is valid.
  int64_t round(float message) const {
    double scaled = std::ldexp(double(message), shift);
    return std::abs(scaled) >= double(limit) ? (scaled < 0 ? -limit : limit) : std::llround(scaled);
  }

  /// The scaled, priced costs of a node; `limit` for strategies that are forbidden or left out.
  std::vector<int64_t> pricedCosts(int node) const {
    std::vector<int64_t> result;
    for (int s = 0; s < core.size[node]; ++s) {
      int64_t cost = core.cost[core.strategy[node] + s];
      Wide sum = 0;
      for (const Core::Usage &usage : core.usages(node))
        sum += (priceSums[usage.end] - priceSums[usage.begin]) * core.amounts[usage.amount + s];
      bool out = cost >= forbidden || (!excluded.empty() && excluded[core.strategy[node] + s]);
      result.push_back(out ? limit : (cost << shift) + int64_t(sum >> priceBits));
    }
    return result;
  }

  /// The new message over an edge to its lower end: message[t] = min over s of gathered[s] / share
  /// − back[s] + table[s][t]. Returns what was taken out.
  int64_t send(const Core::Edge &edge, std::span<const int64_t> gathered, int64_t share,
               std::span<const int64_t> back, std::span<int64_t> message) const {
    int size = int(gathered.size());
    std::vector<int64_t> sent(size);
    for (int s = 0; s < size; ++s)
      sent[s] = gathered[s] / share - back[s];
    for (size_t t = 0; t < message.size(); ++t) {
      const int64_t *row = &core.tables[edge.table + t * size];
      int64_t least = 2 * limit;
      for (int s = 0; s < size; ++s)
        if (row[s] < forbidden)
          least = std::min(least, sent[s] + (row[s] << shift));
      message[t] = least;
    }
    int64_t least = *std::min_element(message.begin(), message.end());
    for (int64_t &value : message)
      value = std::min(value - least, limit);
    return least;
  }

  /// `scaled` less the capacities' share; in whole costs, rounded up because costs are whole.
  int64_t finish(Wide scaled) const {
    Wide sum = 0;
    for (size_t t = 0; t < core.capacity.size(); ++t)
      sum += (priceSums[t + 1] - priceSums[t]) * core.capacity[t];
    scaled -= (sum >> priceBits) + 1;
    if (sum == 0)
      scaled += 1;
    Wide unit = Wide(1) << shift;
    return int64_t(scaled > 0 ? (scaled + unit - 1) / unit : scaled / unit);
  }

private:
  double largestPriced(int node, const std::vector<double> &sums) const {
    double largest = 0;
    for (int s = 0; s < core.size[node]; ++s) {
      int64_t cost = core.cost[core.strategy[node] + s];
      double priced = cost < forbidden ? std::abs(double(cost)) : 0;
      for (const Core::Usage &usage : core.usages(node))
        priced += (sums[usage.end] - sums[usage.begin]) * double(core.amounts[usage.amount + s]);
      largest = std::max(largest, priced);
    }
    return largest;
  }

  static constexpr int priceBits = 20;
  const Core &core;
  std::span<const char> excluded; ///< by strategy; empty: none
  int shift = 0;
  int64_t limit = 0;           ///< of one number: a node's sum of them fits
  std::vector<Wide> priceSums; ///< scaled by 2^(shift + priceBits)
};

} // namespace

int64_t Dual::certify() const {
  IntegerPass pass(core, prices, excluded);
  if (!pass.fits())
    return trivialBound(core);
  std::vector<int64_t> rounded(messages.size());
  for (size_t i = 0; i < messages.size(); ++i)
    rounded[i] = pass.round(messages[i]);
  auto messageTo = [&](int edge, int node) {
    bool first = core.edges[edge].first == node;
    return std::span(rounded).subspan(first ? where[edge].toFirst : where[edge].toSecond,
                                      core.size[node]);
  };
  Wide total = 0;
  for (int u = core.numNodes(); u-- > 0;) {
    std::vector<int64_t> gathered = pass.pricedCosts(u);
    int before = 0;
    for (const Core::Neighbour &v : core.neighbours(u)) {
      std::span<const int64_t> from = messageTo(v.edge, u);
      for (size_t s = 0; s < gathered.size(); ++s)
        gathered[s] += from[s];
      before += v.node < u;
    }
    int64_t least = *std::min_element(gathered.begin(), gathered.end());
    total += least;
    for (int64_t &value : gathered)
      value -= least;
    int64_t chains = std::max({before, int(core.neighbours(u).size()) - before, 1});
    for (const Core::Neighbour &v : core.neighbours(u))
      if (v.node < u)
        total += pass.send(core.edges[v.edge], gathered, chains, messageTo(v.edge, u),
                           messageTo(v.edge, v.node));
  }
  return pass.finish(total) + core.constant;
}
