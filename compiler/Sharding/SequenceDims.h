//===- SequenceDims.h - where a step has its sequence -----------*- C++ -*-===//
//
// A training step may go through the sequence of a microbatch in slices of tokens (SliceTokens.h).
// Where its values have that sequence follows from factor rules: it begins with the queries of
// causal attention, and goes on through every factor that may be sliced. That may be done with a
// factor whose blocks are computed alone or give partial results, and with the queries and keys of
// causal attention: of what a slice reads, all is in the slices up to it.
//
//   %q: [b, h, s, d]    %x: [b, s, d]    %rows: [b·s, d], b × sequence × 1
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_SEQUENCEDIMS_H
#define WEFT_COMPILER_SHARDING_SEQUENCEDIMS_H

#include "compiler/Sharding/Parts.h"
#include "dialects/Weft/IR/FactorRule.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace weft {

/// A dimension of outer × sequence × inner elements.
struct SequenceDim {
  unsigned dim = 0;
  int64_t outer = 1, inner = 1;

  bool operator==(const SequenceDim &) const = default;
};

/// The factor of an operation that is the sequence, outer × sequence × inner positions of it.
struct SequenceFactor {
  unsigned factor = 0;
  int64_t outer = 1, inner = 1;
  std::optional<unsigned> key = std::nullopt; ///< of causal attention: that of the keys

  bool operator==(const SequenceFactor &) const = default;
};

/// Where the factor stands in a tensor; none where it does not.
std::optional<SequenceDim> findDim(const FactorRule &rule, const TensorFactors &tensor,
                                   const SequenceFactor &sequence);

class SequenceDims {
public:
  /// Of a planned step in stages. Fails, after an error, where it has no causal attention, or its
  /// forward pass reads tokens of all the sequence otherwise.
  static mlir::FailureOr<SequenceDims> find(const Parts &parts);

  /// Tokens of a sequence.
  int64_t getLength() const { return length; }
  std::optional<SequenceDim> getDim(mlir::Value value) const;
  /// How an operation is gone through in slices; none where it is computed whole.
  std::optional<SequenceFactor> getFactor(mlir::Operation *op) const;

  /// Whether a value is another one with each input.
  bool varies(mlir::Value value) const { return varying.contains(value); }
  /// The factor that may be sliced for slices of a dimension.
  std::optional<SequenceFactor> findSliced(const FactorRule &rule, const TensorFactors &tensor,
                                           const SequenceDim &dim) const;

  enum class Pass { Forward, Again, Gradient };
  Pass getPass(mlir::Operation *op) const;
  bool isSliced(const Channel &channel) const;

private:
  explicit SequenceDims(const Parts &parts);

  mlir::Value getGiven(const Channel &channel) const;
  mlir::Value getTaken(const Channel &channel) const;
  void findPasses();
  void findVarying();
  bool addVarying(const Part &part);
  bool findSeeds();
  void propagate();
  bool visit(mlir::Operation &op);
  std::optional<SequenceFactor> choose(mlir::Operation &op, const FactorRule &rule) const;
  bool mark(mlir::Value value, std::optional<SequenceDim> dim);
  mlir::LogicalResult check() const;

  const Parts *parts;
  int64_t length = 0;
  llvm::DenseSet<mlir::Value> varying; ///< with inputs of the step, or of a microbatch
  llvm::DenseMap<mlir::Value, SequenceDim> dims;
  llvm::DenseMap<mlir::Operation *, SequenceFactor> factors;
  llvm::DenseMap<mlir::Operation *, Pass> passes; ///< of what stands behind the loss
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_SEQUENCEDIMS_H
