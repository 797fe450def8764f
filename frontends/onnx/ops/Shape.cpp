// Operators that say how elements are arranged, and those that make tensors from shapes.

#include "frontends/onnx/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"
#include "frontends/onnx/GraphImporter.h"
#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

static void importConstantOfShape(Node &node) {
  Emitter &emit = node.emit;
  Shape shape = node.integers(0, "the shape");
  const onnx::AttributeProto *value = node.attribute("value");
  Value element;
  if (value)
    element = node.graph.addTensor(value->t(), "value", /*isParameter=*/false);
  else
    element = emit.splat(RankedTensorType::get({}, emit.builder.getF32Type()), 0);
  if (typeOf(element).getNumElements() != 1)
    throw ImportError("expected a value of one element, got " + describe(element));
  node.result(emit.broadcast(emit.reshape(element, {}), shape));
}

/// [n, b·b·c, h, w] to [n, c, b·h, b·w]
static void importDepthToSpace(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectExactRank(x, 4);
  int64_t block = node.requiredInt("blocksize");
  ArrayRef<int64_t> s = shapeOf(x);
  if (block < 1 || block > (1 << 20) || s[1] % (block * block) != 0)
    throw ImportError("block size " + std::to_string(block) + " does not fit " + describe(x));
  int64_t channels = s[1] / (block * block);
  bool columnsFirst = node.getString("mode", "DCR") == "CRD";
  Value parts = columnsFirst ? emit.reshape(x, {s[0], channels, block, block, s[2], s[3]})
                             : emit.reshape(x, {s[0], block, block, channels, s[2], s[3]});
  Value moved = columnsFirst ? emit.transpose(parts, {0, 1, 4, 2, 5, 3})
                             : emit.transpose(parts, {0, 3, 4, 1, 5, 2});
  node.result(emit.reshape(moved, {s[0], channels, s[2] * block, s[3] * block}));
}

static void importExpand(Node &node) {
  Value x = node.operand(0);
  Shape target = node.integers(1, "the shape");
  // Both sides broadcast: a dimension of the operand may be larger than the target's.
  if (shapeOf(x).size() > target.size())
    target.insert(target.begin(), shapeOf(x).size() - target.size(), 1);
  for (auto [size, have] : llvm::zip(llvm::reverse(target), llvm::reverse(shapeOf(x))))
    if (size == 1)
      size = have;
  node.result(node.emit.broadcast(x, target));
}

static void importEyeLike(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectExactRank(x, 2);
  Type type = elementOf(x);
  if (node.attribute("dtype"))
    type = elementType(emit.builder.getContext(), node.getInt("dtype", 0));
  Value row = emit.iota(shapeOf(x), 0), column = emit.iota(shapeOf(x), 1);
  Value shifted = emit.binary<AddOp>(row, emit.like(row, double(node.getInt("k", 0))));
  node.result(emit.cast(emit.compare(CompareDirection::EQ, shifted, column), type));
}

static void importFlatten(Node &node) {
  Value x = node.operand(0);
  int64_t rank = typeOf(x).getRank(), axis = node.getInt("axis", 1);
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis > rank)
    throw ImportError("axis " + std::to_string(axis) + " is out of range for rank " +
                      std::to_string(rank));
  int64_t rows = 1, columns = 1;
  for (auto [dim, size] : llvm::enumerate(shapeOf(x)))
    (int64_t(dim) < axis ? rows : columns) *= size;
  node.result(node.emit.reshape(x, {rows, columns}));
}

static void importIdentity(Node &node) { node.result(node.operand(0)); }

static void importRange(Node &node) {
  Emitter &emit = node.emit;
  auto bound = [&](size_t index) {
    const Tensor &value = node.constant(index, "a bound");
    if (value.size() != 1)
      throw ImportError("expected bounds of one element, got " + describe(node.operand(index)));
    return storedNumbersOf<double>(value).front();
  };
  double start = bound(0), step = bound(2), count = std::ceil((bound(1) - start) / step);
  if (!std::isfinite(count) || count > double(int64_t(1) << 40))
    throw ImportError("the range has no finite length");
  Shape shape{int64_t(std::max(count, 0.0))};
  Value first = emit.broadcast(emit.reshape(node.operand(0), {}), shape);
  Value delta = emit.broadcast(emit.reshape(node.operand(2), {}), shape);
  Value steps = emit.cast(emit.iota(shape, 0), elementOf(first));
  node.result(emit.binary<AddOp>(first, emit.binary<MulOp>(steps, delta)));
}

