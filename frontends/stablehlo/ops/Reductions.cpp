// Reductions, and scans that are given as such.

#include "frontends/stablehlo/ops/OpTable.h"

#include "frontends/stablehlo/Bodies.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// Neighbours are joined with the region until one element is left: its order is kept, and the
/// region need not be one that weft knows.
static SmallVector<Value> reduceByHalves(Instruction &op, SmallVector<Value> values,
                                         ArrayRef<int64_t> dims) {
  Emitter &emit = op.emit;
  Shape order(dims), rest = otherDims(typeOf(values.front()).getRank(), dims);
  llvm::append_range(order, rest);
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= shapeOf(values.front())[dim];
  Shape kept = sizesOf(values.front(), rest), flat(kept);
  flat.insert(flat.begin(), count);
  for (Value &value : values)
    value = emit.reshape(emit.transpose(value, order), flat);
  while (count > 1) {
    int64_t half = count / 2;
    Shape starts(flat.size(), 0), strides(flat.size(), 1), sizes(flat);
    sizes[0] = half;
    strides[0] = 2;
    SmallVector<Value> operands;
    for (int64_t first : {0, 1}) {
      starts[0] = first;
      for (Value value : values)
        operands.push_back(emit.slice(value, starts, sizes, strides));
    }
    SmallVector<Value> joined = op.walker.lift(op.region(0), operands);
    if (joined.size() != values.size())
      throw ImportError("expected as many results of its region as it reduces values");
    for (auto [value, pairs] : llvm::zip_equal(values, joined))
      value = count % 2 ? emit.concat({pairs, emit.sliceDim(value, 0, count - 1, 1)}, 0) : pairs;
    count -= half;
  }
  for (Value &value : values)
    value = emit.reshape(value, kept);
  return values;
}

static void importReduce(Instruction &op) {
  Emitter &emit = op.emit;
  size_t count = op.operands() / 2;
  if (count == 0 || op.operands() != 2 * count || op.results() != count)
    throw ImportError("expected an initial value for each input and a result for each");
  SmallVector<Value> inputs = op.operandsFrom(0, count), inits = op.operandsFrom(count, 2 * count);
  for (auto [input, init] : llvm::zip_equal(inputs, inits))
    if (shapeOf(input) != shapeOf(inputs.front()) || typeOf(init).getRank() != 0 ||
        elementOf(init) != elementOf(input))
      throw ImportError("cannot reduce " + describe(input) + " from " + describe(init));
  Shape dims = op.getDims("dimensions", typeOf(inputs.front()).getRank());
  llvm::sort(dims);
  if (typeOf(inputs.front()).getNumElements() == 0) {
    for (auto [index, init] : llvm::enumerate(inits))
      op.result(index, emit.broadcast(init, op.resultType(index).getShape()));
    return;
  }
  std::optional<ReduceKind> kind = count == 1 ? reduceKindOf(op.region(0)) : std::nullopt;
  if (kind)
    return op.result(
        emitJoinInit(emit, *kind, emit.reduce(*kind, inputs.front(), dims, false), inits.front()));
  SmallVector<Value> reduced = reduceByHalves(op, inputs, dims), operands;
  for (auto [init, value] : llvm::zip_equal(inits, reduced))
    operands.push_back(emit.broadcast(init, shapeOf(value)));
  llvm::append_range(operands, reduced);
  for (auto [index, value] : llvm::enumerate(op.walker.lift(op.region(0), operands)))
    op.result(index, value);
}

void stablehlo::addReductions(OpTable &table) { table["stablehlo.reduce"] = importReduce; }
