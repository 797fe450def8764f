#include "compiler/Validate/OperationTable.h"
#include "compiler/Cost/Collectives.h"
#include "compiler/Cost/Compute.h"
#include "compiler/Cost/Kernels.h"
#include "compiler/Validate/Csv.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace weft;
using namespace weft::validate;

namespace {

/// Prices one row. Sequences are those of the encoder or of the decoder; keys come from the encoder
/// in the decoder's second attention.
class OperationPricer {
public:
  OperationPricer(const OperationRow &row, const ClusterModel &cluster,
                  const CostConstants &constants, const OperationProfiler &profiler);
  OperationTimes price();

private:
  struct Kind {
    const char *name; ///< without the side, and the attention's number
    void (OperationPricer::*price)();
  };
  static const std::array<Kind, 17> kinds;

  void priceNorm() { addNorm(false); }
  void priceFinalNorm() { addNorm(true); }
  void priceInput();
  void priceDense();
  void priceUp();
  void priceDown();
  void priceScore();
  void priceSoftmax();
  void priceScoreDropout();
  void priceContext();
  void priceDropoutAdd();
  void priceActivation();
  void priceEmbedding();
  void priceHead();

  void addNorm(bool final);
  void addLinear(int64_t rows, int64_t in, int64_t out, bool bias);
  void addBatched(double OperationTimes::*pass, int64_t m, int64_t n, int64_t k);
  double getStream(double bytes) const { return getStreamSeconds(device, bytes, constants); }
  double getSum(double elements) const;
  void addCalls(int64_t forward, int64_t backward) {
    forwardCalls += forward;
    backwardCalls += backward;
  }

