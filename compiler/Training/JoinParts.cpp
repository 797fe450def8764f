#include "compiler/Training/JoinParts.h"

#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/TensorBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// The dimension that a padding of zeros makes longer, if it is one.
static std::optional<int64_t> findDim(Value value) {
  auto pad = value.getDefiningOp<PadOp>();
  if (!pad || splatNumber(pad.getValue()) != 0.0)
    return std::nullopt;
  std::optional<int64_t> found;
  for (auto [dim, low, high] : llvm::enumerate(pad.getLow(), pad.getHigh())) {
    if (low == 0 && high == 0)
      continue;
    if (found)
      return std::nullopt;
    found = dim;
  }
  return found;
}

bool weft::isPartAmongZeros(Value value) { return findDim(value).has_value(); }

static int64_t startOf(PadOp pad, int64_t dim) { return pad.getLow()[dim]; }
static int64_t endOf(PadOp pad, int64_t dim) {
  return shapeOf(pad.getResult())[dim] - pad.getHigh()[dim];
}

/// Those that lie side by side along `dim`, as one.
static Value joinRun(TensorBuilder &builder, ArrayRef<PadOp> run, int64_t dim) {
  if (run.size() == 1)
    return PadOp(run.front()).getResult();
  SmallVector<Value> inputs =
      llvm::map_to_vector(run, [](PadOp pad) -> Value { return pad.getInput(); });
  Value whole = builder.make<ConcatOp>(inputs, dim);
  PadOp first = run.front(), last = run.back();
  if (startOf(first, dim) == 0 && last.getHigh()[dim] == 0)
    return whole;
  return builder.make<PadOp>(whole, first.getValue(), first.getLow(), last.getHigh());
}

SmallVector<Value> weft::joinParts(ImplicitLocOpBuilder &located, ArrayRef<Value> parts) {
  TensorBuilder builder(located);
  SmallVector<Value> joined;
  int64_t rank = rankOf(parts.front());
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<std::pair<int64_t, unsigned>> order;
    for (auto [number, part] : llvm::enumerate(parts))
      if (findDim(part) == dim)
        order.push_back({startOf(part.getDefiningOp<PadOp>(), dim), number});
    llvm::sort(order);
    SmallVector<PadOp> along = llvm::map_to_vector(
        order, [&](auto entry) { return parts[entry.second].template getDefiningOp<PadOp>(); });
    for (ArrayRef<PadOp> rest = along; !rest.empty();) {
      size_t count = 1;
      while (count < rest.size() && startOf(rest[count], dim) == endOf(rest[count - 1], dim))
        ++count;
      joined.push_back(joinRun(builder, rest.take_front(count), dim));
      rest = rest.drop_front(count);
    }
  }
  return joined;
}
