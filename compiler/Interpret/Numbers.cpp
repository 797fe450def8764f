#include "compiler/Interpret/Numbers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace weft;

namespace {
/// The upper half of a float.
struct BFloat {
  uint16_t bits;
  explicit operator double() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};
/// An i1.
struct Bit {
  uint8_t bits;
};
} // namespace

static BFloat toBFloat(double value) {
  if (std::isnan(value))
    return {0x7fc0};
  uint32_t bits = std::bit_cast<uint32_t>(float(value));
  return {uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

template <typename Integer> static Integer truncateToInteger(double value) {
  if (std::isnan(value))
    return 0;
  // The bound 2^digits is exact in double where the greatest integer is not.
  double bound = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  if (value >= bound)
    return std::numeric_limits<Integer>::max();
  if (value <= double(std::numeric_limits<Integer>::min()))
    return std::numeric_limits<Integer>::min();
  return Integer(value);
}

template <typename To, typename From> static To convert(From value) {
  if constexpr (std::is_same_v<To, Bit>) {
    if constexpr (std::is_same_v<From, double>)
      return {uint8_t(truncateToInteger<int64_t>(value) & 1)};
    else
      return {uint8_t(value & 1)};
  } else if constexpr (std::is_same_v<From, Bit>) {
    return To(value.bits);
  } else if constexpr (std::is_same_v<To, BFloat>) {
    return toBFloat(double(value));
  } else if constexpr (std::is_same_v<From, BFloat> || std::is_same_v<From, _Float16>) {
    return convert<To>(double(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return truncateToInteger<To>(double(value));
  } else {
    return To(value);
  }
}

template <typename Function> static void withElement(DType kind, Function function) {
  switch (kind) {
  case DType::I1:
    return function(Bit());
  case DType::I8:
    return function(int8_t());
  case DType::I16:
    return function(int16_t());
  case DType::I32:
    return function(int32_t());
  case DType::I64:
    return function(int64_t());
  case DType::U8:
    return function(uint8_t());
  case DType::U16:
    return function(uint16_t());
  case DType::U32:
    return function(uint32_t());
  case DType::U64:
    return function(uint64_t());
  case DType::F16:
    return function(_Float16());
  case DType::BF16:
    return function(BFloat());
  case DType::F32:
    return function(float());
  case DType::F64:
    return function(double());
  }
}

template <typename Number>
void weft::readNumbers(DType kind, const char *from, Number *to, int64_t count) {
  withElement(kind, [&](auto element) {
    using Element = decltype(element);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(&element, from + i * sizeof(Element), sizeof(Element));
      to[i] = convert<Number>(element);
    }
  });
}

template <typename Number>
void weft::writeNumbers(DType kind, const Number *from, char *to, int64_t count) {
  withElement(kind, [&](auto element) {
    using Element = decltype(element);
    for (int64_t i = 0; i < count; ++i) {
      element = convert<Element>(from[i]);
      std::memcpy(to + i * sizeof(Element), &element, sizeof(Element));
    }
  });
}

template <typename Number> std::vector<Number> weft::storedNumbersOf(const Tensor &tensor) {
  std::vector<Number> numbers(tensor.storedElements());
  readNumbers(tensor.kind(), tensor.data(), numbers.data(), tensor.storedElements());
  return numbers;
}

template <typename Number> std::vector<Number> weft::numbersOf(const Tensor &tensor) {
  std::vector<Number> stored = storedNumbersOf<Number>(tensor);
  if (tensor.isSplat())
    return std::vector<Number>(tensor.size(), stored.front());
  return stored;
}

#define WEFT_INSTANTIATE(NUMBER)                                                                   \
  template void weft::readNumbers(DType, const char *, NUMBER *, int64_t);                         \
  template void weft::writeNumbers(DType, const NUMBER *, char *, int64_t);                        \
  template std::vector<NUMBER> weft::storedNumbersOf(const Tensor &);                              \
  template std::vector<NUMBER> weft::numbersOf(const Tensor &);
WEFT_INSTANTIATE(double)
WEFT_INSTANTIATE(int64_t)
WEFT_INSTANTIATE(uint64_t)
#undef WEFT_INSTANTIATE
