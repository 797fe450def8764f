// Operators that move, repeat or turn elements.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/Indexing.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

//===----------------------------------------------------------------------===//
// Order of dimensions and elements
//===----------------------------------------------------------------------===//

/// Dimensions `source` go to places `destination`, the others keep their order.
static void importMovedim(Node &node) {
  Value x = node.tensor("self");
  int64_t rank = typeOf(x).getRank();
  Shape from = node.integers("source"), to = node.integers("destination");
  if (from.size() != to.size())
    throw ImportError("expected as many destinations as sources");
  Shape permutation(rank, -1), sources;
  for (auto [source, destination] : llvm::zip(from, to)) {
    sources.push_back(node.dim(source, rank));
    permutation[node.dim(destination, rank)] = sources.back();
  }
  int64_t next = 0;
  for (int64_t &dim : permutation) {
    while (llvm::is_contained(sources, next))
      ++next;
    if (dim < 0)
      dim = next++;
  }
  node.dims(permutation, rank);
  node.result(node.emit.transpose(x, permutation));
}

static void importReverseDims(Node &node) {
  Value x = node.tensor("self");
  Shape permutation = allDims(x);
  std::reverse(permutation.begin(), permutation.end());
  node.result(node.emit.transpose(x, permutation));
}

/// The last two dimensions exchanged.
static void importMatrixTranspose(Node &node) {
  Value x = node.tensor("self");
  expectRank(x, 2);
  Shape permutation = allDims(x);
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  node.result(node.emit.transpose(x, permutation));
}

static void importFlip(Node &node) {
  Value x = node.tensor("self");
  Shape dims =
      typeOf(x).getRank() == 0 ? Shape() : node.dims(node.integers("dims"), typeOf(x).getRank());
  node.ignore({"dims"});
  node.result(node.emit.reverse(x, dims));
}

template <int64_t Dim> static void importFlipOne(Node &node) {
  Value x = node.tensor("self");
  expectRank(x, Dim + 1);
  node.result(node.emit.reverse(x, {Dim}));
}

static void importRot90(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  Shape dims = node.integers("dims", {0, 1});
  int64_t rank = typeOf(x).getRank(), turns = node.integer("k", 1) % 4;
  if (dims.size() != 2)
    throw ImportError("expected two dimensions");
  int64_t first = node.dim(dims[0], rank), second = node.dim(dims[1], rank);
  Shape permutation = allDims(x), both{std::min(first, second), std::max(first, second)};
  std::swap(permutation[first], permutation[second]);
  turns = (turns + 4) % 4;
  if (turns == 2)
    x = emit.reverse(x, both);
  else if (turns == 1)
    x = emit.transpose(emit.reverse(x, {second}), permutation);
  else if (turns == 3)
    x = emit.transpose(emit.reverse(x, {first}), permutation);
  node.result(x);
}

static Value rolled(Emitter &emit, Value x, int64_t dim, int64_t shift) {
  int64_t size = shapeOf(x)[dim];
  shift = size == 0 ? 0 : ((shift % size) + size) % size;
  if (shift == 0)
    return x;
  return emit.concat(
      {emit.sliceDim(x, dim, size - shift, shift), emit.sliceDim(x, dim, 0, size - shift)}, dim);
}

/// Without dimensions, all elements in a row.
static void importRoll(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  Shape shifts = node.integers("shifts"), dims = node.integers("dims", {});
  if (dims.empty() && shifts.size() == 1) {
    Value flat = emit.reshape(x, {typeOf(x).getNumElements()});
    return node.result(emit.reshape(rolled(emit, flat, 0, shifts[0]), shapeOf(x)));
  }
  if (dims.size() != shifts.size())
    throw ImportError("expected one shift a dimension");
  expectRank(x, 1);
  for (auto [dim, shift] : llvm::zip(dims, shifts))
    x = rolled(emit, x, node.dim(dim, typeOf(x).getRank()), shift);
  node.result(x);
}

