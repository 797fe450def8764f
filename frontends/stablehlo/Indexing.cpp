#include "frontends/stablehlo/Indexing.h"

#include "compiler/Interpret/Numbers.h"
#include "frontends/stablehlo/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

static void checkIndexDims(RankedTensorType operand, Value indices, const IndexDims &dims) {
  int64_t rank = operand.getRank(), indexRank = typeOf(indices).getRank();
  checkDims(llvm::to_vector(llvm::concat<const int64_t>(dims.batch, dims.addressedBy)), rank,
            "operand_batching_dims and start_index_map");
  checkDims(llvm::to_vector(llvm::concat<const int64_t>(dims.batch, dims.dropped)), rank,
            "operand_batching_dims and collapsed dimensions");
  if (dims.vector < 0 || dims.vector > indexRank)
    throw ImportError("index_vector_dim " + std::to_string(dims.vector) + " is no dimension of " +
                      describe(indices));
  Shape used = dims.indicesBatch;
  if (dims.vector < indexRank)
    used.push_back(dims.vector);
  checkDims(used, indexRank, "start_indices_batching_dims and index_vector_dim");
  int64_t tuple = dims.vector < indexRank ? shapeOf(indices)[dims.vector] : 1;
  if (tuple != int64_t(dims.addressedBy.size()) || dims.batch.size() != dims.indicesBatch.size())
    throw ImportError("indices " + describe(indices) + " do not hold tuples of " +
                      std::to_string(dims.addressedBy.size()));
  if (int64_t(dims.block.size()) != rank)
    throw ImportError("expected the size of a block for each dimension of " + describe(operand));
  for (auto [dim, size] : llvm::enumerate(dims.block)) {
    bool unit = llvm::is_contained(dims.dropped, int64_t(dim)) ||
                llvm::is_contained(dims.batch, int64_t(dim));
    if (size < 0 || size > operand.getDimSize(dim) || (unit && size > 1))
      throw ImportError("a block of " + describe(dims.block) + " does not fit into " +
                        describe(operand));
  }
  for (auto [mine, theirs] : llvm::zip_equal(dims.batch, dims.indicesBatch))
    if (operand.getDimSize(mine) != shapeOf(indices)[theirs])
      throw ImportError("indices " + describe(indices) + " do not share the batch dimensions of " +
                        describe(operand));
}

namespace {

/// Builds the positions dimension by dimension.
class Finder {
public:
  Finder(Emitter &emit, RankedTensorType operand, Value indices, const IndexDims &dims, bool clamp)
      : emit(emit), operand(operand), dims(dims), clamp(clamp) {
    found.batch = dims.batch;
    tuples = arrangeTuples(emitIndices(emit, indices));
  }

  Positions run() {
    for (int64_t dim : otherDims(operand.getRank(), dims.batch))
      (isWhole(dim) ? found.rest : found.addressed).push_back(dim);
    // The shape of all positions: the tuples, then what blocks extend along.
    shape = Shape(shapeOf(tuples).drop_back());
    for (int64_t dim : found.addressed)
      if (dims.block[dim] != 1) {
        found.extended.push_back(dim);
        shape.push_back(dims.block[dim]);
      }
    for (auto [number, dim] : llvm::enumerate(dims.addressedBy))
      checkStart(number, dim);
    found.positions = emit.splat(indexType(shape), 0);
    for (int64_t dim : found.addressed)
      addDim(dim);
    return std::move(found);
  }

private:
  RankedTensorType indexType(ArrayRef<int64_t> sizes) {
    return RankedTensorType::get(sizes, emit.builder.getI64Type());
  }
  /// Tuples along the last dimension, batch dimensions first.
  Value arrangeTuples(Value indices) {
    Shape sizes(shapeOf(indices));
    int64_t vector = dims.vector;
    if (vector == int64_t(sizes.size())) {
      sizes.push_back(1);
      indices = emit.reshape(indices, sizes);
    }
    Shape order = dims.indicesBatch, used = order;
    used.push_back(vector);
    llvm::append_range(order, otherDims(sizes.size(), used));
    for (int64_t dim : order)
      found.tupleDims.push_back(dim - (dim > vector));
    order.push_back(vector);
    return emit.transpose(indices, order);
  }
  /// Blocks cover the dimension; where a start says otherwise, they do not lie within.
  bool isWhole(int64_t dim) const {
    return dims.block[dim] == operand.getDimSize(dim) &&
           (operand.getDimSize(dim) != 1 || !llvm::is_contained(dims.addressedBy, dim));
  }
  /// One number of each tuple.
  Value startsOf(int64_t number) {
    Value column = emit.sliceDim(tuples, found.tupleDims.size(), number, 1);
    return emit.reshape(column, shapeOf(tuples).drop_back());
  }
  void checkStart(int64_t number, int64_t dim) {
    if (clamp)
      return;
    Value start = startsOf(number);
    Value least = emit.like(start, 0);
    Value most = emit.like(start, double(operand.getDimSize(dim) - dims.block[dim]));
    Value legal = emit.binary<AndOp>(emit.compare(CompareDirection::GE, start, least),
                                     emit.compare(CompareDirection::LE, start, most));
    found.legal = found.legal ? emit.binary<AndOp>(found.legal, legal) : legal;
  }
  /// What the tuples say about `dim`, of the tuples' shape; null where they say nothing.
  Value startAlong(int64_t dim) {
    for (auto [number, addressed] : llvm::enumerate(dims.addressedBy))
      if (addressed == dim)
        return emitClamp(emit, startsOf(number), 0, operand.getDimSize(dim) - dims.block[dim]);
    return {};
  }
  void addDim(int64_t dim) {
    Value scale = emit.splat(indexType(shape), double(operand.getDimSize(dim)));
    found.positions = emit.binary<MulOp>(found.positions, scale);
    if (Value start = startAlong(dim)) {
      Shape leading = llvm::to_vector(llvm::seq<int64_t>(0, found.tupleDims.size()));
      found.positions =
          emit.binary<AddOp>(found.positions, emit.broadcastDims(start, shape, leading));
    }
    auto extended = llvm::find(found.extended, dim);
    if (extended != found.extended.end()) {
      int64_t along = found.tupleDims.size() + (extended - found.extended.begin());
      found.positions = emit.binary<AddOp>(found.positions, emit.iota(shape, along));
    }
  }

  Emitter &emit;
  RankedTensorType operand;
  const IndexDims &dims;
  bool clamp;
  Value tuples;
  Shape shape;
  Positions found;
};

} // namespace

Positions stablehlo::findPositions(Emitter &emit, RankedTensorType operand, Value indices,
                                   const IndexDims &dims, bool clamp) {
  checkIndexDims(operand, indices, dims);
  Positions found = Finder(emit, operand, indices, dims, clamp).run();
  if (found.legal)
    if (const Tensor *known = emit.valueOf(found.legal))
      if (llvm::all_of(known->raw(), [](char byte) { return byte != 0; }))
        found.legal = {};
  return found;
}
