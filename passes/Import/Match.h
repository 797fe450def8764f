//===- Match.h - what the raising passes look for ---------------*- C++ -*-===//
//
// Small matchers on values. Each tells what a value is made of; none changes the IR.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_IMPORT_MATCH_H
#define WEFT_PASSES_IMPORT_MATCH_H

#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include <array>

namespace weft {

/// Operations that a match went through, for the location of what replaces them.
using MatchedOps = llvm::SmallSetVector<mlir::Operation *, 8>;

/// Which value that was costly to compute (reductions, roots, curves) others read than `root` and
/// the other matched operations, so that raising would compute it twice: the reason, "" if there is
/// none.
std::string describeOutsideUse(mlir::Operation *root, const MatchedOps &matched);

/// Whether a number is the expected one, not 0, made of constants of this element type: it, or its
/// reciprocal, is off by no more than so many roundings to the nearest. Integers are exact.
bool isClose(double value, double expected, mlir::Type element, int roundings = 1);

/// A value times a number: strips products with and quotients by splats, also behind views, which
/// are then rebuilt.
struct Scaled {
  mlir::Value value;
  double scale = 1;
};
Scaled stripScale(mlir::OpBuilder &builder, mlir::Value value, MatchedOps &matched);

/// Coefficients c with value = c[0] + c[1]·x + c[2]·x² + c[3]·x³, made of +, -, · and splats; none
/// where it is not that.
using Polynomial = std::array<double, 4>;
std::optional<Polynomial> polynomialIn(mlir::Value value, mlir::Value x, MatchedOps &matched);

/// The factors of a product, and the number that splats among them make.
struct Product {
  llvm::SmallVector<mlir::Value> factors;
  double scale = 1;
};
Product factorsOf(mlir::Value value, MatchedOps &matched);

/// A sum over some dimensions, times a number.
struct ScaledSum {
  ReduceOp sum;
  double scale;
  int64_t axis() const { return ReduceOp(sum).getDims().front(); }
};
std::optional<ScaledSum> scaledSumOf(mlir::Value value, MatchedOps &matched);
/// Why that is not the mean over the last dimensions, from `axis` on: the reason, "" if it is.
std::string whyNoMean(const ScaledSum &mean);

/// The value behind a broadcast and reshapes.
mlir::Value withoutRepetition(mlir::Value value, MatchedOps &matched);

/// The value that a broadcast repeats along the dimensions from `axis` on (rows' statistics), its
/// unit dimensions restored.
mlir::Value repeatedAlongRows(mlir::Value value, int64_t axis, MatchedOps &matched);

/// The value that a broadcast repeats along the dimensions before `axis` (scales and biases): of
/// the shape of the last dimensions but for unit dimensions; null if it is not that.
mlir::Value repeatedForRows(mlir::Value value, int64_t axis, MatchedOps &matched);

} // namespace weft

#endif // WEFT_PASSES_IMPORT_MATCH_H
