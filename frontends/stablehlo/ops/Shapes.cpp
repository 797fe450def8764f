// Operations that move elements without computing.

#include "frontends/stablehlo/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// The operand's dimensions may come in any order: those are transposed first.
static void importBroadcastInDim(Instruction &op) {
  Value x = op.operand(0);
  if (op.walker.isLifted()) // of scalars, applied to tensors
    return op.result(x);
  RankedTensorType type = op.resultType();
  Shape dims = op.getDims("broadcast_dimensions", type.getRank());
  if (int64_t(dims.size()) != typeOf(x).getRank())
    throw ImportError("expected one of broadcast_dimensions for each dimension of " + describe(x));
  Shape order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  llvm::sort(dims);
  op.result(op.emit.broadcastDims(op.emit.transpose(x, order), type.getShape(), dims));
}

static void importConcatenate(Instruction &op) {
  int64_t dim = op.requiredInt("dimension");
  if (op.operands() == 0)
    throw ImportError("expected an operand");
  checkDims({dim}, typeOf(op.operand(0)).getRank(), "dimension");
  op.result(op.emit.concat(op.allOperands(), dim));
}

static void importIota(Instruction &op) {
  RankedTensorType type = op.resultType();
  int64_t dim = op.requiredInt("iota_dimension");
  checkDims({dim}, type.getRank(), "iota_dimension");
  op.result(op.emit.cast(op.emit.iota(type.getShape(), dim), type.getElementType()));
}

/// `between` elements of `value` between each two along `dim`: behind each element, then cut off
/// the last.
static Value spread(Emitter &emit, Value x, Value value, int64_t dim, int64_t between) {
  int64_t size = shapeOf(x)[dim];
  if (between == 0 || size < 2)
    return x;
  Shape split(shapeOf(x)), low(split.size() + 1, 0), high(low);
  split.insert(split.begin() + dim + 1, 1);
  high[dim + 1] = between;
  Value padded = emit.pad(emit.reshape(x, split), value, low, high);
  Shape joined(shapeOf(x));
  joined[dim] = size * (between + 1);
  return emit.sliceDim(emit.reshape(padded, joined), dim, 0, (size - 1) * (between + 1) + 1);
}

Value stablehlo::emitPad(Emitter &emit, Value input, Value value, ArrayRef<int64_t> low,
                         ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  Value x = input;
  Shape before, after;
  for (auto [dim, between] : llvm::enumerate(interior)) {
    if (between < 0 || between > maxTensorBytes || low[dim] > maxTensorBytes ||
        high[dim] > maxTensorBytes)
      throw ImportError("cannot pad " + describe(input) + " by " + describe(low) + ", " +
                        describe(high) + " and " + describe(interior) + " between");
    x = spread(emit, x, value, dim, between);
    int64_t size = shapeOf(x)[dim];
    if (low[dim] < -size || high[dim] < -size || size + low[dim] + high[dim] < 0)
      throw ImportError("cannot cut " + describe(low) + " and " + describe(high) + " off " +
                        describe(input));
    before.push_back(std::max<int64_t>(low[dim], 0));
    after.push_back(std::max<int64_t>(high[dim], 0));
  }
  x = emit.pad(x, value, before, after);
  Shape starts, sizes, strides(before.size(), 1);
  for (auto [dim, size] : llvm::enumerate(shapeOf(x))) {
    starts.push_back(std::max<int64_t>(-low[dim], 0));
    sizes.push_back(size - starts.back() - std::max<int64_t>(-high[dim], 0));
  }
  return emit.slice(x, starts, sizes, strides);
}

static void importPad(Instruction &op) {
  op.expectOperands(2);
  Value x = op.operand(0), value = op.operand(1);
  size_t rank = typeOf(x).getRank();
  expectExactRank(value, 0);
  if (elementOf(x) != elementOf(value))
    throw ImportError("expected a padding value of the type of " + describe(x) + ", got " +
                      describe(value));
  op.result(emitPad(op.emit, x, value, op.requiredInts("edge_padding_low", rank),
                    op.requiredInts("edge_padding_high", rank),
                    op.attribute("interior_padding") ? op.requiredInts("interior_padding", rank)
                                                     : Shape(rank, 0)));
}

static void importReshape(Instruction &op) {
  if (op.walker.isLifted()) // of scalars, applied to tensors
    return op.result(op.operand(0));
  op.result(op.emit.reshape(op.operand(0), op.resultType().getShape()));
}

static void importReverse(Instruction &op) {
  Shape dims = op.getDims("dimensions", typeOf(op.operand(0)).getRank());
  llvm::sort(dims);
  op.result(op.emit.reverse(op.operand(0), dims));
}

static void importSlice(Instruction &op) {
  Value x = op.operand(0);
  size_t rank = typeOf(x).getRank();
  Shape starts = op.requiredInts("start_indices", rank);
  Shape limits = op.requiredInts("limit_indices", rank), strides(rank, 1), sizes;
  if (op.attribute("strides"))
    strides = op.requiredInts("strides", rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    if (starts[dim] < 0 || limits[dim] < starts[dim] || limits[dim] > shapeOf(x)[dim] ||
        strides[dim] < 1)
      throw ImportError("cannot slice " + describe(x) + " from " + describe(starts) + " to " +
                        describe(limits) + " by " + describe(strides));
    sizes.push_back(llvm::divideCeil(limits[dim] - starts[dim], strides[dim]));
  }
  op.result(op.emit.slice(x, starts, sizes, strides));
}

static void importTranspose(Instruction &op) {
  Value x = op.operand(0);
  Shape permutation = op.getDims("permutation", typeOf(x).getRank());
  if (int64_t(permutation.size()) != typeOf(x).getRank())
    throw ImportError("expected a permutation of the dimensions of " + describe(x));
  op.result(op.emit.transpose(x, permutation));
}

void stablehlo::addShapes(OpTable &table) {
  table["stablehlo.broadcast_in_dim"] = importBroadcastInDim;
  table["stablehlo.concatenate"] = importConcatenate;
  table["stablehlo.iota"] = importIota;
  table["stablehlo.pad"] = importPad;
  table["stablehlo.reshape"] = importReshape;
  table["stablehlo.reverse"] = importReverse;
  table["stablehlo.slice"] = importSlice;
  table["stablehlo.transpose"] = importTranspose;
}
