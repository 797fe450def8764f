//===- Slice.h - how long a worker goes on ----------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_SLICE_H
#define WEFT_COMPILER_SEARCH_SOLVER_SLICE_H

#include <chrono>
#include <cstdint>

namespace weft::solver {

using Time = std::chrono::steady_clock::time_point;

/// An amount of work, in table entries read, and a time at which to stop in any case.
struct Slice {
  int64_t work = INT64_MAX;
  Time until = Time::max();
  bool over(int64_t worked) const {
    return worked >= work || std::chrono::steady_clock::now() >= until;
  }
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_SLICE_H
