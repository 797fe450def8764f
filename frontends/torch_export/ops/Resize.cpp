// Resizing, by the coordinates of ATen's upsample kernels (ATen/native/UpSample.h).

#include "frontends/common/Composites.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

static double halfPixel(double index, const ResizeExtent &extent) {
  return (index + 0.5) / extent.scale - 0.5;
}

/// Places before the first element count as it.
static double clampedHalfPixel(double index, const ResizeExtent &extent) {
  return std::max(halfPixel(index, extent), 0.0);
}

static double alignedCorners(double index, const ResizeExtent &extent) {
  return extent.out > 1 ? index * double(extent.in - 1) / double(extent.out - 1) : 0;
}

/// Input over result: of the sizes, or of a scale that was given.
template <typename Real> static Real inverseScale(const ResizeExtent &extent) {
  bool isGiven = extent.scale != double(extent.out) / double(extent.in);
  return isGiven ? Real(1 / extent.scale) : Real(extent.in) / Real(extent.out);
}

/// Which element is the nearest may hang on a rounding: f64 counts in f64, all others in f32.
template <typename Real> static double topLeft(double index, const ResizeExtent &extent) {
  return Real(index) * inverseScale<Real>(extent);
}

template <typename Real> static double centre(double index, const ResizeExtent &extent) {
  Real place = std::fma(inverseScale<Real>(extent), Real(index) + Real(0.5), Real(-0.5));
  return std::max(place, Real(0)) + Real(0.5);
}

/// The given scale of spatial dimension `index`: overloads `vec` have a list, the others
/// `scales_d`, `scales_h` and `scales_w` (or `scales`).
static std::optional<double> givenScale(Node &node, size_t index, size_t rank) {
  if (node.has("scale_factors"))
    return node.reals("scale_factors").at(index);
  static constexpr StringRef names[] = {"scales_d", "scales_h", "scales_w"};
  StringRef name = rank == 1 ? "scales" : names[3 - rank + index];
  return node.has(name) ? std::optional(node.real(name)) : std::nullopt;
}

static SmallVector<ResizeExtent> readExtents(Node &node, Value x, size_t rank) {
  expectExactRank(x, int64_t(rank) + 2);
  SmallVector<ResizeExtent> extents;
  bool hasSizes = node.has("output_size");
  Shape sizes = hasSizes ? node.integers("output_size") : Shape();
  if (hasSizes && sizes.size() != rank)
    throw ImportError("expected " + std::to_string(rank) + " sizes, got " +
                      std::to_string(sizes.size()));
  if (node.has("scale_factors") && node.reals("scale_factors").size() != rank)
    throw ImportError("expected " + std::to_string(rank) + " scales");
  for (size_t i = 0; i < rank; ++i) {
    int64_t dim = int64_t(i) + 2, in = shapeOf(x)[dim];
    std::optional<double> scale = givenScale(node, i, rank);
    if (!hasSizes && !scale)
      throw ImportError("neither sizes nor scales are given");
    double out = hasSizes ? double(sizes[i]) : std::floor(double(in) * *scale);
    int64_t size = checkResizeExtent(out);
    double ratio = double(size) / double(in);
    extents.push_back({dim, in, size, scale && *scale > 0 ? *scale : ratio});
  }
  return extents;
}

/// With `alignScales`, scales are those of the distances between the corners.
static void resize(Node &node, size_t rank, const ResizeRule &rule, bool alignScales = false) {
  Value x = node.tensor(node.has("input") ? "input" : "self");
  SmallVector<ResizeExtent> extents = readExtents(node, x, rank);
  for (ResizeExtent &extent : extents) {
    if (!alignScales || extent.in == 1)
      continue;
    if (extent.out == 1)
      throw ImportError("one element has no corners to be aligned");
    extent.scale = double(extent.out - 1) / double(extent.in - 1);
  }
  auto resized = [&](Value value) {
    for (const ResizeExtent &extent : extents)
      if (extent.out != extent.in || extent.scale != 1)
        value = emitResize(node.emit, value, extent, rule);
    return value;
  };
  node.result(rule.kind == ResizeRule::Nearest ? resized(x) : emitWide(node.emit, x, resized));
}

template <size_t Rank, bool Exact> static void importNearest(Node &node) {
  bool isDouble = elementOf(node.tensor(node.has("input") ? "input" : "self")).isF64();
  auto place = Exact ? (isDouble ? centre<double> : centre<float>)
                     : (isDouble ? topLeft<double> : topLeft<float>);
  resize(node, Rank,
         {ResizeRule::Nearest, place, [](double at) { return int64_t(std::floor(at)); }});
}

template <size_t Rank> static void importLinear(Node &node) {
  bool aligned = node.flag("align_corners", false);
  resize(node, Rank, {ResizeRule::Linear, aligned ? alignedCorners : clampedHalfPixel, {}});
}

static void importCubic(Node &node) {
  bool aligned = node.flag("align_corners", false);
  resize(node, 2, {ResizeRule::Cubic, aligned ? alignedCorners : halfPixel, {}});
}

/// Antialiased kernels leave out what lies beyond the borders, and bicubic ones have another
/// coefficient. To align corners changes the scale alone: places are centres all the same.
template <ResizeRule::Kind Kind> static void importAntialiased(Node &node) {
  bool aligned = node.flag("align_corners", false);
  resize(node, 2, {Kind, halfPixel, {}, -0.5, true, true}, aligned);
}

void weft::frontend::aten::addResize(OpTable &table) {
  auto add = [&](StringRef name, OpImporter importer) {
    for (StringRef overload : {"default", "vec"})
      table[("aten." + name + "." + overload).str()] = importer;
  };
  add("_upsample_bicubic2d_aa", importAntialiased<ResizeRule::Cubic>);
  add("_upsample_bilinear2d_aa", importAntialiased<ResizeRule::Linear>);
  add("_upsample_nearest_exact1d", importNearest<1, true>);
  add("_upsample_nearest_exact2d", importNearest<2, true>);
  add("_upsample_nearest_exact3d", importNearest<3, true>);
  add("upsample_bicubic2d", importCubic);
  add("upsample_bilinear2d", importLinear<2>);
  add("upsample_linear1d", importLinear<1>);
  add("upsample_nearest1d", importNearest<1, false>);
  add("upsample_nearest2d", importNearest<2, false>);
  add("upsample_nearest3d", importNearest<3, false>);
  add("upsample_trilinear3d", importLinear<3>);
}
