//===- Elimination.cpp - the best choice for a region ---------------------===//

#include "compiler/Search/Solver/Elimination.h"

#include "compiler/Search/Solver/Least.h"

#include <algorithm>
#include <numeric>
#include <utility>

using namespace weft::solver;

/// All tables of a region together, by the size that one may have: bounds time and memory.
static constexpr double manyTables = 64;

Elimination::Elimination(const Core &core, const DirectedTables<double> &tables)
    : core(core), tables(tables), placeOf(core.numNodes(), -1) {}

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

void Elimination::plan(std::vector<int> nodes, double largestTable) {
  region = std::move(nodes);
  std::sort(region.begin(), region.end());
  connect();
  order(largestTable);
  // Nodes that were dropped leave the region, and scopes noted before; places are numbered anew.
  std::vector<int> left, newPlace(region.size(), -1);
  for (size_t i = 0; i < region.size(); ++i)
    if (position[i] >= 0) {
      newPlace[i] = int(left.size());
      left.push_back(region[i]);
    }
  for (size_t b = 0; b < numBuckets; ++b) {
    buckets[b].place = newPlace[buckets[b].place];
    for (int &place : buckets[b].scope)
      place = newPlace[place];
    std::erase(buckets[b].scope, -1);
  }
  region = std::move(left);
  position.resize(region.size());
  for (size_t b = 0; b < numBuckets; ++b)
    position[buckets[b].place] = int(b);
  chosen.assign(region.size(), 0);
  collectFactors();
}

void Elimination::connect() {
  for (size_t i = 0; i < region.size(); ++i)
    placeOf[region[i]] = int(i);
  adjacent.assign(region.size(), {});
  present.assign(region.size(), 1);
  for (size_t i = 0; i < region.size(); ++i)
    for (const Core::Neighbour &v : core.neighbours(region[i]))
      if (placeOf[v.node] >= 0)
        adjacent[i].insert(placeOf[v.node]);
  for (int node : region)
    placeOf[node] = -1;
}

double Elimination::tableSize(int place) const {
  double entries = 1;
  adjacent[place].forEach([&](int i) { entries *= core.size[region[i]]; });
  return entries;
}

void Elimination::order(double largestTable) {
  position.assign(region.size(), -1);
  numBuckets = 0;
  double total = 0;
  sizes.resize(region.size());
  for (size_t i = 0; i < region.size(); ++i)
    sizes[i] = tableSize(int(i));
  for (size_t rest = region.size(); rest > 0; --rest) {
    int best = -1;
    for (size_t i = 0; i < region.size(); ++i)
      if (present[i] && (best < 0 || sizes[i] < sizes[best]))
        best = int(i);
    if (sizes[best] <= largestTable && total + sizes[best] <= manyTables * largestTable) {
      total += sizes[best];
      eliminate(best);
      continue;
    }
    int degree = -1;
    for (size_t i = 0; i < region.size(); ++i)
      if (present[i] && adjacent[i].count() > degree) {
        degree = adjacent[i].count();
        best = int(i);
      }
    present[best] = 0;
    adjacent[best].forEach([&](int i) {
      adjacent[i].erase(best);
      sizes[i] = tableSize(i);
    });
  }
}

