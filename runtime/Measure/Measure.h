//===- Measure.h - what this machine takes ----------------------*- C++ -*-===//
//
// Times of the runtime's own operations. Each is the least over many repetitions, which is what the
// machine can do; a disturbance only ever adds. Callers measure in rounds spread over time and keep
// the least of each (keepFaster), so that a disturbance of seconds does no harm either.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_MEASURE_MEASURE_H
#define WEFT_RUNTIME_MEASURE_MEASURE_H

#include "runtime/Collective/Transport.h"

#include <array>
#include <cstdint>
#include <vector>

namespace weft::runtime {

/// What one shape takes.
struct Timing {
  std::vector<int64_t> at; ///< the shape
  double seconds = 0;
};

/// Takes over what is faster in `again`; shapes not seen before are added.
void keepFaster(std::vector<Timing> &timings, const std::vector<Timing> &again);

/// Products of f32 matrices, {m, n, k} each, on all cores at the same time; seconds of one product.
std::vector<Timing> measureMatmuls(const std::vector<std::vector<int64_t>> &shapes, double budget);

/// Copies of blocks of so many bytes, by all cores at the same time: {bytes}; seconds of one copy.
std::vector<Timing> measureCopies(const std::vector<int64_t> &sizes, double budget);

/// Handing a kernel that does nothing to a rank's pool of so many threads: {threads}.
std::vector<Timing> measureLaunches(const std::vector<int64_t> &threads, double budget);

enum class Operation { AllReduce, AllGather, ReduceScatter, AllToAll };

struct OperationName {
  Operation operation;
  const char *name;
};
inline constexpr std::array<OperationName, 4> operations{{
    {Operation::AllReduce, "all_reduce"},
    {Operation::AllGather, "all_gather"},
    {Operation::ReduceScatter, "reduce_scatter"},
    {Operation::AllToAll, "all_to_all"},
}};

/// Collectives of f32 buffers of so many bytes (the full buffer: what an all-gather results in,
/// what a reduce-scatter is of) over a transport: {ranks, bytes}. Every rank calls it; the times
/// are those of rank 0.
std::vector<Timing> measureCollective(Transport &transport, Operation operation,
                                      const std::vector<int64_t> &sizes, double budget);

/// The same among `ranks` threads of this process.
std::vector<Timing> measureLocalCollective(int64_t ranks, Operation operation,
                                           const std::vector<int64_t> &sizes, double budget);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_MEASURE_MEASURE_H
