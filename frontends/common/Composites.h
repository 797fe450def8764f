//===- Composites.h - operators that are several operations -----*- C++ -*-===//
//
// Operators that several frontends have and weft has not: each is built of weft operations, once,
// so that the same model gives the same operations whichever frontend read it. All throw
// ImportError where operands do not fit.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_COMPOSITES_H
#define WEFT_FRONTENDS_COMMON_COMPOSITES_H

#include "frontends/common/Emitter.h"
#include <functional>

namespace weft::frontend {

// Products.

/// numpy's matmul: a vector on either side gains a dimension and loses it again; leading dimensions
/// broadcast.
mlir::Value emitMatMul(Emitter &emit, mlir::Value lhs, mlir::Value rhs);
/// Einstein's sum: `bij,bjk->bik`, with ellipses, repeated labels and the implicit result.
mlir::Value emitEinsum(Emitter &emit, llvm::StringRef equation,
                       llvm::ArrayRef<mlir::Value> operands);

// Search.

/// The first (or last) position along `axis` of the maximum or minimum, as i64 with that dimension
/// kept.
mlir::Value emitArg(Emitter &emit, ReduceKind kind, mlir::Value x, int64_t axis, bool last = false);
/// 1 where the position along a new dimension `axis` of size `depth` equals the index, as i1.
mlir::Value emitOneHot(Emitter &emit, mlir::Value indices, int64_t depth, int64_t axis);
/// Where the elements of a known tensor are not 0: a list for each dimension, in row-major order.
llvm::SmallVector<Shape> positionsOfNonZero(const Tensor &known);
struct TopK {
  mlir::Value values, positions; ///< positions as i64
};
/// The `k` largest (or smallest) along `axis`, sorted; the first of equals comes first.
TopK emitTopK(Emitter &emit, mlir::Value x, int64_t k, int64_t axis, bool largest);

// Windows over the last dimensions.

/// One entry a spatial dimension. Padding is 0 or more.
struct Pooling {
  Shape window, strides, low, high, dilations;
  /// Adds to `high` what lets windows begin at the last elements that no window reaches, but not
  /// behind them.
  void coverAll(llvm::ArrayRef<int64_t> extents);
};
/// The extents of the results. Throws ImportError where a window does not fit.
Shape pooledShape(mlir::Value x, const Pooling &pooling);
mlir::Value emitPool(Emitter &emit, ReduceKind kind, mlir::Value x, const Pooling &pooling);
/// The mean of each window. `padded` tells how much of `low` and `high` counts as elements (zeros);
/// `divisor`, where not 0, is taken for the number of elements.
mlir::Value emitAveragePool(Emitter &emit, mlir::Value x, const Pooling &pooling,
                            llvm::ArrayRef<int64_t> paddedLow, llvm::ArrayRef<int64_t> paddedHigh,
                            int64_t divisor = 0);
/// Where the maximum that a window has pooled stands among the spatial dimensions, as i64: the sum
/// of its indices times `strides`. The first of equals.
mlir::Value emitPoolPositions(Emitter &emit, mlir::Value x, mlir::Value pooled,
                              const Pooling &pooling, llvm::ArrayRef<int64_t> strides);

/// Windows of a convolution, one entry a spatial dimension.
struct Windows {
  Shape strides, low, high, dilations;
};
/// x [n, c, …], kernel [o, c / groups, …] of as many dimensions. Throws ImportError where they do
/// not fit each other, or a window the input.
mlir::Value emitConv(Emitter &emit, mlir::Value x, mlir::Value kernel, const Windows &windows,
                     int64_t groups);
/// A transposed convolution: x [n, c, …], kernel [c, o / groups, …]. Each element of x adds the
/// kernel times itself at `strides` times its position; `low` and `high` are cut off (negative:
/// zeros added).
mlir::Value emitTransposedConv(Emitter &emit, mlir::Value x, mlir::Value kernel,
                               const Windows &windows, int64_t groups);

/// A function of floats, computed in f32 where they are narrower, and rounded once.
template <typename Function> mlir::Value emitWide(Emitter &emit, mlir::Value x, Function function) {
  expectFloat(x);
  bool isNarrow = elementOf(x).getIntOrFloatBitWidth() < 32;
  mlir::Value wide = isNarrow ? emit.cast(x, emit.builder.getF32Type()) : x;
  return emit.cast(function(wide), elementOf(x));
}

// Activations, and other functions of one number (see SpecialFunctions.h, too). All are computed in
// the operand's type.

/// x where x > bound (≥ with `orEqual`), else `otherwise`.
mlir::Value emitAbove(Emitter &emit, mlir::Value x, double bound, mlir::Value otherwise,
                      bool orEqual = false);
mlir::Value emitCelu(Emitter &emit, mlir::Value x, double alpha);
/// x where x ≥ 0, else α·(exp(inputScale·x) - 1)
mlir::Value emitElu(Emitter &emit, mlir::Value x, double alpha, double inputScale = 1);
mlir::Value emitHardSigmoid(Emitter &emit, mlir::Value x, double alpha, double beta);
mlir::Value emitHardSwish(Emitter &emit, mlir::Value x);
mlir::Value emitLeakyRelu(Emitter &emit, mlir::Value x, double slope);
mlir::Value emitMish(Emitter &emit, mlir::Value x);
/// x where x > 0, else 0: so written that its gradient is 0 at 0, as frameworks have it, where the
/// greater of two equal numbers would have half.
mlir::Value emitRelu(Emitter &emit, mlir::Value x);
mlir::Value emitSelu(Emitter &emit, mlir::Value x, double alpha, double gamma);
mlir::Value emitShrink(Emitter &emit, mlir::Value x, double lambda, double bias);
mlir::Value emitSilu(Emitter &emit, mlir::Value x);
mlir::Value emitSoftplus(Emitter &emit, mlir::Value x);
mlir::Value emitSoftsign(Emitter &emit, mlir::Value x);
mlir::Value emitTruncate(Emitter &emit, mlir::Value x);
/// The remainder with the divisor's sign.
mlir::Value emitFloorRemainder(Emitter &emit, mlir::Value lhs, mlir::Value rhs);

// Reductions and normalisations.

mlir::Value emitLogSumExp(Emitter &emit, mlir::Value x, llvm::ArrayRef<int64_t> dims, bool keep);
/// log(exp(x) + exp(y))
mlir::Value emitLogAddExp(Emitter &emit, mlir::Value x, mlir::Value y);
mlir::Value emitLogSoftmax(Emitter &emit, mlir::Value x, int64_t axis);
/// The sum of squared distances from the mean over (count - correction).
mlir::Value emitVariance(Emitter &emit, mlir::Value x, llvm::ArrayRef<int64_t> dims,
                         double correction, bool keep);
/// 1 / √(variance + ε)
mlir::Value emitInverseDeviation(Emitter &emit, mlir::Value variance, double epsilon);
/// A vector with one entry a channel (dimension 1), in the type and shape of x.
mlir::Value emitPerChannel(Emitter &emit, mlir::Value vector, mlir::Value x);
/// x · scale + bias, one a channel; either may be null.
mlir::Value emitScaleAndShift(Emitter &emit, mlir::Value x, mlir::Value scale, mlir::Value bias);
/// x brought to mean 0 and variance 1 over `dims`.
mlir::Value emitStandardize(Emitter &emit, mlir::Value x, llvm::ArrayRef<int64_t> dims,
                            double epsilon);
/// … over each group of channels, and over each channel alone.
mlir::Value emitGroupStandardize(Emitter &emit, mlir::Value x, int64_t groups, double epsilon);
mlir::Value emitInstanceStandardize(Emitter &emit, mlir::Value x, double epsilon);
struct ChannelStatistics {
  mlir::Value mean, variance; ///< one entry a channel
};
/// With stored statistics; scale and bias may be null.
mlir::Value emitBatchNorm(Emitter &emit, mlir::Value x, const ChannelStatistics &statistics,
                          mlir::Value scale, mlir::Value bias, double epsilon);

// Padding and resizing.

enum class BorderKind { Edge, Reflect, Wrap };
/// Pads by elements of x itself.
mlir::Value emitBorders(Emitter &emit, mlir::Value x, llvm::ArrayRef<int64_t> low,
                        llvm::ArrayRef<int64_t> high, BorderKind kind);
/// Takes away what pads below 0 ask for and makes those pads 0.
mlir::Value emitCrop(Emitter &emit, mlir::Value x, llvm::MutableArrayRef<int64_t> low,
                     llvm::MutableArrayRef<int64_t> high);

/// The tensor `repeats[i]` times along dimension i.
mlir::Value emitTile(Emitter &emit, mlir::Value x, llvm::ArrayRef<int64_t> repeats);

/// One dimension that is resized.
struct ResizeExtent {
  int64_t dim, in, out;
  double scale; ///< result over input: as given, or out / in
};
struct ResizeRule {
  enum Kind { Nearest, Linear, Cubic } kind;
  /// The place in the input, in elements, that an element of the result shows.
  std::function<double(double index, const ResizeExtent &extent)> place;
  std::function<int64_t(double place)> nearest; ///< of Nearest: which element a place shows
  double cubicA = -0.75;
  bool excludeOutside = false; ///< elements beyond the borders count nothing, else as the border's
  bool antialias = false;
};
mlir::Value emitResize(Emitter &emit, mlir::Value x, const ResizeExtent &extent,
                       const ResizeRule &rule);
/// A size as a number of elements. Throws ImportError where it is below 1 or no image's.
int64_t checkResizeExtent(double size);
/// Along one dimension of x, the product with a matrix [result, input].
mlir::Value emitAlong(Emitter &emit, mlir::Value x, mlir::Value matrix, int64_t dim);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_COMPOSITES_H
