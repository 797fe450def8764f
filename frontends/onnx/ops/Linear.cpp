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

static void importConv(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0), kernel = node.operand(1);
  expectRank(x, 3);
  expectExactRank(kernel, typeOf(x).getRank());
  expectFloat(x);
  int64_t groups = node.getInt("group", 1);
  ArrayRef<int64_t> in = shapeOf(x), k = shapeOf(kernel);
  if (elementOf(x) != elementOf(kernel) || groups < 1 || in[1] % groups != 0 ||
      k[0] % groups != 0 || k[1] != in[1] / groups)
    throw ImportError("kernel " + describe(kernel) + " does not fit " + describe(x) + " in " +
                      std::to_string(groups) + " groups");
  if (Shape(k.drop_front(2)) != node.getInts("kernel_shape", Shape(k.drop_front(2))))
    throw ImportError("kernel " + describe(kernel) + " is not of the shape that kernel_shape says");
  Windows windows = readWindows(node, in.drop_front(2), k.drop_front(2));
  Shape shape{in[0], k[0]};
  for (size_t i = 0; i + 2 < in.size(); ++i) {
    int64_t room =
        in[i + 2] + windows.low[i] + windows.high[i] - windows.dilations[i] * (k[i + 2] - 1) - 1;
    if (room < 0)
      throw ImportError("the window of " + describe(kernel) + " exceeds " + describe(x));
    shape.push_back(room / windows.strides[i] + 1);
  }
  Value result = emit.create<ConvOp>(typeOf(x).clone(shape), x, kernel, windows.strides,
                                     windows.low, windows.high, windows.dilations, groups);
  if (Value bias = node.optional(2))
    result = emit.binary<AddOp>(result, emit.broadcastDims(bias, shape, {1}));
  node.result(result);
}

/// What to cut off at both ends so that the results have the extents that output_shape gives, or
/// auto_pad.
static void fitResults(Node &node, ArrayRef<int64_t> spatial, ArrayRef<int64_t> window,
                       ArrayRef<int64_t> outputPadding, TransposedConv &conv) {
  std::string mode = node.getString("auto_pad", "NOTSET");
  bool isUpper = mode == "SAME_UPPER", isSame = isUpper || mode == "SAME_LOWER";
  Shape wanted = node.getInts("output_shape");
  if (wanted.empty() && !isSame)
    return;
  if (!wanted.empty() && wanted.size() != spatial.size())
    throw ImportError("attribute 'output_shape' must have " + std::to_string(spatial.size()) +
                      " entries");
  for (size_t i = 0; i < spatial.size(); ++i) {
    int64_t extent = wanted.empty() ? spatial[i] * conv.strides[i] : wanted[i];
    int64_t whole = conv.strides[i] * (spatial[i] - 1) + outputPadding[i] +
                    conv.dilations[i] * (window[i] - 1) + 1;
    int64_t total = std::max<int64_t>(whole - extent, 0);
    conv.low[i] = isUpper ? total / 2 : total - total / 2;
    conv.high[i] = total - conv.low[i];
    if (whole < extent) // zeros behind
      conv.high[i] = whole - extent;
  }
}

static void importConvTranspose(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0), kernel = node.operand(1);
  expectRank(x, 3);
  expectExactRank(kernel, typeOf(x).getRank());
  expectFloat(x);
  ArrayRef<int64_t> spatial = shapeOf(x).drop_front(2), window = shapeOf(kernel).drop_front(2);
  if (Shape(window) != node.getInts("kernel_shape", Shape(window)))
    throw ImportError("kernel " + describe(kernel) + " is not of the shape that kernel_shape says");
  size_t count = spatial.size();
  Shape outputPadding = node.getInts("output_padding", Shape(count, 0));
  if (outputPadding.size() != count ||
      llvm::any_of(outputPadding, [](int64_t v) { return v < 0 || v > (1 << 30); }))
    throw ImportError("attribute 'output_padding' must have " + std::to_string(count) +
                      " entries of 0 or more");
  Windows windows = readWindows(node, spatial, window);
  TransposedConv conv{windows.strides, windows.low, windows.high, windows.dilations,
                      node.getInt("group", 1)};
  fitResults(node, spatial, window, outputPadding, conv);
  for (size_t i = 0; i < count; ++i)
    conv.high[i] -= outputPadding[i];
  Value result = emitTransposedConv(emit, x, kernel, conv);
  if (Value bias = node.optional(2))
    result = emit.binary<AddOp>(result, emit.broadcastDims(bias, shapeOf(result), {1}));
  node.result(result);
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
