// Gathers of blocks.

#include "frontends/stablehlo/ops/OpTable.h"

#include "frontends/stablehlo/AttributeText.h"
#include "frontends/stablehlo/Indexing.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// Which dimension of the result each of a value's dimensions is.
struct Layout {
  Value value;
  Shape resultDims;
};

/// A single addressed dimension stays where it is in the table.
static Layout gatherAlong(Emitter &emit, Value table, const Positions &where,
                          ArrayRef<int64_t> tupleDims, ArrayRef<int64_t> blockDims) {
  int64_t axis = where.addressed.front();
  Layout result{emit.gather(table, where.positions, axis), {}};
  for (int64_t dim : where.rest)
    if (dim < axis)
      result.resultDims.push_back(blockDims[dim]);
  llvm::append_range(result.resultDims, tupleDims);
  for (int64_t dim : where.extended)
    result.resultDims.push_back(blockDims[dim]);
  for (int64_t dim : where.rest)
    if (dim > axis)
      result.resultDims.push_back(blockDims[dim]);
  return result;
}

/// Several become one, behind the batch dimensions.
static Layout gatherTogether(Emitter &emit, Value table, const Positions &where,
                             ArrayRef<int64_t> tupleDims, ArrayRef<int64_t> blockDims) {
  Shape order = where.batch, flat = sizesOf(table, where.batch);
  llvm::append_range(order, where.addressed);
  llvm::append_range(order, where.rest);
  flat.push_back(1);
  for (int64_t dim : where.addressed)
    flat.back() *= shapeOf(table)[dim];
  llvm::append_range(flat, sizesOf(table, where.rest));
  Value rows = emit.reshape(emit.transpose(table, order), flat);
  Layout result{{}, Shape(tupleDims)};
  if (where.batch.empty()) {
    result.value = emit.gather(rows, where.positions, 0);
  } else {
    Shape shape(shapeOf(where.positions)), tuples(shape);
    llvm::append_range(shape, sizesOf(table, where.rest));
    tuples.push_back(1);
    result.value =
        emit.create<GatherNdOp>(typeOf(table).clone(shape), rows,
                                emit.reshape(where.positions, tuples), where.batch.size());
  }
  for (int64_t dim : llvm::concat<const int64_t>(where.extended, where.rest))
    result.resultDims.push_back(blockDims[dim]);
  return result;
}

/// The result's dimensions for those of the tuples and of the operand (-1: none), in order.
static std::pair<Shape, Shape> assignDims(const IndexDims &dims, ArrayRef<int64_t> offsetDims,
                                          int64_t resultRank) {
  Shape blockDims(dims.block.size(), -1), kept;
  for (int64_t dim = 0; dim < int64_t(dims.block.size()); ++dim)
    if (!llvm::is_contained(dims.dropped, dim) && !llvm::is_contained(dims.batch, dim))
      kept.push_back(dim);
  if (kept.size() != offsetDims.size())
    throw ImportError("expected " + std::to_string(kept.size()) + " dimensions of blocks, got " +
                      describe(offsetDims));
  for (auto [dim, resultDim] : llvm::zip_equal(kept, offsetDims))
    blockDims[dim] = resultDim;
  return {otherDims(resultRank, offsetDims), blockDims};
}

static void importGather(Instruction &op) {
  Emitter &emit = op.emit;
  op.expectOperands(2);
  Value table = op.operand(0);
  RankedTensorType type = op.resultType();
  AttributeFields fields(op.attribute("dimension_numbers"), "gather");
  IndexDims dims{fields.dims("operand_batching_dims"),
                 fields.dims("start_indices_batching_dims"),
                 fields.dims("start_index_map"),
                 fields.number("index_vector_dim", 0),
                 op.requiredInts("slice_sizes", typeOf(table).getRank()),
                 fields.dims("collapsed_slice_dims")};
  Shape offsetDims = fields.dims("offset_dims");
  checkDims(offsetDims, type.getRank(), "offset_dims");
  auto [tupleDims, blockDims] = assignDims(dims, offsetDims, type.getRank());
  if (type.getNumElements() == 0)
    return op.result(emit.constant(Tensor::allocate(type)));
  Positions where = findPositions(emit, typeOf(table), op.operand(1), dims, /*clamp=*/true);
  if (where.tupleDims.size() != tupleDims.size())
    throw ImportError("result " + describe(type) + " has not the dimensions of the indices");
  Shape arranged;
  for (int64_t dim : where.tupleDims)
    arranged.push_back(tupleDims[dim]);
  bool single = where.addressed.size() == 1 && where.batch.empty();
  Layout gathered = single ? gatherAlong(emit, table, where, arranged, blockDims)
                           : gatherTogether(emit, table, where, arranged, blockDims);
  Shape order = llvm::to_vector(llvm::seq<int64_t>(0, gathered.resultDims.size()));
  llvm::sort(order,
             [&](int64_t a, int64_t b) { return gathered.resultDims[a] < gathered.resultDims[b]; });
  // What is left out are dimensions of size 1 that were addressed but not dropped.
  op.result(emit.reshape(emit.transpose(gathered.value, order), type.getShape()));
}

void stablehlo::addGather(OpTable &table) { table["stablehlo.gather"] = importGather; }
