// Products of several tensors, beyond those of matrices.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// x times a number of the node, 1 where it is absent.
static Value scaled(Node &node, Value x, StringRef factor) {
  if (!node.has(factor) || asDouble(node.number(factor)) == 1)
    return x;
  return node.emit.binary<MulOp>(x, constantOf(node.emit, node.number(factor), elementOf(x)));
}

/// β · self + α · product
static void addTo(Node &node, Value product) {
  product = scaled(node, product, "alpha");
  Value self = node.tensor("self");
  if (node.real("beta", 1) != 0) // else self is left out, not-a-numbers and all
    product = node.emit.binary<AddOp>(
        product, node.emit.broadcast(scaled(node, self, "beta"), shapeOf(product)));
  node.result(product);
}

/// The sum of the products of all pairs of matrices.
static void importAddbmm(Node &node) {
  Value lhs = node.tensor("batch1"), rhs = node.tensor("batch2");
  expectExactRank(lhs, 3);
  expectExactRank(rhs, 3);
  addTo(node, node.emit.dot(lhs, rhs, {{}, {}, {0, 2}, {0, 1}}));
}

static Value outerProduct(Emitter &emit, Value lhs, Value rhs) {
  expectExactRank(lhs, 1);
  expectExactRank(rhs, 1);
  return emit.binary<MulOp>(emit.reshape(lhs, {shapeOf(lhs)[0], 1}), rhs);
}

static void importAddr(Node &node) {
  addTo(node, outerProduct(node.emit, node.tensor("vec1"), node.tensor("vec2")));
}

static void importOuter(Node &node) {
  Type type = promotedType(node, {"self", "vec2"});
  node.result(
      outerProduct(node.emit, operandAs(node, "self", type), operandAs(node, "vec2", type)));
}

static void importInner(Node &node) {
  Emitter &emit = node.emit;
  Value lhs = node.tensor("self"), rhs = node.tensor("other");
  int64_t left = typeOf(lhs).getRank(), right = typeOf(rhs).getRank();
  if (left == 0 || right == 0)
    return node.result(emit.binary<MulOp>(lhs, rhs));
  node.result(emit.dot(lhs, rhs, {{}, {}, {left - 1}, {right - 1}}));
}

/// result[b, o] = Σ_ij x1[b, i] · weight[o, i, j] · x2[b, j] + bias[o]
static void importBilinear(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("input1"), y = node.tensor("input2"), weight = node.tensor("weight");
  expectExactRank(weight, 3);
  expectRank(x, 1);
  Value result = emitEinsum(emit, "...i,oij,...j->...o", {x, weight, y});
  if (Value bias = node.optionalTensor("bias"))
    result = emit.binary<AddOp>(result, emit.broadcast(bias, shapeOf(result)));
  node.result(result);
}

static void importEinsum(Node &node) {
  node.ignore({"path"});
  node.result(emitEinsum(node.emit, node.text("equation", ""), node.tensors("tensors")));
}

static void importMultiDot(Node &node) {
  SmallVector<Value> tensors = node.tensors("tensors");
  if (tensors.size() < 2)
    throw ImportError("expected two or more matrices");
  Value result = tensors.front();
  for (Value tensor : ArrayRef(tensors).drop_front())
    result = emitMatMul(node.emit, result, tensor);
  node.result(result);
}

static void importTensordot(Node &node) {
  Value lhs = node.tensor("self"), rhs = node.tensor("other");
  auto dims = [&](StringRef name, Value value) {
    Shape read;
    for (int64_t dim : node.integers(name))
      read.push_back(node.dim(dim, typeOf(value).getRank()));
    return read;
  };
  Shape left = dims("dims_self", lhs), right = dims("dims_other", rhs);
  if (left.size() != right.size())
    throw ImportError("expected as many dimensions of one operand as of the other");
  node.result(node.emit.dot(lhs, rhs, {{}, {}, left, right}));
}

