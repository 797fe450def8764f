// Verifiers and type inference of WeftStructural.td, alphabetical.

#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace weft;

/// Infers one tensor type of `shape` with the element type of `like`.
static LogicalResult inferShape(SmallVectorImpl<Type> &types, ArrayRef<int64_t> shape, Value like) {
  types.push_back(RankedTensorType::get(shape, elementOf(like)));
  return success();
}

/// Of a shard of a larger tensor: where it starts, and how large that is.
template <typename Op> static LogicalResult verifyOffset(Op op) {
  if (static_cast<bool>(op.getOffset()) == op.getExtent().has_value())
    return success();
  return op.emitOpError("expected offset and extent to come together, got: ")
         << (op.getOffset() ? "offset" : "extent") << " alone";
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getInput()), to = shapeOf(getResult());
  if (failed(verifyCount(*this, "dims", getDims(), from.size())) ||
      failed(verifyDims(*this, "dims", getDims(), to.size())))
    return failure();
  for (auto [dim, target] : llvm::enumerate(getDims()))
    if (from[dim] != 1 && from[dim] != to[target])
      return emitOpError() << "expected dimension " << dim
                           << " to be 1 or that of result dimension " << target
                           << ", got: " << from[dim] << " != " << to[target];
  return verifyElement(*this, "result", getResult(), elementOf(getInput()));
}

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least one input, got: 0");
  Value first = getInputs().front();
  if (failed(verifyIndex(*this, "axis", getAxis(), rankOf(first))))
    return failure();
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    std::string what = "input " + std::to_string(index);
    SmallVector<int64_t> expected(shapeOf(first));
    if (rankOf(input) == rankOf(first))
      expected[getAxis()] = shapeOf(input)[getAxis()];
    if (failed(verifyElement(*this, what, input, elementOf(first))) ||
        failed(verifyShape(*this, what, input, expected)))
      return failure();
  }
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  ValueRange inputs = adaptor.getInputs();
  if (inputs.empty())
    return failure();
  SmallVector<int64_t> shape(shapeOf(inputs.front()));
  uint64_t axis = adaptor.getAxis();
  if (axis >= shape.size())
    return failure();
  for (Value input : inputs.drop_front()) {
    if (axis >= shapeOf(input).size())
      return failure();
    shape[axis] += shapeOf(input)[axis];
  }
  return inferShape(types, shape, inputs.front());
}

LogicalResult CumsumOp::verify() {
  return verifyIndex(*this, "axis", getAxis(), rankOf(getInput()));
}

LogicalResult GatherOp::verify() {
  if (failed(verifyIndex(*this, "axis", getAxis(), rankOf(getTable()))))
    return failure();
  return verifyOffset(*this);
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> table = shapeOf(adaptor.getTable());
  uint64_t axis = adaptor.getAxis();
  if (axis >= table.size())
    return failure();
  SmallVector<int64_t> shape(table.take_front(axis));
  llvm::append_range(shape, shapeOf(adaptor.getIndices()));
  llvm::append_range(shape, table.drop_front(axis + 1));
  return inferShape(types, shape, adaptor.getTable());
}

LogicalResult GatherElementsOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput()), indices = shapeOf(getIndices());
  if (input.size() != indices.size())
    return emitOpError() << "expected input and indices of one rank, got: " << input.size()
                         << " != " << indices.size();
  if (failed(verifyIndex(*this, "axis", getAxis(), input.size())))
    return failure();
  for (auto [dim, size] : llvm::enumerate(indices))
    if (dim != getAxis() && size > input[dim])
      return emitOpError() << "expected dimension " << dim
                           << " of the indices not to exceed the input's, got: " << size << " > "
                           << input[dim];
  return success();
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                 Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferShape(types, shapeOf(adaptor.getIndices()), adaptor.getInput());
}

