//===- Windows.h - how windows lie over a tensor ----------------*- C++ -*-===//
//
// Convolutions and window reductions move a window over their input. Along one dimension:
//
//   input  a b c            input dilation 2, low 1, high 2 ->  . a . b . c . .
//   window of 2 elements, dilation 3, stride 2 ->  (. b) (. c) (. .): three positions
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_IR_WINDOWS_H
#define WEFT_DIALECTS_WEFT_IR_WINDOWS_H

#include "dialects/Weft/IR/WeftDialect.h"
#include <algorithm>

namespace weft {

/// One dimension of a window and of the input that it moves over.
struct WindowDim {
  int64_t extent; ///< of the input
  int64_t window; ///< elements of the window
  int64_t stride = 1, dilation = 1;
  int64_t low = 0, high = 0; ///< padding; negative: elements left out
  int64_t inputDilation = 1;

  /// The input's extent with its dilation, before padding.
  int64_t dilatedExtent() const { return extent == 0 ? 0 : (extent - 1) * inputDilation + 1; }
  /// How many positions the window takes.
  int64_t positions() const {
    int64_t room = dilatedExtent() + low + high - (dilation * (window - 1) + 1);
    return room < 0 ? 0 : room / stride + 1;
  }
  /// The input element under an element of the window at a position; -1 where there is none.
  int64_t inputAt(int64_t position, int64_t element) const {
    int64_t at = position * stride - low + element * dilation;
    bool isThere = at >= 0 && at < dilatedExtent() && at % inputDilation == 0;
    return isThere ? at / inputDilation : -1;
  }
  /// Whether each position is the input element of that number alone.
  bool isTrivial() const {
    return window == 1 && stride == 1 && low == 0 && high == 0 && inputDilation == 1;
  }
};

/// The spatial dimensions of a convolution; all dimensions of a window reduction. The lists of
/// attributes must be as long.
llvm::SmallVector<WindowDim> windowsOf(ConvOp op);
llvm::SmallVector<WindowDim> windowsOf(ConvKernelGradientOp op);
llvm::SmallVector<WindowDim> windowsOf(ReduceWindowOp op);

/// The same of the lists alone; `inputDilations` may be empty.
llvm::SmallVector<WindowDim> makeWindows(llvm::ArrayRef<int64_t> extents,
                                         llvm::ArrayRef<int64_t> window,
                                         llvm::ArrayRef<int64_t> strides,
                                         llvm::ArrayRef<int64_t> dilations,
                                         llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                                         llvm::ArrayRef<int64_t> inputDilations = {});

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_WINDOWS_H
