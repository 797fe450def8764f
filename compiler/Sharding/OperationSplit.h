//===- OperationSplit.h - how one operation is split ------------*- C++ -*-===//
//
// All that says how an operation is computed on a mesh: the axes of each factor of its rule, and
// the axes over which operands come as sums that are not joined yet and are handed on so. Its
// operands' and results' shardings follow. A product whose contracted dimension is split, and a
// bias that is multiplied behind it while the sum waits:
//
//   %0 = dot_general %h, %w    {k = ["model"]}                    %0: partial sum over "model"
//   %1 = mul %0, %scale        {sum = ["model"], carries = [0]}   %1: the same
//
// A searched plan holds one for each operation; it stands in the module as `dist.split`, and the
// partitioner does as it says.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_OPERATIONSPLIT_H
#define WEFT_COMPILER_SHARDING_OPERATIONSPLIT_H

#include "compiler/Sharding/FactorSharding.h"
#include "mlir/IR/Operation.h"

namespace weft {

/// Which operands of an operation may stay partial sums, and over which axes: none, or a set that
/// the operation is linear in (FactorRule::linearity).
struct CarriedSums {
  AxisList axes;
  llvm::SmallVector<bool, 4> operands; ///< which carry `axes`
  bool operator==(const CarriedSums &) const = default;
};

struct OperationSplit {
  FactorAxes axes;
  CarriedSums sums;
  bool operator==(const OperationSplit &) const = default;

  /// The operation computed whole on every device.
  static OperationSplit whole(const FactorRule &rule);
};

/// A reduction's axes in one order, so that equal shardings compare equal.
void setPartial(TensorSharding &sharding, AxisList axes, ReduceKind reduction);

/// The shardings in which the operation takes an operand and makes a result.
TensorSharding getOperandForm(const FactorRule &rule, unsigned index, const OperationSplit &split);
TensorSharding getResultForm(const FactorRule &rule, unsigned index, const OperationSplit &split);

/// The axes of the factors of an operation without operands that make its result lie so; none where
/// it must be made whole and cut.
std::optional<FactorAxes> splitSource(const FactorRule &rule, const TensorSharding &form);

/// The factors' axes without those that some tensor of the rule cannot show: a minor factor of a
/// dimension is split only where its majors are wholly split in every tensor, a padded one only
/// where it leads every dimension that it is in.
FactorAxes expressible(const FactorRule &rule, FactorAxes axes);

/// What does not hold of a split: an axis used twice, a factor that may not be split so, sums of
/// operands that the operation is not linear in. "" of one that does.
std::string check(const FactorRule &rule, const OperationSplit &split, const MeshShape &mesh);

/// The attribute, by the names of factors.
mlir::DictionaryAttr toAttr(mlir::MLIRContext *context, const FactorRule &rule,
                            const OperationSplit &split, const MeshShape &mesh);

/// The split that stands on an operation (dist.split); none where none does. Emits an error where
/// it is no split of the operation on this mesh.
mlir::FailureOr<std::optional<OperationSplit>> getSplit(mlir::Operation &op, const FactorRule &rule,
                                                        const MeshShape &mesh);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_OPERATIONSPLIT_H
