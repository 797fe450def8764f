// Verifiers of ExecAttention.td.

#include "dialects/Exec/IR/ExecVerify.h"

using namespace mlir;
using namespace weft::exec;

static LogicalResult verifyExtents(Operation *op, StringRef name, OperandAttr operand,
                                   ArrayRef<int64_t> expected) {
  if (operand && operand.getShape() != expected)
    return op->emitOpError() << "expected " << name << " of extents [" << expected << "], got: ["
                             << operand.getShape() << "]";
  return success();
}

static LogicalResult verifyFloats(Operation *op, ArrayRef<OperandAttr> floats, OperandAttr lse) {
  if (failed(verifySameDtype(op, floats)))
    return failure();
  for (OperandAttr operand : {floats.front(), lse})
    if (Type dtype = operand ? operand.getDtype() : Type();
        dtype && !dtype.isF32() && !dtype.isF16() && !dtype.isBF16())
      return op->emitOpError() << "expected elements of f32, f16 or bf16, got: " << dtype;
  return success();
}

static LogicalResult verifyRows(Operation *op, StringRef name, OperandAttr operand) {
  if (operand.getShape()[3] > 1 && operand.getStrides()[3] != 1)
    return op->emitOpError() << "expected " << name << " with rows in one piece, got: " << operand;
  return success();
}

/// What attention and its gradients have in common. `floats` are all operands of its type.
template <typename Op> static LogicalResult verifyAttention(Op op, ArrayRef<OperandAttr> floats) {
  for (OperandAttr operand : {op.getQuery(), op.getKey(), op.getValue(), op.getOutput()})
    if (operand.getShape().size() != 4)
      return op.emitOpError() << "expected operands of rank 4, got: " << operand;
  ArrayRef<int64_t> query = op.getQuery().getShape(), value = op.getValue().getShape();
  int64_t batches = query[0], heads = query[1], queries = query[2];
  int64_t groups = value[1], keys = value[2];
  if (groups < 1 || heads % groups != 0)
    return op.emitOpError() << "expected heads to be a multiple of those of the value, got: "
                            << heads << " and " << groups;
  SmallVector<int64_t> scores{batches, heads, queries, keys};
  if (failed(verifyExtents(op, "key", op.getKey(), {batches, groups, keys, query[3]})) ||
      failed(verifyExtents(op, "value", op.getValue(), {batches, groups, keys, value[3]})) ||
      failed(verifyExtents(op, "output", op.getOutput(), {batches, heads, queries, value[3]})) ||
      failed(verifyExtents(op, "mask", op.getMaskAttr(), scores)) ||
      failed(verifyExtents(op, "bias", op.getBiasAttr(), scores)) ||
      failed(verifyExtents(op, "lse", op.getLseAttr(), {batches, heads, queries})) ||
      failed(verifyFloats(op, floats, op.getLseAttr())))
    return failure();
  if (op.getMaskAttr() && !op.getMaskAttr().getDtype().isInteger(1))
    return op.emitOpError() << "expected a mask of i1, got: " << op.getMaskAttr().getDtype();
  return success();
}

LogicalResult AttentionOp::verify() {
  SmallVector<OperandAttr> floats{getQuery(), getKey(), getValue(), getOutput()};
  if (OperandAttr bias = getBiasAttr())
    floats.push_back(bias);
  if (failed(verifyAttention(*this, floats)))
    return failure();
  return verifyRows(*this, "an output", getOutput());
}

LogicalResult AttentionBackwardOp::verify() {
  SmallVector<OperandAttr> floats{getQuery(),       getKey(),          getValue(),
                                  getOutput(),      getGradient(),     getQueryGradient(),
                                  getKeyGradient(), getValueGradient()};
  if (OperandAttr bias = getBiasAttr())
    floats.push_back(bias);
  if (failed(verifyAttention(*this, floats)) ||
      failed(verifyExtents(*this, "gradient", getGradient(), getOutput().getShape())) ||
      failed(verifyExtents(*this, "query gradient", getQueryGradient(), getQuery().getShape())) ||
      failed(verifyExtents(*this, "key gradient", getKeyGradient(), getKey().getShape())) ||
      failed(verifyExtents(*this, "value gradient", getValueGradient(), getValue().getShape())))
    return failure();
  for (OperandAttr operand : {getQueryGradient(), getKeyGradient(), getValueGradient()})
    if (failed(verifyRows(*this, "a gradient", operand)))
      return failure();
  return success();
}
