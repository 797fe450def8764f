// Scatters of blocks.

#include "frontends/stablehlo/ops/OpTable.h"

#include "frontends/stablehlo/AttributeText.h"
#include "frontends/stablehlo/Bodies.h"
#include "frontends/stablehlo/Indexing.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

static ReduceKind reduceKind(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::Mul:
    return ReduceKind::Prod;
  case ScatterKind::Max:
    return ReduceKind::Max;
  case ScatterKind::Min:
    return ReduceKind::Min;
  case ScatterKind::Add:
  case ScatterKind::Set:
    return ReduceKind::Sum;
  }
  return ReduceKind::Sum;
}

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

namespace {
/// One scatter, with all addressed dimensions as one, the axis, and all blocks along it as one.
struct Rows {
  Value input;            ///< [batch…, rows, rest…]
  Value positions, legal; ///< [batch…, n]; legal: null for all
  Value updates;          ///< [batch…, n, rest…]
  int64_t axis;

  /// Positions (or legal) for each element of the updates.
  Value spread(Emitter &emit, Value of) const {
    Shape leading = llvm::to_vector(llvm::seq<int64_t>(0, axis + 1));
    return emit.broadcastDims(of, shapeOf(updates), leading);
  }
};
} // namespace

static Value emitScatter(Emitter &emit, ScatterKind kind, const Rows &rows) {
  RankedTensorType type = typeOf(rows.input);
  if (rows.axis > 0)
    return emit.create<ScatterElementsOp>(type, kind, rows.input, rows.spread(emit, rows.positions),
                                          rows.updates, rows.axis);
  Value tuples = emit.reshape(rows.positions, {shapeOf(rows.positions)[0], 1});
  return emit.create<ScatterNdOp>(type, kind, rows.input, tuples, rows.updates);
}

/// Updates that lie outside are dropped: where they join with what is there, they become what
/// changes nothing; where they replace it, they go to a row of their own. Sums are made from zeros,
/// so that each device can sum its own updates.
static Value scatterRows(Emitter &emit, ScatterKind kind, Rows rows) {
  Value nothing;
  int64_t count = shapeOf(rows.input)[rows.axis];
  Shape low(shapeOf(rows.input).size(), 0), high(low);
  switch (kind) {
  case ScatterKind::Set:
    if (!rows.legal)
      break;
    high[rows.axis] = 1;
    nothing = emit.splat(RankedTensorType::get({}, elementOf(rows.input)), 0);
    rows.input = emit.pad(rows.input, nothing, low, high);
    rows.positions =
        emit.select(rows.legal, rows.positions, emit.like(rows.positions, double(count)));
    return emit.sliceDim(emitScatter(emit, kind, rows), rows.axis, 0, count);
  case ScatterKind::Add:
  case ScatterKind::Mul:
  case ScatterKind::Max:
  case ScatterKind::Min:
    nothing = emit.like(rows.updates, identityOf(reduceKind(kind), elementOf(rows.updates)));
    if (rows.legal)
      rows.updates = emit.select(rows.spread(emit, rows.legal), rows.updates, nothing);
  }
  if (kind != ScatterKind::Add)
    return emitScatter(emit, kind, rows);
  Value input = std::exchange(rows.input, emit.like(rows.input, 0));
  return emitJoinInit(emit, ReduceKind::Sum, emitScatter(emit, kind, rows), input);
}

static Value scatterInto(Emitter &emit, ScatterKind kind, Value input, Value updates,
                         const Positions &where) {
  Shape order = where.batch, batch = sizesOf(input, where.batch);
  llvm::append_range(order, where.addressed);
  llvm::append_range(order, where.rest);
  Value turned = emit.transpose(input, order);
  auto withRows = [&](int64_t count, bool withRest) {
    Shape shape = batch;
    shape.push_back(count);
    if (withRest)
      llvm::append_range(shape, sizesOf(input, where.rest));
    return shape;
  };
  int64_t rows = 1, blocks = 1;
  for (int64_t dim : where.addressed)
    rows *= shapeOf(input)[dim];
  for (int64_t size : shapeOf(where.positions).drop_front(batch.size()))
    blocks *= size;
  Value legal = where.legal;
  if (legal) {
    Shape leading = llvm::to_vector(llvm::seq<int64_t>(0, where.tupleDims.size()));
    legal = emit.broadcastDims(legal, shapeOf(where.positions), leading);
    legal = emit.reshape(legal, withRows(blocks, false));
  }
  Value result =
      scatterRows(emit, kind,
                  {emit.reshape(turned, withRows(rows, true)),
                   emit.reshape(where.positions, withRows(blocks, false)), legal,
                   emit.reshape(updates, withRows(blocks, true)), int64_t(batch.size())});
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
