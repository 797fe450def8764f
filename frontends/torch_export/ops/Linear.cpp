// Products and convolutions.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/OpTable.h"
#include "frontends/torch_export/ops/Spatial.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// `padding` is a list, or "valid" or "same": as many results as there are elements, with one more
/// element of padding behind than before where it does not come out even.
static Windows readWindows(Node &node, ArrayRef<int64_t> window) {
  size_t count = window.size();
  Windows windows{perSpatial(node, "stride", count, 1, 1), Shape(count, 0), Shape(count, 0),
                  perSpatial(node, "dilation", count, 1, 1)};
  if (!node.isText("padding")) {
    windows.low = windows.high = perSpatial(node, "padding", count, 0, 0);
    return windows;
  }
  std::string mode = node.text("padding", "valid");
  if (mode != "valid" && mode != "same")
    throw ImportError("padding '" + mode + "' is not known");
  for (size_t i = 0; mode == "same" && i < count; ++i) {
    int64_t total = windows.dilations[i] * (window[i] - 1);
    windows.low[i] = total / 2;
    windows.high[i] = total - total / 2;
  }
  return windows;
}

/// Where `output_padding` asks for more results, behind the others, less is cut off.
static Value emitTransposed(Node &node, Value x, Value kernel) {
  size_t count = shapeOf(kernel).size() - 2;
  Shape padding = perSpatial(node, "padding", count, 0, 0);
  Windows windows{perSpatial(node, "stride", count, 1, 1), padding, padding,
                  perSpatial(node, "dilation", count, 1, 1)};
  Shape added = perSpatial(node, "output_padding", count, 0, 0);
  for (auto [high, more] : llvm::zip(windows.high, added))
    high -= more;
  return emitTransposedConv(node.emit, x, kernel, windows, node.integer("groups", 1));
}

static Value emitDirect(Node &node, Value x, Value kernel) {
  for (int64_t padding : node.integers("output_padding", {}))
    if (padding != 0)
      throw ImportError("output_padding is for transposed convolutions alone");
  Windows windows = readWindows(node, shapeOf(kernel).drop_front(2));
  return emitConv(node.emit, x, kernel, windows, node.integer("groups", 1));
}

/// Input without a batch gains one, and the result loses it again.
static void convolve(Node &node, bool transposed) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input"), kernel = node.tensor("weight");
  expectFloat(x);
  expectRank(kernel, 3);
  bool batched = typeOf(x).getRank() == typeOf(kernel).getRank();
  Shape shape(shapeOf(x));
  if (!batched) {
    shape.insert(shape.begin(), 1);
    x = emit.reshape(x, shape);
  }
  expectExactRank(x, typeOf(kernel).getRank());
  Value result = transposed ? emitTransposed(node, x, kernel) : emitDirect(node, x, kernel);
  if (Value bias = node.optionalTensor("bias"))
    result = emit.binary<AddOp>(result, emit.broadcastDims(bias, shapeOf(result), {1}));
  node.result(batched ? result : emit.reshape(result, shapeOf(result).drop_front()));
}

static void importConvolution(Node &node) { convolve(node, node.flag("transposed", false)); }
static void importTransposed(Node &node) { convolve(node, true); }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Value scaled(Node &node, Value x, StringRef factor) {
  Number number = node.has(factor) ? node.number(factor) : Number(int64_t(1));
  return asDouble(number) == 1
             ? x
             : node.emit.binary<MulOp>(x, constantOf(node.emit, number, elementOf(x)));
}

/// β · self + α · (a · b)
static void addProduct(Node &node, StringRef a, StringRef b, int64_t rank) {
  Emitter &emit = node.emit;
  Value lhs = node.tensor(a), rhs = node.tensor(b), self = node.tensor("self");
  expectExactRank(lhs, rank);
  if (typeOf(rhs).getRank() != rank)
    expectExactRank(rhs, rank - 1);
  Value product = scaled(node, emitMatMul(emit, lhs, rhs), "alpha");
  if (node.real("beta", 1) != 0) // else self is left out, not-a-numbers and all
    product =
        emit.binary<AddOp>(product, emit.broadcast(scaled(node, self, "beta"), shapeOf(product)));
  node.result(product);
}

static void importAddmm(Node &node) { addProduct(node, "mat1", "mat2", 2); }
static void importBaddbmm(Node &node) { addProduct(node, "batch1", "batch2", 3); }

static void importAddmv(Node &node) {
  expectExactRank(node.tensor("vec"), 1);
  addProduct(node, "mat", "vec", 2);
}

/// Products of exact ranks, without broadcasting.
template <int64_t left, int64_t right> static void importProduct(Node &node, StringRef other) {
  Value lhs = node.tensor("self"), rhs = node.tensor(other);
  expectExactRank(lhs, left);
  expectExactRank(rhs, right);
  if (left == 3 && shapeOf(lhs)[0] != shapeOf(rhs)[0])
    throw ImportError("cannot multiply " + describe(lhs) + " and " + describe(rhs));
  node.result(emitMatMul(node.emit, lhs, rhs));
}

static void importBmm(Node &node) { importProduct<3, 3>(node, "mat2"); }
static void importDot(Node &node) { importProduct<1, 1>(node, "tensor"); }
static void importVdot(Node &node) { importProduct<1, 1>(node, "other"); }
static void importMm(Node &node) { importProduct<2, 2>(node, "mat2"); }
static void importMv(Node &node) { importProduct<2, 1>(node, "vec"); }

static void importMatmul(Node &node) {
  node.result(emitMatMul(node.emit, node.tensor("self"), node.tensor("other")));
}

/// x · weightᵀ + bias, the weight [out, in] or, for one result, [in].
static void importLinear(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input"), weight = node.tensor("weight");
  int64_t rank = typeOf(x).getRank(), weightRank = typeOf(weight).getRank();
  expectRank(x, 1);
  if (weightRank != 1)
    expectExactRank(weight, 2);
  Value result = emit.dot(x, weight, {{}, {}, {rank - 1}, {weightRank - 1}});
  if (Value bias = node.optionalTensor("bias"))
    result = emit.binary<AddOp>(result, emit.broadcast(bias, shapeOf(result)));
  node.result(result);
}

void weft::frontend::aten::addLinear(OpTable &table) {
  table["aten.addmm.default"] = importAddmm;
  table["aten.addmv.default"] = importAddmv;
  table["aten.baddbmm.default"] = importBaddbmm;
  table["aten.bmm.default"] = importBmm;
  table["aten.conv1d.default"] = importConvolution;
  table["aten.conv1d.padding"] = importConvolution;
  table["aten.conv2d.default"] = importConvolution;
  table["aten.conv2d.padding"] = importConvolution;
  table["aten.conv3d.default"] = importConvolution;
  table["aten.conv3d.padding"] = importConvolution;
  table["aten.conv_transpose1d.default"] = importTransposed;
  table["aten.conv_transpose2d.input"] = importTransposed;
  table["aten.conv_transpose3d.input"] = importTransposed;
  table["aten.convolution.default"] = importConvolution;
  table["aten.dot.default"] = importDot;
  table["aten.linear.default"] = importLinear;
  table["aten.matmul.default"] = importMatmul;
  table["aten.mm.default"] = importMm;
  table["aten.mv.default"] = importMv;
  table["aten.vdot.default"] = importVdot;
}
