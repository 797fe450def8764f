#include "frontends/common/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft::frontend;

RankedTensorType weft::frontend::tensorType(ArrayRef<int64_t> shape, Type element) {
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  bool overflow = false;
  for (int64_t size : shape) {
    if (size < 0)
      throw ImportError("a dimension of size " + std::to_string(size) + " is below 0");
    // Sizes of 0 must not hide others that are too large.
    overflow |=
        llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes) || bytes > maxTensorBytes;
  }
  if (overflow)
    throw ImportError("a tensor of these dimensions exceeds 2^48 bytes");
  return RankedTensorType::get(shape, element);
}

int64_t weft::frontend::storageBytes(RankedTensorType type) {
  return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

std::string weft::frontend::describe(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int64_t size : type.getShape())
    stream << size << "x";
  stream << type.getElementType();
  return text;
}

std::string weft::frontend::describe(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "[";
  llvm::interleaveComma(shape, stream);
  stream << "]";
  return text;
}

void weft::frontend::expectFloat(Value value) {
  if (!isa<FloatType>(elementOf(value)))
    throw ImportError("expected floats, got " + describe(value));
}

void weft::frontend::expectRank(Value value, int64_t least) {
  if (typeOf(value).getRank() < least)
    throw ImportError("expected rank " + std::to_string(least) + " or more, got " +
                      describe(value));
}

void weft::frontend::expectExactRank(Value value, int64_t rank) {
  if (typeOf(value).getRank() != rank)
    throw ImportError("expected rank " + std::to_string(rank) + ", got " + describe(value));
}
