// Scatters of blocks.

#include "frontends/stablehlo/ops/OpTable.h"

#include "frontends/stablehlo/AttributeText.h"
#include "frontends/stablehlo/Bodies.h"
#include "frontends/stablehlo/Indexing.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

static bool isKept(const IndexDims &dims, int64_t dim) {
  return !llvm::is_contained(dims.dropped, dim) && !llvm::is_contained(dims.batch, dim);
}

/// The updates as [tuples…, extended…, rest…], as the positions lie.
static Value arrangeUpdates(Emitter &emit, Value updates, const Positions &where,
                            const IndexDims &dims, ArrayRef<int64_t> windowDims) {
  Shape tupleDims = otherDims(typeOf(updates).getRank(), windowDims), order, kept;
  if (tupleDims.size() != where.tupleDims.size())
    throw ImportError("updates " + describe(updates) + " have not the dimensions of the indices");
  for (int64_t dim : where.tupleDims)
    order.push_back(tupleDims[dim]);
  for (int64_t dim = 0; dim < int64_t(dims.block.size()); ++dim)
    if (isKept(dims, dim))
      kept.push_back(dim);
  auto append = [&](int64_t dim) {
    if (isKept(dims, dim))
      order.push_back(windowDims[llvm::find(kept, dim) - kept.begin()]);
  };
  for (int64_t dim : where.addressed) // of one element: the positions have no such dimension
    if (!llvm::is_contained(where.extended, dim))
      append(dim);
  for (int64_t dim : llvm::concat<const int64_t>(where.extended, where.rest))
    append(dim);
  Shape shape(shapeOf(where.positions));
  for (int64_t dim : where.rest)
    shape.push_back(dims.block[dim]);
  return emit.reshape(emit.transpose(updates, order), shape);
}

/// Updates that lie outside are dropped, by a position that is none. Sums are made from zeros, so
/// that each device can sum its own updates.
static Value scatterRows(Emitter &emit, ScatterKind kind, Value input, Value positions,
                         Value updates, int64_t batch, bool drop) {
  Value rows = kind == ScatterKind::Add ? emit.like(input, 0) : input, result;
  if (batch > 0) {
    // One position for each element: batch dimensions, then those of the rest, stay as they are.
    Shape leading = llvm::to_vector(llvm::seq<int64_t>(0, batch + 1));
    Value spread = emit.broadcastDims(positions, shapeOf(updates), leading);
    result = emit.create<ScatterElementsOp>(typeOf(rows), kind, rows, spread, updates, batch, drop);
  } else {
    Shape tuples(shapeOf(positions));
    tuples.push_back(1);
    result = emit.create<ScatterNdOp>(typeOf(rows), kind, rows, emit.reshape(positions, tuples),
                                      updates, drop);
  }
  return kind == ScatterKind::Add ? emitJoinInit(emit, ReduceKind::Sum, result, input) : result;
}

static Value scatterInto(Emitter &emit, ScatterKind kind, Value input, Value updates,
                         const Positions &where) {
  int64_t batch = where.batch.size(), rows = 1, blocks = 1;
  Shape order = where.batch;
  llvm::append_range(order, where.addressed);
  llvm::append_range(order, where.rest);
  Value turned = emit.transpose(input, order), positions = where.positions;
  if (where.legal) {
    Shape leading = llvm::to_vector(llvm::seq<int64_t>(0, where.tupleDims.size()));
    Value legal = emit.broadcastDims(where.legal, shapeOf(positions), leading);
    positions = emit.select(legal, positions, emit.like(positions, -1));
  }
  for (int64_t dim : where.addressed)
    rows *= shapeOf(input)[dim];
  for (int64_t size : shapeOf(positions).drop_front(batch))
    blocks *= size;
  auto flat = [&](int64_t count, bool withRest) {
    Shape shape = sizesOf(input, where.batch);
    shape.push_back(count);
    if (withRest)
      llvm::append_range(shape, sizesOf(input, where.rest));
    return shape;
  };
  if (batch > 0) {
    positions = emit.reshape(positions, flat(blocks, false));
    updates = emit.reshape(updates, flat(blocks, true));
  }
  Value result = scatterRows(emit, kind, emit.reshape(turned, flat(rows, true)), positions, updates,
                             batch, bool(where.legal));
  Shape back(order.size(), 0);
  for (auto [index, dim] : llvm::enumerate(order))
    back[dim] = index;
  return emit.transpose(emit.reshape(result, shapeOf(turned)), back);
}

/// The sizes of blocks: those of the updates, 1 where blocks have no dimension.
static Shape blockSizes(Value input, Value updates, const IndexDims &dims,
                        ArrayRef<int64_t> windowDims) {
  checkDims(windowDims, typeOf(updates).getRank(), "update_window_dims");
  Shape sizes;
  size_t window = 0;
  for (int64_t dim = 0; dim < typeOf(input).getRank(); ++dim) {
    bool unit = llvm::is_contained(dims.dropped, dim) || llvm::is_contained(dims.batch, dim);
    if (!unit && window == windowDims.size())
      throw ImportError("updates " + describe(updates) + " lack a dimension of " + describe(input));
    sizes.push_back(unit ? 1 : shapeOf(updates)[windowDims[window++]]);
  }
  if (window != windowDims.size())
    throw ImportError("updates " + describe(updates) + " have more dimensions than " +
                      describe(input));
  return sizes;
}

static void importScatter(Instruction &op) {
  size_t count = op.operands() / 2;
  if (op.operands() != 2 * count + 1 || count == 0 || op.results() != count)
    throw ImportError("expected inputs, indices, and updates and a result for each input");
  std::optional<ScatterKind> kind = count == 1 ? scatterKindOf(op.region(0)) : std::nullopt;
  if (!kind)
    throw ImportError("its region is not known: set, add, multiply, maximum and minimum of one "
                      "input are supported");
  Value input = op.operand(0), indices = op.operand(1), updates = op.operand(2);
  if (elementOf(input) != elementOf(updates))
    throw ImportError("updates " + describe(updates) + " are of another type than " +
                      describe(input));
  AttributeFields fields(op.attribute("scatter_dimension_numbers"), "scatter");
  IndexDims dims{fields.dims("input_batching_dims"),
                 fields.dims("scatter_indices_batching_dims"),
                 fields.dims("scatter_dims_to_operand_dims"),
                 fields.number("index_vector_dim", 0),
                 {},
                 fields.dims("inserted_window_dims")};
  Shape windowDims = fields.dims("update_window_dims");
  dims.block = blockSizes(input, updates, dims, windowDims);
  if (typeOf(updates).getNumElements() == 0 || typeOf(input).getNumElements() == 0)
    return op.result(input);
  Positions where = findPositions(op.emit, typeOf(input), indices, dims, /*clamp=*/false);
  Value arranged = arrangeUpdates(op.emit, updates, where, dims, windowDims);
  op.result(scatterInto(op.emit, *kind, input, arranged, where));
}

void stablehlo::addScatter(OpTable &table) { table["stablehlo.scatter"] = importScatter; }
