#include "compiler/Kernel/FusionRoles.h"

#include "compiler/Kernel/Arithmetic.h"
#include "compiler/Kernel/StateUpdates.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool weft::isMovement(Operation *op) {
  return isa<BroadcastOp, ReshapeOp, ReverseOp, SliceOp, TransposeOp>(op);
}

bool weft::readsViews(Operation *op) {
  return isa<AttentionBackwardOp, AttentionOp, ConvOp, dist::SliceOp, DotGeneralOp, JoinOpInterface,
             SliceOp>(op) ||
         getStoredSymbol(op);
}

FusionRole weft::getFusionRole(Operation *op, const Target &target) {
  if (!isa_and_nonnull<WeftDialect>(op->getDialect()) ||
      isa<BarrierOp, LoadOp, StoreOp, WeightOp>(op) || target.callsLibrary(op) ||
      (isa<JoinOpInterface, SliceOp>(op) && op->hasAttr(inPlaceAttrName)))
    return FusionRole::Boundary;
  if (isMovement(op) || isa<ConstantOp, ElementwiseOpInterface, IotaOp>(op))
    return FusionRole::Carried;
  return FusionRole::Member;
}

/// Whether `dims` are the last dimensions of a tensor of this shape but for unit ones.
static bool areLast(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  bool kept = false;
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    bool reduced = llvm::is_contained(dims, dim);
    if (reduced && kept && shape[dim] != 1)
      return false;
    kept |= !reduced && shape[dim] != 1;
  }
  return true;
}

/// The dimensions that a reduction or normalisation joins; none of other operations.
static SmallVector<int64_t> getJoinedDims(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return llvm::to_vector(reduce.getDims());
  auto normalising = dyn_cast<DecomposableOpInterface>(op);
  return normalising ? normalising.getNormalisedDims() : SmallVector<int64_t>();
}

static bool isNormalisation(Operation *op) {
  return isa<DecomposableOpInterface>(op) && !getJoinedDims(op).empty();
}

int64_t weft::getInnerSize(Operation *op) {
  if (!isa<ReduceOp>(op) && !isNormalisation(op))
    return 0;
  int64_t size = 1;
  for (int64_t dim : getJoinedDims(op))
    size *= typeOf(op->getOperand(0)).getDimSize(dim);
  return std::max<int64_t>(size, 1);
}

MemberKind weft::getMemberKind(Operation *op) {
  if (isa<ElementwiseOpInterface>(op))
    return MemberKind::Pointwise;
  if (isa<ReduceOp>(op) || isNormalisation(op)) {
    bool last = areLast(typeOf(op->getOperand(0)).getShape(), getJoinedDims(op));
    if (isa<ReduceOp>(op))
      return last ? MemberKind::RowReduce : MemberKind::ColumnReduce;
    return last ? MemberKind::RowNormalise : MemberKind::Alone;
  }
  if (isMovement(op))
    return getRowMotion(op) == RowMotion::Keeps ? MemberKind::Pointwise : MemberKind::Indexing;
  if (isa<ConcatOp, DecomposableOpInterface, GatherElementsOp, GatherNdOp, GatherOp, PadOp>(op))
    return MemberKind::Indexing;
  return MemberKind::Alone;
}

RowMotion weft::getRowMotion(Operation *op) {
  if (isa<ReshapeOp>(op))
    return RowMotion::Keeps;
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (!broadcast)
    return RowMotion::Moves;
  // Row-major order is kept where the operand's dimensions lead and only ones follow.
  ArrayRef<int64_t> target = typeOf(broadcast.getResult()).getShape();
  SmallVector<int64_t> source(target.size(), 1);
  for (auto [index, dim] : llvm::enumerate(broadcast.getDims()))
    source[dim] = typeOf(broadcast.getInput()).getDimSize(index);
  size_t dim = 0;
  while (dim < target.size() && source[dim] == target[dim])
    ++dim;
  if (dim == target.size())
    return RowMotion::Keeps;
  bool onesFollow =
      llvm::all_of(ArrayRef(source).drop_front(dim), [](int64_t size) { return size == 1; });
  return onesFollow ? RowMotion::Expands : RowMotion::Moves;
}

int64_t weft::getElementCost(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  return elementwise ? getArithmeticCost(elementwise) : 1;
}
