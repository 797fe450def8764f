//===- ViewChain.h - what reshapes and transposes do together ---*- C++ -*-===//
//
// A chain of reshapes and transposes, written as factors: the source's dimensions are split as far
// as any step needs, and each dimension of the result is an ordered list of factors. Unit
// dimensions have none. The chain
//
//   4x4x32x16 -reshape-> 16x32x16 -transpose [0, 2, 1]-> 16x16x32 -reshape-> 4x4x16x32
//
// has the source factors [f0=4, f1=4, f2=32, f3=16] and the result [f0][f1][f3][f2]: one transpose.
// `plan` gives the shortest chain that does the same, always the same one, so that chains of one
// meaning become one form.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_IR_VIEWCHAIN_H
#define WEFT_DIALECTS_WEFT_IR_VIEWCHAIN_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace weft {

class ViewChain {
public:
  using Shape = llvm::SmallVector<int64_t>;
  using Factors = llvm::SmallVector<unsigned, 2>;

  /// One step of a chain: a transpose if it has a permutation, else a reshape to `shape`.
  struct Step {
    Shape permutation;
    Shape shape; ///< of the step's result
    bool operator==(const Step &other) const = default;
  };

  /// The empty chain on a tensor of this shape, none of whose dimensions is 0.
  explicit ViewChain(llvm::ArrayRef<int64_t> sourceShape);

  /// The chain that ends in `value`, and the value that it starts from; none if `value` is not a
  /// view or has no elements.
  static std::optional<std::pair<mlir::Value, ViewChain>> endingIn(mlir::Value value);

  void transpose(llvm::ArrayRef<int64_t> permutation);
  /// False if the shapes have no common factors (6x4 to 8x3); the chain is then unusable.
  bool reshape(llvm::ArrayRef<int64_t> shape);

  /// The shortest chain of the same meaning.
  llvm::SmallVector<Step, 3> plan() const;

  llvm::ArrayRef<int64_t> shape() const { return resultShape; }
  int64_t size(unsigned factor) const { return sizes[factor]; }
  /// The factors of each dimension, major to minor.
  llvm::ArrayRef<Factors> source() const { return sourceDims; }
  llvm::ArrayRef<Factors> result() const { return resultDims; }

private:
  void split(unsigned factor, int64_t major);
  Step transposeTo(llvm::ArrayRef<Factors> from, llvm::ArrayRef<int64_t> fromShape,
                   llvm::ArrayRef<Factors> to) const;

  Shape sourceShape, resultShape, sizes;
  llvm::SmallVector<Factors> sourceDims, resultDims;
};

/// Whether a value is a load, or transposes, reshapes and slices of one: read from storage in that
/// form at no cost.
bool isWeightView(mlir::Value value);

/// Builds the steps on `source`.
mlir::Value buildViews(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source,
                       llvm::ArrayRef<ViewChain::Step> steps);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_VIEWCHAIN_H
