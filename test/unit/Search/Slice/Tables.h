#ifndef WEFT_TEST_UNIT_SEARCH_SLICE_TABLES_H
#define WEFT_TEST_UNIT_SEARCH_SLICE_TABLES_H

#include "compiler/Search/Slice/TokenSlices.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace weft::slice {

/// What a stage takes for a slice, forward and backward together: launching takes `floor` however
/// short the slice; products take `token` a token, attention `pair` a token and token before it.
struct Curve {
  double floor, token, pair; ///< s
  double sharpness;          ///< of the corner between launching and computing: 1 adds them up

  double get(double length, double context) const {
    double compute = token * length + pair * length * (context + length / 2);
    return std::pow(std::pow(floor, sharpness) + std::pow(compute, sharpness), 1 / sharpness);
  }
};

/// The backward takes twice as long as the forward.
inline SliceTable makeTable(const Curve &curve, int64_t tokens, int64_t granularity) {
  SliceTable table{granularity, tokens / granularity, {{1, {}, {}}}};
  for (int64_t end = 1; end <= table.units; ++end)
    for (int64_t context = 0; context < end; ++context) {
      double seconds =
          curve.get(double((end - context) * granularity), double(context * granularity));
      table.batches[0].forward.push_back(seconds / 3);
      table.batches[0].backward.push_back(seconds * 2 / 3);
    }
  return table;
}

} // namespace weft::slice

#endif // WEFT_TEST_UNIT_SEARCH_SLICE_TABLES_H
