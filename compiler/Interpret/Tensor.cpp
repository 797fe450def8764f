#include "compiler/Interpret/Tensor.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace mlir;
using namespace weft;

llvm::Error weft::interpretError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

Tensor Tensor::allocate(RankedTensorType type, bool splat) {
  Tensor tensor;
  tensor.tensorType = type;
  tensor.elementType = *weft::getDType(type.getElementType());
  tensor.splat = splat && type.getNumElements() != 0;
  int64_t bytes = std::max<int64_t>(tensor.storedElements() * tensor.elementBytes(), 1);
  tensor.bytes = std::shared_ptr<char[]>(new char[bytes]);
  return tensor;
}

llvm::Expected<Tensor> Tensor::fromBytes(RankedTensorType type, ArrayRef<char> bytes) {
  std::optional<DType> kind = weft::getDType(type.getElementType());
  if (!kind)
    return interpretError("element type cannot be computed with");
  int64_t expected = type.getNumElements() * weft::elementBytes(*kind);
  if (int64_t(bytes.size()) != expected)
    return interpretError("expected as many bytes as the tensor has, got: " +
                          llvm::Twine(bytes.size()) + " != " + llvm::Twine(expected));
  Tensor tensor = allocate(type);
  llvm::copy(bytes, tensor.bytes.get());
  if (*kind == DType::I1)
    for (int64_t i = 0; i < expected; ++i)
      tensor.bytes[i] = bytes[i] != 0;
  return tensor;
}

static llvm::Expected<Tensor> fromDense(RankedTensorType type, DenseElementsAttr elements) {
  Tensor tensor = Tensor::allocate(type, elements.isSplat());
  if (tensor.kind() != DType::I1) {
    ArrayRef<char> raw = elements.getRawData();
    std::memcpy(tensor.mutableData(), raw.data(), tensor.raw().size());
    return tensor;
  }
  if (tensor.isSplat())
    tensor.mutableData()[0] = elements.getSplatValue<bool>();
  else
    llvm::copy(elements.getValues<bool>(), tensor.mutableData());
  return tensor;
}

llvm::Expected<Tensor> Tensor::fromElements(ElementsAttr elements) {
  auto type = dyn_cast<RankedTensorType>(elements.getShapedType());
  if (!type || !type.hasStaticShape() || !weft::getDType(type.getElementType()))
    return interpretError("element type cannot be computed with");
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return fromDense(type, dense);
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (!resource)
    return interpretError("unknown form of constant");
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return interpretError("resource '" + resource.getRawHandle().getKey() + "' has no data");
  return fromBytes(type, blob->getData());
}

Tensor Tensor::dense() const {
  if (!splat)
    return *this;
  Tensor result = allocate(tensorType);
  int64_t width = elementBytes();
  char *out = result.bytes.get();
  for (int64_t i = 0, count = size(); i < count; ++i)
    std::memcpy(out + i * width, bytes.get(), width);
  return result;
}

Tensor Tensor::withType(RankedTensorType type) const {
  Tensor result = *this;
  result.tensorType = type;
  return result;
}

DenseElementsAttr Tensor::toElements() const {
  if (elementType != DType::I1)
    return DenseElementsAttr::getFromRawBuffer(tensorType, raw());
  auto values = reinterpret_cast<const bool *>(bytes.get());
  return DenseElementsAttr::get(tensorType, ArrayRef<bool>(values, storedElements()));
}

DenseResourceElementsAttr Tensor::toResource(StringRef name) const {
  Tensor all = dense();
  std::shared_ptr<char[]> keep = all.bytes;
  AsmResourceBlob blob(
      all.raw(), all.elementBytes(), [keep](void *, size_t, size_t) {}, /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(tensorType, name, std::move(blob));
}
