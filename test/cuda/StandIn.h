//===- StandIn.h - what the stand-ins for CUDA's libraries share -*- C++ -*-===//
//
// Exported by the stand-in for libcuda.so.1, which runs on the CPU. The other stand-ins do their
// work on its streams, so that it is ordered, late and failing just as kernels are.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_STANDIN_H
#define WEFT_TEST_CUDA_STANDIN_H

#include <cstddef>

extern "C" {

/// Calls `work(data)` on the stream's thread (CUstream or cudaStream_t; null: the default stream of
/// the current context) after all that was enqueued there before. Where the context has failed,
/// `work` is not called and `data` stays as it is.
void standInEnqueue(void *stream, void (*work)(void *), void *data);

/// Called in work: checks that the bytes lie in one live allocation of a device or of mapped host
/// memory; otherwise the work ends here, and the stream has failed with an illegal address.
void standInCheck(const void *address, size_t bytes, const char *what);

/// Calls `wait(data)`, which in work on a stream waits for what is enqueued on others: until it
/// returns, no stream is late.
void standInAwaitPeers(void (*wait)(void *), void *data);

} // extern "C"

#endif // WEFT_TEST_CUDA_STANDIN_H
