// Attention and its gradients, row by row, as their definitions in WeftSemantic.td read.
#include "compiler/Interpret/Families.h"
#include "compiler/Interpret/Numbers.h"
#include "compiler/Interpret/Strided.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace weft;

namespace {
/// A rank-4 operand that broadcasts over [b, h, s, t].
struct Spread {
  std::vector<double> values;
  SmallVector<int64_t> strides;

  explicit Spread(const Tensor &tensor)
      : values(numbersOf<double>(tensor)), strides(rowMajorStrides(tensor.shape())) {
    for (auto [dim, size] : llvm::enumerate(tensor.shape()))
      if (size == 1)
        strides[dim] = 0;
  }
  double at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return values[b * strides[0] + h * strides[1] + i * strides[2] + j * strides[3]];
  }
};

/// The operands of one attention, or of its gradients, and the row that is being computed.
template <typename Op> class Attention {
public:
  Attention(Op op, ArrayRef<Tensor> in)
      : op(op), heads(in[0].shape()[1]), groups(in[1].shape()[1]), rows(in[0].shape()[2]),
        keys(in[1].shape()[2]), depth(in[0].shape()[3]), width(in[2].shape()[3]),
        query(numbersOf<double>(in[0])), key(numbersOf<double>(in[1])),
        value(numbersOf<double>(in[2])), weights(keys), visible(keys) {
    if (op.getMask())
      mask.emplace(in[3]);
    if (op.getBias())
      bias.emplace(in[op.getMask() ? 4 : 3]);
  }

  /// Writes the `width` results of a row and returns its log-sum-exp.
  double row(int64_t b, int64_t h, int64_t i, double *out) {
    double logSum = weigh(b, h, i);
    const double *values = value.data() + kvHead(b, h) * keys * width;
    std::fill_n(out, width, 0);
    for (int64_t j = 0; j < keys; ++j)
      for (int64_t e = 0; e < width; ++e)
        out[e] += weights[j] * values[j * width + e];
    return logSum;
  }

  /// Adds the gradients that a row with the gradient `outer` gives query, key and value.
  void rowBackward(int64_t b, int64_t h, int64_t i, const double *outer,
                   std::array<std::vector<double>, 3> &gradients) {
    weigh(b, h, i);
    int64_t queryRow = ((b * heads + h) * rows + i) * depth, kv = kvHead(b, h) * keys;
    std::vector<double> ofWeights(keys, 0);
    double mean = 0;
    for (int64_t j = 0; j < keys; ++j) {
      for (int64_t e = 0; e < width; ++e) {
        ofWeights[j] += outer[e] * value[(kv + j) * width + e];
        gradients[2][(kv + j) * width + e] += weights[j] * outer[e];
      }
      mean += weights[j] * ofWeights[j];
    }
    for (int64_t j = 0; j < keys; ++j) {
      double ofScore = visible[j] ? weights[j] * (ofWeights[j] - mean) * slope(b, h, i, j) : 0;
      for (int64_t d = 0; d < depth; ++d) {
        gradients[0][queryRow + d] += ofScore * key[(kv + j) * depth + d];
        gradients[1][(kv + j) * depth + d] += ofScore * query[queryRow + d];
      }
    }
  }

private:
  int64_t kvHead(int64_t b, int64_t h) const { return b * groups + h / (heads / groups); }

  /// Computes the weights of a row; returns its log-sum-exp.
  double weigh(int64_t b, int64_t h, int64_t i) {
    double largest = -std::numeric_limits<double>::infinity();
    bool seen = false;
    for (int64_t j = 0; j < keys; ++j) {
      visible[j] = isVisible(b, h, i, j);
      weights[j] = score(b, h, i, j);
      seen |= visible[j] && (op.getMaskedRows() != MaskedRows::Zero ||
                             weights[j] != -std::numeric_limits<double>::infinity());
      if (visible[j])
        largest = maxNumbers(largest, weights[j]);
    }
    double sum = 0;
    for (int64_t j = 0; j < keys; ++j)
      sum += weights[j] = visible[j] ? std::exp(weights[j] - largest) : 0;
    if (!seen)
      sum = maskedRow();
    for (double &weight : weights)
      weight /= sum;
    return seen ? std::log(sum) + largest : largest;
  }

  /// Fills the weights of a row that sees no key; returns what they are divided by.
  double maskedRow() {
    switch (op.getMaskedRows()) {
    case MaskedRows::Uniform:
      std::fill(weights.begin(), weights.end(), 1);
      return keys;
    case MaskedRows::Zero:
      std::fill(weights.begin(), weights.end(), 0);
      return 1;
    case MaskedRows::Nan:
      return 0;
    }
    return 0;
  }

  bool isVisible(int64_t b, int64_t h, int64_t i, int64_t j) {
    if (mask && mask->at(b, h, i, j) == 0)
      return false;
    int64_t p = i + op.getQueryOffset();
    if (op.getCausal() && j > p)
      return false;
    std::optional<int64_t> window = op.getWindow();
    return !window || (p - j < *window && (op.getCausal() || j - p < *window));
  }

  /// The scaled product of a query and a key.
  double scaled(int64_t b, int64_t h, int64_t i, int64_t j) {
    const double *q = query.data() + ((b * heads + h) * rows + i) * depth;
    const double *k = key.data() + (kvHead(b, h) * keys + j) * depth;
    double sum = 0;
    for (int64_t d = 0; d < depth; ++d)
      sum += q[d] * k[d];
    return sum * op.getScale().convertToDouble();
  }

  double score(int64_t b, int64_t h, int64_t i, int64_t j) {
    double sum = scaled(b, h, i, j);
    if (std::optional<APFloat> cap = op.getSoftcap()) {
      double softcap = cap->convertToDouble();
      sum = softcap * std::tanh(sum / softcap);
    }
    return bias ? sum + bias->at(b, h, i, j) : sum;
  }

  /// The derivative of a score by the product of query and key.
  double slope(int64_t b, int64_t h, int64_t i, int64_t j) {
    double scale = op.getScale().convertToDouble();
    std::optional<APFloat> cap = op.getSoftcap();
    if (!cap)
      return scale;
    double bent = std::tanh(scaled(b, h, i, j) / cap->convertToDouble());
    return scale * (1 - bent * bent);
  }

  Op op;
  int64_t heads, groups, rows, keys, depth, width;
  std::vector<double> query, key, value;
  std::optional<Spread> mask, bias;
  std::vector<double> weights;
  std::vector<bool> visible;
};
} // namespace

