// Windows of images as columns, and the gradients of pooling and convolution.

#include "frontends/common/Composites.h"
#include "frontends/common/Limits.h"
#include "frontends/common/Matrix.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"
#include "frontends/torch_export/ops/Spatial.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

namespace {
/// Windows along one dimension of an image.
struct Window {
  int64_t size, stride, padding, dilation;
  int64_t positions(int64_t extent) const {
    int64_t room = extent + 2 * padding - dilation * (size - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
  }
  /// The element of the image under an element of a window; it may lie in the padding.
  int64_t at(int64_t position, int64_t element) const {
    return position * stride + element * dilation - padding;
  }
};
} // namespace

static SmallVector<Window> readWindows(Node &node, size_t rank) {
  Shape sizes = perSpatial(node, "kernel_size", rank, 1, 1);
  bool isGiven = !node.integers("stride", {}).empty();
  Shape strides = isGiven ? perSpatial(node, "stride", rank, 1, 1) : sizes;
  Shape padding = perSpatial(node, "padding", rank, 0, 0),
        dilations = perSpatial(node, "dilation", rank, 1, 1);
  SmallVector<Window> windows;
  for (size_t i = 0; i < rank; ++i)
    windows.push_back({sizes[i], strides[i], padding[i], dilations[i]});
  return windows;
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// [n, c, h, w] to [n, c·kh·kw, positions]: each dimension becomes elements of windows × positions.
static void importIm2col(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  expectExactRank(x, 4);
  SmallVector<Window> windows = readWindows(node, 2);
  Shape padding{0, 0, windows[0].padding, windows[1].padding};
  x = emit.pad(x, emit.splat(RankedTensorType::get({}, elementOf(x)), 0), padding, padding);
  Shape counts;
  for (auto [index, window] : llvm::enumerate(windows)) {
    int64_t dim = 2 + 2 * int64_t(index), extent = shapeOf(x)[dim] - 2 * window.padding;
    counts.push_back(window.positions(extent));
    if (counts.back() < 1)
      throw ImportError("the windows do not fit " + describe(x));
    checkPositions(counts.back(), window.size);
    SmallVector<int64_t> taken;
    for (int64_t element = 0; element < window.size; ++element)
      for (int64_t position = 0; position < counts.back(); ++position)
        taken.push_back(window.at(position, element) + window.padding);
    Value places = emit.reshape(emit.integers(taken), {window.size, counts.back()});
    x = emit.gather(x, places, dim);
  }
  ArrayRef<int64_t> s = shapeOf(x);
  Shape result{s[0], s[1] * windows[0].size * windows[1].size, counts[0] * counts[1]};
  node.result(emit.reshape(emit.transpose(x, {0, 1, 2, 4, 3, 5}), result));
}

/// Back to the image: elements that lie under several windows are summed.
static void importCol2im(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  expectExactRank(x, 3);
  SmallVector<Window> windows = readWindows(node, 2);
  Shape extents = perSpatial(node, "output_size", 2, 1, 1), counts;
  for (auto [window, extent] : llvm::zip(windows, extents))
    counts.push_back(window.positions(extent));
  int64_t area = windows[0].size * windows[1].size, channels = shapeOf(x)[1] / area;
  if (shapeOf(x)[1] % area != 0 || shapeOf(x)[2] != counts[0] * counts[1])
    throw ImportError("columns " + describe(x) + " do not fit an image of sizes " +
                      describe(extents));
  int64_t batch = shapeOf(x)[0];
  x = emit.reshape(x, {batch, channels, windows[0].size, windows[1].size, counts[0], counts[1]});
  x = emit.reshape(emit.transpose(x, {0, 1, 2, 4, 3, 5}),
                   {batch, channels, windows[0].size * counts[0], windows[1].size * counts[1]});
  for (auto [index, window] : llvm::enumerate(windows)) {
    int64_t columns = window.size * counts[index];
    Matrix places(extents[index], columns);
    for (int64_t column = 0; column < columns; ++column) {
      int64_t at = window.at(column % counts[index], column / counts[index]);
      if (at >= 0 && at < extents[index])
        places.at(at, column) = 1;
    }
    x = emitAlong(emit, x, places.build(emit, x), 2 + int64_t(index));
  }
  node.result(x);
}

//===----------------------------------------------------------------------===//
// Gradients of pooling
//===----------------------------------------------------------------------===//

/// Averages are products with one matrix a dimension; their gradients with its transpose. `weight`
/// tells what an element of the image gives to a window.
template <typename Weight>
static Value averageGradient(Emitter &emit, Value gradient, ArrayRef<int64_t> extents,
                             Weight weight) {
  int64_t first = typeOf(gradient).getRank() - int64_t(extents.size());
  for (auto [index, extent] : llvm::enumerate(extents)) {
    int64_t dim = first + int64_t(index), count = shapeOf(gradient)[dim];
    Matrix weights(extent, count);
    for (int64_t at = 0; at < extent; ++at)
      for (int64_t position = 0; position < count; ++position)
        weights.at(at, position) = weight(index, position, at);
    gradient = emitAlong(emit, gradient, weights.build(emit, gradient), dim);
  }
  return gradient;
}

static void importAveragePoolBackward(Node &node) {
  Emitter &emit = node.emit;
  Value gradient = node.tensor("grad_output"), x = node.tensor("self");
  expectRank(x, 3);
  expectExactRank(gradient, typeOf(x).getRank());
  node.ignore({"ceil_mode"}); // the gradient's shape tells
  SmallVector<Window> windows = readWindows(node, 2);
  bool counts = node.flag("count_include_pad", true);
  double divisor = node.real("divisor_override", 0);
  ArrayRef<int64_t> extents = shapeOf(x).take_back(2);
  Value result =
      averageGradient(emit, gradient, extents, [&](size_t index, int64_t position, int64_t at) {
        const Window &window = windows[index];
        int64_t first = window.at(position, 0), last = first + window.size;
        if (at < first || at >= last)
          return 0.0;
        if (divisor != 0)
          return 1.0;
        int64_t padding = counts ? window.padding : 0;
        return 1.0 / double(std::min(last, extents[index] + padding) - std::max(first, -padding));
      });
  if (divisor != 0)
    result = emit.binary<DivOp>(result, emit.like(result, divisor));
  node.result(result);
}

static void importAdaptiveAverageBackward(Node &node) {
  Value gradient = node.tensor("grad_output"), x = node.tensor("self");
  expectRank(x, 3);
  expectExactRank(gradient, typeOf(x).getRank());
  ArrayRef<int64_t> extents = shapeOf(x).take_back(2), sizes = shapeOf(gradient).take_back(2);
  node.result(averageGradient(node.emit, gradient, extents,
                              [&](size_t index, int64_t position, int64_t at) {
                                int64_t extent = extents[index], size = sizes[index];
                                int64_t first = position * extent / size,
                                        last = ((position + 1) * extent + size - 1) / size;
                                return at >= first && at < last ? 1.0 / double(last - first) : 0.0;
                              }));
}

/// Each gradient goes to where the maximum stood.
static void importMaxPoolBackward(Node &node) {
  Emitter &emit = node.emit;
  Value gradient = node.tensor("grad_output"), x = node.tensor("self"),
        indices = node.tensor("indices");
  node.ignore({"kernel_size", "stride", "padding", "dilation", "ceil_mode"});
  expectRank(x, 3);
  for (Value value : {gradient, indices})
    expectExactRank(value, typeOf(x).getRank());
  int64_t rank = typeOf(x).getRank() - 2;
  auto flat = [&](Value value) {
    Shape shape(shapeOf(value).take_front(rank));
    shape.push_back(shapeOf(value).take_back(2)[0] * shapeOf(value).back());
    return emit.reshape(value, shape);
  };
  Value zeros = flat(emit.like(x, 0));
  Value sum = emit.create<ScatterElementsOp>(typeOf(zeros), ScatterKind::Add, zeros, flat(indices),
                                             flat(gradient), rank);
  node.result(emit.reshape(sum, shapeOf(x)));
}

//===----------------------------------------------------------------------===//
// Gradients of convolution
//===----------------------------------------------------------------------===//

namespace {
struct ConvGradient {
  Value gradient, input, kernel;
  Shape strides, padding, dilations;
  int64_t groups;
};
} // namespace

/// The transposed convolution; elements of the input behind the last window get nothing.
static Value inputGradient(Emitter &emit, const ConvGradient &conv) {
  Windows back{conv.strides, conv.padding, {}, conv.dilations};
  for (size_t i = 0; i < conv.strides.size(); ++i) {
    int64_t reach = (shapeOf(conv.gradient)[i + 2] - 1) * conv.strides[i] +
                    conv.dilations[i] * (shapeOf(conv.kernel)[i + 2] - 1) + 1;
    back.high.push_back(reach - conv.padding[i] - shapeOf(conv.input)[i + 2]);
  }
  return emitTransposedConv(emit, conv.gradient, conv.kernel, back, conv.groups);
}

/// A convolution of the input with the gradients, summed over the batch: batch and channels change
/// places, strides and dilations too. With g groups, channels are [c/g] and the sum is over the
/// batch within each group.
static Value kernelGradient(Emitter &emit, const ConvGradient &conv) {
  ArrayRef<int64_t> in = shapeOf(conv.input), out = shapeOf(conv.gradient),
                    k = shapeOf(conv.kernel);
  int64_t spatial = int64_t(in.size()) - 2, channels = in[1] / conv.groups;
  Shape parts{in[0], conv.groups, channels}, order{2, 1, 0}, joined{channels, conv.groups * in[0]};
  Shape high, shape{channels, k[0]}, swap{1, 0};
  for (int64_t i = 0; i < spatial; ++i) {
    parts.push_back(in[i + 2]);
    joined.push_back(in[i + 2]);
    order.push_back(i + 3);
    swap.push_back(i + 2);
    shape.push_back(k[i + 2]);
    int64_t reach = conv.dilations[i] * (k[i + 2] - 1) + conv.strides[i] * (out[i + 2] - 1) + 1;
    high.push_back(reach - in[i + 2] - conv.padding[i]);
  }
  Value x = emit.reshape(emit.transpose(emit.reshape(conv.input, parts), order), joined);
  Value window = emit.transpose(conv.gradient, swap);
  Value result = emit.create<ConvOp>(typeOf(x).clone(shape), x, window, conv.dilations,
                                     conv.padding, high, conv.strides, conv.groups);
  return emit.transpose(result, swap);
}

static void importConvolutionBackward(Node &node) {
  Emitter &emit = node.emit;
  ConvGradient conv{
      node.tensor("grad_output"), node.tensor("input"), node.tensor("weight"), {}, {}, {},
      node.integer("groups", 1)};
  node.ignore({"bias_sizes", "output_mask", "output_padding"});
  if (node.flag("transposed", false))
    throw ImportError("gradients of transposed convolutions are not supported");
  expectRank(conv.input, 3);
  for (Value value : {conv.gradient, conv.kernel})
    expectExactRank(value, typeOf(conv.input).getRank());
  size_t rank = shapeOf(conv.input).size() - 2;
  conv.strides = perSpatial(node, "stride", rank, 1, 1);
  conv.padding = perSpatial(node, "padding", rank, 0, 0);
  conv.dilations = perSpatial(node, "dilation", rank, 1, 1);
  if (conv.groups < 1 || shapeOf(conv.input)[1] % conv.groups != 0)
    throw ImportError(std::to_string(conv.groups) + " groups do not divide the channels of " +
                      describe(conv.input));
  if (node.wants(0))
    node.result(0, inputGradient(emit, conv));
  if (node.wants(1)) {
    node.beginResult(1);
    node.result(1, kernelGradient(emit, conv));
  }
  if (node.wants(2))
    node.result(2,
                emit.reduce(ReduceKind::Sum, conv.gradient, allDimsBut(conv.gradient, 1), false));
}

void weft::frontend::aten::addWindows(OpTable &table) {
  table["aten._adaptive_avg_pool2d_backward.default"] = importAdaptiveAverageBackward;
  table["aten.avg_pool2d_backward.default"] = importAveragePoolBackward;
  table["aten.col2im.default"] = importCol2im;
  table["aten.convolution_backward.default"] = importConvolutionBackward;
  table["aten.im2col.default"] = importIm2col;
  table["aten.max_pool2d_with_indices_backward.default"] = importMaxPoolBackward;
}
