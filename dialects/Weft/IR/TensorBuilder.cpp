#include "dialects/Weft/IR/TensorBuilder.h"

using namespace mlir;
using namespace weft;

Value TensorBuilder::splat(RankedTensorType type, const APFloat &number) {
  return make<ConstantOp>(DenseElementsAttr::get(type, number));
}

Value TensorBuilder::splat(RankedTensorType type, double number) {
  APFloat converted(number);
  bool inexact;
  converted.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(),
                    APFloat::rmNearestTiesToEven, &inexact);
  return splat(type, converted);
}

Value TensorBuilder::mean(Value value, ArrayRef<int64_t> dims) {
  double count = 1;
  for (int64_t dim : dims)
    count *= shapeOf(value)[dim];
  Value sum = reduce(ReduceKind::Sum, value, dims);
  return mul(sum, splat(sum, 1 / count));
}

Value TensorBuilder::inverseRoot(Value value, ArrayRef<int64_t> dims, double epsilon) {
  Value square = mean(mul(value, value), dims);
  return make<RsqrtOp>(add(square, splat(square, epsilon)));
}

Value TensorBuilder::join(ReduceKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::Sum:
    return add(lhs, rhs);
  case ReduceKind::Max:
    return make<MaxOp>(lhs, rhs);
  case ReduceKind::Min:
    return make<MinOp>(lhs, rhs);
  case ReduceKind::Prod:
    return mul(lhs, rhs);
  }
  llvm_unreachable("a kind of reduction");
}

Value TensorBuilder::selectBelow(Value number, Value limit, Value value, Value other) {
  return make<SelectOp>(make<CompareOp>(CompareDirection::LT, number, limit), value, other);
}

Value TensorBuilder::broadcast(Value value, RankedTensorType type, ArrayRef<int64_t> dims) {
  return value.getType() == type ? value : make<BroadcastOp>(type, value, dims);
}

Value TensorBuilder::spread(Value rows, Value like, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < rankOf(like); ++dim)
    if (!llvm::is_contained(dims, dim))
      kept.push_back(dim);
  return broadcast(rows, RankedTensorType::get(shapeOf(like), elementOf(rows)), kept);
}

Value TensorBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  return make<ReshapeOp>(RankedTensorType::get(shape, elementOf(value)), value);
}

Value TensorBuilder::slice(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> shape,
                           ArrayRef<int64_t> strides) {
  return make<SliceOp>(RankedTensorType::get(shape, elementOf(value)), value, starts, strides);
}

Value TensorBuilder::widen(Value value) {
  return isNarrowFloat(elementOf(value)) ? castTo(value, b.getF32Type()) : value;
}

Value TensorBuilder::castTo(Value value, Type element) {
  if (elementOf(value) == element)
    return value;
  return make<CastOp>(withElementType(value.getType(), element), value);
}
