//===- FitCollectives.h - terms of measured collectives ---------*- C++ -*-===//
//
// Fits what collectives of a host's ranks take,
//
//   t = call + p(n-1) step + p(n-1)/n·S / B(S)
//
// with p = 2 for an all-reduce and 1 for the others. B falls with the buffer S, as caches hold less
// and less of it: each size measured from `leastBuffer` on has a rate of its own, smaller ones that
// of the least.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_COST_FITCOLLECTIVES_H
#define WEFT_COMPILER_COST_FITCOLLECTIVES_H

#include "compiler/Cost/Calibration.h"
#include <map>
#include <optional>
#include <string>

namespace weft {

/// B of the least buffer that tells a rate; of smaller ones latency is most.
inline constexpr int64_t leastBuffer = 1 << 16;

/// What collectives of a transport take.
struct CollectiveFit {
  double call = 0, step = 0;       ///< s
  std::map<int64_t, double> rates; ///< B/s by B of the buffer; one at least

  /// Seconds of a sample {ranks, bytes} whose size was among those fitted to, or is smaller.
  double predict(CollectiveKind kind, const Sample &sample) const;
};

/// Whether ranks have to take turns: there they behave like another machine, with a fit of its own.
bool areCrowded(const HostSamples &samples, const Sample &sample);

/// Of the samples of a transport that are crowded, or are not; none where they do not fit.
std::optional<CollectiveFit> fitCollectives(const HostSamples &samples,
                                            const std::string &transport, bool crowded);

} // namespace weft

#endif // WEFT_COMPILER_COST_FITCOLLECTIVES_H
