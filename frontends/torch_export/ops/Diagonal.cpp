// Diagonals, triangles, and windows over elements.

#include "frontends/common/Composites.h"
#include "frontends/common/Limits.h"
#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// Two dimensions of a node, which must differ.
static std::pair<int64_t, int64_t> readDimPair(Node &node, int64_t rank, int64_t first,
                                               int64_t second) {
  int64_t dim1 = node.dim(node.integer("dim1", first), rank),
          dim2 = node.dim(node.integer("dim2", second), rank);
  if (dim1 == dim2 || rank < 2)
    throw ImportError("expected two dimensions");
  return {dim1, dim2};
}

/// Which diagonal: beyond all elements of a tensor, one is as empty as another.
static int64_t readOffset(Node &node, StringRef name) {
  return std::clamp<int64_t>(node.integer(name, 0), -maxTensorBytes, maxTensorBytes);
}

/// Dimensions `dim1` and `dim2` moved to the end.
static Shape pairLast(int64_t rank, int64_t dim1, int64_t dim2) {
  Shape order;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != dim1 && dim != dim2)
      order.push_back(dim);
  order.append({dim1, dim2});
  return order;
}

/// The diagonal of the last two dimensions: every (columns + 1)th of their elements in a row.
static Value diagonalOf(Emitter &emit, Value x, int64_t offset) {
  Shape outer(shapeOf(x).drop_back(2));
  int64_t rows = shapeOf(x).take_back(2)[0], columns = shapeOf(x).back();
  int64_t row = std::max<int64_t>(-offset, 0), column = std::max<int64_t>(offset, 0);
  int64_t count = std::max<int64_t>(std::min(rows - row, columns - column), 0);
  Shape flat(outer), starts(outer.size(), 0), sizes(outer), strides(outer.size(), 1);
  flat.push_back(rows * columns);
  starts.push_back(count == 0 ? 0 : row * columns + column);
  sizes.push_back(count);
  strides.push_back(count > 1 ? columns + 1 : 1);
  return emit.slice(emit.reshape(x, flat), starts, sizes, strides);
}

static void importDiagonal(Node &node) {
  Value x = node.tensor("self");
  int64_t rank = typeOf(x).getRank();
  auto [dim1, dim2] = readDimPair(node, rank, 0, 1);
  Value last = node.emit.transpose(x, pairLast(rank, dim1, dim2));
  node.result(diagonalOf(node.emit, last, readOffset(node, "offset")));
}

/// The diagonal replaced, as elements of the last two dimensions in a row.
static void importDiagonalScatter(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  int64_t rank = typeOf(x).getRank(), offset = readOffset(node, "offset");
  auto [dim1, dim2] = readDimPair(node, rank, 0, 1);
  Shape order = pairLast(rank, dim1, dim2), inverse(rank);
  for (auto [to, from] : llvm::enumerate(order))
    inverse[from] = int64_t(to);
  Value last = emit.transpose(x, order), source = emit.cast(node.tensor("src"), elementOf(x));
  int64_t columns = shapeOf(last).back(), first = offset < 0 ? -offset * columns : offset;
  Shape flat(shapeOf(last).drop_back(2));
  flat.push_back(shapeOf(last)[rank - 2] * columns);
  if (shapeOf(source) != shapeOf(diagonalOf(emit, last, offset)))
    throw ImportError("source " + describe(source) + " is not of the diagonal's shape");
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < shapeOf(source).back(); ++i)
    places.push_back(first + i * (columns + 1));
  Value indices = emit.broadcastDims(emit.integers(places), shapeOf(source), {rank - 2});
  Value elements = emit.reshape(last, flat);
  if (!places.empty())
    elements = emit.create<ScatterElementsOp>(typeOf(elements), ScatterKind::Set, elements, indices,
                                              source, rank - 2);
  node.result(emit.transpose(emit.reshape(elements, shapeOf(last)), inverse));
}

