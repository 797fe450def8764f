#include "compiler/Cost/Compute.h"

#include <algorithm>
#include <cmath>

using namespace weft;

double weft::getElementBytes(const std::string &dtype) {
  if (dtype == "f4")
    return 0.5;
  if (dtype == "f8")
    return 1;
  if (dtype == "f16" || dtype == "bf16")
    return 2;
  return dtype == "f64" ? 8 : 4;
}

/// Of the least aligned extent that lies along memory: tensor cores load 16 bytes at a time.
static double getAlignmentShare(const DeviceModel &device, const Matmul &matmul,
                                const CostConstants &constants) {
  if (device.tile <= 1)
    return 1;
  auto whole = std::max<int64_t>(1, std::llround(16 / getElementBytes(matmul.dtype)));
  int64_t extents = matmul.n | matmul.k;
  if (extents % whole == 0)
    return 1;
  return extents % 2 == 0 ? constants.partialAlignment : constants.oddAlignment;
}

/// Seconds of arithmetic that all processors would do in `seconds`, with those that are idle in the
/// last wave. Where tiles fill less than one wave libraries cut them along k (cuBLAS' split-k
/// kernels), if one kernel more and the parts' results, written in f32 and read again, cost less
/// than that saves.
static double stretchOverWaves(const DeviceModel &device, double tiles, double seconds,
                               double results, const CostConstants &constants) {
  double waves = tiles / (constants.residentTiles * device.processors);
  double part = 8 * results / device.copy, most = std::floor(1 / waves);
  auto price = [&](double parts) {
    double idle = std::ceil(parts * waves) / (parts * waves);
    return seconds * (1 - constants.waveShare + constants.waveShare * idle) +
           (parts > 1 ? parts * part + device.launch : 0);
  };
  double parts = std::floor(std::sqrt(seconds * constants.waveShare / waves / part));
  double best = price(1);
  for (double tried : {parts, parts + 1})
    best = std::min(best, price(std::clamp(tried, 1.0, std::max(1.0, most))));
  return best;
}

static double getResultBytes(const Matmul &matmul) {
  return matmul.resultBytes > 0 ? matmul.resultBytes : std::max(2.0, getElementBytes(matmul.dtype));
}

/// Depth at which a product runs at half its rate: there writing the result takes as long as the
/// arithmetic.
static double getHalfDepth(const DeviceModel &device, const Matmul &matmul,
                           const CostConstants &constants) {
  if (device.halfDepth)
    return *device.halfDepth;
  double balance = device.getRate(matmul.dtype).sustained / device.copy; // FLOP a byte
  return constants.resultShare * balance * getResultBytes(matmul) / 2;
}

/// Operands read once, and what the result takes.
static double getMatmulBytes(const Matmul &matmul) {
  auto m = static_cast<double>(matmul.m), n = static_cast<double>(matmul.n);
  auto k = static_cast<double>(matmul.k);
  return static_cast<double>(matmul.batch) *
         (getElementBytes(matmul.dtype) * (m * k + k * n) + getResultBytes(matmul) * m * n);
}

/// B/s of a block of so many bytes: between two that are known, on the line between them over the
/// logarithm of size; that of memory from four times the largest on.
static double getBlockRate(const DeviceModel &device, double bytes, double memory) {
  auto above = device.copies.lower_bound(bytes);
  if (above == device.copies.begin())
    return above->second;
  auto below = std::prev(above);
  double end = 4 * below->first, rate = memory;
  if (above != device.copies.end()) {
    end = above->first;
    rate = above->second;
  }
  double share = std::min(1.0, std::log(bytes / below->first) / std::log(end / below->first));
  return below->second + share * (rate - below->second);
}

/// Seconds in which a core packs both operands and writes the result.
static double getPackSeconds(const DeviceModel &device, const Matmul &matmul,
                             const CostConstants &constants) {
  double results = static_cast<double>(matmul.batch) * static_cast<double>(matmul.m) *
                   static_cast<double>(matmul.n) * getResultBytes(matmul);
  double operands = getMatmulBytes(matmul) - results;
  return operands / getBlockRate(device, operands, device.pack.value_or(device.copy)) +
         getStreamSeconds(device, results, constants);
}

