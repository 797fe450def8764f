//===- Compute.h - what one device takes for one operation ------*- C++ -*-===//
//
// Times in seconds of operations on one device, without what the host needs to start them
// (getHostFloor) and without communication. A matrix product takes the longer of
//
//   2·M·N·K / (sustained · e(K) · a) · w M, N rounded up to the device's tile
//   bytes / copy                          operands read and result written once
//
// (both, on cores that pack operands before they compute), with e(K) = K / (K + h): the result is
// written behind the arithmetic, which costs as much as h more of K, h = element bytes / 2 ·
// sustained / copy; a the alignment of the extents to 16 bytes; and w the wave quantisation: T
// tiles on P processors that hold r each take ceil(T / rP) waves, of which the last is partly idle;
// few tiles of deep products are cut along k where that pays. Streaming operations (elementwise,
// norm, softmax, embedding, optimizer) take their bytes at a share of the copy rate that grows with
// size.
//
// Worked example, f16 on an A100: 2048x4608x12288 has 16·36 = 576 tiles on 2·108 slots, 2.67 waves,
// w = 0.5 + 0.5·3/2.67 = 1.06; h = 271e12 / 1.82e12 = 149, e = 12288/12437 = 0.988; 2.32e11 FLOP /
// (271e12·0.988) · 1.06 = 0.92 ms.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_COST_COMPUTE_H
#define WEFT_COMPILER_COST_COMPUTE_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/Constants.h"
#include <cstdint>
#include <string>

namespace weft {

/// `batch` products of an m x k by a k x n matrix.
struct Matmul {
  int64_t batch = 1;
  int64_t m = 1, n = 1, k = 1;
  std::string dtype = "f16";
  bool depthMajor = false; ///< both operands lie along k, as in y = x·Wᵀ
  /// Bytes that an element of the result takes of memory: 2 if it is written in 16 bits, 8 if it is
  /// added to what is there in 32. 0: as the operands, 16 bits of narrower ones.
  double resultBytes = 0;
};

/// Attention in one kernel: scores never leave the processor.
struct FusedAttention {
  int64_t batch = 1, heads = 1, queries = 1, keys = 1, headSize = 1;
  bool causal = false;
  std::string dtype = "f16";
};

/// Bytes of an element: 0.5 of f4, 1 of f8, 2 of f16 and bf16, 4 of f32 and tf32, 8 of f64.
double getElementBytes(const std::string &dtype);

/// Seconds of a library's matrix product (see above).
double getMatmulSeconds(const DeviceModel &device, const Matmul &matmul,
                        const CostConstants &constants);

/// Seconds of products of one matrix or many, as a library does them. Many small ones, as unfused
/// attention has (scores and values of each head), take kernels that hide no memory traffic behind
/// arithmetic: both add up. Where they are so large that it is faster, one is done after the other.
double getProductSeconds(const DeviceModel &device, const Matmul &matmul,
                         const CostConstants &constants);

/// Seconds of fused attention forward: 4·b·a·q·k·d FLOP, half of them where causal (Dao,
/// FlashAttention-2, section 3).
double getAttentionForwardSeconds(const DeviceModel &device, const FusedAttention &attention,
                                  const CostConstants &constants);

/// The same backward, which computes the scores again: 2.5 times the FLOP.
double getAttentionBackwardSeconds(const DeviceModel &device, const FusedAttention &attention,
                                   const CostConstants &constants);

/// Seconds of an operation bound by memory that reads and writes so many bytes together: at a share
/// of the copy rate that grows with size, or, where the device tells the rates of blocks that its
/// caches hold, at the rate of such a block.
double getStreamSeconds(const DeviceModel &device, double bytes, const CostConstants &constants);

/// Seconds of device and host together: the host runs ahead, so that the slower decides, softly
/// where they are alike: (host^p + device^p)^(1/p).
double joinHostAndDevice(double host, double device, const CostConstants &constants);

/// Seconds that the host takes to start so many kernels.
double getHostFloor(int64_t numKernels, const CostConstants &constants);

} // namespace weft

#endif // WEFT_COMPILER_COST_COMPUTE_H