/// A matrix (of each outer element) with x on a diagonal, `fill` elsewhere.
static Value embedded(Emitter &emit, Value x, int64_t offset) {
  int64_t size = shapeOf(x).back() + std::abs(offset);
  Shape shape(shapeOf(x).drop_back()), spread(shape);
  Shape dims = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, shape.size()));
  shape.append({size, size});
  spread.push_back(size);
  // Each row holds its own element everywhere; the diagonal keeps one of them.
  Shape low(shapeOf(x).size(), 0), high(low);
  (offset < 0 ? low : high).back() = std::abs(offset);
  Value zero = emit.splat(RankedTensorType::get({}, elementOf(x)), 0);
  dims.push_back(spread.size() - 1);
  Value rows = emit.broadcastDims(emit.pad(x, zero, low, high), shape, dims);
  int64_t rank = shape.size();
  Value row = emit.iota(shape, rank - 2), column = emit.iota(shape, rank - 1);
  Value shifted = emit.binary<AddOp>(row, emit.like(row, double(offset)));
  Value on = emit.compare(CompareDirection::EQ, shifted, column);
  return emit.select(on, rows, emit.like(rows, 0));
}

static void importDiagEmbed(Node &node) {
  Value x = node.tensor("self");
  expectRank(x, 1);
  int64_t rank = typeOf(x).getRank() + 1;
  auto [dim1, dim2] = readDimPair(node, rank, -2, -1);
  Value last = embedded(node.emit, x, readOffset(node, "offset"));
  Shape order = pairLast(rank, dim1, dim2), inverse(rank);
  for (auto [to, from] : llvm::enumerate(order))
    inverse[from] = to;
  node.result(node.emit.transpose(last, inverse));
}

/// Of a vector the matrix, of a matrix its diagonal.
static void importDiag(Node &node) {
  Value x = node.tensor("self");
  int64_t offset = readOffset(node, "diagonal");
  if (typeOf(x).getRank() == 1)
    return node.result(embedded(node.emit, x, offset));
  expectExactRank(x, 2);
  node.result(diagonalOf(node.emit, x, offset));
}

static void importTrace(Node &node) {
  Value x = node.tensor("self");
  expectExactRank(x, 2);
  Value diagonal = diagonalOf(node.emit, x, 0);
  if (!isa<FloatType>(elementOf(x)))
    diagonal = node.emit.cast(diagonal, node.emit.builder.getI64Type());
  node.result(node.emit.reduce(ReduceKind::Sum, diagonal, {0}, false));
}

//===----------------------------------------------------------------------===//
// Triangles
//===----------------------------------------------------------------------===//

/// Where column - row compares so with `diagonal`.
static Value triangle(Emitter &emit, ArrayRef<int64_t> shape, CompareDirection direction,
                      int64_t diagonal) {
  int64_t rank = shape.size();
  Value ahead = emit.binary<SubOp>(emit.iota(shape, rank - 1), emit.iota(shape, rank - 2));
  return emit.compare(direction, ahead, emit.like(ahead, double(diagonal)));
}

template <CompareDirection Direction> static void importTriangle(Node &node) {
  Value x = node.tensor("self");
  expectRank(x, 2);
  Value kept = triangle(node.emit, shapeOf(x), Direction, node.integer("diagonal", 0));
  node.result(node.emit.select(kept, x, node.emit.like(x, 0)));
}

