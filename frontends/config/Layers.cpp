#include "frontends/config/Layers.h"

#include "frontends/common/Composites.h"

#include <cstring>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

Value Layers::addTokens(StringRef name) {
  return entry.addArgument(tensorType({batch, sequence}, emit.builder.getI64Type()), name);
}

Value Layers::addWeight(const std::string &name, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(shape, element);
  Tensor zero = Tensor::allocate(type, /*splat=*/true);
  std::memset(zero.mutableData(), 0, zero.elementBytes());
  return weights.addWeight({type, {}, std::move(zero)}, name, WeightKind::Parameter);
}

Value Layers::layerNorm(const std::string &name, Value x, double epsilon) {
  int64_t width = shapeOf(x).back();
  Value scale = addWeight(name + ".weight", {width}), bias = addWeight(name + ".bias", {width});
  emit.setName(name);
  return emit.create<LayerNormOp>(typeOf(x), x, scale, bias,
                                  emit.builder.getI64IntegerAttr(typeOf(x).getRank() - 1),
                                  emit.builder.getF64FloatAttr(epsilon));
}

Value Layers::rmsNorm(const std::string &name, Value x, double epsilon) {
  Value scale = addWeight(name + ".weight", {shapeOf(x).back()});
  emit.setName(name);
  return emit.create<RmsNormOp>(typeOf(x), x, scale,
                                emit.builder.getI64IntegerAttr(typeOf(x).getRank() - 1),
                                emit.builder.getF64FloatAttr(epsilon));
}

Value Layers::linear(const std::string &name, Value x, int64_t out, WeightOrder order, bool bias) {
  int64_t in = shapeOf(x).back(), last = typeOf(x).getRank() - 1;
  Value weight = order == WeightOrder::InOut ? addWeight(name + ".weight", {in, out})
                                             : addWeight(name + ".weight", {out, in});
  Value offset = bias ? addWeight(name + ".bias", {out}) : Value();
  emit.setName(name);
  if (order == WeightOrder::OutIn)
    weight = emit.transpose(weight, {1, 0});
  Value product = emit.dot(x, weight, {{}, {}, {last}, {0}});
  return bias ? emit.binary<AddOp>(product, offset) : product;
}

Value Layers::project(Value x, Value table) {
  emit.setName("lm_head");
  return emit.dot(x, emit.transpose(table, {1, 0}), {{}, {}, {typeOf(x).getRank() - 1}, {0}});
}

Value Layers::splitHeads(Value x, int64_t heads) {
  Value split = emit.reshape(x, {batch, sequence, heads, shapeOf(x).back() / heads});
  return emit.transpose(split, {0, 2, 1, 3});
}

Value Layers::joinHeads(Value x) {
  int64_t width = shapeOf(x)[1] * shapeOf(x)[3];
  return emit.reshape(emit.transpose(x, {0, 2, 1, 3}), {batch, sequence, width});
}

Value Layers::attend(Value query, Value key, Value value, double scale) {
  OpBuilder &builder = emit.builder;
  return emit.create<AttentionOp>(typeOf(query), Type(), query, key, value, /*mask=*/Value(),
                                  /*bias=*/Value(), builder.getF64FloatAttr(scale),
                                  /*causal=*/builder.getUnitAttr(), builder.getI64IntegerAttr(0),
                                  /*window=*/IntegerAttr(), /*softcap=*/FloatAttr(),
                                  MaskedRowsAttr::get(builder.getContext(), MaskedRows::Nan));
}

Value Layers::activate(const std::string &function, Value x) {
  auto gelu = [&](GeluForm form) {
    return emit.create<GeluOp>(typeOf(x), x, GeluFormAttr::get(emit.builder.getContext(), form));
  };
  if (function == "gelu_new" || function == "gelu_pytorch_tanh")
    return gelu(GeluForm::Tanh);
  if (function == "gelu")
    return gelu(GeluForm::Erf);
  if (function == "silu" || function == "swish")
    return multiply(x, emit.unary<SigmoidOp>(x));
  if (function == "relu")
    return emitRelu(emit, x);
  throw ImportError("activation '" + function +
                    "' is not known; known are gelu, gelu_new, gelu_pytorch_tanh, relu, silu");
}

Value Layers::tabulate(int64_t columns, llvm::function_ref<double(int64_t, int64_t)> function) {
  Tensor table = Tensor::allocate(tensorType({1, sequence, columns}, emit.builder.getF32Type()));
  for (int64_t row = 0; row < sequence; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      auto number = static_cast<float>(function(row, column));
      std::memcpy(table.mutableData() + (row * columns + column) * sizeof(float), &number,
                  sizeof(float));
    }
  return emit.cast(emit.constant(std::move(table)), element);
}