  const OperationRow &row;
  const ClusterModel &cluster;
  const GroupModel &group;
  const DeviceModel &device;
  const CostConstants &constants;
  const OperationProfiler &profiler;
  std::string kind;
  bool decoder = false, cross = false, encoderDecoder;
  int64_t queries, keys, tokens, projected, scoreBatch;
  double elements, scores;
  OperationTimes times;
  int64_t forwardCalls = 0, backwardCalls = 0; ///< of the framework
  double leastBackward = 0;                    ///< s
};

const std::array<OperationPricer::Kind, 17> OperationPricer::kinds = {{
    {"1st-layernorm", &OperationPricer::priceNorm},
    {"2nd-layernorm", &OperationPricer::priceNorm},
    {"3rd-layernorm", &OperationPricer::priceNorm},
    {"final-layernorm", &OperationPricer::priceFinalNorm},
    {"attention-qkv", &OperationPricer::priceInput},
    {"attention-score", &OperationPricer::priceScore},
    {"attention-softmax", &OperationPricer::priceSoftmax},
    {"attention-dropout", &OperationPricer::priceScoreDropout},
    {"attention-context", &OperationPricer::priceContext},
    {"attention-dense", &OperationPricer::priceDense},
    {"post-attention-dropout", &OperationPricer::priceDropoutAdd},
    {"post-MLP-dropout", &OperationPricer::priceDropoutAdd},
    {"MLP-GEMM-1", &OperationPricer::priceUp},
    {"MLP-gelu", &OperationPricer::priceActivation},
    {"MLP-GEMM-2", &OperationPricer::priceDown},
    {"embedding", &OperationPricer::priceEmbedding},
    {"post-process", &OperationPricer::priceHead},
}};

/// enc-attention-qkv and dec-attention-qkv-2 are attention-qkv, gpt-post-process is post-process.
std::string stripName(const std::string &operation) {
  size_t begin = operation.find('-');
  std::string prefix = operation.substr(0, begin);
  std::string name = operation;
  for (const char *known : {"enc", "dec", "encoder", "decoder", "gpt", "t5"})
    if (prefix == known)
      name = operation.substr(begin + 1);
  bool numbered = name.ends_with("-1") || name.ends_with("-2");
  return numbered && !name.starts_with("MLP") ? name.substr(0, name.size() - 2) : name;
}

OperationPricer::OperationPricer(const OperationRow &row, const ClusterModel &cluster,
                                 const CostConstants &constants, const OperationProfiler &profiler)
    : row(row), cluster(cluster), group(cluster.groups[0]), device(group.device),
      constants(constants), profiler(profiler), kind(stripName(row.operation)),
      encoderDecoder(row.decoderSequence > 0) {
  decoder = encoderDecoder && !row.operation.starts_with("enc");
  cross = decoder && row.operation.ends_with("-2") && kind.find("attention") != std::string::npos;
  queries = decoder ? row.decoderSequence : row.sequence;
  keys = cross ? row.sequence : queries;
  tokens = row.microBatch * queries;
  projected = row.heads * row.headSize;
  scoreBatch = row.microBatch * row.heads / row.tensor;
  elements = static_cast<double>(tokens * row.hidden);
  scores = static_cast<double>(scoreBatch) * static_cast<double>(queries * keys);
}

/// All-reduce of so many 16-bit elements over the tensor group.
double OperationPricer::getSum(double elements) const {
  if (row.tensor <= 1)
    return 0;
  return getCollectiveSeconds(cluster, group, placeGroup(group, 1, row.tensor),
                              CollectiveKind::AllReduce, 2 * elements, constants);
}

/// y = x·Wᵀ and both gradients. Where the product does not leave the bias to the next operation, it
/// is written into the result first and added to, and its gradient is a sum over rows.
void OperationPricer::addLinear(int64_t rows, int64_t in, int64_t out, bool bias) {
  auto get = [&](int64_t m, int64_t n, int64_t k, bool depthMajor) {
    return getMatmulSeconds(device, {1, m, n, k, "f16", depthMajor}, constants);
  };
  times.forward += get(rows, out, in, true);
  times.backward += get(rows, in, out, false) + get(out, in, rows, false);
  addCalls(5, 6);
  if (!bias)
    return;
  double results = static_cast<double>(rows * out);
  times.forward += getStream(getBiasBytes(results, /*backward=*/false));
  times.backward += getStream(getBiasBytes(results, /*backward=*/true));
  addCalls(1, 2);
}

/// The norms before attention and MLP hand their input on to the residual, whose gradient is added.
/// The last one turns batch and sequence around, a copy where the batch is more than one, and is
/// the first whose backward runs.
void OperationPricer::addNorm(bool final) {
  auto width = static_cast<double>(row.hidden);
  times.forward += getStream(getNormBytes(device, elements, width, false));
  times.backward += getStream(getNormBytes(device, elements, width, true));
  addCalls(2, 5);
  if (!final) {
    times.backward += getStream(6 * elements);
    return;
  }
  leastBackward = profiler.first;
  if (row.microBatch > 1) {
    times.forward += getStream(4 * elements);
    times.backward += getStream(4 * elements);
  }
}

/// Queries, keys and values; the decoder's second attention takes keys and values of the encoder.
void OperationPricer::priceInput() {
  if (row.algorithm == 1) {
    addLinear(tokens, row.hidden / row.tensor, 3 * projected, true);
    times.forward += getSum(static_cast<double>(tokens * 3 * projected));
    return;
  }
  if (!cross) {
    addLinear(tokens, row.hidden, 3 * projected / row.tensor, true);
    times.backward += getSum(elements);
    return;
  }
  int64_t source = row.microBatch * row.sequence;
  addLinear(tokens, row.hidden, projected / row.tensor, true);
  addLinear(source, row.hidden, 2 * projected / row.tensor, true);
  times.backward += getSum(elements) + getSum(static_cast<double>(source * row.hidden));
}

void OperationPricer::priceDense() {
  addLinear(tokens, projected / row.tensor, row.hidden, false);
  times.forward += getSum(elements);
}

void OperationPricer::priceUp() {
  addLinear(tokens, row.hidden, row.feedForward / row.tensor, false);
  times.backward += getSum(elements);
}

void OperationPricer::priceDown() {
  addLinear(tokens, row.feedForward / row.tensor, row.hidden, false);
  times.forward += getSum(elements);
}

void OperationPricer::addBatched(double OperationTimes::*pass, int64_t m, int64_t n, int64_t k) {
  times.*pass += getProductSeconds(device, {scoreBatch, m, n, k, "f16"}, constants);
}

void OperationPricer::priceScore() {
  addBatched(&OperationTimes::forward, queries, keys, row.headSize);
  addBatched(&OperationTimes::backward, queries, row.headSize, keys);
  addBatched(&OperationTimes::backward, keys, row.headSize, queries);
  addCalls(3, 7);
}

void OperationPricer::priceContext() {
  addBatched(&OperationTimes::forward, queries, row.headSize, keys);
  addBatched(&OperationTimes::backward, queries, keys, row.headSize);
  addBatched(&OperationTimes::backward, keys, row.headSize, queries);
  addCalls(4, 6);
}

/// Megatron-LM's kernels take batches of a multiple of four.
void OperationPricer::priceSoftmax() {
  bool causal = !encoderDecoder || (decoder && !cross);
  SoftmaxKernel kernel = scoreBatch % 4 != 0 ? SoftmaxKernel::Unfused
                         : causal            ? SoftmaxKernel::Causal
                                             : SoftmaxKernel::Masked;
  times.forward += getStream(getSoftmaxBytes(scores, kernel, false));
  times.backward += getStream(getSoftmaxBytes(scores, kernel, true));
  addCalls(3, 4);
}

void OperationPricer::priceScoreDropout() {
  times.forward += getStream(getDropoutBytes(scores));
  times.backward += getStream(getDropoutBytes(scores));
  addCalls(3, 3);
}

void OperationPricer::priceDropoutAdd() {
  times.forward += getStream(getBiasDropoutAddBytes(elements, /*fused=*/false, false));
  times.backward += getStream(getBiasDropoutAddBytes(elements, /*fused=*/false, true));
  addCalls(4, 4);
}

void OperationPricer::priceActivation() {
  double inner = static_cast<double>(tokens * row.feedForward) / static_cast<double>(row.tensor);
  times.forward += getStream(getBiasActivationBytes(inner, false));
  times.backward += getStream(getBiasActivationBytes(inner, true));
  addCalls(2, 5);
}

/// A rank looks up the words that it holds, clears the others (8 bytes an element) and sums. The
/// table is one for both sides of an encoder and decoder; its gradient is the encoder's.
void OperationPricer::priceEmbedding() {
  double masked = row.tensor > 1 ? 8 * elements : 0;
  times.forward += getStream(getEmbeddingForwardBytes(elements) + masked) + getSum(elements);
  addCalls((decoder ? 11 : 6) + (row.tensor > 1 ? 12 : 0), 3);
  if (decoder)
    return;
  double table = static_cast<double>(row.vocabulary * row.hidden) / static_cast<double>(row.tensor);
  times.backward += getStream(getEmbeddingBackwardBytes(elements, table) + masked);
}

void OperationPricer::priceHead() {
  int64_t words = (row.vocabulary + row.tensor - 1) / row.tensor;
  double logits = static_cast<double>(tokens) * static_cast<double>(words);
  addLinear(tokens, row.hidden, words, false);
  times.forward += getStream(getLossBytes(logits, /*backward=*/false));
  times.backward += getStream(getLossBytes(logits, /*backward=*/true)) + getSum(elements);
  addCalls(25, 14);
}

OperationTimes OperationPricer::price() {
  const auto *found = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const Kind &entry) { return kind == entry.name; });
  if (found == kinds.end())
    throw std::runtime_error(fmt::format("no operation '{}'", row.operation));
  (this->*found->price)();
  auto join = [&](double seconds, int64_t calls) {
    return joinHostAndDevice(static_cast<double>(calls) * profiler.call, seconds, constants);
  };
  return {join(times.forward, forwardCalls),
          std::max(leastBackward, join(times.backward, backwardCalls))};
}

