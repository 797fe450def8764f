//===- NcclReduce.cpp - reductions in the order of ranks ------------------===//

#include "test/cuda/Bfloat16.h"
#include "test/cuda/NcclWorld.h"

#include <algorithm>
#include <cmath>

namespace weft::test::nccl {

namespace {

template <typename Value> Value combine(ncclRedOp_t reduction, Value a, Value b) {
  // Integers wrap.
  using Wide = std::conditional_t<std::is_integral_v<Value>, uint64_t, Value>;
  switch (reduction) {
  case ncclSum:
    return static_cast<Value>(static_cast<Wide>(a) + static_cast<Wide>(b));
  case ncclProd:
    return static_cast<Value>(static_cast<Wide>(a) * static_cast<Wide>(b));
  default:
    break;
  }
  if constexpr (!std::is_integral_v<Value>)
    if (std::isnan(a) || std::isnan(b))
      return a + b;
  return reduction == ncclMax ? std::max(a, b) : std::min(a, b);
}

template <typename T, typename Value = T>
void reduceAs(ncclRedOp_t reduction, const std::vector<const void *> &parts, void *result,
              uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    auto value = static_cast<Value>(static_cast<const T *>(parts[0])[i]);
    for (size_t part = 1; part < parts.size(); ++part)
      value = combine<Value>(reduction, value,
                             static_cast<Value>(static_cast<const T *>(parts[part])[i]));
    static_cast<T *>(result)[i] = static_cast<T>(value);
  }
}

} // namespace

uint64_t getElementBytes(ncclDataType_t dtype) {
  switch (dtype) {
  case ncclInt8:
  case ncclUint8:
    return 1;
  case ncclFloat16:
  case ncclBfloat16:
    return 2;
  case ncclInt32:
  case ncclUint32:
  case ncclFloat32:
    return 4;
  case ncclInt64:
  case ncclUint64:
  case ncclFloat64:
    return 8;
  default:
    return 0;
  }
}

void reduce(ncclDataType_t dtype, ncclRedOp_t reduction, const std::vector<const void *> &parts,
            void *result, uint64_t count) {
  switch (dtype) {
  case ncclInt8:
    return reduceAs<int8_t>(reduction, parts, result, count);
  case ncclUint8:
    return reduceAs<uint8_t>(reduction, parts, result, count);
  case ncclInt32:
    return reduceAs<int32_t>(reduction, parts, result, count);
  case ncclUint32:
    return reduceAs<uint32_t>(reduction, parts, result, count);
  case ncclInt64:
    return reduceAs<int64_t>(reduction, parts, result, count);
  case ncclUint64:
    return reduceAs<uint64_t>(reduction, parts, result, count);
  case ncclFloat16:
    return reduceAs<_Float16, float>(reduction, parts, result, count);
  case ncclBfloat16:
    return reduceAs<Bfloat16, float>(reduction, parts, result, count);
  case ncclFloat32:
    return reduceAs<float>(reduction, parts, result, count);
  default:
    return reduceAs<double>(reduction, parts, result, count);
  }
}

} // namespace weft::test::nccl