Evaluated weft::evaluateAttention(Operation *op, ArrayRef<Tensor> in) {
  auto attention = cast<AttentionOp>(op);
  RankedTensorType type = resultType(op);
  ArrayRef<int64_t> shape = type.getShape();
  std::vector<double> result(type.getNumElements()), lse(elementCount(shape.drop_back()));
  Attention<AttentionOp> work(attention, in);
  for (size_t row = 0; row < lse.size(); ++row) {
    int64_t i = row % shape[2], head = row / shape[2];
    lse[row] = work.row(head / shape[1], head % shape[1], i, result.data() + row * shape[3]);
  }
  SmallVector<Tensor> results{tensorOf(type, result)};
  if (attention.getLse())
    results.push_back(tensorOf(resultType(op, 1), lse));
  return results;
}

Evaluated weft::evaluateAttentionBackward(Operation *op, ArrayRef<Tensor> in) {
  Attention<AttentionBackwardOp> work(cast<AttentionBackwardOp>(op), in);
  ArrayRef<int64_t> shape = in.back().shape();
  std::vector<double> outer = numbersOf<double>(in.back());
  std::array<std::vector<double>, 3> gradients;
  for (unsigned i = 0; i < 3; ++i)
    gradients[i].assign(resultType(op, i).getNumElements(), 0);
  for (int64_t row = 0, count = elementCount(shape.drop_back()); row < count; ++row) {
    int64_t i = row % shape[2], head = row / shape[2];
    work.rowBackward(head / shape[1], head % shape[1], i, outer.data() + row * shape[3], gradients);
  }
  SmallVector<Tensor> results;
  for (unsigned i = 0; i < 3; ++i)
    results.push_back(tensorOf(resultType(op, i), gradients[i]));
  return results;
}