static void importReshape(Node &node) {
  Value x = node.operand(0);
  Shape shape = node.integers(1, "the shape");
  bool allowZero = node.getInt("allowzero", 0) != 0;
  int64_t known = 1, *open = nullptr;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size == 0 && !allowZero) {
      if (dim >= shapeOf(x).size())
        throw ImportError("a size of 0 copies dimension " + std::to_string(dim) + ", which " +
                          describe(x) + " does not have");
      size = shapeOf(x)[dim];
    }
    if (size < -1 || (size == -1 && open))
      throw ImportError("sizes must not be below 0, but for one of -1");
    if (size == -1)
      open = &size;
    else if (llvm::MulOverflow(known, size, known))
      throw ImportError("the shape is too large");
  }
  if (open) {
    int64_t elements = typeOf(x).getNumElements();
    if (known == 0 || elements % known != 0)
      throw ImportError("the sizes do not divide the " + std::to_string(elements) +
                        " elements of " + describe(x));
    *open = elements / known;
  }
  node.result(node.emit.reshape(x, shape));
}

static void importShape(Node &node) {
  ArrayRef<int64_t> shape = shapeOf(node.operand(0));
  int64_t rank = shape.size();
  auto clamp = [&](int64_t given) {
    return std::clamp<int64_t>(given < 0 ? given + rank : given, 0, rank);
  };
  int64_t start = clamp(node.getInt("start", 0)), end = clamp(node.getInt("end", rank));
  node.result(node.emit.integers(shape.slice(start, std::max<int64_t>(end - start, 0))));
}

static void importSize(Node &node) {
  Value count = node.emit.integers({typeOf(node.operand(0)).getNumElements()});
  node.result(node.emit.reshape(count, {}));
}

/// [n, c, b·h, b·w] to [n, b·b·c, h, w], or to [n, c·b·b, h, w]
static void importSpaceToDepth(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectExactRank(x, 4);
  int64_t block = node.requiredInt("blocksize");
  ArrayRef<int64_t> s = shapeOf(x);
  if (block < 1 || s[2] % block != 0 || s[3] % block != 0)
    throw ImportError("block size " + std::to_string(block) + " does not fit " + describe(x));
  Shape result{s[0], s[1] * block * block, s[2] / block, s[3] / block};
  Value parts = emit.reshape(x, {s[0], s[1], result[2], block, result[3], block});
  Value moved = node.getString("mode", "DCR") == "CRD" ? emit.transpose(parts, {0, 1, 3, 5, 2, 4})
                                                       : emit.transpose(parts, {0, 3, 5, 1, 2, 4});
  node.result(emit.reshape(moved, result));
}

/// Axes are an operand since opset 13, an attribute before.
static Shape axesOf(Node &node) {
  return node.opset >= 13 && node.has(1) ? node.integers(1, "axes") : node.getInts("axes");
}

static void importSqueeze(Node &node) {
  Value x = node.operand(0);
  bool given = node.has(1) || node.attribute("axes");
  Shape axes = node.dims(axesOf(node), typeOf(x).getRank()), shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(x))) {
    bool drop = given ? llvm::is_contained(axes, int64_t(dim)) : size == 1;
    if (drop && size != 1)
      throw ImportError("dimension " + std::to_string(dim) + " of " + describe(x) + " is not 1");
    if (!drop)
      shape.push_back(size);
  }
  node.result(node.emit.reshape(x, shape));
}

static void importTile(Node &node) {
  node.result(emitTile(node.emit, node.operand(0), node.integers(1, "the repeats")));
}

static void importTranspose(Node &node) {
  Value x = node.operand(0);
  int64_t rank = typeOf(x).getRank();
  Shape permutation =
      node.getInts("perm", llvm::to_vector_of<int64_t>(llvm::reverse(llvm::seq<int64_t>(0, rank))));
  Shape sorted = node.dims(permutation, rank);
  if (int64_t(sorted.size()) != rank)
    throw ImportError("expected a permutation of " + std::to_string(rank) + " dimensions, got " +
                      std::to_string(sorted.size()));
  for (int64_t &dim : permutation)
    dim = node.dim(dim, rank);
  node.result(node.emit.transpose(x, permutation));
}

static void importUnsqueeze(Node &node) {
  Value x = node.operand(0);
  Shape given = axesOf(node), shape(shapeOf(x));
  for (int64_t dim : node.dims(given, shape.size() + given.size()))
    shape.insert(shape.begin() + dim, 1);
  node.result(node.emit.reshape(x, shape));
}

void weft::frontend::addShape(OpTable &table) {
  table["ConstantOfShape"] = importConstantOfShape;
  table["DepthToSpace"] = importDepthToSpace;
  table["Expand"] = importExpand;
  table["EyeLike"] = importEyeLike;
  table["Flatten"] = importFlatten;
  table["Identity"] = importIdentity;
  table["Range"] = importRange;
  table["Reshape"] = importReshape;
  table["Shape"] = importShape;
  table["Size"] = importSize;
  table["SpaceToDepth"] = importSpaceToDepth;
  table["Squeeze"] = importSqueeze;
  table["Tile"] = importTile;
  table["Transpose"] = importTranspose;
  table["Unsqueeze"] = importUnsqueeze;
}