using Setter = Setters<OperationRow>::mapped_type;

Setter setCount(int64_t OperationRow::*field, int64_t least) {
  return [=](OperationRow &row, const std::string &text) {
    row.*field = parseNumber<int64_t>(text);
    if (row.*field < least || row.*field > 1'000'000'000)
      throw std::runtime_error(
          fmt::format("expected a number from {} to 1e9, got: {}", least, text));
  };
}

Setter setMicroseconds(double OperationRow::*field) {
  return [=](OperationRow &row, const std::string &text) {
    row.*field = parseNumber<double>(text) * 1e-6;
    if (!(row.*field >= 0) || !std::isfinite(row.*field))
      throw std::runtime_error(fmt::format("expected microseconds of at least 0, got: {}", text));
  };
}

Setter setText(std::string OperationRow::*field) {
  return [=](OperationRow &row, const std::string &text) { row.*field = text; };
}

const Setters<OperationRow> &getSetters() {
  static const Setters<OperationRow> setters = {
      {"model", setText(&OperationRow::model)},
      {"op", setText(&OperationRow::operation)},
      {"hidden", setCount(&OperationRow::hidden, 1)},
      {"feed_forward", setCount(&OperationRow::feedForward, 1)},
      {"heads", setCount(&OperationRow::heads, 1)},
      {"head_size", setCount(&OperationRow::headSize, 1)},
      {"seq", setCount(&OperationRow::sequence, 1)},
      {"decoder_seq", setCount(&OperationRow::decoderSequence, 0)},
      {"vocab", setCount(&OperationRow::vocabulary, 1)},
      {"micro_batch", setCount(&OperationRow::microBatch, 1)},
      {"tp", setCount(&OperationRow::tensor, 1)},
      {"algo", setCount(&OperationRow::algorithm, 0)},
      {"forward_us", setMicroseconds(&OperationRow::forward)},
      {"backward_us", setMicroseconds(&OperationRow::backward)},
  };
  return setters;
}

void checkRow(OperationRow &row) {
  for (auto [name, value] : {std::pair{"hidden", row.hidden},
                             {"feed_forward", row.feedForward},
                             {"heads", row.heads},
                             {"head_size", row.headSize},
                             {"seq", row.sequence},
                             {"vocab", row.vocabulary}})
    if (value < 1)
      throw std::runtime_error(fmt::format("column '{}' is needed", name));
  if (row.heads % row.tensor != 0 || row.feedForward % row.tensor != 0)
    throw std::runtime_error(
        fmt::format("expected heads and feed_forward to be multiples of tp = {}", row.tensor));
}

} // namespace

std::vector<OperationRow> weft::validate::readOperationTable(const std::string &path) {
  return readRows<OperationRow>(
      path, getSetters(), [](const auto &) { return OperationRow(); }, checkRow);
}

OperationTimes weft::validate::predictOperation(const OperationRow &row,
                                                const ClusterModel &cluster,
                                                const CostConstants &constants,
                                                const OperationProfiler &profiler) {
  return OperationPricer(row, cluster, constants, profiler).price();
}