/// The product of three tensors, each with unit dimensions added, summed over some dimensions.
static void importTrilinear(Node &node) {
  Emitter &emit = node.emit;
  node.ignore({"unroll_dim"});
  Value product;
  for (auto [name, expand] : {std::pair("i1", "expand1"), {"i2", "expand2"}, {"i3", "expand3"}}) {
    Value x = node.tensor(name);
    Shape shape(shapeOf(x)), added = node.integers(expand);
    for (int64_t dim : node.dims(added, int64_t(shape.size() + added.size())))
      shape.insert(shape.begin() + dim, 1);
    x = emit.reshape(x, shape);
    product = product ? emit.binary<MulOp>(product, x) : x;
  }
  Shape dims = node.dims(node.integers("sumdim"), typeOf(product).getRank());
  node.result(emit.reduce(ReduceKind::Sum, product, dims, false));
}

/// Sums of products along a dimension.
static void importVecdot(Node &node) {
  Emitter &emit = node.emit;
  auto [x, y] = emit.together(node.tensor("x"), node.tensor("y"));
  Value product = emit.binary<MulOp>(x, y);
  int64_t dim = node.dim(node.integer("dim", -1), typeOf(product).getRank());
  node.result(emit.reduce(ReduceKind::Sum, product, {dim}, false));
}

/// The vector product along a dimension of 3: of `aten.cross` the first of them, if it gives none.
static void importCross(Node &node) {
  Emitter &emit = node.emit;
  auto [x, y] = emit.together(node.tensor("self"), node.tensor("other"));
  expectRank(x, 1);
  bool takesFirst = operatorName(node.call) == "aten.cross.default" && !node.has("dim");
  int64_t dim = takesFirst ? llvm::find(shapeOf(x), 3) - shapeOf(x).begin()
                           : node.dim(node.integer("dim", -1), typeOf(x).getRank());
  if (dim == typeOf(x).getRank())
    throw ImportError("expected a dimension of 3 elements, got " + describe(x));
  if (shapeOf(x)[dim] != 3)
    throw ImportError("expected 3 elements along dimension " + std::to_string(dim) + " of " +
                      describe(x));
  auto turned = [&](Value of, int64_t first) { // the elements from `first` on, then those before
    return emit.concat({emit.sliceDim(of, dim, first, 3 - first), emit.sliceDim(of, dim, 0, first)},
                       dim);
  };
  node.result(emit.binary<SubOp>(emit.binary<MulOp>(turned(x, 1), turned(y, 2)),
                                 emit.binary<MulOp>(turned(x, 2), turned(y, 1))));
}

/// Each element of one times the whole other: of the operands' dimensions, interleaved and joined.
static void importKron(Node &node) {
  Emitter &emit = node.emit;
  Value lhs = node.tensor("self"), rhs = node.tensor("other");
  size_t rank = std::max(typeOf(lhs).getRank(), typeOf(rhs).getRank());
  auto spread = [&](Value x, bool first) {
    Shape shape(rank - shapeOf(x).size(), 1), interleaved;
    llvm::append_range(shape, shapeOf(x));
    for (int64_t size : shape)
      interleaved.append({first ? size : 1, first ? 1 : size});
    return emit.reshape(x, interleaved);
  };
  Value product = emit.binary<MulOp>(spread(lhs, true), spread(rhs, false));
  Shape joined;
  for (size_t dim = 0; dim < rank; ++dim)
    joined.push_back(shapeOf(product)[2 * dim] * shapeOf(product)[2 * dim + 1]);
  node.result(emit.reshape(product, joined));
}

void weft::frontend::aten::addProducts(OpTable &table) {
  table["aten._trilinear.default"] = importTrilinear;
  table["aten.addbmm.default"] = importAddbmm;
  table["aten.addr.default"] = importAddr;
  table["aten.bilinear.default"] = importBilinear;
  table["aten.cross.default"] = importCross;
  table["aten.einsum.default"] = importEinsum;
  table["aten.inner.default"] = importInner;
  table["aten.kron.default"] = importKron;
  table["aten.linalg_cross.default"] = importCross;
  table["aten.linalg_multi_dot.default"] = importMultiDot;
  table["aten.linalg_vecdot.default"] = importVecdot;
  table["aten.outer.default"] = importOuter;
  table["aten.tensordot.default"] = importTensordot;
}
