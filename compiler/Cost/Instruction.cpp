#include "compiler/Cost/Instruction.h"

#include "compiler/Cost/Compute.h"

#include <algorithm>

using namespace weft;
using Kind = InstructionWork::Kind;

double weft::getFlop(const InstructionWork &work) {
  double products = static_cast<double>(work.batch) * static_cast<double>(work.m) *
                    static_cast<double>(work.n) * static_cast<double>(work.k);
  switch (work.kind) {
  case Kind::Kernel:
    return work.additions;
  case Kind::Product:
  case Kind::Convolution:
    return 2 * products;
  case Kind::Attention:
    return 4 * products * (work.causal ? 0.5 : 1);
  case Kind::AttentionBackward:
    return 10 * products * (work.causal ? 0.5 : 1);
  case Kind::Copy:
    return 0;
  }
  return 0;
}

static Matmul toMatmul(const InstructionWork &work) {
  Matmul matmul;
  matmul.batch = work.batch;
  matmul.m = work.m;
  matmul.n = work.n;
  matmul.k = work.k;
  matmul.dtype = work.dtype;
  matmul.depthMajor = work.depthMajor;
  return matmul;
}

static double getConvolutionSeconds(const DeviceModel &device, const InstructionWork &work,
                                    const CostConstants &constants) {
  double product = getMatmulSeconds(device, toMatmul(work), constants) - device.launch;
  double moved = getStreamSeconds(device, work.bytesRead + work.bytesWritten, constants);
  return std::max(product / device.convolution, moved) + device.launch;
}

static double getKernelSeconds(const DeviceModel &device, const InstructionWork &work,
                               const CostConstants &constants) {
  double rate = device.arithmetic.value_or(device.getRate("f32").seen);
  double moved = getStreamSeconds(device, work.bytesRead + work.bytesWritten, constants);
  return std::max(work.additions / rate, moved) + device.launch;
}

static FusedAttention toFused(const InstructionWork &work) {
  FusedAttention attention;
  attention.batch = work.batch;
  attention.queries = work.m;
  attention.keys = work.n;
  attention.headSize = work.k;
  attention.causal = work.causal;
  attention.dtype = work.dtype;
  return attention;
}

/// Two products and the scores between them where no kernel fuses it; of its gradients five, and
/// beside the scores made again what they become.
static double getAttentionSeconds(const DeviceModel &device, const InstructionWork &work,
                                  const CostConstants &constants) {
  bool isBackward = work.kind == Kind::AttentionBackward;
  if (device.tile > 1)
    return (isBackward ? getAttentionBackwardSeconds
                       : getAttentionForwardSeconds)(device, toFused(work), constants);
  double ofScores = isBackward ? 2 : 1, ofValues = isBackward ? 3 : 1;
  InstructionWork scores = work, softmax = work;
  scores.kind = Kind::Product;
  InstructionWork values = scores;
  std::swap(values.n, values.k);
  softmax.kind = Kind::Kernel;
  double number =
      static_cast<double>(work.batch) * static_cast<double>(work.m) * static_cast<double>(work.n);
  softmax.bytesRead = softmax.bytesWritten = number * getElementBytes(work.dtype);
  softmax.additions = number * constants.softmaxAdditions;
  return ofScores * (getProductSeconds(device, toMatmul(scores), constants) +
                     getKernelSeconds(device, softmax, constants)) +
         ofValues * getProductSeconds(device, toMatmul(values), constants);
}

/// Memory hands out whole lines: of an element that lies alone, the line around it. A core walks
/// both sides in one order. Processors with tiles take a square of elements at a time through their
/// own memory, and what lies side by side on either side stays so.
static double getCopySeconds(const DeviceModel &device, const InstructionWork &work,
                             const CostConstants &constants) {
  double bytes = 0;
  if (device.tile > 1)
    bytes = work.bytesRead * std::max(1.0, constants.line / work.readRun) +
            work.bytesWritten * std::max(1.0, constants.line / work.writtenRun);
  else
    bytes = (work.bytesRead + work.bytesWritten) * std::max(1.0, constants.line / work.runBytes);
  return getStreamSeconds(device, bytes, constants) + device.launch;
}

