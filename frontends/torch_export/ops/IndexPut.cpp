// Operators that put elements at index tensors and masks: x[i, :, j] = v.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/Indexing.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// Where x[…] has its parts: the joined shape of the indices stands at `before`, among the
/// dimensions that have no index.
namespace {
struct Picked {
  Shape joined, rest;
  int64_t before;
};
} // namespace

static Picked pickedOf(Value x, const Indices &indices) {
  Picked picked{broadcastShape(indices.tensors), {}, 0};
  for (auto [dim, size] : llvm::enumerate(shapeOf(x)))
    if (!llvm::is_contained(indices.dims, int64_t(dim)))
      picked.rest.push_back(size);
  picked.before = indices.adjacent() ? indices.dims.front() : 0;
  return picked;
}

/// The values spread to the shape of x[…], the joined dimensions first.
static Value joinedFirst(Emitter &emit, Value values, const Picked &picked) {
  Shape shape(ArrayRef(picked.rest).take_front(picked.before)), order;
  llvm::append_range(shape, picked.joined);
  llvm::append_range(shape, ArrayRef(picked.rest).drop_front(picked.before));
  int64_t joined = picked.joined.size(), rank = shape.size();
  for (int64_t dim = 0; dim < joined; ++dim)
    order.push_back(picked.before + dim);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim < picked.before || dim >= picked.before + joined)
      order.push_back(dim);
  return emit.transpose(emit.broadcast(values, shape), order);
}

static Value putAtIndices(Node &node, Value x, Value values, ScatterKind kind) {
  Emitter &emit = node.emit;
  Indices indices = readIndices(node, x);
  Picked picked = pickedOf(x, indices);
  Shape front(indices.dims), inverse(typeOf(x).getRank());
  for (int64_t dim : allDims(x))
    if (!llvm::is_contained(indices.dims, dim))
      front.push_back(dim);
  for (auto [to, from] : llvm::enumerate(front))
    inverse[from] = int64_t(to);
  Value updates = joinedFirst(emit, values, picked);
  if (typeOf(updates).getNumElements() == 0)
    return x;
  Value moved = emit.transpose(x, front), tuples = tuplesOf(emit, indices, picked.joined);
  Value put = emit.create<ScatterNdOp>(typeOf(moved), kind, moved, tuples, updates);
  return emit.transpose(put, inverse);
}

/// Of a mask that is not known, where no other index is given: a choice between x and the values,
/// which must not depend on how many elements are chosen.
static Value putUnderMask(Node &node, Value x, Value mask, int64_t at, Value values,
                          bool accumulate) {
  Emitter &emit = node.emit;
  int64_t rank = typeOf(x).getRank(), covered = typeOf(mask).getRank();
  if (at + covered > rank || shapeOf(x).slice(at, covered) != shapeOf(mask))
    throw ImportError("mask " + describe(mask) + " does not fit " + describe(x));
  int64_t rest = rank - at - covered;
  bool isOne = typeOf(values).getNumElements() == 1;
  if (isOne)
    values = emit.reshape(values, {});
  else if (typeOf(values).getRank() == rest + 1 && at == 0 && shapeOf(values)[0] == 1)
    values = emit.reshape(values, shapeOf(values).drop_front());
  if (typeOf(values).getRank() > rest)
    throw ImportError("one value for each element that a mask chooses, which only running tells, "
                      "is not supported: values " +
                      describe(values));
  Shape dims = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(at, at + covered));
  Value chosen = emit.broadcastDims(mask, shapeOf(x), dims);
  values = emit.broadcast(values, shapeOf(x));
  return emit.select(chosen, accumulate ? emit.binary<AddOp>(x, values) : values, x);
}

static void importIndexPut(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self"), values = emit.cast(node.tensor("values"), elementOf(x));
  bool accumulate = node.flag("accumulate", false);
  node.ignore({"unsafe"});
  SmallVector<Value> indices = node.optionalTensors("indices");
  auto given = [](Value index) { return bool(index); };
  auto first = llvm::find_if(indices, given);
  if (first != indices.end() && llvm::count_if(indices, given) == 1 &&
      elementOf(*first).isInteger(1) && !emit.valueOf(*first))
    return node.result(putUnderMask(node, x, *first, first - indices.begin(), values, accumulate));
  node.result(putAtIndices(node, x, values, accumulate ? ScatterKind::Add : ScatterKind::Set));
}

void weft::frontend::aten::addIndexPut(OpTable &table) {
  table["aten._index_put_impl.default"] = importIndexPut;
  table["aten._unsafe_index_put.default"] = importIndexPut;
  table["aten.index_put.default"] = importIndexPut;
}
