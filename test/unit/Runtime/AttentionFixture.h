//===- AttentionFixture.h - attention by its definition ---------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_RUNTIME_ATTENTIONFIXTURE_H
#define WEFT_TEST_UNIT_RUNTIME_ATTENTIONFIXTURE_H

#include "runtime/Cpu/Action.h"

#include <array>
#include <functional>
#include <vector>

namespace weft::runtime::test {

using Shape = std::vector<int64_t>;

inline constexpr std::array everyKind = {program::MASKED_ROWS_UNIFORM, program::MASKED_ROWS_ZERO,
                                         program::MASKED_ROWS_NAN};

/// Operands in an arena each.
class Arenas {
public:
  View add(DType dtype, const Shape &shape, const Shape &strides = {});
  Bases getBases();
  std::byte *getElement(const View &view, const Shape &at);
  double get(const View &view, const Shape &at);
  /// Numbers within ±2, or truth values of which `share` are true.
  void fill(const View &view, uint32_t seed, double share = 0.7);

  std::vector<std::vector<std::byte>> bytes;
};

struct Result {
  std::vector<double> weights;
  double logSum;
  std::vector<bool> visible;
  std::vector<double> slopes; ///< of the cap, 1 without
};

/// What the definition says of one row, in f64.
Result computeRow(Arenas &arenas, const AttentionCall &call, int64_t b, int64_t h, int64_t i);

/// NaN is near NaN alone, and infinities near themselves.
bool isNear(double actual, double expected, double tolerance);

struct Sizes {
  int64_t b = 2, h = 4, g = 2, s = 37, t = 45, d = 16, e = 24;
};

/// Heads lie side by side in each position of query, keys, values and output, as projections leave
/// and want them.
View addHeads(Arenas &arenas, DType dtype, int64_t batches, int64_t heads, int64_t positions,
              int64_t size);
AttentionCall makeCall(Arenas &arenas, DType dtype, const Sizes &n = {});

/// Calls of attention that keys are hidden from, and what is done with each.
using Check = std::function<void(Arenas &, const AttentionCall &)>;
/// By positions: for each kind of rows that see no key.
void forEachBand(const Check &check);
/// By masks of several layouts, under biases and a cap.
void forEachMask(double softcap, const Check &check);

} // namespace weft::runtime::test

#endif // WEFT_TEST_UNIT_RUNTIME_ATTENTIONFIXTURE_H
