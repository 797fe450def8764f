// Verifiers and type inference of WeftSemantic.td, alphabetical.

#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/SmallBitVector.h"
#include <cmath>

using namespace mlir;
using namespace weft;

static LogicalResult verifyRank(Operation *op, StringRef what, Value value, int64_t rank) {
  if (rankOf(value) == rank)
    return success();
  return op->emitOpError() << "expected " << what << " of rank " << rank
                           << ", got: " << rankOf(value);
}

/// C2 of attention: each dimension 1 or that of the scores.
static LogicalResult verifyBroadcastable(Operation *op, StringRef what, Value value,
                                         ArrayRef<int64_t> scores) {
  if (!value)
    return success();
  if (failed(verifyRank(op, what, value, 4)))
    return failure();
  for (auto [size, whole] : llvm::zip(shapeOf(value), scores))
    if (size != 1 && size != whole)
      return op->emitOpError() << "expected each dimension of " << what << " to be 1 or that of "
                               << shapeText(scores) << ", got: " << shapeText(shapeOf(value));
  return success();
}

/// C1 and C2 of attention, whose gradients agree with it.
template <typename Op> static LogicalResult verifyAttentionShapes(Op op) {
  ArrayRef<int64_t> q = shapeOf(op.getQuery()), k = shapeOf(op.getKey()),
                    v = shapeOf(op.getValue());
  if (failed(verifyShape(op, "key", op.getKey(), {q[0], k[1], k[2], q[3]})) ||
      failed(verifyShape(op, "value", op.getValue(), {q[0], k[1], k[2], v[3]})))
    return failure();
  if (k[1] == 0 || q[1] % k[1] != 0)
    return op.emitOpError() << "expected query heads to be a multiple of key heads, got: " << q[1]
                            << ", " << k[1];
  SmallVector<int64_t> scores = {q[0], q[1], q[2], k[2]};
  if (failed(verifyBroadcastable(op, "mask", op.getMask(), scores)) ||
      failed(verifyBroadcastable(op, "bias", op.getBias(), scores)) ||
      failed(verifyShape(op, "result", op.getResult(), {q[0], q[1], q[2], v[3]})))
    return failure();
  if (op.getLse())
    return verifyShape(op, "lse", op.getLse(), {q[0], q[1], q[2]});
  return success();
}

LogicalResult AttentionOp::verify() {
  for (auto [what, value] :
       {std::pair("query", getQuery()), std::pair("key", getKey()), std::pair("value", getValue())})
    if (failed(verifyRank(*this, what, value, 4)))
      return failure();
  if (failed(verifyAttentionShapes(*this)) ||
      failed(verifyElement(*this, "result", getResult(), elementOf(getQuery()))))
    return failure();
  if (getWindow() && static_cast<int64_t>(*getWindow()) < 1)
    return emitOpError() << "expected window >= 1, got: " << static_cast<int64_t>(*getWindow());
  if (getSoftcap() && !(getSoftcap()->convertToDouble() > 0))
    return emitOpError() << "expected softcap > 0, got: " << getSoftcap()->convertToDouble();
  if (!getScale().isFinite())
    return emitOpError() << "expected a finite scale, got: " << getScale().convertToDouble();
  return success();
}

LogicalResult AttentionBackwardOp::verify() {
  for (auto [what, value] :
       {std::pair("query", getQuery()), std::pair("key", getKey()), std::pair("value", getValue())})
    if (failed(verifyRank(*this, what, value, 4)))
      return failure();
  if (failed(verifyAttentionShapes(*this)))
    return failure();
  ArrayRef<int64_t> result = shapeOf(getResult());
  if (failed(verifyShape(*this, "gradient", getGradient(), result)) ||
      failed(verifyElement(*this, "gradient", getGradient(), elementOf(getResult()))))
    return failure();
  for (auto [what, gradient, of] : {std::tuple("query_gradient", getQueryGradient(), getQuery()),
                                    std::tuple("key_gradient", getKeyGradient(), getKey()),
                                    std::tuple("value_gradient", getValueGradient(), getValue())})
    if (failed(verifyShape(*this, what, gradient, shapeOf(of))) ||
        failed(verifyElement(*this, what, gradient, elementOf(of))))
      return failure();
  return success();
}

/// C1 of dot_general for one list of dimensions: within rank and distinct from those seen before.
static bool markDims(ArrayRef<int64_t> dims, llvm::SmallBitVector &seen) {
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= static_cast<int64_t>(seen.size()) || seen.test(dim))
      return false;
    seen.set(dim);
  }
  return true;
}

static bool sizesAgree(Value lhs, ArrayRef<int64_t> lhsDims, Value rhs, ArrayRef<int64_t> rhsDims) {
  return lhsDims.size() == rhsDims.size() &&
         llvm::all_of(llvm::zip(lhsDims, rhsDims), [&](auto pair) {
           return shapeOf(lhs)[std::get<0>(pair)] == shapeOf(rhs)[std::get<1>(pair)];
         });
}

