#include "frontends/torch_export/ops/Indexing.h"

#include "compiler/Interpret/Numbers.h"
#include "frontends/common/Composites.h"
#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/ops/Computed.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// A range that begins where only running tells; its length is that of the result, or of `part`.
static SliceRange computedRange(Node &node, Value start, int64_t dim) {
  node.ignore({"end"});
  bool isPut = node.isTensor("src");
  const Argument *source = isPut ? node.find("src") : nullptr;
  std::string name = source ? source->as<TensorName>()->name : node.resultName(0).str();
  auto meta = node.scope.graph.tensors.find(name);
  std::optional<int64_t> count;
  if (meta != node.scope.graph.tensors.end() && size_t(dim) < meta->second.sizes.size())
    count = node.graph.sizes().evaluate(meta->second.sizes[dim]);
  if (!count || node.integer("step", 1) != 1)
    throw ImportError("a slice that begins where only running tells is supported with a known "
                      "number of elements and a step of 1 only");
  return {dim, 0, *count, 1, start};
}

Value weft::frontend::aten::positionsIn(Emitter &emit, const SliceRange &range) {
  SmallVector<int64_t> offsets = llvm::to_vector(llvm::seq<int64_t>(0, range.count));
  return emit.binary<AddOp>(emit.broadcast(range.computedStart, {range.count}),
                            emit.integers(offsets));
}

Value weft::frontend::aten::takeSlice(Emitter &emit, Value x, const SliceRange &range) {
  if (range.computedStart)
    return emit.gather(x, positionsIn(emit, range), range.dim);
  Shape starts(shapeOf(x).size(), 0), sizes(shapeOf(x)), strides(sizes.size(), 1);
  starts[range.dim] = range.start;
  sizes[range.dim] = range.count;
  strides[range.dim] = range.stride;
  return emit.slice(x, starts, sizes, strides);
}

SliceRange weft::frontend::aten::readSlice(Node &node, Value x) {
  expectRank(x, 1);
  int64_t dim = node.dim(node.integer("dim", 0), typeOf(x).getRank()), size = shapeOf(x)[dim];
  if (Value start = findComputed(node, "start"))
    return computedRange(node, start, dim);
  int64_t step = node.integer("step", 1);
  if (step < 1)
    throw ImportError("a step of " + std::to_string(step) + " is out of range");
  auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? std::max(at, -size) + size : at, 0, size);
  };
  int64_t start = clamp(node.integer("start", 0)), end = clamp(node.integer("end", size));
  int64_t count = end <= start ? 0 : (end - start - 1) / step + 1;
  return {dim, count == 0 ? 0 : start, count, count > 1 ? step : 1};
}

SliceRange weft::frontend::aten::readSelect(Node &node, Value x) {
  expectRank(x, 1);
  int64_t dim = node.dim(node.integer("dim"), typeOf(x).getRank()), size = shapeOf(x)[dim];
  if (Value start = findComputed(node, "index"))
    return {dim, 0, 1, 1, start};
  int64_t index = node.integer("index");
  if (index < -size || index >= size)
    throw ImportError("index " + std::to_string(index) + " is out of range for dimension " +
                      std::to_string(dim) + " of " + describe(x));
  return {dim, index < 0 ? index + size : index, 1, 1};
}

SliceRange weft::frontend::aten::readNarrow(Node &node, Value x) {
  expectRank(x, 1);
  int64_t dim = node.dim(node.integer("dim"), typeOf(x).getRank());
  int64_t start = node.integer("start"), length = node.integer("length"), size = shapeOf(x)[dim];
  start += start < 0 ? size : 0;
  if (start < 0 || length < 0 || length > size - start)
    throw ImportError(std::to_string(length) + " elements from " + std::to_string(start) +
                      " on exceed dimension " + std::to_string(dim) + " of " + describe(x));
  return {dim, start, length, 1};
}

/// Bools are indices of the elements that are true, one tensor for each dimension: a shape that
/// depends on values, unless they are known.
SmallVector<Value> weft::frontend::aten::positionsOf(Node &node, Value mask) {
  const Tensor *known = node.emit.valueOf(mask);
  if (!known)
    throw ImportError("an index of bools that are not constants gives a shape that depends on "
                      "values, which is not supported");
  SmallVector<Value> tensors;
  for (const Shape &at : positionsOfNonZero(*known))
    tensors.push_back(node.emit.integers(at));
  return tensors;
}

Indices weft::frontend::aten::readIndices(Node &node, Value x) {
  Indices indices;
  int64_t dim = 0;
  for (Value index : node.optionalTensors("indices")) {
    if (!index) {
      ++dim;
      continue;
    }
    SmallVector<Value> tensors{index};
    if (elementOf(index).isInteger(1))
      tensors = positionsOf(node, index);
    else if (!elementOf(index).isInteger())
      throw ImportError("expected integer indices, got " + describe(index));
    for (Value tensor : tensors) {
      indices.dims.push_back(dim++);
      indices.tensors.push_back(tensor);
    }
  }
  if (indices.dims.empty() || dim > typeOf(x).getRank())
    throw ImportError("the indices do not fit " + describe(x));
  return indices;
}

Value weft::frontend::aten::countedFromStart(Emitter &emit, Value indices) {
  auto type = dyn_cast<IntegerType>(elementOf(indices));
  if (!type)
    throw ImportError("expected integer indices, got " + describe(indices));
  const Tensor *known = emit.valueOf(indices);
  auto isNegative = [](int64_t index) { return index < 0; };
  if (type.isUnsigned() || (known && llvm::none_of(storedNumbersOf<int64_t>(*known), isNegative)))
    return indices;
  return emit.cast(indices, IntegerType::get(type.getContext(), 64, IntegerType::Unsigned));
}

Value weft::frontend::aten::tuplesOf(Emitter &emit, const Indices &indices,
                                     ArrayRef<int64_t> shape) {
  Shape tuple(shape);
  tuple.push_back(1);
  SmallVector<Value> columns;
  for (Value index : indices.tensors) {
    Value wide = emit.cast(emit.broadcast(index, shape), emit.builder.getI64Type());
    columns.push_back(emit.reshape(wide, tuple));
  }
  return emit.concat(columns, int64_t(shape.size()));
}
