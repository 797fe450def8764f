// Operations that move elements, and reductions (WeftStructural.td), alphabetical.
#include "compiler/Interpret/Blocks.h"
#include "compiler/Interpret/Families.h"
#include "compiler/Interpret/Numbers.h"
#include "compiler/Interpret/Strided.h"
#include "dialects/Weft/IR/Windows.h"

#include "llvm/ADT/TypeSwitch.h"
#include <cstring>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace weft;

static Tensor broadcast(BroadcastOp op, const Tensor &input) {
  SmallVector<int64_t> strides(resultType(op).getRank(), 0);
  SmallVector<int64_t> own = rowMajorStrides(input.shape());
  for (auto [dim, target] : llvm::enumerate(op.getDims()))
    if (input.shape()[dim] != 1)
      strides[target] = own[dim];
  return stridedView(resultType(op), input, 0, strides);
}

static Tensor cumsum(CumsumOp op, const Tensor &input) {
  ArrayRef<int64_t> shape = input.shape();
  int64_t length = shape[op.getAxis()], inner = elementCount(shape.drop_front(op.getAxis() + 1));
  int64_t outer = elementCount(shape.take_front(op.getAxis()));
  return withNumber(input.kind(), [&](auto number) {
    using Number = decltype(number);
    std::vector<Number> values = numbersOf<Number>(input);
    for (int64_t row = 0; row < outer * inner; ++row) {
      Number *at = values.data() + row / inner * length * inner + row % inner;
      Number sum = 0;
      for (int64_t step = 0; step < length; ++step) {
        Number &here = at[(op.getReverse() ? length - 1 - step : step) * inner];
        Number before = sum;
        sum = addNumbers(sum, here);
        here = op.getExclusive() ? before : sum;
      }
    }
    return tensorOf(resultType(op), values);
  });
}

static Tensor iota(IotaOp op) {
  RankedTensorType type = resultType(op);
  int64_t inner = elementCount(type.getShape().drop_front(op.getDim() + 1));
  int64_t length = type.getShape()[op.getDim()];
  std::vector<int64_t> values(type.getNumElements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int64_t(i) / inner % length;
  return tensorOf(type, values);
}

static Tensor pad(PadOp op, const Tensor &input, const Tensor &value) {
  RankedTensorType type = resultType(op);
  Tensor filled = Tensor::allocate(type, /*splat=*/true);
  std::memcpy(filled.mutableData(), value.data(), type.getNumElements() ? value.elementBytes() : 0);
  if (areSameSplats({input, filled}))
    return filled;
  Tensor result = filled.dense();
  placeBlock(result, input, op.getLow());
  return result;
}

/// What a reduction starts from: for max and min the least and greatest value of the element type.
template <typename Number> static Number identityOf(ReduceKind kind, DType element) {
  if (kind == ReduceKind::Sum || kind == ReduceKind::Prod)
    return kind == ReduceKind::Prod;
  bool least = kind == ReduceKind::Max;
  if constexpr (std::is_same_v<Number, double>) {
    double infinity = std::numeric_limits<double>::infinity();
    return least ? -infinity : infinity;
  } else {
    if (element == DType::I1)
      return !least;
    int64_t bits = 8 * elementBytes(element);
    if (isUnsigned(element))
      return least ? 0 : Number(~uint64_t(0) >> (64 - bits));
    int64_t greatest = int64_t(~uint64_t(0) >> (65 - bits));
    return least ? -greatest - 1 : greatest;
  }
}

template <typename Number> static Number join(ReduceKind kind, Number a, Number b) {
  switch (kind) {
  case ReduceKind::Sum:
    return addNumbers(a, b);
  case ReduceKind::Prod:
    return multiplyNumbers(a, b);
  case ReduceKind::Max:
    return maxNumbers(a, b);
  case ReduceKind::Min:
    return minNumbers(a, b);
  }
  return a;
}

static Tensor reduce(ReduceOp op, const Tensor &input) {
  RankedTensorType type = resultType(op);
  SmallVector<int64_t> order, shape;
  for (int64_t dim = 0; dim < input.rank(); ++dim)
    if (!llvm::is_contained(op.getDims(), dim))
      order.push_back(dim);
  llvm::append_range(order, op.getDims());
  Tensor rows = transposed(input, order);
  int64_t count = type.getNumElements(), length = count ? input.size() / count : 0;
  return withNumber(input.kind(), [&](auto number) {
    using Number = decltype(number);
    std::vector<Number> values = numbersOf<Number>(rows), results(count);
    for (int64_t row = 0; row < count; ++row) {
      Number result = identityOf<Number>(op.getKind(), input.kind());
      for (int64_t i = 0; i < length; ++i)
        result = join(op.getKind(), result, values[row * length + i]);
      results[row] = result;
    }
    return tensorOf(type, results);
  });
}

static Tensor reduceWindow(ReduceWindowOp op, const Tensor &input) {
  RankedTensorType type = resultType(op);
  SmallVector<WindowDim> windows = windowsOf(op);
  SmallVector<int64_t> strides = rowMajorStrides(input.shape());
  return withNumber(input.kind(), [&](auto number) {
    using Number = decltype(number);
    std::vector<Number> values = numbersOf<Number>(input);
    std::vector<Number> results(type.getNumElements(),
                                identityOf<Number>(op.getKind(), input.kind()));
    forEachPosition(op.getWindow(), [&](ArrayRef<int64_t> element, int64_t) {
      forEachPosition(type.getShape(), [&](ArrayRef<int64_t> position, int64_t at) {
        int64_t from = 0;
        for (auto [dim, window] : llvm::enumerate(windows)) {
          int64_t index = window.inputAt(position[dim], element[dim]);
          if (index < 0)
            return;
          from += index * strides[dim];
        }
        results[at] = join(op.getKind(), results[at], values[from]);
      });
    });
    return tensorOf(type, results);
  });
}

static Tensor reverse(ReverseOp op, const Tensor &input) {
  SmallVector<int64_t> strides = rowMajorStrides(input.shape());
  int64_t start = 0;
  for (int64_t dim : op.getDims()) {
    start += std::max<int64_t>(input.shape()[dim] - 1, 0) * strides[dim];
    strides[dim] = -strides[dim];
  }
  return stridedView(input.type(), input, start, strides);
}

static Tensor slice(SliceOp op, const Tensor &input) {
  SmallVector<int64_t> strides = rowMajorStrides(input.shape());
  int64_t start = 0;
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    start += op.getStarts()[dim] * stride;
    stride *= op.getStrides()[dim];
  }
  return stridedView(resultType(op), input, start, strides);
}