double weft::getMatmulSeconds(const DeviceModel &device, const Matmul &matmul,
                              const CostConstants &constants) {
  double rows = std::ceil(matmul.m / device.tile);
  double columns = std::ceil(matmul.n / device.tile);
  auto batch = static_cast<double>(matmul.batch);
  auto depth = static_cast<double>(matmul.k);
  double flop = 2 * batch * rows * columns * device.tile * device.tile * depth;
  double rate = device.getRate(matmul.dtype).sustained * depth /
                (depth + getHalfDepth(device, matmul, constants)) *
                getAlignmentShare(device, matmul, constants) *
                (matmul.depthMajor ? device.depthMajor : 1);
  double seconds = flop / rate;
  double results = batch * static_cast<double>(matmul.m) * static_cast<double>(matmul.n);
  if (device.tile > 1)
    seconds = stretchOverWaves(device, batch * rows * columns, seconds, results, constants);
  // Tiles load the next operands while they compute; a core packs them first.
  if (!device.copies.empty())
    return seconds + getPackSeconds(device, matmul, constants) + device.launch;
  return std::max(seconds, getMatmulBytes(matmul) / device.copy) + device.launch;
}

/// Of many at once. Narrow ones take half tiles.
static double getBatchedMatmulSeconds(const DeviceModel &device, const Matmul &matmul,
                                      const CostConstants &constants) {
  double tile = std::max(1.0, device.tile / 2);
  double columns = std::ceil(matmul.n / tile) * tile;
  double flop = 2 * static_cast<double>(matmul.batch) * static_cast<double>(matmul.m) * columns *
                static_cast<double>(matmul.k);
  double rate = device.getRate(matmul.dtype).sustained *
                device.batched.value_or(constants.attentionShare) *
                getAlignmentShare(device, matmul, constants);
  return flop / rate + getMatmulBytes(matmul) / device.copy + device.launch;
}

double weft::getProductSeconds(const DeviceModel &device, const Matmul &matmul,
                               const CostConstants &constants) {
  double seconds = getMatmulSeconds(device, matmul, constants);
  if (matmul.batch == 1)
    return seconds;
  if (device.tile <= 1)
    return device.launch + (seconds - device.launch) / device.batched.value_or(1);
  Matmul single = matmul;
  single.batch = 1;
  return std::min(getBatchedMatmulSeconds(device, matmul, constants),
                  static_cast<double>(matmul.batch) * getMatmulSeconds(device, single, constants));
}

static double getAttentionFlop(const FusedAttention &attention) {
  double pairs = static_cast<double>(attention.queries) * static_cast<double>(attention.keys) *
                 (attention.causal ? 0.5 : 1);
  return 4 * pairs * static_cast<double>(attention.batch * attention.heads * attention.headSize);
}

double weft::getAttentionForwardSeconds(const DeviceModel &device, const FusedAttention &attention,
                                        const CostConstants &constants) {
  double rate = device.getRate(attention.dtype).sustained * constants.flashForward;
  return getAttentionFlop(attention) / rate + device.launch;
}

double weft::getAttentionBackwardSeconds(const DeviceModel &device, const FusedAttention &attention,
                                         const CostConstants &constants) {
  double rate = device.getRate(attention.dtype).sustained * constants.flashBackward;
  return 2.5 * getAttentionFlop(attention) / rate + device.launch;
}

double weft::getStreamSeconds(const DeviceModel &device, double bytes,
                              const CostConstants &constants) {
  if (bytes <= 0)
    return 0;
  if (!device.copies.empty())
    return bytes / getBlockRate(device, bytes, device.copy);
  return (bytes + constants.streamHalf) / (device.copy * constants.streamShare);
}

double weft::joinHostAndDevice(double host, double device, const CostConstants &constants) {
  double slower = std::max(host, device);
  if (slower <= 0)
    return 0;
  double p = constants.hostSharpness;
  return slower * std::pow(std::pow(host / slower, p) + std::pow(device / slower, p), 1 / p);
}

double weft::getHostFloor(int64_t numKernels, const CostConstants &constants) {
  return static_cast<double>(numKernels) * constants.dispatch;
}
