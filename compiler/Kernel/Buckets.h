//===- Buckets.h - how much is sent together --------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_KERNEL_BUCKETS_H
#define WEFT_COMPILER_KERNEL_BUCKETS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Small gradients are sent together, up to so many bytes, where a plan does not say otherwise:
/// below about that size a ring's latency outweighs its transfer (NCCL's bus bandwidth halves
/// between 1 and 4 MiB on eight devices of one host).
inline constexpr int64_t defaultBucketBytes = 1 << 20;

/// Bytes that are sent together: `bucket_bytes` of the module's weft.training, else the default.
int64_t getBucketBytes(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_BUCKETS_H