static void importPixelShuffle(Node &node) { // [*, c·r·r, h, w] to [*, c, h·r, w·r]
  Value x = node.tensor("self");
  expectRank(x, 3);
  int64_t factor = node.integer("upscale_factor"), rank = typeOf(x).getRank();
  Shape outer(shapeOf(x).drop_back(3)), s(shapeOf(x).take_back(3)), result(outer), parts(outer);
  if (factor < 1 || factor > (1 << 20) || s[0] % (factor * factor) != 0)
    throw ImportError("factor " + std::to_string(factor) + " does not fit " + describe(x));
  int64_t channels = s[0] / (factor * factor), at = rank - 3;
  parts.append({channels, factor, factor, s[1], s[2]});
  result.append({channels, s[1] * factor, s[2] * factor});
  Shape order = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, at + 1));
  order.append({at + 3, at + 1, at + 4, at + 2});
  Value moved = node.emit.transpose(node.emit.reshape(x, parts), order);
  node.result(node.emit.reshape(moved, result));
}

static void importPixelUnshuffle(Node &node) { // [*, c, h·r, w·r] to [*, c·r·r, h, w]
  Value x = node.tensor("self");
  expectRank(x, 3);
  int64_t factor = node.integer("downscale_factor"), at = typeOf(x).getRank() - 3;
  Shape outer(shapeOf(x).drop_back(3)), s(shapeOf(x).take_back(3)), result(outer), parts(outer);
  if (factor < 1 || factor > (1 << 20) || s[1] % factor != 0 || s[2] % factor != 0)
    throw ImportError("factor " + std::to_string(factor) + " does not fit " + describe(x));
  parts.append({s[0], s[1] / factor, factor, s[2] / factor, factor});
  result.append({s[0] * factor * factor, s[1] / factor, s[2] / factor});
  Shape order = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, at + 1));
  order.append({at + 2, at + 4, at + 1, at + 3});
  Value moved = node.emit.transpose(node.emit.reshape(x, parts), order);
  node.result(node.emit.reshape(moved, result));
}

static void importChannelShuffle(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  expectRank(x, 3);
  int64_t groups = node.integer("groups"), channels = shapeOf(x)[1];
  if (groups < 1 || channels % groups != 0)
    throw ImportError(std::to_string(groups) + " groups do not divide the channels of " +
                      describe(x));
  Shape parts(shapeOf(x));
  parts[1] = channels / groups;
  parts.insert(parts.begin() + 1, groups);
  Shape order = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, parts.size()));
  std::swap(order[1], order[2]);
  node.result(emit.reshape(emit.transpose(emit.reshape(x, parts), order), shapeOf(x)));
}

//===----------------------------------------------------------------------===//
// Repeats
//===----------------------------------------------------------------------===//

/// The tensor `repeats[i]` times along dimension i; there may be more repeats than dimensions.
static void importRepeat(Node &node) {
  Value x = node.tensor("self");
  Shape repeats = node.integers(node.has("repeats") ? "repeats" : "dims"), shape(shapeOf(x));
  if (repeats.size() < shape.size())
    repeats.insert(repeats.begin(), shape.size() - repeats.size(), 1);
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  node.result(emitTile(node.emit, node.emit.reshape(x, shape), repeats));
}

static void importRepeatInterleave(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  int64_t repeats = node.integer("repeats"), dim = 0;
  node.ignore({"output_size"});
  if (node.has("dim") && typeOf(x).getRank() > 0)
    dim = node.dim(node.integer("dim"), typeOf(x).getRank());
  else
    x = emit.reshape(x, {typeOf(x).getNumElements()});
  Shape spread(shapeOf(x)), joined(spread), dims;
  int64_t total;
  if (repeats < 0 || llvm::MulOverflow(repeats, spread[dim], total))
    throw ImportError("repeat " + std::to_string(repeats) + " is out of range");
  joined[dim] = total;
  for (int64_t at = 0; at < typeOf(x).getRank(); ++at)
    dims.push_back(at <= dim ? at : at + 1);
  spread.insert(spread.begin() + dim + 1, repeats);
  node.result(emit.reshape(emit.broadcastDims(x, spread, dims), joined));
}

static void importBroadcastTo(Node &node) {
  node.result(node.emit.broadcast(node.tensor("self"), node.integers("size")));
}

static void importExpandAs(Node &node) {
  node.result(node.emit.broadcast(node.tensor("self"), shapeOf(node.tensor("other"))));
}

