// Resizing. Every dimension is resized on its own: an element of the result is a sum of input
// elements with weights that only depend on the sizes, so a product with a constant matrix
// [result, input] does it; `Nearest` takes one element, by a gather.
//
// Source of the weights: ONNX operators, Resize; ATen's upsample kernels compute the same.

#include "frontends/common/Composites.h"
#include "frontends/common/Matrix.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// The weight of an element this far from the place.
static double kernel(const ResizeRule &rule, double distance) {
  double d = std::abs(distance), a = rule.cubicA;
  if (rule.kind == ResizeRule::Linear)
    return std::max(0.0, 1 - d);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Adds the weights for a place to a row of the matrix.
static void addWeights(const ResizeRule &rule, double place, const ResizeExtent &extent,
                       MutableArrayRef<double> row) {
  // Shrinking with antialias widens the kernel to all elements that fall together.
  double narrowing = rule.antialias ? std::min(extent.scale, 1.0) : 1;
  double reach = (rule.kind == ResizeRule::Linear ? 1 : 2) / narrowing;
  auto first = int64_t(std::floor(place - reach)), last = int64_t(std::ceil(place + reach));
  double sum = 0;
  SmallVector<std::pair<int64_t, double>> weights;
  for (int64_t at = first; at <= last; ++at) {
    bool outside = at < 0 || at >= extent.in;
    double weight =
        outside && rule.excludeOutside ? 0 : kernel(rule, (double(at) - place) * narrowing);
    weights.push_back({std::clamp<int64_t>(at, 0, extent.in - 1), weight});
    sum += weight;
  }
  for (auto [at, weight] : weights)
    row[at] += weight / (rule.antialias || rule.excludeOutside ? sum : 1);
}

int64_t weft::frontend::checkResizeExtent(double size) {
  constexpr int64_t largest = 1 << 14; // no image is wider
  if (!(size >= 1 && size <= double(largest)))
    throw ImportError("a size of " + std::to_string(size) + " is out of range: 1 to " +
                      std::to_string(largest));
  return int64_t(size);
}

/// A scale that has nothing to do with the sizes would reach beyond all elements.
static void checkScale(const ResizeExtent &extent) {
  double ratio = extent.scale * double(extent.in) / double(extent.out);
  if (!(ratio >= 0.25 && ratio <= 4))
    throw ImportError(llvm::formatv("a scale of {0:e3} does not make {1} of {2} elements",
                                    extent.scale, extent.out, extent.in));
}

Value weft::frontend::emitResize(Emitter &emit, Value x, const ResizeExtent &extent,
                                 const ResizeRule &rule) {
  checkScale(extent);
  if (rule.kind == ResizeRule::Nearest) {
    SmallVector<int64_t> taken;
    for (int64_t i = 0; i < extent.out; ++i)
      taken.push_back(
          std::clamp<int64_t>(rule.nearest(rule.place(double(i), extent)), 0, extent.in - 1));
    return emit.gather(x, emit.integers(taken), extent.dim);
  }
  expectFloat(x);
  Matrix weights(extent.out, extent.in);
  for (int64_t i = 0; i < extent.out; ++i)
    addWeights(rule, rule.place(double(i), extent), extent, weights.row(i));
  return emitAlong(emit, x, weights.build(emit, x), extent.dim);
}

Value weft::frontend::emitAlong(Emitter &emit, Value x, Value matrix, int64_t dim) {
  Value product = emit.dot(x, matrix, {{}, {}, {dim}, {1}});
  Shape order; // The new dimension, which is the last, goes back to its place.
  for (int64_t at = 0; at < typeOf(x).getRank(); ++at)
    order.push_back(at < dim ? at : at - 1);
  order[dim] = typeOf(x).getRank() - 1;
  return emit.transpose(product, order);
}
