// Slices whose starts are values.

#include "frontends/stablehlo/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

Value stablehlo::emitClamp(Emitter &emit, Value x, int64_t low, int64_t high) {
  auto bound = [&](int64_t number) {
    return emit.constant(
        tensorOf(RankedTensorType::get({}, elementOf(x)), std::vector<int64_t>{number}));
  };
  return emit.binary<MinOp>(emit.binary<MaxOp>(x, bound(low)), bound(high));
}

Value stablehlo::emitIndices(Emitter &emit, Value indices) {
  Type element = elementOf(indices);
  if (!element.isInteger() || element.isInteger(1))
    throw ImportError("expected integer indices, got " + describe(indices));
  if (element.isUnsignedInteger(64))
    indices = emit.binary<MinOp>(indices, emit.like(indices, std::ldexp(1.0, 62)));
  return emit.cast(indices, emit.builder.getI64Type());
}

namespace {
/// Where a block starts in one dimension: clamped, so that the block lies within.
struct Start {
  std::optional<int64_t> known;
  Value value; ///< scalar i64, clamped
};
} // namespace

static SmallVector<Start> readStarts(Instruction &op, size_t first, Value x,
                                     ArrayRef<int64_t> sizes) {
  op.expectOperands(first + sizes.size());
  SmallVector<Start> starts;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (size < 0 || size > shapeOf(x)[dim])
      throw ImportError("a block of " + describe(sizes) + " does not fit into " + describe(x));
    Value given = op.operand(first + dim);
    expectExactRank(given, 0);
    Value start = emitClamp(op.emit, emitIndices(op.emit, given), 0, shapeOf(x)[dim] - size);
    const Tensor *known = op.emit.valueOf(start);
    starts.push_back(
        {known ? std::optional(storedNumbersOf<int64_t>(*known)[0]) : std::nullopt, start});
    if (size == shapeOf(x)[dim])
      starts.back().known = 0;
  }
  return starts;
}

/// What a value was joined of along `dim`, or the value itself.
static SmallVector<Value> piecesOf(Value value, int64_t dim) {
  auto concat = value.getDefiningOp<ConcatOp>();
  if (!concat || int64_t(concat.getAxis()) != dim)
    return {value};
  return concat.getInputs();
}

/// A slice along one dimension, of the piece that holds it where one does.
static Value sliceKnown(Emitter &emit, Value x, int64_t dim, int64_t start, int64_t size) {
  int64_t at = 0;
  for (Value piece : piecesOf(x, dim)) {
    int64_t extent = shapeOf(piece)[dim];
    if (start >= at && start + size <= at + extent)
      return emit.sliceDim(piece, dim, start - at, size);
    at += extent;
  }
  return emit.sliceDim(x, dim, start, size);
}

static void importDynamicSlice(Instruction &op) {
  Emitter &emit = op.emit;
  Value x = op.operand(0);
  Shape sizes = op.requiredInts("slice_sizes", typeOf(x).getRank());
  for (auto [dim, start] : llvm::enumerate(readStarts(op, 1, x, sizes))) {
    if (start.known) {
      x = sliceKnown(emit, x, dim, *start.known, sizes[dim]);
      continue;
    }
    Value positions = emit.binary<AddOp>(emit.iota({sizes[dim]}, 0), start.value);
    x = emit.gather(x, positions, dim);
  }
  op.result(x);
}

/// `block` in place of the elements of `x` from `start` on along `dim`; other dimensions agree. A
/// loop fills a stack so, piece by piece: with the pieces joined anew, one join is left in the end.
static Value replaceKnown(Emitter &emit, Value x, Value block, int64_t dim, int64_t start) {
  SmallVector<Value> pieces;
  int64_t end = start + shapeOf(block)[dim], at = 0;
  auto keep = [&](Value piece, int64_t from, int64_t to) { // of the piece's own elements
    if (from < to)
      pieces.push_back(emit.sliceDim(piece, dim, from, to - from));
  };
  bool isPlaced = false;
  for (Value piece : piecesOf(x, dim)) {
    int64_t size = shapeOf(piece)[dim];
    keep(piece, 0, std::clamp<int64_t>(start - at, 0, size));
    if (!isPlaced && start < at + size) {
      pieces.push_back(block);
      isPlaced = true;
    }
    keep(piece, std::clamp<int64_t>(end - at, 0, size), size);
    at += size;
  }
  return emit.concat(pieces, dim);
}

/// Each position within the block takes the block's element, the others their own.
static Value replaceUnknown(Emitter &emit, Value x, Value block, int64_t dim, Value start) {
  int64_t size = shapeOf(block)[dim];
  Value distance = emit.binary<SubOp>(emit.iota({shapeOf(x)[dim]}, 0), start);
  Value inside = emit.binary<AndOp>(
      emit.compare(CompareDirection::GE, distance, emit.like(distance, 0)),
      emit.compare(CompareDirection::LT, distance, emit.like(distance, double(size))));
  Value spread = emit.gather(block, emitClamp(emit, distance, 0, size - 1), dim);
  return emit.select(emit.broadcastDims(inside, shapeOf(x), {dim}), spread, x);
}

/// From the innermost dimension out, the block grows to the operand's size by what lies around it.
static void importDynamicUpdateSlice(Instruction &op) {
  Emitter &emit = op.emit;
  Value x = op.operand(0), block = op.operand(1);
  expectExactRank(block, typeOf(x).getRank());
  if (elementOf(x) != elementOf(block))
    throw ImportError("expected a block of the type of " + describe(x) + ", got " +
                      describe(block));
  Shape sizes(shapeOf(block));
  SmallVector<Start> starts = readStarts(op, 2, x, sizes);
  if (typeOf(block).getNumElements() == 0)
    return op.result(x);
  // The part of x that the block will fill once dimensions from `dim` on have grown.
  auto around = [&](int64_t dim) {
    Value part = x;
    for (int64_t outer = 0; outer < dim; ++outer)
      if (starts[outer].known)
        part = emit.sliceDim(part, outer, *starts[outer].known, sizes[outer]);
      else
        part = emit.gather(
            part, emit.binary<AddOp>(emit.iota({sizes[outer]}, 0), starts[outer].value), outer);
    return part;
  };
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    if (sizes[dim] == shapeOf(x)[dim])
      continue;
    Value part = around(dim);
    block = starts[dim].known ? replaceKnown(emit, part, block, dim, *starts[dim].known)
                              : replaceUnknown(emit, part, block, dim, starts[dim].value);
  }
  op.result(block);
}

void stablehlo::addDynamic(OpTable &table) {
  table["stablehlo.dynamic_slice"] = importDynamicSlice;
  table["stablehlo.dynamic_update_slice"] = importDynamicUpdateSlice;
}
