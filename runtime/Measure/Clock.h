//===- Clock.h - the least time of many -------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_MEASURE_CLOCK_H
#define WEFT_RUNTIME_MEASURE_CLOCK_H

#include <algorithm>
#include <chrono>

namespace weft::runtime {

inline double getNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Least seconds of one call of `work`, over batches of `batch` calls until `budget` seconds are
/// over, at least three batches (the first warms up).
template <typename Work> double getLeast(double budget, int batch, Work work) {
  double least = 1e9, end = getNow() + budget;
  int batches = 0;
  do {
    double begin = getNow();
    for (int i = 0; i < batch; ++i)
      work();
    least = std::min(least, (getNow() - begin) / batch);
  } while (++batches < 3 || getNow() < end);
  return least;
}

} // namespace weft::runtime

#endif // WEFT_RUNTIME_MEASURE_CLOCK_H
