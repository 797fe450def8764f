//===- TransformerLayer.cpp - one layer as operations ---------------------===//

#include "compiler/Validate/TransformerLayer.h"

#include "compiler/Cost/Kernels.h"
#include "compiler/Cost/Overlap.h"

#include <algorithm>

using namespace weft;
using namespace weft::validate;

double Pass::getTotal() const {
  double total = 0;
  for (double part : parts)
    total += part;
  return total;
}

void Pass::scale(double factor) {
  for (double &part : parts)
    part *= factor;
}

void Pass::add(const Pass &other) {
  for (int part = 0; part < numParts; ++part)
    parts[part] += other.parts[part];
  kernels += other.kernels;
  collectives += other.collectives;
}

Pass Passes::getBackward() const {
  Pass backward = input;
  backward.add(weight);
  return backward;
}

void Passes::scale(double factor) {
  for (Pass *pass : {&forward, &input, &weight})
    pass->scale(factor);
}

void Passes::add(const Passes &other) {
  forward.add(other.forward);
  input.add(other.input);
  weight.add(other.weight);
}

Software weft::validate::getSoftware(const StepRow &row, const DeviceModel &device) {
  bool older = device.name.starts_with("a100") || device.name.starts_with("v100");
  bool modern = !row.profiled && !older;
  bool fused =
      !row.profiled && (modern || row.model == "llama") && row.recompute != Recompute::Selective;
  return {row.fusedAttention.value_or(fused),    row.overlapTensor.value_or(modern),
          row.overlapMessages.value_or(modern),  row.overlapData.value_or(modern),
          row.shardedOptimizer.value_or(modern), modern};
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
  software = weft::validate::getSoftware(row, group.device);
  oneSoftmax = scoreBatch % 4 == 0;
}

double LayerPricer::getParameters() const {
  auto hidden = static_cast<double>(row.hidden);
  double attention = hidden * static_cast<double>(2 * queryWidth + 2 * keyWidth);
  double mlp = hidden * static_cast<double>(wide) * (gated ? 3 : 2);
  return attention + mlp + 4 * hidden;
}

void LayerPricer::addProduct(Pass &pass, const Matmul &product) const {
  pass.parts[Products] += getMatmulSeconds(group.device, product, options.constants);
  ++pass.kernels;
}

/// y = x·Wᵀ.
void LayerPricer::addLinear(Pass &pass, const Linear &linear) const {
  addProduct(pass, {1, tokens, linear.out, linear.in, linear.dtype, /*depthMajor=*/true});
}

/// To 8 bits, as it is and transposed, for products that reduce over either dimension. Norms and
/// activations write both in place of 16 bits.
void LayerPricer::addCast(Pass &pass, int64_t width) const {
  if (row.dtype == "f8")
    addStream(pass, 4 * static_cast<double>(tokens * width));
}

/// Of queries, keys and values; others go with the operation that follows.
void LayerPricer::addBias(Pass &pass, int64_t width, bool backward) const {
  if (!gated)
    addStream(pass, getBiasBytes(static_cast<double>(tokens * width), backward));
}

void LayerPricer::addBatched(Pass &pass, int64_t m, int64_t n, int64_t k) const {
  if (has(Attention))
    pass.parts[Attention] += getProductSeconds(
        group.device, {scoreBatch, m, n, k, row.getHeldType()}, options.constants);
  ++pass.kernels;
}

void LayerPricer::addStream(Pass &pass, double bytes, Part part) const {
  if (has(part))
    pass.parts[part] += getStreamSeconds(group.device, bytes, options.constants);
  ++pass.kernels;
}