LogicalResult GatherNdOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput()), indices = shapeOf(getIndices());
  int64_t batch = getBatchDims(), limit = std::min(input.size(), indices.size());
  if (failed(verifyIndex(*this, "batch_dims", batch, limit)))
    return failure();
  if (input.take_front(batch) != indices.take_front(batch))
    return emitOpError() << "expected equal batch dimensions, got: "
                         << shapeText(input.take_front(batch))
                         << " != " << shapeText(indices.take_front(batch));
  if (batch + indices.back() > static_cast<int64_t>(input.size()))
    return emitOpError() << "expected batch_dims + tuple length within the input's rank, got: "
                         << batch << " + " << indices.back() << " > " << input.size();
  return success();
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> input = shapeOf(adaptor.getInput()), indices = shapeOf(adaptor.getIndices());
  if (indices.empty())
    return failure();
  uint64_t used = adaptor.getBatchDims() + indices.back();
  if (used > input.size())
    return failure();
  SmallVector<int64_t> shape(indices.drop_back());
  llvm::append_range(shape, input.drop_front(used));
  return inferShape(types, shape, adaptor.getInput());
}

LogicalResult IotaOp::verify() { return verifyIndex(*this, "dim", getDim(), rankOf(getResult())); }

LogicalResult PadOp::verify() {
  if (failed(verifyCount(*this, "low", getLow(), rankOf(getInput()))) ||
      failed(verifyCount(*this, "high", getHigh(), rankOf(getInput()))))
    return failure();
  for (int64_t amount : llvm::concat<const int64_t>(getLow(), getHigh()))
    if (amount < 0)
      return emitOpError() << "expected low and high not below 0, got: " << amount;
  if (failed(verifyShape(*this, "value", getValue(), {})))
    return failure();
  return verifyElement(*this, "value", getValue(), elementOf(getInput()));
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getInput()));
  if (adaptor.getLow().size() != shape.size() || adaptor.getHigh().size() != shape.size())
    return failure();
  for (auto [size, low, high] : llvm::zip(shape, adaptor.getLow(), adaptor.getHigh()))
    size += low + high;
  return inferShape(types, shape, adaptor.getInput());
}

LogicalResult ReduceOp::verify() {
  return verifyDims(*this, "dims", getDims(), rankOf(getInput()));
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(adaptor.getInput())))
    if (!llvm::is_contained(adaptor.getDims(), static_cast<int64_t>(dim)))
      shape.push_back(size);
  return inferShape(types, shape, adaptor.getInput());
}

LogicalResult ReshapeOp::verify() {
  int64_t from = cast<ShapedType>(getInput().getType()).getNumElements();
  int64_t to = cast<ShapedType>(getType()).getNumElements();
  if (from != to)
    return emitOpError() << "expected as many elements in the result as in the operand, got: " << to
                         << " != " << from;
  return verifyElement(*this, "result", getResult(), elementOf(getInput()));
}

LogicalResult ReverseOp::verify() {
  return verifyDims(*this, "dims", getDims(), rankOf(getInput()));
}

LogicalResult ScatterElementsOp::verify() {
  if (failed(verifyOffset(*this)))
    return failure();
  if (getType() != getInput().getType())
    return emitOpError() << "expected the result to have the input's type, got: " << getType()
                         << " != " << getInput().getType();
  if (rankOf(getIndices()) != rankOf(getInput()))
    return emitOpError() << "expected input and indices of one rank, got: " << rankOf(getInput())
                         << " != " << rankOf(getIndices());
  if (failed(verifyShape(*this, "updates", getUpdates(), shapeOf(getIndices()))) ||
      failed(verifyElement(*this, "updates", getUpdates(), elementOf(getInput()))))
    return failure();
  return verifyIndex(*this, "axis", getAxis(), rankOf(getInput()));
}

