//===- Layer.cpp - one transformer layer as operations --------------------===//
//
// Bytes of streaming operations count 16-bit reads and writes: a norm reads and writes (4 bytes an
// element) and in backward reads twice and writes, with another pass for its parameters (10); bias,
// dropout and residual in one kernel read twice, write, and write a mask (7), in backward 5, and
// gradients that meet at a residual are added (6).
//
//===----------------------------------------------------------------------===//

#include "test/benchmark/cost/Layer.h"

#include "compiler/Cost/Overlap.h"

#include <algorithm>

using namespace weft;
using namespace weft::benchmark;

double Pass::getTotal() const {
  double total = 0;
  for (double part : parts)
    total += part;
  return total;
}

void Passes::scale(double factor) {
  for (Pass *pass : {&forward, &backward})
    for (double &part : pass->parts)
      part *= factor;
}

void Passes::add(const Passes &other) {
  for (int part = 0; part < numParts; ++part) {
    forward.parts[part] += other.forward.parts[part];
    backward.parts[part] += other.backward.parts[part];
  }
}

Software weft::benchmark::getSoftware(const StepRow &row, const DeviceModel &device) {
  bool older = device.name.starts_with("a100") || device.name.starts_with("v100");
  bool modern = !row.profiled && !older;
  bool fused =
      !row.profiled && (modern || row.model == "llama") && row.recompute != Recompute::Selective;
  return {row.fusedAttention.value_or(fused), row.overlapTensor.value_or(modern),
          row.overlapMessages.value_or(modern), row.overlapData.value_or(modern),
          row.shardedOptimizer.value_or(modern)};
}

LayerPricer::LayerPricer(const StepRow &row, const ClusterModel &cluster,
                         const StepOptions &options)
    : row(row), cluster(cluster), group(cluster.groups[0]), options(options) {
  tokens = row.sequence * row.microBatch;
  headSize = row.hidden / row.heads;
  int64_t kvHeads = row.getKvHeads();
  queryWidth = row.hidden / row.tensor;
  keyWidth = headSize * std::max<int64_t>(1, kvHeads / row.tensor);
  gated = row.model == "llama";
  wide = row.getFeedForward() / row.tensor;
  scoreBatch = row.microBatch * std::max<int64_t>(1, row.heads / row.tensor);
  outer = static_cast<double>(tokens * row.hidden);
  if (row.sequenceParallel)
    outer /= static_cast<double>(row.tensor);
  software = weft::benchmark::getSoftware(row, group.device);
  oneSoftmax = scoreBatch % 4 == 0;
}

double LayerPricer::getParameters() const {
  auto hidden = static_cast<double>(row.hidden);
  double attention = hidden * static_cast<double>(2 * queryWidth + 2 * keyWidth);
  double mlp = hidden * static_cast<double>(wide) * (gated ? 3 : 2);
  return attention + mlp + 4 * hidden;
}

void LayerPricer::addProduct(Pass &pass, int64_t m, int64_t n, int64_t k) const {
  pass.parts[Products] +=
      getMatmulSeconds(group.device, {1, m, n, k, row.dtype}, options.constants);
  ++pass.kernels;
}

void LayerPricer::addBatched(Pass &pass, int64_t m, int64_t n, int64_t k) const {
  if (has(Attention))
    pass.parts[Attention] += getBatchedMatmulSeconds(
        group.device, {scoreBatch, m, n, k, row.getHeldType()}, options.constants);
  ++pass.kernels;
}

void LayerPricer::addStream(Pass &pass, double bytes, Part part) const {
  if (has(part))
    pass.parts[part] += getStreamSeconds(group.device, bytes, options.constants);
  ++pass.kernels;
}

double LayerPricer::addLinearBackward(Pass &pass, int64_t in, int64_t out) const {
  addProduct(pass, tokens, in, out);
  double before = pass.parts[Products];
  addProduct(pass, in, out, tokens);
  // The gradient is added to what earlier microbatches left, in the accumulator's type.
  double accumulated = row.dtype == "f16" ? 6 : 10;
  double weights = static_cast<double>(in) * static_cast<double>(out);
  if (row.getMicrobatches() > 1)
    addStream(pass, accumulated * weights);
  return pass.parts[Products] - before;
}

