//===- Memory.h - what a device holds over time -----------------*- C++ -*-===//
//
// The bytes that a device holds while a step runs, by what they are for. State is there all the
// time; activations come with a microbatch's forward and go with its backward, so that their number
// is what the schedule has in flight; communication and workspace live as long as their operation.
// The peak is over the sum, and the allocator holds a reserve besides.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_COST_MEMORY_H
#define WEFT_COMPILER_COST_MEMORY_H

#include "compiler/Cost/Constants.h"
#include <array>
#include <cstdint>
#include <vector>

namespace weft {

enum class MemoryClass {
  Weights,
  Gradients,
  Optimizer,
  Activations,
  Communication,
  Workspace,
};
inline constexpr int numMemoryClasses = 6;

/// Bytes of each class, in their order.
using MemoryBytes = std::array<double, numMemoryClasses>;

/// So many bytes of a class come (positive) or go (negative) at a time in seconds.
struct MemoryEvent {
  double time = 0;
  MemoryClass use = MemoryClass::Activations;
  double bytes = 0;
};

struct MemoryProfile {
  struct Point {
    double time = 0;  ///< s
    double bytes = 0; ///< live from then on, without the reserve
  };
  std::vector<Point> points; ///< one for each time at which something changes
  double peakTime = 0;       ///< s, the first
  MemoryBytes atPeak{};      ///< by class
  double reserve = 0;        ///< B, of the allocator, at the peak

  double getPeak() const; ///< B, with the reserve
};

/// Sums events over time. At one time what goes goes before what comes.
MemoryProfile foldMemory(std::vector<MemoryEvent> events, const CostConstants &constants);

/// Bytes of each parameter under mixed-precision Adam, by class, when optimizer state (stage 1),
/// gradients too (2) and parameters too (3) are sharded over `ranks`: 2 + 2 + 12 undivided, with
/// gradients of 4 bytes where they are kept in f32 (Rajbhandari et al., ZeRO, section 3).
MemoryBytes getStateBytesPerParameter(int stage, int64_t ranks, double gradientBytes);

enum class Recompute { None, Selective, Full };

/// What a transformer layer's activations depend on.
struct LayerActivations {
  int64_t sequence = 1, microBatch = 1, hidden = 1, heads = 1;
  int64_t tensorDegree = 1;
  bool sequenceParallel = false; ///< norms and dropouts split over the tensor group too
  bool fusedAttention = false;   ///< scores are never stored
  Recompute recompute = Recompute::None;
};

/// Bytes of activations that a 16-bit transformer layer keeps for its backward on one device: s·b·h
/// (34 + 5·a·s/h) whole (Korthikanti et al. 2022, section 4 and table 2); without scores where
/// attention is fused or recomputed, 2·s·b·h where the whole layer is recomputed.
double getLayerActivationBytes(const LayerActivations &layer);

} // namespace weft

#endif // WEFT_COMPILER_COST_MEMORY_H
