//===- Kernels.h - bytes that streaming kernels move ------------*- C++ -*-===//
//
// What the kernels of a framework really read and write, of 16-bit elements, where that is not
// plain from the operation: a fused softmax leaves out what its mask hides, a norm reads a row
// again that has left the cache, an unfused chain writes every step. For getStreamSeconds. Counted
// from Megatron-LM's and Apex' kernels, and compared with operations timed on V100s (cost.md).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_COST_KERNELS_H
#define WEFT_COMPILER_COST_KERNELS_H

#include "compiler/Cluster/Topology.h"

namespace weft {

/// Layer norm of rows of `width` elements: forward reads and writes; backward reads twice (sums,
/// then the result), writes, and reads again for its parameters. Rows that are in work at a time,
/// one for each 128 of 2048 threads a processor holds, are read from the cache the second time, if
/// it holds them.
double getNormBytes(const DeviceModel &device, double elements, double width, bool backward);

/// How softmax over scores is computed.
enum class SoftmaxKernel {
  Causal,  ///< one kernel that neither reads nor computes what lies above the diagonal
  Masked,  ///< one kernel, with a mask of a byte a score
  Unfused, ///< widened to f32, scaled, masked, normalised and narrowed one after another
};
double getSoftmaxBytes(double scores, SoftmaxKernel kernel, bool backward);

/// Dropout reads, writes, and writes a mask of a byte; backward reads gradient and mask.
double getDropoutBytes(double elements);

/// Bias, dropout and residual, in one kernel or one after another; backward without the residual's
/// gradient, which is the same as the result's.
double getBiasDropoutAddBytes(double elements, bool fused, bool backward);

/// A bias that a product adds: written into the result first, and read again; its gradient is a sum
/// over rows.
double getBiasBytes(double elements, bool backward);

/// Bias and activation in one kernel; backward with the bias's gradient.
double getBiasActivationBytes(double elements, bool backward);

/// Cross entropy over so many 16-bit logits, in f32.
double getLossBytes(double logits, bool backward);

/// Word and position embeddings of so many elements looked up, added, transposed and dropped; their
/// gradients sorted into a table, which is cleared and added to the gradient so far.
double getEmbeddingForwardBytes(double elements);
double getEmbeddingBackwardBytes(double elements, double tableElements);

} // namespace weft

#endif // WEFT_COMPILER_COST_KERNELS_H
