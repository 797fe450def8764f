#include "frontends/config/Layers.h"

#include "frontends/common/Composites.h"
#include "frontends/common/StopGradient.h"

#include <cstring>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

//===----------------------------------------------------------------------===//
// What comes from outside
//===----------------------------------------------------------------------===//

Value Layers::addStored(const std::string &name, RankedTensorType type, WeightKind kind) {
  if (offered.has(name))
    try {
      return weights.addWeight({type, offered.take(name, type), {}}, name, kind);
    } catch (const ImportError &error) {
      throw ImportError("weight '" + name + "': " + error.what());
    }
  if (!offered.empty())
    throw ImportError("weight '" + name + "', " + describe(type) +
                      ", is in none of the files of weights");
  Tensor zero = Tensor::allocate(type, /*splat=*/true);
  std::memset(zero.mutableData(), 0, zero.elementBytes());
  return weights.addWeight({type, {}, std::move(zero)}, name, kind);
}

Value Layers::embed(Value table, Value tokens, std::optional<int64_t> padding) {
  Type places = IntegerType::get(emit.builder.getContext(), 64, IntegerType::Unsigned);
  constexpr int64_t none = -1;
  int64_t rows = shapeOf(table)[0], row = padding.value_or(rows);
  row = row < 0 ? row + rows : row;
  return emitEmbedding(emit, table, emit.cast(tokens, places), row < rows ? row : none);
}

Value Layers::tabulate(int64_t columns, llvm::function_ref<double(int64_t, int64_t)> function) {
  Tensor table =
      Tensor::allocate(tensorType({1, sizes.sequence, columns}, emit.builder.getF32Type()));
  for (int64_t row = 0; row < sizes.sequence; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      auto number = static_cast<float>(function(row, column));
      std::memcpy(table.mutableData() + (row * columns + column) * sizeof(float), &number,
                  sizeof(float));
    }
  return emit.cast(emit.constant(std::move(table)), element);
}

//===----------------------------------------------------------------------===//
// Normalisation and products
//===----------------------------------------------------------------------===//

Value Layers::layerNorm(const std::string &name, Value x, double epsilon) {
  int64_t width = shapeOf(x).back();
  Value scale = addWeight(name + ".weight", {width}), bias = addWeight(name + ".bias", {width});
  emit.setName(name);
  return emit.create<LayerNormOp>(typeOf(x), x, scale, bias,
                                  emit.builder.getI64IntegerAttr(typeOf(x).getRank() - 1),
                                  emit.builder.getF64FloatAttr(epsilon));
}

Value Layers::rmsNorm(const std::string &name, Value x, double epsilon, bool fromOne) {
  Value scale = addWeight(name + ".weight", {shapeOf(x).back()});
  emit.setName(name);
  if (fromOne)
    scale = add(scale, emit.like(scale, 1));
  return emit.create<RmsNormOp>(typeOf(x), x, scale,
                                emit.builder.getI64IntegerAttr(typeOf(x).getRank() - 1),
                                emit.builder.getF64FloatAttr(epsilon));
}

Value Layers::linear(const std::string &name, Value x, int64_t out, bool bias, WeightOrder order) {
  int64_t in = shapeOf(x).back(), last = typeOf(x).getRank() - 1;
  Value weight = order == WeightOrder::InOut ? addWeight(name + ".weight", {in, out})
                                             : addWeight(name + ".weight", {out, in});
  Value offset = bias ? addWeight(name + ".bias", {out}) : Value();
  emit.setName(name);
  if (order == WeightOrder::OutIn)
    weight = emit.transpose(weight, {1, 0});
  Value product = emit.dot(x, weight, {{}, {}, {last}, {0}});
  return bias ? add(product, offset) : product;
}

Value Layers::project(Value x, Value table) {
  emit.setName("lm_head");
  return emit.dot(x, emit.transpose(table, {1, 0}), {{}, {}, {typeOf(x).getRank() - 1}, {0}});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Value Layers::splitHeads(Value x, int64_t heads) {
  ArrayRef<int64_t> shape = shapeOf(x);
  Value split = emit.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return emit.transpose(split, {0, 2, 1, 3});
}

Value Layers::joinHeads(Value x) {
  ArrayRef<int64_t> shape = shapeOf(x);
  return emit.reshape(emit.transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

Value Layers::attend(Value query, Value key, Value value, const AttentionForm &form) {
  OpBuilder &builder = emit.builder;
  Shape shape(shapeOf(query));
  shape.back() = shapeOf(value).back();
  bool isWindow = form.window && *form.window < shapeOf(key)[2];
  // Frameworks clear rows of a mask that hides every key.
  MaskedRows masked = form.mask ? MaskedRows::Zero : MaskedRows::Nan;
  return emit.create<AttentionOp>(
      tensorType(shape, elementOf(query)), Type(), query, key, value, form.mask, form.bias,
      builder.getF64FloatAttr(form.scale), form.isCausal ? builder.getUnitAttr() : UnitAttr(),
      builder.getI64IntegerAttr(0),
      isWindow ? builder.getI64IntegerAttr(*form.window) : IntegerAttr(),
      form.softcap ? builder.getF64FloatAttr(*form.softcap) : FloatAttr(),
      MaskedRowsAttr::get(builder.getContext(), masked));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value Layers::activate(const std::string &function, Value x) {
  auto gelu = [&](GeluForm form) {
    return emit.create<GeluOp>(typeOf(x), x, GeluFormAttr::get(emit.builder.getContext(), form));
  };
  if (function == "gelu_new" || function == "gelu_pytorch_tanh" || function == "gelu_fast")
    return gelu(GeluForm::Tanh);
  if (function == "gelu")
    return gelu(GeluForm::Erf);
  if (function == "silu" || function == "swish")
    return multiply(x, emit.unary<SigmoidOp>(x));
  if (function == "relu")
    return emitRelu(emit, x);
  if (function == "tanh")
    return emit.unary<TanhOp>(x);
  throw ImportError("activation '" + function +
                    "' is not known; known are gelu, gelu_fast, gelu_new, gelu_pytorch_tanh, relu, "
                    "silu, swish, tanh");
}
