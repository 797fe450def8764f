// Padding by what a tensor holds near its borders, and repeating it.

#include "frontends/common/Composites.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// `size` elements before (after) the others of dimension `dim`, by the rule of `kind`.
static Value border(Emitter &emit, Value x, int64_t dim, int64_t size, bool before,
                    BorderKind kind) {
  int64_t extent = shapeOf(x)[dim];
  if (kind == BorderKind::Edge) {
    Shape shape(shapeOf(x));
    shape[dim] = size;
    return emit.broadcast(emit.sliceDim(x, dim, before ? 0 : extent - 1, 1), shape);
  }
  int64_t most = kind == BorderKind::Reflect ? extent - 1 : extent;
  if (size > most)
    throw ImportError("cannot pad a dimension of size " + std::to_string(extent) + " by " +
                      std::to_string(size) + " elements of its own, only by " +
                      std::to_string(most));
  if (kind == BorderKind::Wrap)
    return emit.sliceDim(x, dim, before ? extent - size : 0, size);
  return emit.reverse(emit.sliceDim(x, dim, before ? 1 : extent - 1 - size, size), {dim});
}

Value weft::frontend::emitBorders(Emitter &emit, Value x, ArrayRef<int64_t> low,
                                  ArrayRef<int64_t> high, BorderKind kind) {
  for (size_t dim = 0; dim < low.size(); ++dim) {
    SmallVector<Value> parts;
    if (low[dim] > 0)
      parts.push_back(border(emit, x, dim, low[dim], true, kind));
    parts.push_back(x);
    if (high[dim] > 0)
      parts.push_back(border(emit, x, dim, high[dim], false, kind));
    x = emit.concat(parts, dim);
  }
  return x;
}

Value weft::frontend::emitCrop(Emitter &emit, Value x, MutableArrayRef<int64_t> low,
                               MutableArrayRef<int64_t> high) {
  constexpr int64_t most = int64_t(1) << 40;
  Shape starts, sizes, strides(low.size(), 1);
  for (size_t dim = 0; dim < low.size(); ++dim) {
    for (int64_t size : {low[dim], high[dim]})
      if (size < -most || size > most)
        throw ImportError("pad " + std::to_string(size) + " is out of range");
    starts.push_back(std::max<int64_t>(-low[dim], 0));
    sizes.push_back(shapeOf(x)[dim] - starts.back() - std::max<int64_t>(-high[dim], 0));
    if (sizes.back() < 0)
      throw ImportError("pads take away more than dimension " + std::to_string(dim) + " has");
    low[dim] = std::max<int64_t>(low[dim], 0);
    high[dim] = std::max<int64_t>(high[dim], 0);
  }
  return emit.slice(x, starts, sizes, strides);
}

Value weft::frontend::emitTile(Emitter &emit, Value x, ArrayRef<int64_t> repeats) {
  Shape parts, spread, joined;
  if (repeats.size() != shapeOf(x).size())
    throw ImportError("expected one repeat a dimension of " + describe(x));
  for (auto [repeat, size] : llvm::zip(repeats, shapeOf(x))) {
    int64_t total;
    if (repeat < 0 || llvm::MulOverflow(repeat, size, total))
      throw ImportError("repeat " + std::to_string(repeat) + " is out of range");
    parts.append({1, size});
    spread.append({repeat, size});
    joined.push_back(total);
  }
  return emit.reshape(emit.broadcast(emit.reshape(x, parts), spread), joined);
}
