//===- Reduce.cpp - joining parts element by element ----------------------===//

#include "runtime/Collective/Collectives.h"
#include "runtime/Support/DType.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <cmath>

namespace weft::runtime {

namespace {

constexpr int64_t blockElements = 2048; // stay in the first-level cache between parts

template <typename T> struct Plain {
  using Storage = T;
  using Value = T;
  static Value load(Storage value) { return value; }
  static Storage store(Value value) { return value; }
};
/// Sums of booleans are disjunctions.
struct Bool {
  using Storage = uint8_t;
  using Value = uint8_t;
  static Value load(Storage value) { return value != 0; }
  static Storage store(Value value) { return value != 0; }
};
struct Half {
  using Storage = uint16_t;
  using Value = float;
  static Value load(Storage value) { return halfToFloat(value); }
  static Storage store(Value value) { return floatToHalf(value); }
};
struct Bfloat {
  using Storage = uint16_t;
  using Value = float;
  static Value load(Storage value) { return bfloatToFloat(value); }
  static Storage store(Value value) { return floatToBfloat(value); }
};

/// Two's complement wraps, without undefined behaviour.
template <typename T> T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <typename T> T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}
/// NaN wins, as in the kernels.
template <typename T> T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b))
      return a + b;
  return a < b ? b : a;
}
template <typename T> T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b))
      return a + b;
  return b < a ? b : a;
}

template <typename Type, auto Join>
void reduce(const std::vector<const std::byte *> &parts, std::byte *result, int64_t count) {
  using Storage = typename Type::Storage;
  using Value = typename Type::Value;
  Value block[blockElements];
  for (int64_t begin = 0; begin < count; begin += blockElements) {
    int64_t length = std::min(blockElements, count - begin);
    auto at = [&](size_t part) { return reinterpret_cast<const Storage *>(parts[part]) + begin; };
    const Storage *first = at(0);
    for (int64_t i = 0; i < length; ++i)
      block[i] = Type::load(first[i]);
    for (size_t part = 1; part < parts.size(); ++part) {
      const Storage *next = at(part);
      for (int64_t i = 0; i < length; ++i)
        block[i] = Join(block[i], Type::load(next[i]));
    }
    Storage *to = reinterpret_cast<Storage *>(result) + begin;
    for (int64_t i = 0; i < length; ++i)
      to[i] = Type::store(block[i]);
  }
}

template <typename Type>
void reduceAs(plan::Reduction reduction, const std::vector<const std::byte *> &parts,
              std::byte *result, int64_t count) {
  using Value = typename Type::Value;
  switch (reduction) {
  case plan::SUM:
    return reduce<Type, add<Value>>(parts, result, count);
  case plan::MAX:
    return reduce<Type, maximum<Value>>(parts, result, count);
  case plan::MIN:
    return reduce<Type, minimum<Value>>(parts, result, count);
  case plan::PROD:
    return reduce<Type, multiply<Value>>(parts, result, count);
  default:
    throwBadInput("unknown reduction {}", int(reduction));
  }
}

} // namespace

void reduceParts(program::DType dtype, plan::Reduction reduction,
                 const std::vector<const std::byte *> &parts, std::byte *result, int64_t count) {
  switch (dtype) {
  case program::I1:
    return reduceAs<Bool>(reduction, parts, result, count);
  case program::I8:
    return reduceAs<Plain<int8_t>>(reduction, parts, result, count);
  case program::I16:
    return reduceAs<Plain<int16_t>>(reduction, parts, result, count);
  case program::I32:
    return reduceAs<Plain<int32_t>>(reduction, parts, result, count);
  case program::I64:
    return reduceAs<Plain<int64_t>>(reduction, parts, result, count);
  case program::U8:
    return reduceAs<Plain<uint8_t>>(reduction, parts, result, count);
  case program::U16:
    return reduceAs<Plain<uint16_t>>(reduction, parts, result, count);
  case program::U32:
    return reduceAs<Plain<uint32_t>>(reduction, parts, result, count);
  case program::U64:
    return reduceAs<Plain<uint64_t>>(reduction, parts, result, count);
  case program::F16:
    return reduceAs<Half>(reduction, parts, result, count);
  case program::BF16:
    return reduceAs<Bfloat>(reduction, parts, result, count);
  case program::F32:
    return reduceAs<Plain<float>>(reduction, parts, result, count);
  case program::F64:
    return reduceAs<Plain<double>>(reduction, parts, result, count);
  default:
    throwBadInput("cannot reduce elements of type {}", int(dtype));
  }
}

} // namespace weft::runtime