template <CompareDirection Direction> static void importTriangleIndices(Node &node) {
  int64_t rows = node.integer("row"), columns = node.integer("col"),
          offset = node.integer("offset", 0);
  if (rows < 0 || columns < 0 ||
      llvm::SaturatingMultiply<uint64_t>(rows, columns) > uint64_t(maxListedPositions))
    throw ImportError("a triangle of " + std::to_string(rows) + " rows and " +
                      std::to_string(columns) + " columns is out of range");
  SmallVector<int64_t> row, column;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (Direction == CompareDirection::LE ? j - i <= offset : j - i >= offset) {
        row.push_back(i);
        column.push_back(j);
      }
  int64_t count = row.size();
  row.append(column);
  Value both = node.emit.reshape(node.emit.integers(row), {2, count});
  node.result(node.emit.cast(both, node.dtype("dtype", node.emit.builder.getI64Type())));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Windows of `size` elements, `step` apart, as a new last dimension.
static void importUnfold(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  expectRank(x, 1);
  int64_t rank = typeOf(x).getRank(), dim = node.dim(node.integer("dimension"), rank);
  int64_t size = node.integer("size"), step = node.integer("step"), extent = shapeOf(x)[dim];
  if (size < 0 || size > extent || step < 1)
    throw ImportError("windows of " + std::to_string(size) + " elements, " + std::to_string(step) +
                      " apart, do not fit " + describe(x));
  int64_t count = (extent - size) / step + 1;
  checkPositions(count, size);
  SmallVector<int64_t> taken;
  for (int64_t window = 0; window < count; ++window)
    for (int64_t i = 0; i < size; ++i)
      taken.push_back(window * step + i);
  Value windows = emit.gather(x, emit.reshape(emit.integers(taken), {count, size}), dim);
  Shape order = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, rank + 1));
  order.erase(order.begin() + dim + 1);
  order.push_back(dim + 1);
  node.result(emit.transpose(windows, order));
}

/// Elements of the row-major tensor at strided places. Views of views are not told apart from their
/// storage here, so the operand must be laid out row-major from the start of its storage.
static void importAsStrided(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  Shape sizes = node.integers("size"), strides = node.integers("stride");
  int64_t first = node.integer("storage_offset", 0), last = first, count = 1;
  if (sizes.size() != strides.size() || first < 0)
    throw ImportError("expected one stride a size");
  if (!node.isRowMajor("self"))
    throw ImportError("the operand is a view that is not laid out row-major, which is not "
                      "supported");
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    int64_t reach = 0;
    if (size < 0 || stride < 0 || llvm::MulOverflow(count, size, count) ||
        llvm::MulOverflow(std::max<int64_t>(size - 1, 0), stride, reach) ||
        llvm::AddOverflow(last, reach, last))
      throw ImportError("sizes or strides are out of range");
  }
  if (count > 0 && last >= typeOf(x).getNumElements())
    throw ImportError("the view reaches beyond " + describe(x));
  checkPositions(1, count);
  SmallVector<int64_t> places(count, first);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t rest = i, dim = sizes.size(); dim-- > 0; rest /= sizes[dim])
      places[i] += rest % sizes[dim] * strides[dim];
  Value flat = emit.reshape(x, {typeOf(x).getNumElements()});
  node.result(emit.gather(flat, emit.reshape(emit.integers(places), sizes), 0));
}

void weft::frontend::aten::addDiagonal(OpTable &table) {
  table["aten.as_strided.default"] = importAsStrided;
  table["aten.as_strided_copy.default"] = importAsStrided;
  table["aten.diag.default"] = importDiag;
  table["aten.diag_embed.default"] = importDiagEmbed;
  table["aten.diagonal.default"] = importDiagonal;
  table["aten.diagonal_copy.default"] = importDiagonal;
  table["aten.diagonal_scatter.default"] = importDiagonalScatter;
  table["aten.trace.default"] = importTrace;
  table["aten.tril.default"] = importTriangle<CompareDirection::LE>;
  table["aten.tril_indices.default"] = importTriangleIndices<CompareDirection::LE>;
  table["aten.triu.default"] = importTriangle<CompareDirection::GE>;
  table["aten.triu_indices.default"] = importTriangleIndices<CompareDirection::GE>;
  table["aten.unfold.default"] = importUnfold;
  table["aten.unfold_copy.default"] = importUnfold;
}
