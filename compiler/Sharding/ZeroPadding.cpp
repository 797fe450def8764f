// Where padding is known to hold zeros.

#include "compiler/Sharding/LocalValues.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;
using IsCleared = llvm::function_ref<bool(Value)>;

/// The dimension of one operand that is dimension `next` (and no more) of a product's result;
/// `next` is lessened by those that are not.
static std::optional<unsigned> findFree(Value operand, ArrayRef<int64_t> batch,
                                        ArrayRef<int64_t> contract, unsigned &next) {
  for (int64_t dim = 0; dim < cast<ShapedType>(operand.getType()).getRank(); ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim) && next-- == 0)
      return dim;
  return std::nullopt;
}

/// A product is zero where an operand is, as long as the other is finite; where that is not, the
/// elements beside the padding are not either.
static bool isZeroPaddedProduct(DotGeneralOp dot, unsigned dim, IsCleared isCleared) {
  if (dim < dot.getLhsBatch().size())
    return isZeroPadded(dot.getLhs(), dot.getLhsBatch()[dim], isCleared) ||
           isZeroPadded(dot.getRhs(), dot.getRhsBatch()[dim], isCleared);
  unsigned next = dim - dot.getLhsBatch().size();
  if (auto free = findFree(dot.getLhs(), dot.getLhsBatch(), dot.getLhsContract(), next))
    return isZeroPadded(dot.getLhs(), *free, isCleared);
  auto free = findFree(dot.getRhs(), dot.getRhsBatch(), dot.getRhsContract(), next);
  return free && isZeroPadded(dot.getRhs(), *free, isCleared);
}

bool weft::isZeroPadded(Value local, unsigned dim, IsCleared isCleared) {
  Operation *op = local.getDefiningOp();
  if (!op || isa<dist::LoadShardOp>(op))
    return isCleared(local);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](DotGeneralOp dot) { return isZeroPaddedProduct(dot, dim, isCleared); })
      .Case([&](TransposeOp transpose) {
        return isZeroPadded(transpose.getInput(), transpose.getPermutation()[dim], isCleared);
      })
      .Case([&](dist::MaskPaddingOp mask) {
        return (mask.getReduction() == ReduceKind::Sum && mask.getDim() == dim) ||
               (mask.getDim() != dim && isZeroPadded(mask.getInput(), dim, isCleared));
      })
      .Case([&](dist::SliceOp slice) {
        auto pad = slice.getInput().getDefiningOp<PadOp>();
        return pad && slice.getDim() == dim && splatNumber(pad.getValue()) == 0.0;
      })
      .Default([](Operation *) { return false; });
}
