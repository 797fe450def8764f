//===- Ascent.cpp - the worker that raises the bound ----------------------===//

#include "compiler/Search/Solver/Ascent.h"

#include <algorithm>
#include <cmath>

using namespace weft::solver;

namespace {
constexpr int mostUnpricedSweeps = 80;
constexpr double settledGain = 1e-6; // of the bound, in five sweeps, at least
constexpr double settledShare = 0.2; // of the gap that is left anyway, in five sweeps
constexpr int manyDecodings = 40;    // the first updates: each is decoded
constexpr int decodingStride = 6;    // later ones
constexpr int lastSweeps = 10;       // before a certificate
} // namespace

Assignment Ascent::sweepUnpriced(const Slice &slice, double gap) {
  double gain = std::max(settledGain, settledShare * gap);
  double before = -INFINITY;
  int64_t work = 0;
  for (int i = 1; i <= mostUnpricedSweeps; ++i) {
    double bound = dual.sweep();
    work += dual.work();
    if (slice.over(work))
      break;
    if (i % 5 == 0 && bound - before <= gain * std::abs(bound))
      break;
    if (i % 5 == 0)
      before = bound;
  }
  certified = std::max(certified, dual.certify());
  return Assignment(core, dual.decode());
}

void Ascent::run(const Slice &slice, const Value &best) {
  if (!search)
    search.emplace(core, dual);
  int64_t work = 0;
  do {
    // Without an answer the optimum is guessed a tenth above the bound.
    double bound = search->bound();
    double target =
        best.feasible() ? double(best.cost - core.constant) : bound + 0.1 * std::abs(bound) + 1.0;
    search->step(target);
    work += search->work();
    if (++updates <= manyDecodings || updates % decodingStride == 0) {
      decoded.emplace_back(core, dual.decode());
      work += dual.work();
    }
  } while (!slice.over(work));
  double gap = std::max(double(best.cost - core.constant) - certifiedAt, 0.0);
  if (best.feasible() && search->bound() > certifiedAt + 0.05 * gap)
    certify();
}

void Ascent::certify() {
  if (search)
    dual.setPrices(search->prices());
  double bound = 0;
  for (int i = 0; i < lastSweeps; ++i)
    bound = dual.sweep();
  certifiedAt = std::max(bound, search ? search->bound() : bound);
  certified = std::max(certified, dual.certify());
}