static void importBroadcastTensors(Node &node) {
  SmallVector<Value> tensors = node.tensors("tensors");
  Shape shape = broadcastShape(tensors);
  for (auto [index, tensor] : llvm::enumerate(tensors))
    if (node.wants(index)) {
      node.beginResult(index);
      node.result(index, node.emit.broadcast(tensor, shape));
    }
}

/// Each vector along a dimension of its own; with `xy` the first two dimensions are exchanged.
static void importMeshgrid(Node &node) {
  Emitter &emit = node.emit;
  SmallVector<Value> tensors = node.tensors("tensors");
  bool isXy = node.text("indexing", "ij") == "xy" && tensors.size() >= 2;
  Shape shape;
  for (Value tensor : tensors)
    shape.push_back(typeOf(tensor).getNumElements());
  if (isXy)
    std::swap(shape[0], shape[1]);
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    int64_t dim = isXy && index < 2 ? 1 - int64_t(index) : int64_t(index);
    node.beginResult(index);
    node.result(index, emit.broadcastDims(emit.reshape(tensor, {shape[dim]}), shape, {dim}));
  }
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

/// With dimensions added so that there are `rank` of them: in front, or for the third behind.
static Value atLeast(Emitter &emit, Value x, int64_t rank) {
  Shape shape(shapeOf(x));
  if (shape.empty())
    shape.push_back(1);
  if (shape.size() == 1 && rank >= 2)
    shape.insert(shape.begin(), 1);
  if (shape.size() == 2 && rank >= 3)
    shape.push_back(1);
  return emit.reshape(x, shape);
}

template <int64_t Rank, int64_t Axis> static void importStackAlong(Node &node) {
  SmallVector<Value> tensors;
  for (Value tensor : node.tensors("tensors"))
    tensors.push_back(atLeast(node.emit, tensor, Rank));
  if (tensors.empty())
    throw ImportError("expected tensors");
  int64_t axis = Axis == 1 && typeOf(tensors.front()).getRank() == 1 ? 0 : Axis;
  node.result(node.emit.concat(tensors, axis));
}

/// Matrices along the diagonal of a larger one, zeros elsewhere.
static void importBlockDiag(Node &node) {
  Emitter &emit = node.emit;
  SmallVector<Value> blocks, rows;
  int64_t columns = 0, at = 0;
  for (Value tensor : node.tensors("tensors")) {
    blocks.push_back(atLeast(emit, tensor, 2));
    expectExactRank(blocks.back(), 2);
    columns += shapeOf(blocks.back())[1];
  }
  if (blocks.empty())
    throw ImportError("expected tensors");
  for (Value block : blocks) {
    int64_t width = shapeOf(block)[1];
    Value zero = emit.splat(RankedTensorType::get({}, elementOf(block)), 0);
    rows.push_back(emit.pad(block, zero, {0, at}, {0, columns - at - width}));
    at += width;
  }
  node.result(emit.concat(rows, 0));
}

/// All combinations of elements, the last vector's changing fastest.
static void importCartesianProduct(Node &node) {
  Emitter &emit = node.emit;
  SmallVector<Value> vectors = node.tensors("tensors"), columns;
  Shape shape;
  int64_t count = 1;
  for (Value vector : vectors) {
    expectExactRank(vector, 1);
    shape.push_back(shapeOf(vector)[0]);
    count *= shape.back();
  }
  if (vectors.size() <= 1)
    return node.result(vectors.empty() ? throw ImportError("expected tensors") : vectors[0]);
  for (auto [dim, vector] : llvm::enumerate(vectors))
    columns.push_back(emit.reshape(emit.broadcastDims(vector, shape, {int64_t(dim)}), {count, 1}));
  node.result(emit.concat(columns, 1));
}

