// Products and convolutions.

#include "frontends/onnx/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

//===----------------------------------------------------------------------===//
// Conv
//===----------------------------------------------------------------------===//

Shape weft::frontend::readPerSpatial(Node &node, StringRef name, size_t count) {
  Shape values = node.getInts(name, Shape(count, 1));
  if (values.size() != count ||
      llvm::any_of(values, [](int64_t v) { return v < 1 || v > (1 << 30); }))
    throw ImportError("attribute '" + name.str() + "' must have " + std::to_string(count) +
                      " entries of 1 or more");
  return values;
}

Windows weft::frontend::readWindows(Node &node, ArrayRef<int64_t> spatial,
                                    ArrayRef<int64_t> window) {
  size_t count = spatial.size();
  Windows windows{readPerSpatial(node, "strides", count), Shape(count, 0), Shape(count, 0),
                  readPerSpatial(node, "dilations", count)};
  std::string mode = node.getString("auto_pad", "NOTSET");
  Shape pads = node.getInts("pads", Shape(2 * count, 0));
  if (pads.size() != 2 * count ||
      llvm::any_of(pads, [](int64_t v) { return v < 0 || v > (1 << 30); }))
    throw ImportError("attribute 'pads' must have " + std::to_string(2 * count) +
                      " entries of 0 or more");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    for (size_t i = 0; i < count; ++i) {
      int64_t results = (spatial[i] + windows.strides[i] - 1) / windows.strides[i];
      int64_t reach =
          (results - 1) * windows.strides[i] + windows.dilations[i] * (window[i] - 1) + 1;
      int64_t total = std::max<int64_t>(reach - spatial[i], 0);
      windows.low[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      windows.high[i] = total - windows.low[i];
    }
  } else if (mode == "NOTSET") {
    windows.low.assign(pads.begin(), pads.begin() + count);
    windows.high.assign(pads.begin() + count, pads.end());
  } else if (mode != "VALID") {
    throw ImportError("auto_pad '" + mode + "' is not known");
  }
  return windows;
}

Windows weft::frontend::readConv(Node &node, Value x, Value kernel) {
  expectRank(x, 3);
  expectExactRank(kernel, typeOf(x).getRank());
  expectFloat(x);
  ArrayRef<int64_t> window = shapeOf(kernel).drop_front(2);
  if (Shape(window) != node.getInts("kernel_shape", Shape(window)))
    throw ImportError("kernel " + describe(kernel) + " is not of the shape that kernel_shape says");
  return readWindows(node, shapeOf(x).drop_front(2), window);
}

/// Sets the result, with a bias for each channel where there is one.
static void setBiased(Node &node, Value result) {
  if (Value bias = node.optional(2))
    result = node.emit.binary<AddOp>(result, node.emit.broadcastDims(bias, shapeOf(result), {1}));
  node.result(result);
}

static void importConv(Node &node) {
  Value x = node.operand(0), kernel = node.operand(1);
  Windows windows = readConv(node, x, kernel);
  setBiased(node, emitConv(node.emit, x, kernel, windows, node.getInt("group", 1)));
}

/// What to cut off at both ends so that the results have the extents that output_shape gives, or
/// auto_pad.
static void fitResults(Node &node, ArrayRef<int64_t> spatial, ArrayRef<int64_t> window,
                       ArrayRef<int64_t> outputPadding, Windows &windows) {
  std::string mode = node.getString("auto_pad", "NOTSET");
  bool isUpper = mode == "SAME_UPPER", isSame = isUpper || mode == "SAME_LOWER";
  Shape wanted = node.getInts("output_shape");
  if (wanted.empty() && !isSame)
    return;
  if (!wanted.empty() && (wanted.size() != spatial.size() || llvm::any_of(wanted, [](int64_t size) {
                            return size < 1 || size > (1 << 30);
                          })))
    throw ImportError("attribute 'output_shape' must have " + std::to_string(spatial.size()) +
                      " entries of 1 or more");
  for (size_t i = 0; i < spatial.size(); ++i) {
    int64_t extent = wanted.empty() ? spatial[i] * windows.strides[i] : wanted[i];
    int64_t whole = windows.strides[i] * (spatial[i] - 1) + outputPadding[i] +
                    windows.dilations[i] * (window[i] - 1) + 1;
    int64_t total = std::max<int64_t>(whole - extent, 0);
    windows.low[i] = isUpper ? total / 2 : total - total / 2;
    windows.high[i] = total - windows.low[i];
    if (whole < extent) // zeros behind
      windows.high[i] = whole - extent;
  }
}

static void importConvTranspose(Node &node) {
  Value x = node.operand(0), kernel = node.operand(1);
  Windows windows = readConv(node, x, kernel);
  size_t count = windows.strides.size();
  Shape outputPadding = node.getInts("output_padding", Shape(count, 0));
  if (outputPadding.size() != count ||
      llvm::any_of(outputPadding, [](int64_t v) { return v < 0 || v > (1 << 30); }))
    throw ImportError("attribute 'output_padding' must have " + std::to_string(count) +
                      " entries of 0 or more");
  fitResults(node, shapeOf(x).drop_front(2), shapeOf(kernel).drop_front(2), outputPadding, windows);
  for (size_t i = 0; i < count; ++i)
    windows.high[i] -= outputPadding[i];
  setBiased(node, emitTransposedConv(node.emit, x, kernel, windows, node.getInt("group", 1)));
}

//===----------------------------------------------------------------------===//
// Gemm and MatMul
//===----------------------------------------------------------------------===//

/// α · A' · B' + β · C
static void importGemm(Node &node) {
  Emitter &emit = node.emit;
  Value a = node.operand(0), b = node.operand(1);
  node.ignore({"broadcast"});
  expectExactRank(a, 2);
  expectExactRank(b, 2);
  int64_t aContract = node.getInt("transA", 0) ? 0 : 1,
          bContract = node.getInt("transB", 0) ? 1 : 0;
  Value result = emit.dot(a, b, {{}, {}, {aContract}, {bContract}});
  if (double alpha = node.getFloat("alpha", 1); alpha != 1)
    result = emit.binary<MulOp>(result, emit.like(result, alpha));
  double beta = node.getFloat("beta", 1);
  if (Value c = node.optional(2); c && beta != 0) {
    if (beta != 1)
      c = emit.binary<MulOp>(c, emit.like(c, beta));
    result = emit.binary<AddOp>(result, emit.broadcast(c, shapeOf(result)));
  }
  node.result(result);
}

static void importEinsum(Node &node) {
  node.result(emitEinsum(node.emit, node.getString("equation", ""), node.allOperands()));
}

static void importMatMul(Node &node) {
  node.result(emitMatMul(node.emit, node.operand(0), node.operand(1)));
}

void weft::frontend::addLinear(OpTable &table) {
  table["Conv"] = importConv;
  table["ConvTranspose"] = importConvTranspose;
  table["Einsum"] = importEinsum;
  table["Gemm"] = importGemm;
  table["MatMul"] = importMatMul;
}
