// The operations that Emitter offers by name, each with its type rule.

#include "frontends/common/Emitter.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

Shape weft::frontend::broadcastShape(ArrayRef<Value> values) {
  Shape result;
  for (Value value : values) {
    ArrayRef<int64_t> shape = shapeOf(value);
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    for (auto [size, have] : llvm::zip(llvm::reverse(shape), llvm::reverse(result))) {
      if (size != have && size != 1 && have != 1)
        throw ImportError("shapes " + describe(shape) + " and " + describe(result) +
                          " do not broadcast");
      have = have == 1 ? size : have;
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value Emitter::broadcastDims(Value input, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  if (shapeOf(input) == shape)
    return input;
  for (auto [size, dim] : llvm::zip(shapeOf(input), dims))
    if (size != 1 && size != shape[dim])
      throw ImportError("shape " + describe(shapeOf(input)) + " does not broadcast to " +
                        describe(shape));
  RankedTensorType type = typeOf(input).clone(shape);
  if (const Tensor *value = valueOf(input); value && value->isSplat()) {
    checkResult(type);
    if (type.getNumElements() > 0)
      return constant(value->withType(type));
  }
  return create<BroadcastOp>(type, input, dims);
}

Value Emitter::broadcast(Value input, ArrayRef<int64_t> shape) {
  int64_t rank = shapeOf(input).size(), target = shape.size();
  if (rank > target)
    throw ImportError("shape " + describe(shapeOf(input)) + " does not broadcast to " +
                      describe(shape));
  return broadcastDims(input, shape, llvm::to_vector(llvm::seq(target - rank, target)));
}

std::pair<Value, Value> Emitter::together(Value lhs, Value rhs) {
  if (elementOf(lhs) != elementOf(rhs))
    throw ImportError("operands " + describe(lhs) + " and " + describe(rhs) +
                      " are of different element types");
  Shape shape = broadcastShape({lhs, rhs});
  Value left = broadcast(lhs, shape);
  return {left, broadcast(rhs, shape)};
}

Value Emitter::reshape(Value input, ArrayRef<int64_t> shape) {
  if (shapeOf(input) == shape)
    return input;
  RankedTensorType type = typeOf(input).clone(shape);
  checkResult(type);
  if (type.getNumElements() != typeOf(input).getNumElements())
    throw ImportError("cannot reshape " + describe(shapeOf(input)) + " to " + describe(shape));
  return create<ReshapeOp>(type, input);
}

Value Emitter::transpose(Value input, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return input;
  Shape shape;
  for (int64_t dim : permutation)
    shape.push_back(shapeOf(input)[dim]);
  return create<TransposeOp>(typeOf(input).clone(shape), input, permutation);
}

Value Emitter::slice(Value input, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                     ArrayRef<int64_t> strides) {
  if (shapeOf(input) == sizes)
    return input;
  return create<SliceOp>(typeOf(input).clone(sizes), input, starts, strides);
}

Value Emitter::sliceDim(Value input, int64_t dim, int64_t start, int64_t size) {
  Shape sizes(shapeOf(input)), starts(sizes.size(), 0), strides(sizes.size(), 1);
  starts[dim] = start;
  sizes[dim] = size;
  return slice(input, starts, sizes, strides);
}

Value Emitter::reverse(Value input, ArrayRef<int64_t> dims) {
  return dims.empty() ? input : create<ReverseOp>(typeOf(input), input, dims);
}

Value Emitter::concat(ArrayRef<Value> inputs, int64_t axis) {
  SmallVector<Value> parts;
  Shape shape(shapeOf(inputs.front()));
  shape[axis] = 0;
  for (Value input : inputs) {
    Shape rest(shapeOf(input));
    if (rest.size() != shape.size() || elementOf(input) != elementOf(inputs.front()))
      throw ImportError("cannot join " + describe(inputs.front()) + " and " + describe(input));
    int64_t size = std::exchange(rest[axis], shape[axis]);
    if (rest != shape)
      throw ImportError("cannot join " + describe(inputs.front()) + " and " + describe(input) +
                        " along dimension " + std::to_string(axis));
    shape[axis] += size;
    if (size > 0)
      parts.push_back(input);
  }
  if (parts.empty())
    parts.push_back(inputs.front());
  if (parts.size() == 1)
    return parts.front();
  return create<ConcatOp>(typeOf(inputs.front()).clone(shape), parts, axis);
}

Value Emitter::pad(Value input, Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  Shape shape(shapeOf(input));
  for (auto [size, before, after] : llvm::zip(shape, low, high))
    size += before + after;
  if (shapeOf(input) == ArrayRef<int64_t>(shape))
    return input;
  if (typeOf(input).getNumElements() == 0)
    return broadcast(value, shape);
  return create<PadOp>(typeOf(input).clone(shape), input, value, low, high);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value Emitter::cast(Value input, Type element) {
  if (elementOf(input) == element)
    return input;
  return create<CastOp>(typeOf(input).clone(element), input);
}

Value Emitter::compare(CompareDirection direction, Value lhs, Value rhs) {
  std::tie(lhs, rhs) = together(lhs, rhs);
  return create<CompareOp>(typeOf(lhs).clone(builder.getI1Type()), direction, lhs, rhs);
}

Value Emitter::select(Value condition, Value onTrue, Value onFalse) {
  if (!elementOf(condition).isInteger(1))
    throw ImportError("expected a condition of type bool, got " + describe(condition));
  if (elementOf(onTrue) != elementOf(onFalse))
    throw ImportError("operands " + describe(onTrue) + " and " + describe(onFalse) +
                      " are of different element types");
  Shape shape = broadcastShape({condition, onTrue, onFalse});
  condition = broadcast(condition, shape);
  onTrue = broadcast(onTrue, shape);
  onFalse = broadcast(onFalse, shape);
  return create<SelectOp>(typeOf(onTrue), condition, onTrue, onFalse);
}

Value Emitter::iota(ArrayRef<int64_t> shape, int64_t dim) {
  return create<IotaOp>(RankedTensorType::get(shape, builder.getI64Type()), dim);
}

Value Emitter::positions(ArrayRef<int64_t> shape, int64_t dim) {
  RankedTensorType type = RankedTensorType::get(shape, builder.getI64Type());
  checkResult(type);
  return IotaOp::create(builder, location(IotaOp::getOperationName()), type, dim);
}

//===----------------------------------------------------------------------===//
// Reductions and products
//===----------------------------------------------------------------------===//

Value Emitter::reduce(ReduceKind kind, Value input, ArrayRef<int64_t> dims, bool keepDims) {
  Shape kept(shapeOf(input)), reduced;
  for (int64_t dim : dims)
    kept[dim] = 1;
  for (auto [dim, size] : llvm::enumerate(shapeOf(input)))
    if (!llvm::is_contained(dims, int64_t(dim)))
      reduced.push_back(size);
  Value result = input;
  if (!dims.empty())
    result = create<ReduceOp>(typeOf(input).clone(reduced), kind, input, dims);
  return keepDims ? reshape(result, kept) : result;
}

Value Emitter::mean(Value input, ArrayRef<int64_t> dims, bool keepDims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= shapeOf(input)[dim];
  Value sum = reduce(ReduceKind::Sum, input, dims, keepDims);
  return create<DivOp>(typeOf(sum), sum, like(sum, double(count)));
}

std::pair<Value, Value> Emitter::sort(Value input, int64_t axis, int64_t count, bool descending) {
  Shape shape(shapeOf(input));
  shape[axis] = count;
  checkResult(typeOf(input).clone(shape));
  auto op =
      SortOp::create(builder, location(SortOp::getOperationName()), input, axis, count, descending);
  SmallVector<Value> results = finish(op);
  return {results[0], results[1]};
}

Value Emitter::gather(Value table, Value indices, int64_t axis) {
  Shape shape(shapeOf(table).take_front(axis));
  llvm::append_range(shape, shapeOf(indices));
  llvm::append_range(shape, shapeOf(table).drop_front(axis + 1));
  return create<GatherOp>(typeOf(table).clone(shape), table, indices, Value(),
                          builder.getI64IntegerAttr(axis), IntegerAttr());
}

Value Emitter::dot(Value lhs, Value rhs, const DotDims &dims) {
  if (elementOf(lhs) != elementOf(rhs))
    throw ImportError("operands " + describe(lhs) + " and " + describe(rhs) +
                      " are of different element types");
  for (auto [l, r] : llvm::zip(llvm::concat<const int64_t>(dims.lhsBatch, dims.lhsContract),
                               llvm::concat<const int64_t>(dims.rhsBatch, dims.rhsContract)))
    if (shapeOf(lhs)[l] != shapeOf(rhs)[r])
      throw ImportError("cannot multiply " + describe(lhs) + " and " + describe(rhs) + ": sizes " +
                        std::to_string(shapeOf(lhs)[l]) + " and " +
                        std::to_string(shapeOf(rhs)[r]) + " do not agree");
  Shape shape;
  for (int64_t dim : dims.lhsBatch)
    shape.push_back(shapeOf(lhs)[dim]);
  auto others = [&](Value value, const Shape &batch, const Shape &contract) {
    for (auto [dim, size] : llvm::enumerate(shapeOf(value)))
      if (!llvm::is_contained(batch, int64_t(dim)) && !llvm::is_contained(contract, int64_t(dim)))
        shape.push_back(size);
  };
  others(lhs, dims.lhsBatch, dims.lhsContract);
  others(rhs, dims.rhsBatch, dims.rhsContract);
  return create<DotGeneralOp>(typeOf(lhs).clone(shape), lhs, rhs, dims.lhsBatch, dims.rhsBatch,
                              dims.lhsContract, dims.rhsContract);
}