/// Vectors become columns.
static void importColumnStack(Node &node) {
  SmallVector<Value> tensors;
  for (Value tensor : node.tensors("tensors")) {
    bool isColumn = typeOf(tensor).getRank() <= 1;
    Shape column{typeOf(tensor).getNumElements(), 1};
    tensors.push_back(isColumn ? node.emit.reshape(tensor, column) : tensor);
  }
  if (tensors.empty())
    throw ImportError("expected tensors");
  node.result(node.emit.concat(tensors, 1));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static void importNarrow(Node &node) {
  Value x = node.tensor("self");
  SliceRange range = readNarrow(node, x);
  node.result(node.emit.sliceDim(x, range.dim, range.start, range.count));
}

/// At given places, or into a number of parts of which the first ones are one larger.
static void tensorSplit(Node &node, int64_t dim) {
  Value x = node.tensor("self");
  expectRank(x, dim + 1);
  int64_t size = shapeOf(x)[dim], start = 0;
  Shape ends;
  if (node.has("indices")) {
    for (int64_t end : node.integers("indices"))
      ends.push_back(std::clamp<int64_t>(end < 0 ? end + size : end, 0, size));
    ends.push_back(size);
  } else {
    int64_t parts = node.integer("sections");
    if (parts < 1 || parts > (1 << 20))
      throw ImportError("cannot split into " + std::to_string(parts) + " parts");
    for (int64_t part = 0, end = 0; part < parts; ++part)
      ends.push_back(end += size / parts + (part < size % parts));
  }
  for (auto [index, end] : llvm::enumerate(ends)) {
    if (node.wants(index)) {
      node.beginResult(index);
      node.result(index, node.emit.sliceDim(x, dim, start, std::max<int64_t>(end - start, 0)));
    }
    start = end;
  }
}

static void importTensorSplit(Node &node) {
  tensorSplit(node, node.dim(node.integer("dim", 0), typeOf(node.tensor("self")).getRank()));
}

static void importHsplit(Node &node) {
  tensorSplit(node, typeOf(node.tensor("self")).getRank() == 1 ? 0 : 1);
}

static void importVsplit(Node &node) { tensorSplit(node, 0); }

void weft::frontend::aten::addRearrange(OpTable &table) {
  table["aten.adjoint.default"] = importMatrixTranspose;
  table["aten.block_diag.default"] = importBlockDiag;
  table["aten.broadcast_tensors.default"] = importBroadcastTensors;
  table["aten.broadcast_to.default"] = importBroadcastTo;
  table["aten.cartesian_prod.default"] = importCartesianProduct;
  table["aten.channel_shuffle.default"] = importChannelShuffle;
  table["aten.column_stack.default"] = importColumnStack;
  table["aten.dstack.default"] = importStackAlong<3, 2>;
  table["aten.expand_as.default"] = importExpandAs;
  table["aten.flip.default"] = importFlip;
  table["aten.fliplr.default"] = importFlipOne<1>;
  table["aten.flipud.default"] = importFlipOne<0>;
  table["aten.hsplit.array"] = importHsplit;
  table["aten.hsplit.int"] = importHsplit;
  table["aten.hstack.default"] = importStackAlong<1, 1>;
  table["aten.mH.default"] = importMatrixTranspose;
  table["aten.mT.default"] = importMatrixTranspose;
  table["aten.matrix_H.default"] = importMatrixTranspose;
  table["aten.meshgrid.default"] = importMeshgrid;
  table["aten.meshgrid.indexing"] = importMeshgrid;
  table["aten.moveaxis.int"] = importMovedim;
  table["aten.moveaxis.intlist"] = importMovedim;
  table["aten.movedim.int"] = importMovedim;
  table["aten.movedim.intlist"] = importMovedim;
  table["aten.narrow.default"] = importNarrow;
  table["aten.narrow_copy.default"] = importNarrow;
  table["aten.numpy_T.default"] = importReverseDims;
  table["aten.pixel_shuffle.default"] = importPixelShuffle;
  table["aten.pixel_unshuffle.default"] = importPixelUnshuffle;
  table["aten.repeat.default"] = importRepeat;
  table["aten.repeat_interleave.self_int"] = importRepeatInterleave;
  table["aten.roll.default"] = importRoll;
  table["aten.rot90.default"] = importRot90;
  table["aten.tensor_split.indices"] = importTensorSplit;
  table["aten.tensor_split.sections"] = importTensorSplit;
  table["aten.tile.default"] = importRepeat;
  table["aten.vsplit.array"] = importVsplit;
  table["aten.vsplit.int"] = importVsplit;
  table["aten.vstack.default"] = importStackAlong<2, 0>;
}
