// Resizing. Every dimension is resized on its own: an element of the result is a sum of input
// elements with weights that only depend on the sizes, so a product with a constant matrix
// [result, input] does it; `nearest` takes one element, by a gather.
//
// Source of the coordinates and weights: ONNX operators, Resize.

#include "frontends/onnx/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {

/// One dimension.
struct Extent {
  int64_t dim, in, out;
  double scale; ///< as given, or out / in
};

class Resizer {
public:
  explicit Resizer(Node &node)
      : node(node), mode(node.getString("mode", "nearest")),
        coordinates(node.getString("coordinate_transformation_mode",
                                   node.opset >= 11 ? "half_pixel" : "asymmetric")),
        rounding(node.getString("nearest_mode", node.opset >= 11 ? "round_prefer_floor" : "floor")),
        cubicA(node.getFloat("cubic_coeff_a", -0.75)),
        excludeOutside(node.getInt("exclude_outside", 0) != 0),
        antialias(node.getInt("antialias", 0) != 0) {
    node.ignore({"extrapolation_value"}); // of tf_crop_and_resize
    if (mode != "nearest" && mode != "linear" && mode != "cubic")
      throw ImportError("mode '" + mode + "' is not known");
  }

  Value resize(Value x, const Extent &extent) const;

private:
  /// The place in the input, in elements, that an element of the result shows.
  double place(int64_t index, const Extent &extent) const;
  int64_t nearest(double place) const;
  double kernel(double distance) const;
  /// Adds the weights for a place to a row of the matrix.
  void addWeights(double place, const Extent &extent, MutableArrayRef<double> row) const;

  Node &node;
  std::string mode, coordinates, rounding;
  double cubicA;
  bool excludeOutside, antialias;
};

double Resizer::place(int64_t index, const Extent &extent) const {
  double x = double(index), scale = extent.scale;
  if (coordinates == "half_pixel")
    return (x + 0.5) / scale - 0.5;
  if (coordinates == "half_pixel_symmetric") {
    double adjustment = double(extent.out) / (scale * double(extent.in));
    return double(extent.in) / 2 * (1 - adjustment) + (x + 0.5) / scale - 0.5;
  }
  if (coordinates == "pytorch_half_pixel")
    return extent.out > 1 ? (x + 0.5) / scale - 0.5 : 0;
  if (coordinates == "align_corners") // of the exact extent, before it became a whole number
    return extent.out > 1 ? x * double(extent.in - 1) / (scale * double(extent.in) - 1) : 0;
  if (coordinates == "asymmetric")
    return x / scale;
  if (coordinates == "tf_half_pixel_for_nn")
    return (x + 0.5) / scale;
  throw ImportError("coordinate_transformation_mode '" + coordinates + "' is not supported");
}

int64_t Resizer::nearest(double place) const {
  if (rounding == "floor")
    return int64_t(std::floor(place));
  if (rounding == "ceil")
    return int64_t(std::ceil(place));
  if (rounding == "round_prefer_floor")
    return int64_t(std::ceil(place - 0.5));
  if (rounding == "round_prefer_ceil")
    return int64_t(std::floor(place + 0.5));
  throw ImportError("nearest_mode '" + rounding + "' is not known");
}

/// The weight of an element this far from the place.
double Resizer::kernel(double distance) const {
  double d = std::abs(distance);
  if (mode == "linear")
    return std::max(0.0, 1 - d);
  if (d <= 1)
    return ((cubicA + 2) * d - (cubicA + 3)) * d * d + 1;
  return d < 2 ? ((cubicA * d - 5 * cubicA) * d + 8 * cubicA) * d - 4 * cubicA : 0;
}

void Resizer::addWeights(double place, const Extent &extent, MutableArrayRef<double> row) const {
  // Shrinking with antialias widens the kernel to all elements that fall together.
  double narrowing = antialias ? std::min(extent.scale, 1.0) : 1;
  double reach = (mode == "linear" ? 1 : 2) / narrowing;
  auto first = int64_t(std::floor(place - reach)), last = int64_t(std::ceil(place + reach));
  double sum = 0;
  SmallVector<std::pair<int64_t, double>> weights;
  for (int64_t at = first; at <= last; ++at) {
    bool outside = at < 0 || at >= extent.in;
    double weight = outside && excludeOutside ? 0 : kernel((double(at) - place) * narrowing);
    weights.push_back({std::clamp<int64_t>(at, 0, extent.in - 1), weight});
    sum += weight;
  }
  for (auto [at, weight] : weights)
    row[at] += weight / (antialias || excludeOutside ? sum : 1);
}

