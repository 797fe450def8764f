#include "compiler/Training/Random.h"

#include <cmath>

using namespace mlir;
using namespace weft;

static RankedTensorType wordsOf(MLIRContext *context, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, IntegerType::get(context, 64, IntegerType::Unsigned));
}

static Value words(TensorBuilder &b, RankedTensorType type, uint64_t number) {
  return b.make<ConstantOp>(DenseElementsAttr::get(type, APInt(64, number)));
}

Value weft::buildRandomKey(TensorBuilder &b, Value seed, Value step, uint64_t number) {
  auto type = cast<RankedTensorType>(seed.getType());
  // Seeds that are near each other are those that people take: numbers stay out of their way.
  constexpr uint64_t distance = 0x9E3779B97F4A7C15; // 2^64 / golden ratio
  return b.make<RandomBitsOp>(step, b.add(seed, words(b, type, (number + 1) * distance)));
}

/// The number of each element in row-major order.
static Value buildPositions(TensorBuilder &b, RankedTensorType type) {
  Value position;
  uint64_t stride = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    Value along = b.make<IotaOp>(type, dim);
    if (stride != 1)
      along = b.mul(along, words(b, type, stride));
    position = position ? b.add(position, along) : along;
    stride *= type.getDimSize(dim);
  }
  return position ? position : words(b, type, 0);
}

Value weft::buildRandomBits(TensorBuilder &b, ArrayRef<int64_t> shape, Value key) {
  RankedTensorType type = wordsOf(key.getContext(), shape);
  return b.make<RandomBitsOp>(buildPositions(b, type), b.broadcast(key, type, {}));
}

Value weft::buildBernoulli(TensorBuilder &b, ArrayRef<int64_t> shape, Value key,
                           double probability) {
  auto type = RankedTensorType::get(shape, IntegerType::get(key.getContext(), 1));
  if (probability <= 0 || probability >= 1)
    return b.make<ConstantOp>(DenseElementsAttr::get(type, probability >= 1));
  Value bits = buildRandomBits(b, shape, key);
  auto limit = static_cast<uint64_t>(std::ldexp(probability, 64));
  return b.make<CompareOp>(CompareDirection::LT, bits,
                           words(b, cast<RankedTensorType>(bits.getType()), limit));
}
