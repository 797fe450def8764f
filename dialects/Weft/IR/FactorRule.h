//===- FactorRule.h - how an operation's dimensions relate ------*- C++ -*-===//
//
// A factor rule is an einsum-like map from the dimensions of an operation's operands and results to
// named factors. A matrix product reads
//
//   ([b, s, k], [k, n]) -> ([b, s, n]) {b=8, s=128, k=768, n=3072} reduction={k}
//
// To split an operation is to assign mesh axes to factors: every dimension made of a factor is
// split alike, and where a split reduction factor is absent from a result, that result is left
// partial over those axes. A dimension may be a compound of several factors, major first: the
// reshape 8x4096 -> 8x32x128 reads
//
//   ([b, hd]) -> ([b, h, d])    printed as    ([b, (h d)]) -> ([b, h, d]) {b=8, h=32, d=128}
//
// A minor factor of a compound dimension can be split contiguously only once its majors are wholly
// split.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_IR_FACTORRULE_H
#define WEFT_DIALECTS_WEFT_IR_FACTORRULE_H

#include "dialects/Support/ReduceKind.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace weft {

/// What may be done with a factor.
enum class FactorKind {
  Parallel,    ///< shards compute independently
  Reduction,   ///< shards give partial results, joined by the factor's reduction
  Permutation, ///< shards need their neighbours' borders (windows)
  Replicated,  ///< the factor may not be split
};

/// How an operation carries operands that are partial sums (unreduced values) to its results.
enum class SumLinearity {
  None,  ///< operands must be reduced first
  Joint, ///< f(Σa, Σb, …) = Σ f(a, b, …): every operand partial over the same axes (add, sub,
         ///< reshape, concat)
  Each,  ///< linear in each operand alone: exactly one operand may be partial (mul, dot_general)
  First, ///< linear in operand 0 with the others held (div, reduce sum with no others)
};

struct Factor {
  std::string name; ///< unique in the rule
  int64_t size = 1;
  FactorKind kind = FactorKind::Parallel;
  /// For Reduction factors. The identity of each is 0, -inf (or the least value), +inf (the
  /// greatest), 1.
  ReduceKind reduction = ReduceKind::Sum;
};

/// Indices of factors that make one dimension, major to minor. The product of their sizes is the
/// dimension; a dimension of size 1 may have no factor.
using DimFactors = llvm::SmallVector<unsigned, 2>;

/// The dimensions of one operand or result.
using TensorFactors = llvm::SmallVector<DimFactors, 4>;

/// Two factors of one size that count the positions of one sequence: what an operation computes at
/// a position of `query` reads no position of `key` behind it. Neither may be split over shards,
/// but a sequence may be gone through in slices, each with all keys up to its own end.
struct CausalFactors {
  unsigned query, key;
};

struct FactorRule {
  llvm::SmallVector<Factor, 6> factors;
  llvm::SmallVector<TensorFactors, 4>
      operands; ///< one entry per operand, absent optional operands not counted
  llvm::SmallVector<TensorFactors, 1> results;
  SumLinearity linearity = SumLinearity::None;
  /// The operand, if any, whose elements are positions in another tensor and are checked: in
  /// padding too they must be legal, as 0 is.
  std::optional<unsigned> indices;
  std::optional<CausalFactors> causal;

  /// Adds a factor and returns its index. `name` is made unique by a number where it is taken.
  unsigned add(llvm::StringRef name, int64_t size, FactorKind kind = FactorKind::Parallel,
               ReduceKind reduction = ReduceKind::Sum);

  /// Whether the factor occurs in any dimension of result `index` (of operand `index`).
  bool inResult(unsigned factor, unsigned index = 0) const;
  bool inOperand(unsigned factor, unsigned index) const;
  /// Whether it sums over what several operands have, as products of matrices do.
  bool contracts() const;

  /// Checks that sizes multiply to the given shapes and that every index is in range; the reason of
  /// failure, or "".
  std::string check(mlir::TypeRange operandTypes, mlir::TypeRange resultTypes) const;

  /// `([b, s, k], [k, n]) -> ([b, s, n]) {b=8, s=128, k=768, n=3072} reduction={k}`; reductions
  /// other than sum are marked `reduction={v:max}`, unsplittable factors are listed as
  /// `replicated={…}`, windows as `permutation={…}`.
  std::string str() const;

  /// The rule of an operation whose operands and results all have one shape (`linearity` as given).
  static FactorRule elementwise(mlir::Operation *op, SumLinearity linearity = SumLinearity::None);

  /// The rule that splits nothing: every dimension a Replicated factor of its own.
  static FactorRule replicated(mlir::Operation *op);
};

/// What an operation may ask when it is rebuilt on one shard (FactorRuleOpInterface::buildLocal).
/// Implemented by the partitioner, and where sequences are sliced; keeps meshes out of this
/// dialect.
class LocalShards {
public:
  virtual ~LocalShards() = default;
  /// Whether the factor (an index into the rule) is split.
  virtual bool isSplit(unsigned factor) const = 0;
  /// The extent of the factor's block on one shard.
  virtual int64_t localSize(unsigned factor) const = 0;
  /// Where this shard's block of the factor starts, in elements of the factor: a `tensor<i64>`.
  virtual mlir::Value offset(mlir::OpBuilder &builder, mlir::Location loc, unsigned factor) = 0;
  /// The same, where it is a number already: of slices of a sequence, not of shards on a mesh.
  virtual std::optional<int64_t> getStart(unsigned factor) const { return std::nullopt; }
};

/// Clones `op` (attributes and regions kept) with other operands and result types; returns its
/// results.
llvm::SmallVector<mlir::Value> cloneWithTypes(mlir::OpBuilder &builder, mlir::Operation *op,
                                              mlir::ValueRange operands,
                                              mlir::TypeRange resultTypes);

} // namespace weft

#include "dialects/Weft/IR/FactorRuleInterface.h.inc"

#endif // WEFT_DIALECTS_WEFT_IR_FACTORRULE_H
