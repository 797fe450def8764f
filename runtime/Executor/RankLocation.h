//===- RankLocation.h - where a rank is -------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_RANKLOCATION_H
#define WEFT_RUNTIME_EXECUTOR_RANKLOCATION_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

namespace weft::runtime {

/// Where a rank is, written by its thread and read by others when something fails: its watchdog, a
/// signal handler.
class RankLocation {
public:
  using Clock = std::chrono::steady_clock;

  explicit RankLocation(int64_t rank) : rank(rank) {}

  /// Keeps a label for as long as the location: others read it when the rank's own data may be
  /// gone.
  const char *keepLabel(std::string text) { return labels.emplace_back(std::move(text)).c_str(); }

  /// `name` must outlive the location.
  void enterStage(const char *name) {
    stepBegin = 0;
    label = nullptr;
    stage = name;
  }
  void enterStep(int64_t number) {
    step = number;
    stepBegin = Clock::now().time_since_epoch().count();
    stage = "execute";
  }
  /// `what` comes from keepLabel.
  void enterInstruction(int64_t number, const char *what) {
    instruction = number;
    label = what;
  }

  int64_t getRank() const { return rank; }
  /// Seconds in the current step; 0 outside of steps.
  double getStepSeconds() const {
    Clock::rep begin = stepBegin;
    if (begin == 0)
      return 0;
    return std::chrono::duration<double>(Clock::now() - Clock::time_point(Clock::duration(begin)))
        .count();
  }
  /// "in step 3, instruction 17, COLLECTIVE of '/h.0/mlp'", "in initialise".
  std::string describe() const;
  /// The same into a fixed buffer with nothing that a signal handler may not call; returns its
  /// length.
  size_t describe(char *buffer, size_t bytes) const;

private:
  int64_t rank;
  std::deque<std::string> labels;
  std::atomic<const char *> stage = "prepare";
  std::atomic<const char *> label = nullptr;
  std::atomic<int64_t> step = 0;
  std::atomic<int64_t> instruction = 0;
  std::atomic<Clock::rep> stepBegin = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_RANKLOCATION_H
