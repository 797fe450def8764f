#include "compiler/Search/SliceCurve.h"

#include "compiler/Cost/LeastSquares.h"

#include <numeric>

using namespace weft;

/// What a slice's seconds are made of: once, a token, a pair.
static std::vector<double> getTerms(double length, double context) {
  return {1, length, length * (context + length / 2)};
}

static std::vector<double> fit(std::span<const SliceTime> seen, double SliceTime::*seconds) {
  std::vector<std::vector<double>> terms;
  std::vector<double> values;
  for (const SliceTime &each : seen)
    if (each.*seconds > 0) {
      terms.push_back(
          getTerms(static_cast<double>(each.length), static_cast<double>(each.context)));
      values.push_back(each.*seconds);
    }
  return values.empty() ? std::vector<double>() : fitNonNegative(terms, values);
}

slice::SliceTable weft::makeSliceTable(std::span<const SliceTime> seen, int64_t tokens,
                                       int64_t granularity) {
  slice::SliceTable table{granularity, 0, {{1, {}, {}}}};
  std::vector<double> forward = fit(seen, &SliceTime::forward),
                      backward = fit(seen, &SliceTime::backward);
  if (forward.empty() || backward.empty())
    return table;
  table.units = tokens / granularity;
  for (int64_t end = 1; end <= table.units; ++end)
    for (int64_t context = 0; context < end; ++context) {
      std::vector<double> terms = getTerms(static_cast<double>((end - context) * granularity),
                                           static_cast<double>(context * granularity));
      auto take = [&](const std::vector<double> &curve) {
        return std::inner_product(terms.begin(), terms.end(), curve.begin(), 0.0);
      };
      table.batches[0].forward.push_back(take(forward));
      table.batches[0].backward.push_back(take(backward));
    }
  return table;
}
