//===- PtxTypes.h - the types of instructions and variables -----*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_PTXTYPES_H
#define WEFT_TEST_CUDA_PTXTYPES_H

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::test::ptx {

struct Type {
  enum class Kind { Bits, Unsigned, Signed, Float, Packed, Predicate };

  std::string_view name; ///< in PTX
  Kind kind;
  uint64_t bytes;
  std::string_view text;    ///< in C++; of a packed one, as a whole
  std::string_view element; ///< of a packed one

  bool isFloat() const { return kind == Kind::Float || kind == Kind::Packed; }
  bool isPacked() const { return kind == Kind::Packed; }
  bool isPredicate() const { return kind == Kind::Predicate; }
  bool isInteger() const { return kind == Kind::Unsigned || kind == Kind::Signed; }
  bool isSigned() const { return kind == Kind::Signed; }
};

/// Null: there is none.
const Type *findType(std::string_view name);
/// The untyped one of this many bytes.
const Type &getBits(uint64_t bytes);

} // namespace weft::test::ptx

#endif // WEFT_TEST_CUDA_PTXTYPES_H
