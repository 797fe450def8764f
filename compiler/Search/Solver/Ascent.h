//===- Ascent.h - the worker that raises the bound --------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_ASCENT_H
#define WEFT_COMPILER_SEARCH_SOLVER_ASCENT_H

#include "compiler/Search/Solver/Assignment.h"
#include "compiler/Search/Solver/Prices.h"
#include "compiler/Search/Solver/Slice.h"

#include <utility>

namespace weft::solver {

/// Sweeps first without prices, then under prices that rise; decodes on the way.
class Ascent {
public:
  explicit Ascent(const Core &core) : core(core), dual(core), certified(trivialBound(core)) {}

  /// Sweeps without prices until the bound settles, where so large a gap is left in the end.
  /// Returns the decoded answer.
  Assignment sweepUnpriced(const Slice &slice, double gap = 0);

  /// Updates prices; `best` is the best answer known. Certifies the bound if it has grown.
  void run(const Slice &slice, const Value &best);

  /// Certifies the bound after some more sweeps under the best prices.
  void certify();

  int64_t bound() const { return certified; }
  Dual &messages() { return dual; }
  const std::vector<double> &prices() const { return search->prices(); }
  bool hasPrices() const { return search.has_value(); }
  /// Whether further updates are of little use.
  bool settled() const { return search && search->idle() > patience; }
  /// Answers decoded since the last call.
  std::vector<Assignment> takeDecoded() { return std::exchange(decoded, {}); }

private:
  static constexpr int patience = 250; ///< updates without noticeable gain

  const Core &core;
  Dual dual;
  std::optional<PriceSearch> search;
  int64_t certified;
  double certifiedAt = 0; ///< the bound in floating point when last it was certified
  int updates = 0;
  std::vector<Assignment> decoded;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_ASCENT_H
