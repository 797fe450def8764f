//===- RotaryTables.h - tables of rotations' angles -------------*- C++ -*-===//
//
// A rotation multiplies elements by cosines and sines of angles that pairs of elements share. What
// exporters multiply by holds every angle twice; weft.rotary wants it once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_IMPORT_ROTARYTABLES_H
#define WEFT_PASSES_IMPORT_ROTARYTABLES_H

#include "passes/Import/Constants.h"
#include "passes/Import/ViewMap.h"

namespace weft {

/// Which of a row's r elements form pairs: i and i + r/2, or 2i and 2i + 1.
enum class Pairing { Halves, Interleaved };

/// What a factor of a product repeats over the dimensions of the product, seen through the views
/// behind it.
class AngleTable {
public:
  /// The table in `factor`; `views` leads from the product to the result that is rotated, the first
  /// applied first. None where a view mixes dimensions that are repeated with others.
  static std::optional<AngleTable> of(mlir::Value factor, llvm::ArrayRef<mlir::Operation *> views);
  /// The table in a factor of products of one element of each pair, which holds every angle once;
  /// `order` has the factor's dimensions that are those of the result. None where the table has
  /// them in another order.
  static std::optional<AngleTable> ofPairs(mlir::Value factor, llvm::ArrayRef<int64_t> order,
                                           Pairing pairing);

  /// The dimensions of the result, but for the last, along which the table differs.
  Dims dims() const;
  /// Whether elements of a pair surely have one angle; rows have `width` elements.
  bool sharesAngles(int64_t width, Pairing pairing, Constants &constants) const;
  /// The table as [batch or 1, positions, pairs], for rotated values of `shape`.
  mlir::Value build(mlir::OpBuilder &builder, llvm::ArrayRef<int64_t> shape, int64_t positions,
                    Pairing pairing, Constants &constants, llvm::StringRef name) const;

private:
  explicit AngleTable(mlir::Value factor);
  std::optional<AngleTable> ifInOrder() const;
  llvm::LogicalResult move(mlir::Operation *view);

  mlir::Value root;
  /// For each dimension of the result the dimensions of `root` that make it up.
  llvm::SmallVector<Dims> placed;
  /// Set where rows of `root` hold every angle once: how they are repeated.
  std::optional<Pairing> repeated;
};

} // namespace weft

#endif // WEFT_PASSES_IMPORT_ROTARYTABLES_H
