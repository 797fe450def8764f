// Operators that give the same elements another shape.

#include "frontends/common/StopGradient.h"
#include "frontends/torch_export/ops/OpTable.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// The shape of this many elements, its -1 solved for.
static Shape solveShape(uint64_t elements, Shape shape) {
  uint64_t known = 1;
  int64_t open = -1;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size < -1 || size > maxTensorBytes)
      throw ImportError("a size of " + std::to_string(size) + " is out of range");
    else if (size != -1)
      known = llvm::SaturatingMultiply<uint64_t>(known, size);
    else if (open >= 0)
      throw ImportError("two sizes are open");
    else
      open = dim;
  if (open >= 0) {
    if (known == 0 || elements % known != 0)
      throw ImportError("cannot make " + describe(shape) + " of " + std::to_string(elements) +
                        " elements");
    shape[open] = elements / known;
  }
  return shape;
}

static void importReshape(Node &node) {
  Value x = node.tensor("self");
  // `view` calls its argument `size`, `reshape` calls it `shape`.
  Shape shape = node.integers(node.has("shape") ? "shape" : "size");
  node.result(node.emit.reshape(x, solveShape(typeOf(x).getNumElements(), shape)));
}

static void importExpand(Node &node) {
  Value x = node.tensor("self");
  Shape shape = node.integers("size");
  node.ignore({"implicit"});
  int64_t added = int64_t(shape.size()) - typeOf(x).getRank();
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size == -1) {
      if (int64_t(dim) < added)
        throw ImportError("a new dimension has no size");
      size = shapeOf(x)[dim - added];
    }
  node.result(node.emit.broadcast(x, shape));
}

static void importPermute(Node &node) {
  Value x = node.tensor("self");
  int64_t rank = typeOf(x).getRank();
  Shape given = node.integers("dims"), permutation;
  if (int64_t(node.dims(given, rank).size()) != rank)
    throw ImportError("expected " + std::to_string(rank) + " dimensions, got " +
                      std::to_string(given.size()));
  for (int64_t dim : given)
    permutation.push_back(node.dim(dim, rank));
  node.result(node.emit.transpose(x, permutation));
}

static void importTranspose(Node &node) {
  Value x = node.tensor("self");
  int64_t rank = typeOf(x).getRank();
  // `swapaxes` calls its arguments axes.
  bool isAxes = node.has("axis0");
  int64_t first = node.dim(node.integer(isAxes ? "axis0" : "dim0"), rank),
          second = node.dim(node.integer(isAxes ? "axis1" : "dim1"), rank);
  Shape permutation = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, rank));
  if (rank > 0)
    std::swap(permutation[first], permutation[second]);
  node.result(node.emit.transpose(x, permutation));
}

static void importT(Node &node) {
  Value x = node.tensor("self");
  if (typeOf(x).getRank() > 2)
    throw ImportError("expected rank 2 at most, got " + describe(x));
  node.result(typeOf(x).getRank() == 2 ? node.emit.transpose(x, {1, 0}) : x);
}

static void importSqueeze(Node &node) {
  Value x = node.tensor("self");
  int64_t rank = typeOf(x).getRank();
  Shape dims = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, rank)), shape;
  if (node.has("dim"))
    dims = node.dims(node.integers("dim"), rank);
  for (auto [dim, size] : llvm::enumerate(shapeOf(x)))
    if (size != 1 || !llvm::is_contained(dims, int64_t(dim)))
      shape.push_back(size);
  node.result(node.emit.reshape(x, shape));
}

static void importUnsqueeze(Node &node) {
  Value x = node.tensor("self");
  Shape shape(shapeOf(x));
  int64_t dim = node.dim(node.integer("dim"), shape.size() + 1);
  shape.insert(shape.begin() + dim, 1);
  node.result(node.emit.reshape(x, shape));
}

