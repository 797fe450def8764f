//===- MemoryMeter.h - a rank's live bytes over time ------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SIMULATE_MEMORYMETER_H
#define WEFT_COMPILER_SIMULATE_MEMORYMETER_H

#include "compiler/Simulate/Program.h"

namespace weft::sim {

struct MemoryPeak {
  double bytes = 0;
  double seconds = 0;         ///< when it was reached first
  std::vector<double> owners; ///< bytes of each owner then
};

/// Live bytes of a class after all changes at a time.
struct MemoryPoint {
  int32_t rankClass = 0;
  int32_t owner = 0;
  double seconds = 0;
  double bytes = 0; ///< of that owner
};

/// Follows changes in order of time. At one time what goes goes before what comes.
class MemoryMeter {
public:
  MemoryMeter(int32_t rankClass, size_t numOwners) : rankClass(rankClass), live(numOwners) {}

  /// Changes at a time that is not before the last one. Points are written to `points` if not null.
  void change(double seconds, const std::vector<MemoryChange> &changes,
              std::vector<MemoryPoint> *points);
  /// The peak over all changes.
  MemoryPeak finish(std::vector<MemoryPoint> *points);

private:
  void flush(std::vector<MemoryPoint> *points);

  int32_t rankClass;
  double now = 0, total = 0;
  std::vector<double> live;
  std::vector<MemoryChange> coming; ///< at `now`, behind what goes
  std::vector<int32_t> touched;     ///< owners that changed at `now`, for the points
  MemoryPeak peak;
};

} // namespace weft::sim

#endif // WEFT_COMPILER_SIMULATE_MEMORYMETER_H