double LayerPricer::getTensorSeconds(CollectiveKind kind) const {
  if (row.tensor <= 1 || !has(Tensor))
    return 0;
  double bytes = static_cast<double>(tokens * row.hidden) * getElementBytes(row.getHeldType());
  return getCollectiveSeconds(cluster, group, placeGroup(group, 1, row.tensor), kind, bytes,
                              options.constants);
}

/// What a collective adds beside so many seconds of a product: all of it where layers are profiled;
/// in real runs little beside a weight gradient, which is independent. Beside the product that it
/// feeds it goes in as many parts as there are ranks, where the framework does that; the first (or
/// the last) part has nothing beside it.
double LayerPricer::expose(double collective, double beside, bool independent) const {
  if (row.profiled || (!independent && !software.overlapTensor))
    return collective;
  double alone = independent ? 0 : collective / static_cast<double>(row.tensor);
  return alone + getExposedSeconds(collective - alone, beside, options.constants);
}

/// The hidden state summed over the tensor group; where the sequence is split, scattered there and
/// gathered for the next product, which takes as long as the average of this pass's.
void LayerPricer::addTensor(Pass &pass, double weightGradient) const {
  if (row.tensor <= 1)
    return;
  ++pass.collectives;
  double product = weightGradient > 0 ? weightGradient : pass.parts[Products] / 2;
  if (!row.sequenceParallel) {
    pass.parts[Tensor] +=
        expose(getTensorSeconds(CollectiveKind::AllReduce), product, weightGradient > 0);
    return;
  }
  ++pass.collectives;
  pass.parts[Tensor] +=
      expose(getTensorSeconds(CollectiveKind::ReduceScatter), product, weightGradient > 0) +
      expose(getTensorSeconds(CollectiveKind::AllGather), product, false);
}

/// Attention in one kernel forward, in two backward.
void LayerPricer::addFusedAttention(Pass &pass, bool backward) const {
  FusedAttention attention{
      row.microBatch, scoreBatch / row.microBatch, row.sequence,     row.sequence,
      headSize,       row.model != "bert",         row.getHeldType()};
  auto price = backward ? getAttentionBackwardSeconds : getAttentionForwardSeconds;
  if (has(Attention))
    pass.parts[Attention] += price(group.device, attention, options.constants);
  pass.kernels += backward ? 3 : 2;
}

/// From queries, keys and values to their weighted sum, or from its gradient to theirs: softmax
/// backward reads its result besides. Where softmax is not one kernel, scale, mask and the
/// exponential's terms are passes of their own.
void LayerPricer::addAttention(Pass &pass, bool backward) const {
  if (software.fusedAttention)
    return addFusedAttention(pass, backward);
  double scores = static_cast<double>(scoreBatch) * static_cast<double>(row.sequence) *
                  static_cast<double>(row.sequence);
  double softmax = backward ? (oneSoftmax ? 6 : 22) : (oneSoftmax ? 4 : 26);
  addBatched(pass, row.sequence, row.sequence, headSize); // scores, or their gradient
  for (int i = 0; i < (backward ? 3 : 1); ++i)
    addBatched(pass, row.sequence, headSize, row.sequence);
  addStream(pass, softmax * scores, Attention);
  addStream(pass, 5 * scores, Attention); // dropout, with its mask
  int64_t width = backward ? queryWidth + 2 * keyWidth : queryWidth;
  addStream(pass, 4 * static_cast<double>(tokens * width));
}

Pass LayerPricer::getForward() const {
  Pass pass;
  addStream(pass, 4 * outer);
  addProduct(pass, tokens, queryWidth + 2 * keyWidth, row.hidden);
  addAttention(pass, /*backward=*/false);
  addProduct(pass, tokens, row.hidden, queryWidth);
  addTensor(pass, 0);
  addStream(pass, 7 * outer);
  addStream(pass, 4 * outer);
  addProduct(pass, tokens, gated ? 2 * wide : wide, row.hidden);
  addStream(pass, (gated ? 6 : 4) * static_cast<double>(tokens * wide));
  addProduct(pass, tokens, row.hidden, wide);
  addTensor(pass, 0);
  addStream(pass, 7 * outer);
  return pass;
}

