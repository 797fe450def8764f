// Operators that take tensors apart, join and pad them.

#include "frontends/common/Parts.h"
#include "frontends/onnx/ops/OpTable.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

static void importConcat(Node &node) {
  SmallVector<Value> inputs = node.allOperands();
  int64_t axis = node.dim(node.requiredInt("axis"), typeOf(inputs.front()).getRank());
  node.result(node.emit.concat(inputs, axis));
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

static std::optional<BorderKind> borderKind(StringRef mode) {
  return llvm::StringSwitch<std::optional<BorderKind>>(mode)
      .Case("edge", BorderKind::Edge)
      .Case("reflect", BorderKind::Reflect)
      .Case("wrap", BorderKind::Wrap)
      .Default(std::nullopt);
}

static void importPad(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0), value;
  int64_t rank = typeOf(x).getRank();
  Shape pads = node.opset >= 11 ? node.integers(1, "the pads") : node.getInts("pads");
  Shape axes = node.has(3) ? node.integers(3, "axes")
                           : llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, rank));
  node.dims(axes, rank);
  if (pads.size() != 2 * axes.size())
    throw ImportError("expected two pads an axis, got " + std::to_string(pads.size()));
  Shape low(rank, 0), high(rank, 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    low[node.dim(axis, rank)] = pads[i];
    high[node.dim(axis, rank)] = pads[i + axes.size()];
  }
  x = emitCrop(emit, x, low, high);
  std::string mode = node.getString("mode", "constant");
  if (auto kind = borderKind(mode))
    return node.result(emitBorders(emit, x, low, high, *kind));
  if (mode != "constant")
    throw ImportError("mode '" + mode + "' is not known");
  RankedTensorType scalar = RankedTensorType::get({}, elementOf(x));
  value = node.opset >= 11 && node.has(2) ? emit.reshape(node.operand(2), {})
                                          : emit.splat(scalar, node.getFloat("value", 0));
  node.result(emit.pad(x, value, low, high));
}

//===----------------------------------------------------------------------===//
// Slice and Split
//===----------------------------------------------------------------------===//

namespace {
struct SliceBounds {
  Shape starts, ends, axes, steps;
};
} // namespace

static SliceBounds readBounds(Node &node, int64_t rank) {
  SliceBounds bounds;
  bool operands = node.opset >= 10;
  bounds.starts = operands ? node.integers(1, "starts") : node.getInts("starts");
  bounds.ends = operands ? node.integers(2, "ends") : node.getInts("ends");
  bounds.axes = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, bounds.starts.size()));
  bounds.steps.assign(bounds.starts.size(), 1);
  if (operands && node.has(3))
    bounds.axes = node.integers(3, "axes");
  else if (!operands)
    bounds.axes = node.getInts("axes", bounds.axes);
  if (operands && node.has(4))
    bounds.steps = node.integers(4, "steps");
  size_t count = bounds.starts.size();
  if (bounds.ends.size() != count || bounds.axes.size() != count || bounds.steps.size() != count)
    throw ImportError("starts, ends, axes and steps are not of one length");
  node.dims(bounds.axes, rank);
  return bounds;
}

/// Steps below 0 take the same elements from the other end, then turn them round.
static void importSlice(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  int64_t rank = typeOf(x).getRank();
  SliceBounds bounds = readBounds(node, rank);
  Shape starts(rank, 0), sizes(shapeOf(x)), strides(rank, 1), turned;
  for (auto [start, end, axis, step] :
       llvm::zip(bounds.starts, bounds.ends, bounds.axes, bounds.steps)) {
    int64_t dim = node.dim(axis, rank), extent = sizes[dim];
    if (step == 0 || step == std::numeric_limits<int64_t>::min())
      throw ImportError("a step of " + std::to_string(step) + " is out of range");
    auto clamp = [&](int64_t at, int64_t least, int64_t most) {
      return std::clamp(at < 0 ? std::max(at, -extent - 1) + extent : at, least, most);
    };
    bool forward = step > 0;
    int64_t from = forward ? clamp(start, 0, extent) : clamp(start, 0, extent - 1);
    int64_t to = forward ? clamp(end, 0, extent) : clamp(end, -1, extent - 1);
    int64_t distance = forward ? to - from : from - to, stride = std::abs(step);
    int64_t count = extent == 0 || distance <= 0 ? 0 : (distance - 1) / stride + 1;
    starts[dim] = forward || count == 0 ? std::max<int64_t>(from, 0) : from - (count - 1) * stride;
    sizes[dim] = count;
    strides[dim] = count > 1 ? stride : 1;
    if (!forward)
      turned.push_back(dim);
  }
  llvm::sort(turned);
  node.result(emit.reverse(emit.slice(x, starts, sizes, strides), turned));
}

static Shape splitSizes(Node &node, int64_t extent) {
  Shape sizes =
      node.opset >= 13 && node.has(1) ? node.integers(1, "the sizes") : node.getInts("split");
  if (!sizes.empty())
    return sizes;
  int64_t parts = node.getInt("num_outputs", node.proto.output_size());
  if (parts < 1 || parts > (1 << 20))
    throw ImportError("cannot split into " + std::to_string(parts) + " parts");
  int64_t size = (extent + parts - 1) / parts;
  for (int64_t left = extent, i = 0; i < parts; ++i, left -= sizes.back())
    sizes.push_back(std::min(size, left));
  return sizes;
}

static void importSplit(Node &node) {
  Value x = node.operand(0);
  int64_t axis = node.dim(node.getInt("axis", 0), typeOf(x).getRank());
  emitParts(node, x, axis, splitSizes(node, shapeOf(x)[axis]));
}

void weft::frontend::addSlicing(OpTable &table) {
  table["Concat"] = importConcat;
  table["Pad"] = importPad;
  table["Slice"] = importSlice;
  table["Split"] = importSplit;
}
