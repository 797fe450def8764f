//===- Tensor.h - a tensor's value on the host ------------------*- C++ -*-===//
//
// What the interpreter computes with: an element type, a static shape, and shared immutable bytes,
// row-major and dense, little endian, i1 one byte an element (0 or 1). A splat holds the bytes of
// one element only, whatever its shape, so that constants of any size are cheap; `dense` spreads
// it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_INTERPRET_TENSOR_H
#define WEFT_COMPILER_INTERPRET_TENSOR_H

#include "dialects/Support/DType.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace weft {

/// An error of the interpreter with a message in lowercase, without the operation's name.
llvm::Error interpretError(const llvm::Twine &message);

class Tensor {
public:
  /// A null value; only good for assigning to.
  Tensor() = default;

  /// New memory of undefined content: of all elements, or of one for a splat. The type must have a
  /// known kind.
  static Tensor allocate(mlir::RankedTensorType type, bool splat = false);

  /// Takes the row-major bytes of a value; fails if their number or the element type is not right.
  /// i1 bytes other than 0 become 1.
  static llvm::Expected<Tensor> fromBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);

  /// The value of a constant: dense elements, a splat, or a resource (copied).
  static llvm::Expected<Tensor> fromElements(mlir::ElementsAttr elements);

  mlir::RankedTensorType type() const { return tensorType; }
  llvm::ArrayRef<int64_t> shape() const { return tensorType.getShape(); }
  int64_t rank() const { return tensorType.getRank(); }
  int64_t size() const { return tensorType.getNumElements(); }
  DType kind() const { return elementType; }
  int64_t elementBytes() const { return weft::elementBytes(elementType); }
  explicit operator bool() const { return bytes != nullptr; }

  /// Whether the bytes are those of one element, repeated.
  bool isSplat() const { return splat; }
  const char *data() const { return bytes.get(); }
  /// The bytes held: of all elements, or of one for a splat.
  llvm::ArrayRef<char> raw() const {
    return {bytes.get(), size_t(storedElements() * elementBytes())};
  }
  int64_t storedElements() const { return splat ? 1 : size(); }
  /// For the owner who just allocated it, before it is shared.
  char *mutableData() { return bytes.get(); }

  /// This value with all elements held.
  Tensor dense() const;

  /// The same bytes under another shape of as many elements (any, for a splat) and the same element
  /// type.
  Tensor withType(mlir::RankedTensorType type) const;

  /// As a constant: a splat, or dense elements (copied into the context).
  mlir::DenseElementsAttr toElements() const;

  /// As a resource of the context, named `name` (numbered where taken); holds these bytes without
  /// copying.
  mlir::DenseResourceElementsAttr toResource(llvm::StringRef name) const;

private:
  mlir::RankedTensorType tensorType;
  DType elementType = DType::F32;
  bool splat = false;
  std::shared_ptr<char[]> bytes;
};

} // namespace weft

#endif // WEFT_COMPILER_INTERPRET_TENSOR_H
