//===- Buckets.h - how much is sent together --------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_KERNEL_BUCKETS_H
#define WEFT_COMPILER_KERNEL_BUCKETS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Small gradients are sent together, up to so many bytes, where a plan does not say otherwise:
/// below about that size a ring's latency outweighs its transfer (NCCL's bus bandwidth halves
/// between 1 and 4 MiB on eight devices of one host).
inline constexpr int64_t defaultBucketBytes = 1 << 20;

/// All-gathers of blocks below so many bytes are sent together too: that takes a copy before and
/// one behind, which costs less than a message's latency.
inline constexpr int64_t smallGatherBytes = 16 << 10;

/// Whether an operation is an all-gather of such a block that is computed: weights are gathered
/// where they are read.
bool isSmallGather(mlir::Operation *op);

/// Bytes that are sent together: `bucket_bytes` of the module's weft.training, else the default.
int64_t getBucketBytes(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_BUCKETS_H