Pass LayerPricer::getBackward() const {
  Pass pass;
  addStream(pass, 5 * outer);
  addLinearBackward(pass, wide, row.hidden);
  addStream(pass, (gated ? 10 : 6) * static_cast<double>(tokens * wide));
  addTensor(pass, addLinearBackward(pass, row.hidden, gated ? 2 * wide : wide));
  addStream(pass, 2 * static_cast<double>(tokens * wide)); // the bias's gradient
  addStream(pass, 10 * outer);
  addStream(pass, 6 * outer);
  addStream(pass, 5 * outer);
  addLinearBackward(pass, queryWidth, row.hidden);
  addAttention(pass, /*backward=*/true);
  addTensor(pass, addLinearBackward(pass, row.hidden, queryWidth + 2 * keyWidth));
  addStream(pass, 10 * outer);
  addStream(pass, 6 * outer);
  return pass;
}

/// Raises the pass to what the host needs to start it.
void LayerPricer::addHostFloor(Pass &pass, bool forward) const {
  if (!has(Host))
    return;
  double host = getHostFloor(pass.kernels + pass.collectives, options.constants);
  if (row.profiled) {
    const ProfilerConstants &profiler = options.profiler;
    host = profiler.layer * (forward ? 5 : 3) / 8 + (oneSoftmax || !forward ? 0 : profiler.softmax);
  }
  double device = pass.getTotal() - pass.parts[Tensor];
  pass.parts[Host] += joinHostAndDevice(host, device, options.constants) - device;
}

Passes LayerPricer::getLayer() const {
  Passes passes{getForward(), getBackward()};
  Pass again;
  if (row.recompute == Recompute::Full)
    again = passes.forward;
  else if (row.recompute == Recompute::Selective && !software.fusedAttention)
    addAttention(again, /*backward=*/false);
  passes.backward.kernels += again.kernels;
  passes.backward.collectives += again.collectives;
  if (has(Recomputed)) {
    passes.backward.parts[Recomputed] += again.getTotal() - again.parts[Tensor];
    passes.backward.parts[Tensor] += again.parts[Tensor];
  }
  addHostFloor(passes.forward, true);
  addHostFloor(passes.backward, false);
  return passes;
}

/// What the profiler's gaps add to the embedding and to each pass of the head.
void LayerPricer::addEndsFloor(Pass &pass) const {
  if (row.profiled && has(Host))
    pass.parts[Host] += options.profiler.ends / 3;
}

/// All of a pass as one term.
static void gather(Pass &pass, Part part) {
  double total = pass.getTotal();
  pass.parts.fill(0);
  pass.parts[part] = total;
}

Passes LayerPricer::getEmbedding() const {
  Passes passes;
  addStream(passes.forward, 11 * outer);
  addStream(passes.backward, 11 * outer);
  addTensor(passes.forward, 0);
  addEndsFloor(passes.forward);
  gather(passes.forward, Head);
  gather(passes.backward, Head);
  return passes;
}

Passes LayerPricer::getHead() const {
  Passes passes;
  int64_t words = (row.vocabulary + row.tensor - 1) / row.tensor;
  double logits = static_cast<double>(tokens) * static_cast<double>(words);
  addStream(passes.forward, 4 * outer);
  addProduct(passes.forward, tokens, words, row.hidden);
  addStream(passes.forward, 20 * logits); // widened to f32, exponentials and their sum
  addStream(passes.backward, 15 * logits);
  addTensor(passes.backward, addLinearBackward(passes.backward, row.hidden, words));
  addStream(passes.backward, 10 * outer);
  addEndsFloor(passes.forward);
  addEndsFloor(passes.backward);
  gather(passes.forward, Head);
  gather(passes.backward, Head);
  return passes;
}