LogicalResult DotGeneralOp::verify() {
  llvm::SmallBitVector lhs(rankOf(getLhs())), rhs(rankOf(getRhs()));
  if (!markDims(getLhsBatch(), lhs) || !markDims(getLhsContract(), lhs))
    return emitOpError() << "expected distinct left dimensions within rank " << rankOf(getLhs())
                         << ", got: " << shapeText(getLhsBatch()) << ", "
                         << shapeText(getLhsContract());
  if (!markDims(getRhsBatch(), rhs) || !markDims(getRhsContract(), rhs))
    return emitOpError() << "expected distinct right dimensions within rank " << rankOf(getRhs())
                         << ", got: " << shapeText(getRhsBatch()) << ", "
                         << shapeText(getRhsContract());
  for (auto [what, l, r] : {std::tuple("batch", getLhsBatch(), getRhsBatch()),
                            std::tuple("contracted", getLhsContract(), getRhsContract())})
    if (!sizesAgree(getLhs(), l, getRhs(), r))
      return emitOpError() << "expected " << what
                           << " dimensions of equal sizes, got: " << shapeText(l) << " of "
                           << shapeText(shapeOf(getLhs())) << " and " << shapeText(r) << " of "
                           << shapeText(shapeOf(getRhs()));
  return verifyElement(*this, "right operand", getRhs(), elementOf(getLhs()));
}

LogicalResult DotGeneralOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                             Adaptor adaptor, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  llvm::SmallBitVector lhs(rankOf(adaptor.getLhs())), rhs(rankOf(adaptor.getRhs()));
  if (!markDims(adaptor.getLhsBatch(), lhs) || !markDims(adaptor.getLhsContract(), lhs) ||
      !markDims(adaptor.getRhsBatch(), rhs) || !markDims(adaptor.getRhsContract(), rhs))
    return failure();
  for (int64_t dim : adaptor.getLhsBatch())
    shape.push_back(shapeOf(adaptor.getLhs())[dim]);
  for (auto [dim, size] : llvm::enumerate(shapeOf(adaptor.getLhs())))
    if (!lhs.test(dim))
      shape.push_back(size);
  for (auto [dim, size] : llvm::enumerate(shapeOf(adaptor.getRhs())))
    if (!rhs.test(dim))
      shape.push_back(size);
  types.push_back(RankedTensorType::get(shape, elementOf(adaptor.getLhs())));
  return success();
}

/// Scale or bias of a norm, where given: the shape and type of the normalised dimensions.
static LogicalResult verifyNormOperand(Operation *op, StringRef what, Value value, Value input,
                                       int64_t axis) {
  if (!value)
    return success();
  if (failed(verifyElement(op, what, value, elementOf(input))))
    return failure();
  return verifyShape(op, what, value, shapeOf(input).drop_front(axis));
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyIndex(*this, "axis", getAxis(), rankOf(getInput()))) ||
      failed(verifyNormOperand(*this, "scale", getScale(), getInput(), getAxis())))
    return failure();
  return verifyNormOperand(*this, "bias", getBias(), getInput(), getAxis());
}

func::FuncOp MapOp::lookupFunction() {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(*this, getFunctionAttr());
}

LogicalResult MapOp::verify() {
  if (getNumResults() == 0)
    return emitOpError("expected a result");
  ArrayRef<int64_t> shape = shapeOf(getResult(0));
  for (auto [what, values] : {std::pair("operand", ValueRange(getInputs())),
                              std::pair("result", ValueRange(getOutputs()))})
    for (auto [number, value] : llvm::enumerate(values))
      if (shapeOf(value) != shape && (*what == 'r' || rankOf(value) > 0))
        return emitOpError() << "expected " << what << " " << number << " of shape "
                             << shapeText(shape) << ", got: " << shapeText(shapeOf(value));
  return success();
}

/// Scalars of the values' element types.
static bool areElements(TypeRange scalars, ValueRange values) {
  return llvm::equal(scalars, values, [](Type scalar, Value value) {
    return scalar == RankedTensorType::get({}, elementOf(value));
  });
}

LogicalResult MapOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getFunctionAttr());
  if (!function || !function.isPrivate() || function.isDeclaration())
    return emitOpError() << getFunctionAttr() << " is no private function";
  if (!areElements(function.getArgumentTypes(), getInputs()) ||
      !areElements(function.getResultTypes(), getOutputs()))
    return emitOpError() << "expected " << getFunctionAttr()
                         << " to take and return scalars of the operands' and results' element "
                            "types, got: "
                         << function.getFunctionType();
  for (Operation &op : function.front().without_terminator())
    if (!isa<ConstantOp, ElementwiseOpInterface>(op)) {
      InFlightDiagnostic diagnostic = emitOpError()
                                      << "expected elementwise operations in " << getFunctionAttr();
      diagnostic.attachNote(op.getLoc()) << "this one is none";
      return diagnostic;
    }
  return success();
}

LogicalResult RmsNormOp::verify() {
  if (failed(verifyIndex(*this, "axis", getAxis(), rankOf(getInput()))))
    return failure();
  return verifyNormOperand(*this, "scale", getScale(), getInput(), getAxis());
}

LogicalResult RotaryOp::verify() {
  if (failed(verifyRank(*this, "input", getInput(), 4)) ||
      failed(verifyRank(*this, "cos", getCos(), 3)))
    return failure();
  if (getCos().getType() != getSin().getType())
    return emitOpError() << "expected cos and sin of one type, got: " << getCos().getType()
                         << " != " << getSin().getType();
  ArrayRef<int64_t> input = shapeOf(getInput()), cos = shapeOf(getCos());
  if ((cos[0] != 1 && cos[0] != input[0]) || cos[1] != input[2])
    return emitOpError() << "expected cos of shape [1 or " << input[0] << ", " << input[2]
                         << ", r/2], got: " << shapeText(cos);
  if (2 * cos[2] > input[3])
    return emitOpError() << "expected twice the last dimension of cos within " << input[3]
                         << ", got: " << 2 * cos[2];
  return verifyElement(*this, "cos", getCos(), elementOf(getInput()));
}

LogicalResult SoftmaxOp::verify() {
  return verifyIndex(*this, "axis", getAxis(), rankOf(getInput()));
}
