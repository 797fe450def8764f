//===- Calls.h - what a device is asked to do -------------------*- C++ -*-===//
//
// An instruction of the program with everything that depends on the rank evaluated: what a device
// makes a command of. Operands lie in arenas; where the arenas lie is told when the command is
// enqueued. Shapes, strides and pads count elements. Plain data: a device that is a module of its
// own needs nothing of the program's format.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICE_CALLS_H
#define WEFT_RUNTIME_DEVICE_CALLS_H

#include "runtime/Device/View.h"

#include <optional>
#include <string>

namespace weft::runtime {

/// A check that a kernel makes of values it reads: value in [low, high).
struct LaunchCheck {
  std::string message; ///< "index out of range"
  int64_t low = 0;
  int64_t high = 0;
  std::string source; ///< operation of the model
};

/// A generated kernel over the tiles [0, tiles), at least `grain` of them a thread (see Launch in
/// executable.proto).
struct LaunchCall {
  std::string kernel;         ///< content key
  std::vector<View> operands; ///< inputs, then outputs
  std::vector<int64_t> params;
  int64_t tiles = 0;
  int64_t grain = 1;
  std::vector<LaunchCheck> checks; ///< by the number that the kernel reports
};

/// A kernel that makes the elements of a call's output anew where they lie (see Epilogue in
/// executable.proto). The output is among its operands, and their last.
struct EpilogueCall {
  LaunchCall launch;
  int64_t tile = 0, row = 0; ///< elements of the output's memory
};

/// output [b, h, s, e] = softmax over t of the scores, times value (see Attention in
/// executable.proto); `mask`, `bias` [b, h, s, t] and `logSums` [b, h, s] may be absent.
struct AttentionCall {
  View query, key, value, output;
  std::optional<View> mask, bias, logSums;
  double scale = 1;
  std::optional<double> softcap;
  std::optional<int64_t> low, high; ///< query i sees keys i + low … i + high
  program::MaskedRows maskedRows = program::MASKED_ROWS_NAN; ///< what a row gives that sees no key
};

/// The gradients of an attention's query, key and value, by that of its output, which is given, and
/// so are the logarithms of its sums.
struct AttentionBackwardCall {
  AttentionCall attention;
  View gradient;                                  ///< of the output
  View queryGradient, keyGradient, valueGradient; ///< of the extents of what they are of
};

/// c[batch…, m, n] = Σ_k a[batch…, m, k] · b[batch…, k, n], added to c where `accumulate`.
struct GemmCall {
  View a, b, c;
  bool accumulate = false;
};

/// input [N, C, spatial…], kernel [O, C / groups, window…], output [N, O, spatial…]; one number a
/// spatial dimension in each list. With `kernelGradient` the operands `kernel` and `output` change
/// places: the gradient of that output is read, and gives the kernel's.
struct ConvCall {
  View input, kernel, output;
  std::vector<int64_t> strides, low, high, dilations;
  int64_t groups = 1;
  bool kernelGradient = false;
  bool isKernelConstant = false; ///< no instruction writes it: copies of it stay true
  std::optional<EpilogueCall> epilogue = {};
};

/// Strided copy between operands of one shape and type.
struct CopyCall {
  View input, output;
};

struct FillCall {
  View output;
  std::string value; ///< the bytes of one element
};

/// A collective among `group`; its operands are contiguous, of one type, and fit the group's size.
struct CollectiveCall {
  program::CollectiveKind kind = program::ALL_REDUCE;
  plan::Reduction reduction = plan::SUM;
  View input, output;         ///< all_reduce: may be the same
  std::vector<int64_t> group; ///< ranks, in the order of their coordinate
  int64_t self = 0;           ///< this rank's number in the group
  int64_t to = 0, from = 0;   ///< permute: the ranks that are sent to and received from
  int32_t lane = 0;           ///< collectives of one lane are done one after the other
};

/// Messages to or from ranks of another mesh: one for each index of the operand's leading
/// `peerDims` dimensions, each contiguous.
struct MessageCall {
  View operand;
  size_t peerDims = 0;
  std::vector<int64_t> peers; ///< ranks, in row-major order of the leading dimensions
  int64_t tag = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICE_CALLS_H
