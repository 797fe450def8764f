#include "compiler/Cost/Kernels.h"

using namespace weft;

/// Whether the rows that a device works on at a time have left the cache before they are read
/// again.
static bool leavesCache(const DeviceModel &device, double width) {
  constexpr double rowsOfProcessor = 2048.0 / 128; // resident threads, and those of a row
  return device.cache && device.processors * rowsOfProcessor * 2 * width > *device.cache;
}

double weft::getNormBytes(const DeviceModel &device, double elements, double width, bool backward) {
  double again = leavesCache(device, width) ? 2 : 0;
  return elements * (backward ? 10 + 2 * again : 4 + again);
}

double weft::getSoftmaxBytes(double scores, SoftmaxKernel kernel, bool backward) {
  switch (kernel) {
  case SoftmaxKernel::Causal: // half is read; all is written, above the diagonal zeros
    return scores * (backward ? 4 : 3);
  case SoftmaxKernel::Masked:
    return scores * (backward ? 6 : 5);
  case SoftmaxKernel::Unfused:
    break;
  }
  // Forward: f32 (6), scale (8), mask (9), softmax (8), 16 bits (6). Backward: f32 (6), softmax
  // (12), mask, which copies first (17), scale (8), 16 bits (6).
  return scores * (backward ? 49 : 37);
}

double weft::getDropoutBytes(double elements) { return 5 * elements; }

double weft::getBiasDropoutAddBytes(double elements, bool fused, bool backward) {
  if (backward) // 5 and the bias's gradient
    return elements * 7;
  return elements * (fused ? 7 : 15); // 4 + 5 + 6
}

double weft::getBiasBytes(double elements, bool backward) { return elements * (backward ? 2 : 4); }

double weft::getBiasActivationBytes(double elements, bool backward) {
  return elements * (backward ? 8 : 4);
}

/// Forward: widened to f32 (6), maximum subtracted (8), exponentials (8) and what sums read (2).
/// Backward: from f32 in place (9) and narrowed (6).
double weft::getLossBytes(double logits, bool backward) { return logits * (backward ? 15 : 24); }

/// Two lookups (8), their sum (6), a transposed copy (4), dropout (5), and indices and positions of
/// the same shape while they are made.
double weft::getEmbeddingForwardBytes(double elements) { return 30 * elements; }

double weft::getEmbeddingBackwardBytes(double elements, double tableElements) {
  return 26 * elements + 8 * tableElements;
}