Value Resizer::resize(Value x, const Extent &extent) const {
  Emitter &emit = node.emit;
  if (mode == "nearest") {
    SmallVector<int64_t> taken;
    for (int64_t i = 0; i < extent.out; ++i)
      taken.push_back(std::clamp<int64_t>(nearest(place(i, extent)), 0, extent.in - 1));
    return emit.gather(x, emit.integers(taken), extent.dim);
  }
  expectFloat(x);
  std::vector<double> weights(extent.out * extent.in);
  for (int64_t i = 0; i < extent.out; ++i)
    addWeights(place(i, extent), extent, MutableArrayRef(weights).slice(i * extent.in, extent.in));
  Value matrix = emit.constant(tensorOf(typeOf(x).clone({extent.out, extent.in}), weights));
  Value product = emit.dot(x, matrix, {{}, {}, {extent.dim}, {1}});
  Shape order; // The new dimension, which is the last, goes back to its place.
  for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim)
    order.push_back(dim < extent.dim ? dim : dim - 1);
  order[extent.dim] = typeOf(x).getRank() - 1;
  return emit.transpose(product, order);
}

} // namespace

/// Matrices beyond this are no image sizes.
static constexpr int64_t largestExtent = 1 << 14;

static int64_t checkExtent(double size) {
  if (!(size >= 1 && size <= double(largestExtent)))
    throw ImportError("a size of " + std::to_string(size) + " is out of range: 1 to " +
                      std::to_string(largestExtent));
  return int64_t(size);
}

static Extent ofScale(int64_t dim, int64_t in, double scale) {
  return {dim, in, checkExtent(std::floor(double(in) * scale)), scale};
}

/// Of given sizes; a policy other than `stretch` makes one scale of all of them.
static void applySizes(Node &node, ArrayRef<int64_t> sizes, MutableArrayRef<Extent> extents) {
  std::string policy = node.getString("keep_aspect_ratio_policy", "stretch");
  for (auto [extent, size] : llvm::zip(extents, sizes)) {
    extent.out = checkExtent(double(size));
    extent.scale = double(size) / double(extent.in);
  }
  if (policy == "stretch" || extents.empty())
    return;
  if (policy != "not_larger" && policy != "not_smaller")
    throw ImportError("keep_aspect_ratio_policy '" + policy + "' is not known");
  auto [least, most] =
      std::minmax_element(extents.begin(), extents.end(),
                          [](const Extent &a, const Extent &b) { return a.scale < b.scale; });
  double scale = policy == "not_larger" ? least->scale : most->scale;
  for (Extent &extent : extents) {
    extent.scale = scale;
    extent.out = checkExtent(std::floor(double(extent.in) * scale + 0.5));
  }
}

/// Numbers of an operand, none where it is absent.
static std::vector<double> factors(Node &node, size_t index) {
  if (!node.has(index))
    return {};
  return numbersOf<double>(node.constant(index, "the scales or sizes"));
}

static void importResize(Node &node) {
  Value x = node.operand(0);
  int64_t rank = typeOf(x).getRank();
  Shape all = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, rank)), axes;
  for (int64_t axis : node.getInts("axes", all))
    axes.push_back(node.dim(axis, rank));
  bool isOld = node.opset < 11 || node.proto.op_type() == "Upsample";
  std::vector<double> scales = factors(node, isOld ? 1 : 2), sizes = factors(node, 3);
  if (const auto *given = isOld ? node.attribute("scales") : nullptr)
    scales.assign(given->floats().begin(), given->floats().end());
  if (scales.empty() == sizes.empty() || scales.size() + sizes.size() != axes.size())
    throw ImportError("expected one scale or one size for each of " + std::to_string(axes.size()) +
                      " dimensions, got " + std::to_string(scales.size()) + " scales and " +
                      std::to_string(sizes.size()) + " sizes");
  SmallVector<Extent> extents;
  for (auto [index, axis] : llvm::enumerate(axes))
    extents.push_back(scales.empty() ? Extent{axis, shapeOf(x)[axis], 0, 0}
                                     : ofScale(axis, shapeOf(x)[axis], scales[index]));
  if (scales.empty())
    applySizes(node, Shape(sizes.begin(), sizes.end()), extents);
  node.ignore({"keep_aspect_ratio_policy"});
  Resizer resizer(node);
  for (const Extent &extent : extents)
    if (extent.out != extent.in || extent.scale != 1)
      x = resizer.resize(x, extent);
  node.result(x);
}

void weft::frontend::addResize(OpTable &table) {
  table["Resize"] = importResize;
  table["Upsample"] = importResize;
}