void Elimination::eliminate(int place) {
  if (buckets.size() == numBuckets)
    buckets.emplace_back();
  Bucket &bucket = buckets[numBuckets];
  bucket.place = place;
  bucket.scope.clear();
  position[place] = int(numBuckets++);
  present[place] = 0;
  PlaceSet others = adjacent[place];
  others.forEach([&](int i) {
    bucket.scope.push_back(i);
    adjacent[i].insertAll(others);
    adjacent[i].erase(i);
    adjacent[i].erase(place);
  });
  for (int i : bucket.scope)
    sizes[i] = tableSize(i);
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

void Elimination::addFactor(Bucket &bucket, Factor factor, const std::vector<int> &scope,
                            size_t width) {
  factor.firstTerm = terms.size();
  size_t stride = width; // the bucket's own choices lie innermost
  for (size_t i = scope.size(); i-- > 0;) {
    if (scope[i] == bucket.place)
      continue;
    int level =
        int(std::find(bucket.scope.begin(), bucket.scope.end(), scope[i]) - bucket.scope.begin());
    terms.push_back({level, stride});
    factor.level = std::max(factor.level, level);
    stride *= core.size[region[scope[i]]];
  }
  factor.lastTerm = terms.size();
  bucket.factors.push_back(factor);
}

/// Each edge goes to the bucket of its end that is eliminated first, each table to the one of the
/// first of its scope.
void Elimination::collectFactors() {
  terms.clear();
  size_t length = 0;
  for (size_t i = 0; i < region.size(); ++i)
    placeOf[region[i]] = int(i);
  for (size_t b = 0; b < numBuckets; ++b) {
    Bucket &bucket = buckets[b];
    bucket.factors.clear();
    std::sort(bucket.scope.begin(), bucket.scope.end(),
              [&](int a, int c) { return position[a] > position[c]; });
  }
  for (size_t b = 0; b < numBuckets; ++b) {
    Bucket &bucket = buckets[b];
    int node = region[bucket.place];
    for (const Core::Neighbour &v : core.neighbours(node)) {
      int place = placeOf[v.node];
      if (place >= 0 && position[place] > int(b))
        addFactor(bucket, {tables.row(v.edge, node, 0)}, {place}, tables.padded(node));
    }
    std::sort(bucket.factors.begin(), bucket.factors.end(),
              [](const Factor &x, const Factor &y) { return x.level < y.level; });
    if (bucket.scope.empty())
      continue;
    bucket.table = length;
    size_t entries = 1;
    for (int place : bucket.scope)
      entries *= core.size[region[place]];
    length += entries;
    Bucket &parent = buckets[position[bucket.scope.back()]];
    Factor factor;
    factor.begin = bucket.table;
    addFactor(parent, factor, bucket.scope, core.size[region[parent.place]]);
  }
  for (int node : region)
    placeOf[node] = -1;
  messages.resize(std::max(messages.size(), length));
}

void Elimination::condition(const std::vector<int> &choice) {
  unaryBegin.clear();
  unary.clear();
  for (size_t i = 0; i < region.size(); ++i)
    placeOf[region[i]] = int(i);
  for (int u : region) {
    size_t begin = unary.size();
    unaryBegin.push_back(begin);
    for (int s = 0; s < core.size[u]; ++s)
      unary.push_back(double(std::min(core.cost[core.strategy[u] + s], core.penalty)));
    for (const Core::Neighbour &v : core.neighbours(u)) {
      if (placeOf[v.node] >= 0)
        continue;
      const double *row = tables.row(v.edge, u, choice[v.node]);
      for (int s = 0; s < core.size[u]; ++s)
        unary[begin + s] += row[s];
    }
  }
  for (int node : region)
    placeOf[node] = -1;
}

const double *Elimination::rowOf(const Factor &factor) const {
  const double *row = factor.fixed ? factor.fixed : &messages[factor.begin];
  for (size_t i = factor.firstTerm; i < factor.lastTerm; ++i)
    row += terms[i].stride * state[terms[i].level];
  return row;
}

void Elimination::addRow(const Factor &factor, size_t width, double *sums) const {
  const double *row = rowOf(factor);
  for (size_t s = 0; s < width; ++s)
    sums[s] += row[s];
}

/// The innermost node of the scope runs through its strategies; strips hold the sums of all factors
/// of the levels outside.
void Elimination::fillInner(const Bucket &bucket, size_t firstFactor, double *out) {
  size_t width = core.size[region[bucket.place]];
  int inner = int(bucket.scope.size()) - 1, count = core.size[region[bucket.scope[inner]]];
  const double *outer = &strips[inner * width];
  double *sums = &strips[(inner + 1) * width];
  state[inner] = 0;
  const Factor &last = bucket.factors.back();
  size_t stride = 0;
  for (size_t i = last.firstTerm; i < last.lastTerm; ++i)
    if (terms[i].level == inner)
      stride = terms[i].stride;
  const double *row = rowOf(last);
  for (int t = 0; t < count; ++t, row += stride) {
    const double *base = outer;
    if (firstFactor + 1 < bucket.factors.size()) {
      state[inner] = t;
      std::copy_n(outer, width, sums);
      for (size_t f = firstFactor; f + 1 < bucket.factors.size(); ++f)
        addRow(bucket.factors[f], width, sums);
      base = sums;
    }
    out[t] = getLeastSum(base, row, width);
  }
  state[inner] = 0;
}

size_t Elimination::firstOfLevel(const Bucket &bucket, int level) const {
  size_t first = 0;
  while (first < bucket.factors.size() && bucket.factors[first].level < level)
    ++first;
  return first;
}

void Elimination::fill(Bucket &bucket) {
  if (bucket.scope.empty())
    return;
  size_t width = core.size[region[bucket.place]], levels = bucket.scope.size();
  strips.resize(std::max(strips.size(), (levels + 1) * width));
  state.assign(levels, 0);
  std::copy_n(&unary[unaryBegin[bucket.place]], width, strips.data());
  for (size_t f = 0; f < firstOfLevel(bucket, 0); ++f)
    addRow(bucket.factors[f], width, strips.data());
  int inner = int(levels) - 1;
  size_t lastFactors = firstOfLevel(bucket, inner);
  double *out = &messages[bucket.table];
  for (int level = 0; level >= 0;) {
    for (; level < inner; ++level) { // the sums of the levels from here on
      double *sums = &strips[(level + 1) * width];
      std::copy_n(&strips[level * width], width, sums);
      for (size_t f = firstOfLevel(bucket, level);
           f < bucket.factors.size() && bucket.factors[f].level == level; ++f)
        addRow(bucket.factors[f], width, sums);
    }
    fillInner(bucket, lastFactors, out);
    int count = core.size[region[bucket.scope[inner]]];
    out += count;
    work += int64_t(count) * int64_t(width * (bucket.factors.size() - lastFactors));
    for (level = inner - 1; level >= 0; --level) {
      if (++state[level] < core.size[region[bucket.scope[level]]])
        break;
      state[level] = 0;
    }
  }
}

int Elimination::chooseIn(const Bucket &bucket, Random &random) {
  size_t width = core.size[region[bucket.place]];
  state.resize(bucket.scope.size());
  for (size_t level = 0; level < bucket.scope.size(); ++level)
    state[level] = chosen[bucket.scope[level]];
  strips.resize(std::max(strips.size(), width));
  std::copy_n(&unary[unaryBegin[bucket.place]], width, strips.data());
  for (const Factor &factor : bucket.factors)
    addRow(factor, width, strips.data());
  size_t best = random.below(width);
  for (size_t i = 0, s = best; i < width; ++i, s = s + 1 == width ? 0 : s + 1)
    if (strips[s] < strips[best])
      best = s;
  return int(best);
}

const std::vector<int> &Elimination::solve(Random &random) {
  for (size_t b = 0; b < numBuckets; ++b)
    fill(buckets[b]);
  for (size_t b = numBuckets; b-- > 0;)
    chosen[buckets[b].place] = chooseIn(buckets[b], random);
  return chosen;
}