/// The weight's gradient is added to what earlier microbatches left, in the accumulator's type: by
/// the product itself, or by a kernel that reads both.
double LayerPricer::addLinearBackward(Passes &passes, const Linear &linear) const {
  const auto &[in, out, dtype] = linear;
  addProduct(passes.input, {1, tokens, in, out, dtype});
  bool adds = row.getMicrobatches() > 1;
  double before = passes.weight.parts[Products], accumulator = row.getGradientBytes();
  Matmul weight{1, in, out, tokens, dtype};
  if (software.fusedAccumulation)
    weight.resultBytes = adds ? 2 * accumulator : accumulator;
  addProduct(passes.weight, weight);
  double seconds = passes.weight.parts[Products] - before;
  if (adds && !software.fusedAccumulation)
    addStream(passes.weight,
              (2 + 2 * accumulator) * static_cast<double>(in) * static_cast<double>(out));
  return seconds;
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

/// From queries, keys and values to their weighted sum, or from its gradient to theirs.
void LayerPricer::addAttention(Pass &pass, bool backward) const {
  if (software.fusedAttention)
    return addFusedAttention(pass, backward);
  double scores = static_cast<double>(scoreBatch) * static_cast<double>(row.sequence) *
                  static_cast<double>(row.sequence);
  SoftmaxKernel kernel = row.model == "bert" ? SoftmaxKernel::Masked : SoftmaxKernel::Causal;
  addBatched(pass, row.sequence, row.sequence, headSize); // scores, or their gradient
  for (int i = 0; i < (backward ? 3 : 1); ++i)
    addBatched(pass, row.sequence, headSize, row.sequence);
  addStream(pass, getSoftmaxBytes(scores, oneSoftmax ? kernel : SoftmaxKernel::Unfused, backward),
            Attention);
  addStream(pass, getDropoutBytes(scores), Attention);
  int64_t width = backward ? queryWidth + 2 * keyWidth : queryWidth;
  addStream(pass, 4 * static_cast<double>(tokens * width)); // transposed
}

double LayerPricer::getNorm(bool backward) const {
  return getNormBytes(group.device, outer, static_cast<double>(row.hidden), backward);
}

Pass LayerPricer::getForward() const {
  Pass pass;
  auto inner = static_cast<double>(tokens * wide);
  addStream(pass, getNorm(false));
  addLinear(pass, makeLinear(row.hidden, queryWidth + 2 * keyWidth));
  addBias(pass, queryWidth + 2 * keyWidth, /*backward=*/false);
  addAttention(pass, /*backward=*/false);
  addCast(pass, queryWidth);
  addLinear(pass, makeLinear(queryWidth, row.hidden));
  addTensor(pass, 0);
  addStream(pass, getBiasDropoutAddBytes(outer, /*fused=*/true, /*backward=*/false));
  addStream(pass, getNorm(false));
  addLinear(pass, makeLinear(row.hidden, gated ? 2 * wide : wide));
  addStream(pass, gated ? 6 * inner : getBiasActivationBytes(inner, /*backward=*/false));
  addLinear(pass, makeLinear(wide, row.hidden));
  addTensor(pass, 0);
  addStream(pass, getBiasDropoutAddBytes(outer, /*fused=*/true, /*backward=*/false));
  return pass;
}

/// Gradients that meet at a residual are added (6 bytes an element).
void LayerPricer::addBackward(Passes &passes) const {
  Pass &pass = passes.input;
  auto inner = static_cast<double>(tokens * wide);
  addStream(pass, getBiasDropoutAddBytes(outer, /*fused=*/true, /*backward=*/true));
  addCast(pass, row.hidden);
  addLinearBackward(passes, makeLinear(wide, row.hidden));
  addStream(pass, gated ? 12 * inner : getBiasActivationBytes(inner, /*backward=*/true));
  addTensor(pass, addLinearBackward(passes, makeLinear(row.hidden, gated ? 2 * wide : wide)));
  addStream(pass, getNorm(true));
  addStream(pass, 6 * outer);
  addStream(pass, getBiasDropoutAddBytes(outer, /*fused=*/true, /*backward=*/true));
  addCast(pass, row.hidden);
  addLinearBackward(passes, makeLinear(queryWidth, row.hidden));
  addAttention(pass, /*backward=*/true);
  addBias(pass, queryWidth + 2 * keyWidth, /*backward=*/true);
  addCast(pass, queryWidth + 2 * keyWidth);
  addTensor(pass, addLinearBackward(passes, makeLinear(row.hidden, queryWidth + 2 * keyWidth)));
  addStream(pass, getNorm(true));
  addStream(pass, 6 * outer);
}

/// What the host needs to start a pass beyond what the device takes for it.
double LayerPricer::getHostExcess(const Pass &pass, bool forward) const {
  if (!has(Host))
    return 0;
  double host = getHostFloor(pass.kernels + pass.collectives, options.constants);
  if (row.profiled) {
    const ProfilerConstants &profiler = options.profiler;
    host = profiler.layer * (forward ? 5 : 3) / 8 + (oneSoftmax || !forward ? 0 : profiler.softmax);
  }
  double device = pass.getTotal() - pass.parts[Tensor];
  return joinHostAndDevice(host, device, options.constants) - device;
}

Passes LayerPricer::getLayer() const {
  Passes passes;
  passes.forward = getForward();
  addBackward(passes);
  Pass again;
  if (row.recompute == Recompute::Full)
    again = passes.forward;
  else if (row.recompute == Recompute::Selective && !software.fusedAttention)
    addAttention(again, /*backward=*/false);
  passes.input.kernels += again.kernels;
  passes.input.collectives += again.collectives;
  if (has(Recomputed)) {
    passes.input.parts[Recomputed] += again.getTotal() - again.parts[Tensor];
    passes.input.parts[Tensor] += again.parts[Tensor];
  }
  passes.forward.parts[Host] += getHostExcess(passes.forward, true);
  passes.input.parts[Host] += getHostExcess(passes.getBackward(), false);
  return passes;
}

/// What the profiler's gaps add to the embedding and to each pass of the head.
void LayerPricer::addEndsFloor(Pass &pass) const {
  if (row.profiled && has(Host))
    pass.parts[Host] += options.profiler.ends / 3;
}

/// All of each pass as one term.
static void gatherPasses(Passes &passes, Part part) {
  for (Pass *pass : {&passes.forward, &passes.input, &passes.weight}) {
    double total = pass->getTotal();
    pass->parts.fill(0);
    pass->parts[part] = total;
  }
}

Passes LayerPricer::getEmbedding() const {
  Passes passes;
  double table = static_cast<double>(row.vocabulary * row.hidden) / static_cast<double>(row.tensor);
  addStream(passes.forward, getEmbeddingForwardBytes(outer));
  addStream(passes.weight, getEmbeddingBackwardBytes(outer, table));
  addTensor(passes.forward, 0);
  addEndsFloor(passes.forward);
  gatherPasses(passes, Head);
  return passes;
}

Passes LayerPricer::getHead() const {
  Passes passes;
  int64_t words = (row.vocabulary + row.tensor - 1) / row.tensor;
  double logits = static_cast<double>(tokens) * static_cast<double>(words);
  Linear head{row.hidden, words, row.getHeldType()}; // never in 8 bits
  addStream(passes.forward, getNorm(false));
  addLinear(passes.forward, head);
  addStream(passes.forward, getLossBytes(logits, /*backward=*/false));
  addStream(passes.input, getLossBytes(logits, /*backward=*/true));
  addTensor(passes.input, addLinearBackward(passes, head));
  addStream(passes.input, getNorm(true));
  addEndsFloor(passes.forward);
  addEndsFloor(passes.input);
  gatherPasses(passes, Head);
  return passes;
}
