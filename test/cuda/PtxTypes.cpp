#include "test/cuda/PtxTypes.h"

namespace weft::test::ptx {

namespace {
using Kind = Type::Kind;

constexpr Type types[] = {
    {"b8", Kind::Bits, 1, "u8", ""},
    {"b16", Kind::Bits, 2, "u16", ""},
    {"b32", Kind::Bits, 4, "u32", ""},
    {"b64", Kind::Bits, 8, "u64", ""},
    {"b128", Kind::Bits, 16, "u128", ""},
    {"u8", Kind::Unsigned, 1, "u8", ""},
    {"u16", Kind::Unsigned, 2, "u16", ""},
    {"u32", Kind::Unsigned, 4, "u32", ""},
    {"u64", Kind::Unsigned, 8, "u64", ""},
    {"s8", Kind::Signed, 1, "s8", ""},
    {"s16", Kind::Signed, 2, "s16", ""},
    {"s32", Kind::Signed, 4, "s32", ""},
    {"s64", Kind::Signed, 8, "s64", ""},
    {"f16", Kind::Float, 2, "f16", ""},
    {"bf16", Kind::Float, 2, "bf16", ""},
    {"f32", Kind::Float, 4, "f32", ""},
    {"f64", Kind::Float, 8, "f64", ""},
    {"f16x2", Kind::Packed, 4, "u32", "f16"},
    {"bf16x2", Kind::Packed, 4, "u32", "bf16"},
    {"pred", Kind::Predicate, 0, "bool", ""},
};
} // namespace

const Type *findType(std::string_view name) {
  for (const Type &type : types)
    if (type.name == name)
      return &type;
  return nullptr;
}

const Type &getBits(uint64_t bytes) {
  return *findType(bytes == 1   ? "b8"
                   : bytes == 2 ? "b16"
                   : bytes == 4 ? "b32"
                   : bytes == 8 ? "b64"
                                : "b128");
}

} // namespace weft::test::ptx
