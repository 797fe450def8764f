// Pooling and normalisation over windows.

#include "frontends/common/Composites.h"
#include "frontends/onnx/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// The windows of a pooling node; `reaching` has those behind the last elements too, of ceil_mode.
static Pooling readPooling(Node &node, Value x, Pooling *declared = nullptr) {
  expectRank(x, 3);
  ArrayRef<int64_t> extents = shapeOf(x).drop_front(2);
  Shape window = readPerSpatial(node, "kernel_shape", extents.size());
  Windows windows = readWindows(node, extents, window);
  Pooling pooling{window, windows.strides, windows.low, windows.high, windows.dilations};
  if (declared)
    *declared = pooling;
  if (node.getInt("ceil_mode", 0) != 0)
    pooling.coverAll(extents);
  return pooling;
}

static void importAveragePool(Node &node) {
  Value x = node.operand(0);
  expectFloat(x);
  Pooling declared, pooling = readPooling(node, x, &declared);
  Shape none(pooling.window.size(), 0);
  bool padding = node.getInt("count_include_pad", 0) != 0;
  node.result(emitAveragePool(node.emit, x, pooling, padding ? declared.low : none,
                              padding ? declared.high : none));
}

/// (Σ |x|^p)^(1/p)
static void importLpPool(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectFloat(x);
  double p = node.opset >= 2 ? double(node.getInt("p", 2)) : node.getFloat("p", 2);
  Value magnitude = emit.unary<AbsOp>(x);
  Value powers = emit.binary<PowOp>(magnitude, emit.like(magnitude, p));
  Value sums = emitPool(emit, ReduceKind::Sum, powers, readPooling(node, x));
  node.result(emit.binary<PowOp>(sums, emit.like(sums, 1 / p)));
}

/// x / (bias + alpha / size · Σ x²)^beta, the sum over `size` neighbouring channels.
static void importLrn(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectFloat(x);
  expectRank(x, 2);
  int64_t size = node.requiredInt("size"), rank = typeOf(x).getRank();
  if (size < 1 || size > (1 << 30))
    throw ImportError("a size of " + std::to_string(size) + " is out of range");
  double alpha = node.getFloat("alpha", 1e-4), beta = node.getFloat("beta", 0.75),
         bias = node.getFloat("bias", 1);
  Shape ones(rank - 1, 1), zeros(rank - 1, 0), window(ones), low(zeros), high(zeros);
  window[0] = size;
  low[0] = (size - 1) / 2;
  high[0] = size / 2;
  Value sums =
      emitPool(emit, ReduceKind::Sum, emit.binary<MulOp>(x, x), {window, ones, low, high, ones});
  Value scaled = emit.binary<MulOp>(sums, emit.like(sums, alpha / double(size)));
  Value base = emit.binary<AddOp>(scaled, emit.like(scaled, bias));
  node.result(emit.binary<DivOp>(x, emit.binary<PowOp>(base, emit.like(base, beta))));
}

/// Positions count through the whole tensor.
static void importMaxPool(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  Pooling pooling = readPooling(node, x);
  bool columns = node.getInt("storage_order", 0) != 0;
  Value pooled = emitPool(emit, ReduceKind::Max, x, pooling);
  node.result(pooled);
  if (!node.wants(1))
    return;
  node.beginResult(1);
  ArrayRef<int64_t> extents = shapeOf(x).drop_front(2);
  Shape strides(extents.size());
  int64_t size = 1;
  for (size_t i = 0; i < extents.size(); ++i) {
    size_t dim = columns ? i : extents.size() - 1 - i;
    strides[dim] = size;
    size *= extents[dim];
  }
  Value position = emitPoolPositions(emit, x, pooled, pooling, strides);
  for (auto [dim, stride] : {std::pair(0, shapeOf(x)[1] * size), std::pair(1, size)}) {
    Shape unit(typeOf(pooled).getRank(), 1);
    unit[dim] = shapeOf(pooled)[dim];
    Value start = emit.iota(unit, dim);
    start = emit.binary<MulOp>(start, emit.like(start, double(stride)));
    position = emit.binary<AddOp>(position, start);
  }
  node.result(1, position);
}

/// Puts elements back to where a MaxPool took them from.
static void importMaxUnpool(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0), positions = node.operand(1);
  expectRank(x, 3);
  ArrayRef<int64_t> extents = shapeOf(x).drop_front(2);
  Shape window = readPerSpatial(node, "kernel_shape", extents.size());
  Windows windows = readWindows(node, extents, window);
  Shape shape(shapeOf(x).take_front(2));
  for (auto [dim, extent] : llvm::enumerate(extents))
    shape.push_back((extent - 1) * windows.strides[dim] + window[dim] - windows.low[dim] -
                    windows.high[dim]);
  int64_t count = typeOf(x).getNumElements(), size = 1;
  for (int64_t extent : shape) {
    if (extent < 1)
      throw ImportError("the padding leaves nothing");
    size *= extent;
  }
  Value flat = emit.create<ScatterElementsOp>(
      typeOf(x).clone({size}), ScatterKind::Set, emit.splat(typeOf(x).clone({size}), 0),
      emit.reshape(positions, {count}), emit.reshape(x, {count}), 0);
  Value result = emit.reshape(flat, shape);
  if (node.has(2)) { // a larger tensor, at whose start this one stands
    Shape whole = node.integers(2, "the output's shape"), high;
    if (whole.size() != shape.size())
      throw ImportError("expected an output shape of " + std::to_string(shape.size()) +
                        " dimensions, got " + std::to_string(whole.size()));
    for (auto [extent, least] : llvm::zip(whole, shape)) {
      if (extent < least)
        throw ImportError("the output's shape is smaller than what is put into it");
      high.push_back(extent - least);
    }
    Value zero = emit.splat(typeOf(x).clone(ArrayRef<int64_t>()), 0);
    result = emit.pad(result, zero, Shape(shape.size(), 0), high);
  }
  node.result(result);
}

void weft::frontend::addPooling(OpTable &table) {
  table["AveragePool"] = importAveragePool;
  table["LRN"] = importLrn;
  table["LpPool"] = importLpPool;
  table["MaxPool"] = importMaxPool;
  table["MaxUnpool"] = importMaxUnpool;
}
