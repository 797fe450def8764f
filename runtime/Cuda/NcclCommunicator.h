//===- NcclCommunicator.h - collectives done by NCCL ------------*- C++ -*-===//
//
// The host only enqueues: data goes from GPU to GPU. A collective is enqueued on the command's own
// stream; an asynchronous one on the stream of its lane, and messages, each on a stream of its own,
// behind an event of the command's stream, which later waits for an event behind them.
//
//   given stream   ── … ──▶ ready ────────────────── … ────────▶ wait for done ── …
//   lane's stream               └▶ wait ── collective ── done ──────┘
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_NCCLCOMMUNICATOR_H
#define WEFT_RUNTIME_CUDA_NCCLCOMMUNICATOR_H

#include "runtime/Collective/Transport.h"
#include "runtime/Cuda/CudaContext.h"

#include <memory>

namespace weft::runtime {

/// Every rank of the transport calls it. Null on all of them where ranks of one host share a GPU,
/// which NCCL refuses. Both arguments outlive the communicator and its commands.
///
/// Collectives of any element type move bytes; reductions are NCCL's own, those of booleans on
/// bytes. Of 16-bit integers it has none: the maker throws an Error of kind BadInput.
std::unique_ptr<Communicator> makeNcclCommunicator(CudaContext &context, Transport &transport);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_NCCLCOMMUNICATOR_H
