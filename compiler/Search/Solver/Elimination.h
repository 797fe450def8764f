//===- Elimination.h - the best choice for a region -------------*- C++ -*-===//
//
// Bucket elimination (Bertelè, Brioschi 1972; Dechter 1999). Eliminating a node replaces it by a
// table over its neighbours: what it costs at least for each of their choices. Going back through
// the tables gives the choices. The next node is the one whose table is smallest; where even that
// exceeds a limit, the node with most neighbours keeps the choice that it has and leaves the
// region.
//
// Worked example: a path a - b - c, two strategies each. Eliminating a leaves a table over b (2
// entries), then c one over b, then b none. A clique of four nodes with 10 strategies each would
// need a table of 1000 entries.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_ELIMINATION_H
#define WEFT_COMPILER_SEARCH_SOLVER_ELIMINATION_H

#include "compiler/Search/Solver/Core.h"
#include "compiler/Search/Solver/Random.h"

#include <array>
#include <bit>
#include <utility>

namespace weft::solver {

/// A set of places in a region.
class PlaceSet {
public:
  static constexpr int capacity = 512;

  void insert(int i) { words[i / 64] |= uint64_t(1) << (i % 64); }
  void erase(int i) { words[i / 64] &= ~(uint64_t(1) << (i % 64)); }
  bool contains(int i) const { return words[i / 64] >> (i % 64) & 1; }
  void insertAll(const PlaceSet &other) {
    for (size_t w = 0; w < words.size(); ++w)
      words[w] |= other.words[w];
  }
  int count() const {
    int sum = 0;
    for (uint64_t word : words)
      sum += std::popcount(word);
    return sum;
  }
  template <typename F> void forEach(F &&f) const {
    for (size_t w = 0; w < words.size(); ++w)
      for (uint64_t word = words[w]; word; word &= word - 1)
        f(int(w * 64 + std::countr_zero(word)));
  }

private:
  std::array<uint64_t, capacity / 64> words{};
};

class Elimination {
public:
  Elimination(const Core &core, const DirectedTables<double> &tables);

  /// Orders the nodes, at most PlaceSet::capacity; drops some where tables would have more than
  /// `largestTable` entries, or all together 64 times as many.
  void plan(std::vector<int> nodes, double largestTable);
  /// The nodes that are left in the region, ascending.
  const std::vector<int> &nodes() const { return region; }

  /// Node costs given the choices outside the region; the caller may add to them.
  void condition(const std::vector<int> &choice);
  std::span<double> costs(int place) {
    return std::span(unary).subspan(unaryBegin[place], core.size[region[place]]);
  }

  /// The strategies, by place, that minimise the sum of costs and of the region's edges. Among
  /// equals one is drawn.
  const std::vector<int> &solve(Random &random);

  /// Table entries read since the last call.
  int64_t takeWork() { return std::exchange(work, 0); }

private:
  struct Term {
    int level;     ///< index into the bucket's scope
    size_t stride; ///< of its choice
  };
  struct Factor {
    const double *fixed = nullptr; ///< an edge's table; otherwise a bucket's, at `begin`
    size_t begin = 0;
    int level = -1; ///< of its innermost node; -1 if it has only the bucket's own
    size_t firstTerm = 0, lastTerm = 0;
  };
  struct Bucket {
    int place = 0;
    std::vector<int> scope;      ///< places, those eliminated last come first
    size_t table = 0;            ///< into `messages`, row-major over the scope
    std::vector<Factor> factors; ///< by level
  };

  void connect();
  void order(double largestTable);
  void eliminate(int place);
  void collectFactors();
  void addFactor(Bucket &bucket, Factor factor, const std::vector<int> &scope, size_t width);
  double tableSize(int place) const;
  void fill(Bucket &bucket);
  void fillInner(const Bucket &bucket, size_t firstFactor, double *out);
  size_t firstOfLevel(const Bucket &bucket, int level) const;
  void addRow(const Factor &factor, size_t width, double *sums) const;
  const double *rowOf(const Factor &factor) const;
  int chooseIn(const Bucket &bucket, Random &random);

  const Core &core;
  const DirectedTables<double> &tables;
  std::vector<int> region;
  std::vector<int> placeOf; ///< of each node, -1 outside
  std::vector<PlaceSet> adjacent;
  std::vector<char> present;
  std::vector<double> sizes;
  std::vector<int> position; ///< of each place in the order
  std::vector<Bucket> buckets;
  size_t numBuckets = 0;
  std::vector<Term> terms;
  std::vector<size_t> unaryBegin;
  std::vector<double> unary, messages, strips;
  std::vector<int> chosen; ///< by place
  std::vector<int> state;  ///< by level, of the bucket being filled
  int64_t work = 0;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_ELIMINATION_H