LogicalResult ScatterNdOp::verify() {
  if (getType() != getInput().getType())
    return emitOpError() << "expected the result to have the input's type, got: " << getType()
                         << " != " << getInput().getType();
  ArrayRef<int64_t> input = shapeOf(getInput()), indices = shapeOf(getIndices());
  if (indices.empty() || indices.back() > static_cast<int64_t>(input.size()))
    return emitOpError() << "expected indices whose last dimension is within the input's rank "
                         << input.size() << ", got: " << shapeText(indices);
  SmallVector<int64_t> expected(indices.drop_back());
  llvm::append_range(expected, input.drop_front(indices.back()));
  if (failed(verifyShape(*this, "updates", getUpdates(), expected)) || failed(verifyOffset(*this)))
    return failure();
  if (getOffset() && indices.back() == 0)
    return emitOpError("expected tuples of one index or more with offset, got: 0");
  return verifyElement(*this, "updates", getUpdates(), elementOf(getInput()));
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getInput()), to = shapeOf(getResult());
  if (from.size() != to.size())
    return emitOpError() << "expected operand and result of one rank, got: " << from.size()
                         << " != " << to.size();
  if (failed(verifyCount(*this, "starts", getStarts(), from.size())) ||
      failed(verifyCount(*this, "strides", getStrides(), from.size())))
    return failure();
  for (auto [dim, start, stride] : llvm::enumerate(getStarts(), getStrides())) {
    if (start < 0 || stride < 1)
      return emitOpError() << "expected start >= 0 and stride >= 1 in dimension " << dim
                           << ", got: " << start << ", " << stride;
    if (to[dim] > 0 && start + (to[dim] - 1) * stride >= from[dim])
      return emitOpError() << "expected the last element of dimension " << dim << " within "
                           << from[dim] << ", got: " << start + (to[dim] - 1) * stride;
  }
  return verifyElement(*this, "result", getResult(), elementOf(getInput()));
}

LogicalResult SortOp::verify() {
  if (failed(verifyIndex(*this, "axis", getAxis(), rankOf(getInput()))))
    return failure();
  constexpr int64_t limit = int64_t(1) << 32; // kernels number elements by 32 bits
  if (shapeOf(getInput())[getAxis()] >= limit)
    return emitOpError() << "expected fewer than " << limit
                         << " elements along the axis, got: " << shapeOf(getInput())[getAxis()];
  return verifyIndex(*this, "count", getCount(), shapeOf(getInput())[getAxis()] + 1);
}

LogicalResult SortOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getInput()));
  if (adaptor.getAxis() >= shape.size())
    return failure();
  shape[adaptor.getAxis()] = adaptor.getCount();
  types.push_back(RankedTensorType::get(shape, elementOf(adaptor.getInput())));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}

static bool isPermutation(ArrayRef<int64_t> permutation, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= rank || seen.test(dim))
      return false;
    seen.set(dim);
  }
  return static_cast<int64_t>(permutation.size()) == rank;
}

LogicalResult TransposeOp::verify() {
  if (isPermutation(getPermutation(), rankOf(getInput())))
    return success();
  return emitOpError() << "expected a permutation of the " << rankOf(getInput())
                       << " dimensions, got: " << shapeText(getPermutation());
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> from = shapeOf(adaptor.getInput());
  if (!isPermutation(adaptor.getPermutation(), from.size()))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : adaptor.getPermutation())
    shape.push_back(from[dim]);
  return inferShape(types, shape, adaptor.getInput());
}

//===----------------------------------------------------------------------===//
// What results keep of operands (Update.td)
//===----------------------------------------------------------------------===//

int64_t ConcatOp::getJoinedDim() { return getAxis(); }
ValueRange ConcatOp::getParts() { return getInputs(); }

Value ScatterElementsOp::getDestination() { return getInput(); }
Value ScatterElementsOp::getWritten() { return getUpdates(); }

Value ScatterNdOp::getDestination() { return getInput(); }
Value ScatterNdOp::getWritten() { return getUpdates(); }
