// Normalisations and the dispatch of products and attention (WeftSemantic.td), alphabetical.
#include "compiler/Interpret/Blocks.h"
#include "compiler/Interpret/Families.h"
#include "compiler/Interpret/Numbers.h"
#include "compiler/Interpret/Strided.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace weft;

/// Applies `normalise(row, length)` to each run of the dimensions from `axis` on.
template <typename Function>
static std::vector<double> mapRows(const Tensor &input, int64_t axis, Function normalise) {
  std::vector<double> values = numbersOf<double>(input);
  int64_t length = elementCount(input.shape().drop_front(axis));
  for (int64_t start = 0; start < input.size(); start += length)
    normalise(values.data() + start, length);
  return values;
}

static Tensor layerNorm(LayerNormOp op, ArrayRef<Tensor> in) {
  std::vector<double> scale, bias;
  if (op.getScale())
    scale = numbersOf<double>(in[1]);
  if (op.getBias())
    bias = numbersOf<double>(in.back());
  double epsilon = op.getEpsilon().convertToDouble();
  auto values = mapRows(in[0], op.getAxis(), [&](double *row, int64_t length) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < length; ++i)
      mean += row[i] / length;
    for (int64_t i = 0; i < length; ++i)
      variance += (row[i] - mean) * (row[i] - mean) / length;
    for (int64_t i = 0; i < length; ++i)
      row[i] = (row[i] - mean) / std::sqrt(variance + epsilon) * (scale.empty() ? 1 : scale[i]) +
               (bias.empty() ? 0 : bias[i]);
  });
  return tensorOf(resultType(op), values);
}

static Tensor rmsNorm(RmsNormOp op, ArrayRef<Tensor> in) {
  std::vector<double> scale;
  if (op.getScale())
    scale = numbersOf<double>(in[1]);
  double epsilon = op.getEpsilon().convertToDouble();
  auto values = mapRows(in[0], op.getAxis(), [&](double *row, int64_t length) {
    double square = 0;
    for (int64_t i = 0; i < length; ++i)
      square += row[i] * row[i] / length;
    for (int64_t i = 0; i < length; ++i)
      row[i] = row[i] / std::sqrt(square + epsilon) * (scale.empty() ? 1 : scale[i]);
  });
  return tensorOf(resultType(op), values);
}

static Tensor rotary(RotaryOp op, ArrayRef<Tensor> in) {
  std::vector<double> values = numbersOf<double>(in[0]);
  std::vector<double> cosines = numbersOf<double>(in[1]), sines = numbersOf<double>(in[2]);
  ArrayRef<int64_t> shape = in[0].shape();
  int64_t pairs = in[1].shape()[2], step = op.getInterleaved() ? 2 : 1;
  for (int64_t row = 0; row < elementCount(shape.drop_back()); ++row) {
    int64_t position = row % shape[2];
    int64_t batch = in[1].shape()[0] == 1 ? 0 : row / (shape[1] * shape[2]);
    int64_t table = (batch * shape[2] + position) * pairs;
    for (int64_t i = 0; i < pairs; ++i) {
      double &x = values[row * shape[3] + i * step];
      double &y = values[row * shape[3] + (op.getInterleaved() ? i * 2 + 1 : i + pairs)];
      double c = cosines[table + i], s = sines[table + i], before = x;
      x = before * c - y * s;
      y = y * c + before * s;
    }
  }
  return tensorOf(resultType(op), values);
}

static Tensor softmax(SoftmaxOp op, const Tensor &input) {
  // Rows along the axis: bring it last, and back.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, input.rank()));
  std::swap(order[op.getAxis()], order.back());
  Tensor rows = transposed(input, order);
  auto values = mapRows(rows, rows.rank() - 1, [](double *row, int64_t length) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t i = 0; i < length; ++i)
      largest = maxNumbers(largest, row[i]);
    for (int64_t i = 0; i < length; ++i)
      sum += row[i] = std::exp(row[i] - largest);
    for (int64_t i = 0; i < length; ++i)
      row[i] /= sum;
  });
  return transposed(tensorOf(rows.type(), values), order);
}

Evaluated weft::evaluateSemantic(Operation *op, ArrayRef<Tensor> in) {
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case<AttentionBackwardOp>([&](auto) { return evaluateAttentionBackward(op, in); })
      .Case<AttentionOp>([&](auto) { return evaluateAttention(op, in); })
      .Case<ConvOp>([&](auto) { return single(evaluateConv(op, in[0], in[1])); })
      .Case<ConvKernelGradientOp>(
          [&](auto) { return single(evaluateConvKernelGradient(op, in[0], in[1])); })
      .Case<DotGeneralOp>([&](auto) { return single(evaluateDotGeneral(op, in[0], in[1])); })
      .Case<LayerNormOp>([&](LayerNormOp o) { return single(layerNorm(o, in)); })
      .Case<RmsNormOp>([&](RmsNormOp o) { return single(rmsNorm(o, in)); })
      .Case<RotaryOp>([&](RotaryOp o) { return single(rotary(o, in)); })
      .Case<SoftmaxOp>([&](SoftmaxOp o) { return single(softmax(o, in[0])); })
      .Default([](Operation *) { return otherFamily(); });
}