/// With all of the device's cores.
static double getWholeSeconds(const DeviceModel &device, const InstructionWork &work,
                              const CostConstants &constants) {
  switch (work.kind) {
  case Kind::Kernel:
    return getKernelSeconds(device, work, constants);
  case Kind::Product:
    return getProductSeconds(device, toMatmul(work), constants);
  case Kind::Convolution:
    return getConvolutionSeconds(device, work, constants);
  case Kind::Attention:
  case Kind::AttentionBackward:
    return getAttentionSeconds(device, work, constants);
  case Kind::Copy:
    return getCopySeconds(device, work, constants);
  }
  return 0;
}

double weft::getInstructionSeconds(const DeviceModel &device, const InstructionWork &work,
                                   const CostConstants &constants) {
  double seconds = getWholeSeconds(device, work, constants);
  if (device.processors <= 1 || device.tile > 1)
    return seconds;
  double used = std::clamp(work.parts, 1.0, device.processors);
  seconds = device.launch + (seconds - device.launch) * device.processors / used;
  return used > 1 ? seconds + device.wake : seconds;
}

WorkSeconds weft::splitInstructionSeconds(const DeviceModel &device, const InstructionWork &work,
                                          const CostConstants &constants) {
  double seconds = getInstructionSeconds(device, work, constants);
  bool wakes = device.processors > 1 && device.tile <= 1 && work.parts > 1;
  WorkSeconds parts;
  parts.launch = std::min(seconds, device.launch + (wakes ? device.wake : 0));
  double rest = seconds - parts.launch;
  bool isProduct = work.kind != Kind::Kernel && work.kind != Kind::Copy;
  if (isProduct)
    parts.arithmetic = std::min(rest, getFlop(work) / device.getRate(work.dtype).peak);
  double moved = (work.bytesRead + work.bytesWritten) / device.bandwidth;
  parts.traffic = std::clamp(moved, parts.arithmetic, rest) - parts.arithmetic;
  parts.kernel = rest - parts.arithmetic - parts.traffic;
  return parts;
}

/// A rank's part of the cores: `share` of them, all of them with each other's rates.
static void scale(DeviceModel &device, double share) {
  for (auto &[dtype, rate] : device.rates)
    rate = {rate.peak * share, rate.seen * share, rate.sustained * share};
  device.memory *= share;
  device.bandwidth *= share;
  device.copy *= share;
  std::map<double, double> copies;
  for (auto [block, rate] : device.copies)
    copies[block * std::max(1.0, share)] = rate * share;
  device.copies = copies;
  if (device.arithmetic)
    *device.arithmetic *= share;
  if (device.pack)
    *device.pack *= share;
  if (share < 1)
    device.launch /= share;
}

double weft::getHostCopySeconds(const DeviceModel &device, double bytes) {
  double rate = device.hostCopy ? *device.hostCopy : device.copy / 2; // reads and writes
  return device.launch + bytes / rate;
}

ClusterModel weft::shareHost(const ClusterModel &cluster, int64_t ranks) {
  ClusterModel shared = cluster;
  if (cluster.groups.size() != 1 || cluster.groups[0].tiers.size() != 1 ||
      cluster.groups[0].tiers[0].medium != cluster::MEMORY || ranks < 1)
    return shared;
  GroupModel &group = shared.groups[0];
  TierModel &tier = group.tiers[0];
  int64_t cores = tier.fanout;
  tier.fanout = ranks;
  if (ranks <= cores) {
    group.device.processors = static_cast<double>(cores / ranks);
    scale(group.device, group.device.processors);
    return shared;
  }
  double share = static_cast<double>(cores) / static_cast<double>(ranks);
  scale(group.device, share);
  if (!cluster.crowded) {
    tier.seen *= share;
    for (auto &[bytes, rate] : tier.buffers)
      rate *= share;
    return shared;
  }
  shared.call = cluster.crowded->call;
  tier.seen = cluster.crowded->rate;
  tier.buffers = cluster.crowded->buffers;
  for (ProtocolModel &protocol : shared.protocols)
    protocol.hops[cluster::MEMORY] = {cluster.crowded->step, cluster.crowded->step};
  return shared;
}
