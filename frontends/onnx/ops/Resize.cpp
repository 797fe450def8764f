// Resizing, by the coordinates that ONNX defines.

#include "frontends/onnx/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

using Extent = ResizeExtent;

static double place(StringRef coordinates, double x, const Extent &extent) {
  double scale = extent.scale;
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
  throw ImportError("coordinate_transformation_mode '" + coordinates.str() + "' is not supported");
}

static int64_t nearest(StringRef rounding, double place) {
  if (rounding == "floor")
    return int64_t(std::floor(place));
  if (rounding == "ceil")
    return int64_t(std::ceil(place));
  if (rounding == "round_prefer_floor")
    return int64_t(std::ceil(place - 0.5));
  if (rounding == "round_prefer_ceil")
    return int64_t(std::floor(place + 0.5));
  throw ImportError("nearest_mode '" + rounding.str() + "' is not known");
}

static ResizeRule readRule(Node &node) {
  bool isNew = node.opset >= 11;
  node.ignore({"extrapolation_value"}); // of tf_crop_and_resize
  std::string mode = node.getString("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    throw ImportError("mode '" + mode + "' is not known");
  std::string coordinates =
      node.getString("coordinate_transformation_mode", isNew ? "half_pixel" : "asymmetric");
  std::string rounding = node.getString("nearest_mode", isNew ? "round_prefer_floor" : "floor");
  ResizeRule rule;
  rule.kind = mode == "nearest"  ? ResizeRule::Nearest
              : mode == "linear" ? ResizeRule::Linear
                                 : ResizeRule::Cubic;
  rule.place = [=](double x, const Extent &extent) { return place(coordinates, x, extent); };
  rule.nearest = [=](double place) { return nearest(rounding, place); };
  rule.cubicA = node.getFloat("cubic_coeff_a", -0.75);
  rule.excludeOutside = node.getInt("exclude_outside", 0) != 0;
  rule.antialias = node.getInt("antialias", 0) != 0;
  return rule;
}

static Extent ofScale(int64_t dim, int64_t in, double scale) {
  return {dim, in, checkResizeExtent(std::floor(double(in) * scale)), scale};
}

/// Of given sizes; a policy other than `stretch` makes one scale of all of them.
static void applySizes(Node &node, ArrayRef<int64_t> sizes, MutableArrayRef<Extent> extents) {
  std::string policy = node.getString("keep_aspect_ratio_policy", "stretch");
  for (auto [extent, size] : llvm::zip(extents, sizes)) {
    extent.out = checkResizeExtent(double(size));
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
    extent.out = checkResizeExtent(std::floor(double(extent.in) * scale + 0.5));
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
  ResizeRule rule = readRule(node);
  for (const Extent &extent : extents)
    if (extent.out != extent.in || extent.scale != 1)
      x = emitResize(node.emit, x, extent, rule);
  node.result(x);
}

void weft::frontend::addResize(OpTable &table) {
  table["Resize"] = importResize;
  table["Upsample"] = importResize;
}