static void importFlatten(Node &node) {
  Value x = node.tensor("self");
  ArrayRef<int64_t> sizes = shapeOf(x);
  int64_t rank = sizes.size();
  if (rank == 0)
    return node.result(node.emit.reshape(x, {1}));
  int64_t start = node.dim(node.integer("start_dim", 0), rank),
          end = node.dim(node.integer("end_dim", -1), rank);
  if (start > end)
    throw ImportError("the first dimension lies behind the last");
  Shape shape(sizes.take_front(start));
  int64_t joined = 1;
  for (int64_t size : sizes.slice(start, end - start + 1))
    joined *= size;
  shape.push_back(joined);
  llvm::append_range(shape, sizes.drop_front(end + 1));
  node.result(node.emit.reshape(x, shape));
}

/// One dimension as several.
static void importUnflatten(Node &node) {
  Value x = node.tensor("self");
  expectRank(x, 1);
  Shape shape(shapeOf(x)), sizes = node.integers("sizes");
  int64_t dim = node.dim(node.integer("dim"), typeOf(x).getRank());
  sizes = solveShape(shape[dim], sizes);
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, sizes.begin(), sizes.end());
  node.result(node.emit.reshape(x, shape));
}

static void importReshapeAs(Node &node) {
  node.result(node.emit.reshape(node.tensor("self"), shapeOf(node.tensor("other"))));
}

template <int64_t Rank> static void importAtLeast(Node &node) {
  Value x = node.tensor("self");
  Shape shape(shapeOf(x));
  if (shape.empty())
    shape.push_back(1);
  if (shape.size() == 1 && Rank >= 2)
    shape.insert(shape.begin(), 1);
  if (shape.size() == 2 && Rank >= 3)
    shape.push_back(1);
  node.result(node.emit.reshape(x, shape));
}

/// The same elements in the same shape: layouts in memory are the compiler's own.
static void importIdentity(Node &node) { node.result(node.tensor("self")); }

static void importDetach(Node &node) { node.result(stopGradient(node.emit, node.tensor("self"))); }

void weft::frontend::aten::addShape(OpTable &table) {
  table["aten._unsafe_view.default"] = importReshape;
  table["aten.alias.default"] = importIdentity;
  table["aten.alias_copy.default"] = importIdentity;
  table["aten.atleast_1d.default"] = importAtLeast<1>;
  table["aten.atleast_2d.default"] = importAtLeast<2>;
  table["aten.atleast_3d.default"] = importAtLeast<3>;
  table["aten.clone.default"] = importIdentity;
  table["aten.contiguous.default"] = importIdentity;
  table["aten.detach.default"] = importDetach;
  table["aten.detach_copy.default"] = importDetach;
  table["aten.expand.default"] = importExpand;
  table["aten.expand_copy.default"] = importExpand;
  table["aten.flatten.using_ints"] = importFlatten;
  table["aten.lift.default"] = importIdentity;
  table["aten.lift_fresh.default"] = importIdentity;
  table["aten.lift_fresh_copy.default"] = importIdentity;
  table["aten.permute.default"] = importPermute;
  table["aten.permute_copy.default"] = importPermute;
  table["aten.positive.default"] = importIdentity;
  table["aten.ravel.default"] = importFlatten;
  table["aten.real.default"] = importIdentity;
  table["aten.reshape.default"] = importReshape;
  table["aten.reshape_as.default"] = importReshapeAs;
  table["aten.resolve_conj.default"] = importIdentity;
  table["aten.resolve_neg.default"] = importIdentity;
  table["aten.squeeze.default"] = importSqueeze;
  table["aten.squeeze.dim"] = importSqueeze;
  table["aten.squeeze.dims"] = importSqueeze;
  table["aten.squeeze_copy.default"] = importSqueeze;
  table["aten.squeeze_copy.dim"] = importSqueeze;
  table["aten.squeeze_copy.dims"] = importSqueeze;
  table["aten.swapaxes.default"] = importTranspose;
  table["aten.swapdims.default"] = importTranspose;
  table["aten.t.default"] = importT;
  table["aten.t_copy.default"] = importT;
  table["aten.transpose.int"] = importTranspose;
  table["aten.transpose_copy.int"] = importTranspose;
  table["aten.unflatten.int"] = importUnflatten;
  table["aten.unsqueeze.default"] = importUnsqueeze;
  table["aten.unsqueeze_copy.default"] = importUnsqueeze;
  table["aten.view.default"] = importReshape;
  table["aten.view_as.default"] = importReshapeAs;
  table["aten.view_copy.default"] = importReshape;
}