/// The elements at `positions` of rows of `length`, `count` of each.
template <typename Number>
static std::vector<Number> takeFromRows(const std::vector<Number> &rows, int64_t length,
                                        const std::vector<int64_t> &positions, int64_t count) {
  std::vector<Number> taken(positions.size());
  for (size_t i = 0; i < taken.size(); ++i)
    taken[i] = rows[int64_t(i) / count * length + positions[i]];
  return taken;
}

static SmallVector<Tensor> sort(SortOp op, const Tensor &input) {
  // Rows along the axis: bring it last, and back.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, input.rank()));
  std::swap(order[op.getAxis()], order.back());
  Tensor rows = transposed(input, order);
  int64_t length = rows.shape().back(), count = op.getCount();
  SmallVector<int64_t> shape(rows.shape());
  shape.back() = count;
  return withNumber(input.kind(), [&](auto number) {
    using Number = decltype(number);
    std::vector<Number> values = numbersOf<Number>(rows);
    std::vector<int64_t> all(length), positions;
    for (int64_t start = 0; count > 0 && start < rows.size(); start += length) {
      std::iota(all.begin(), all.end(), 0);
      llvm::sort(all, [&](int64_t i, int64_t j) {
        Number a = values[start + i], b = values[start + j];
        if (op.getDescending())
          std::swap(a, b);
        bool less = a < b || (a == a && b != b), greater = b < a || (b == b && a != a);
        return less || (!greater && i < j); // NaN is the greatest; equal ones keep their order
      });
      positions.insert(positions.end(), all.begin(), all.begin() + count);
    }
    auto made = [&](auto numbers, Value result) {
      auto type = cast<RankedTensorType>(result.getType());
      return transposed(tensorOf(type.clone(shape), numbers), order);
    };
    return SmallVector<Tensor>{made(takeFromRows(values, length, positions, count), op.getValues()),
                               made(positions, op.getPositions())};
  });
}

Evaluated weft::evaluateStructural(Operation *op, ArrayRef<Tensor> in) {
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case<BroadcastOp>([&](BroadcastOp o) { return single(broadcast(o, in[0])); })
      .Case<ConcatOp>([&](ConcatOp o) { return single(joinAlong(resultType(o), in, o.getAxis())); })
      .Case<CumsumOp>([&](CumsumOp o) { return single(cumsum(o, in[0])); })
      .Case<IotaOp>([&](IotaOp o) { return single(iota(o)); })
      .Case<PadOp>([&](PadOp o) { return single(pad(o, in[0], in[1])); })
      .Case<ReduceOp>([&](ReduceOp o) { return single(reduce(o, in[0])); })
      .Case<ReduceWindowOp>([&](ReduceWindowOp o) { return single(reduceWindow(o, in[0])); })
      .Case<ReshapeOp>([&](ReshapeOp o) { return single(in[0].withType(resultType(o))); })
      .Case<ReverseOp>([&](ReverseOp o) { return single(reverse(o, in[0])); })
      .Case<SliceOp>([&](SliceOp o) { return single(slice(o, in[0])); })
      .Case<SortOp>([&](SortOp o) { return sort(o, in[0]); })
      .Case<TransposeOp>(
          [&](TransposeOp o) { return single(transposed(in[0], o.getPermutation())); })
      .Default([](Operation *) { return otherFamily(); });
}
