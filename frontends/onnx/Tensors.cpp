#include "frontends/onnx/Tensors.h"

#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/WeftDialect.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using onnx::TensorProto;

Type weft::frontend::elementType(MLIRContext *context, int32_t dataType) {
  Builder builder(context);
  auto integer = [&](unsigned width, bool isUnsigned = false) -> Type {
    return IntegerType::get(context, width,
                            isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  };
  switch (dataType) {
  case TensorProto::FLOAT:
    return builder.getF32Type();
  case TensorProto::UINT8:
    return integer(8, true);
  case TensorProto::INT8:
    return integer(8);
  case TensorProto::UINT16:
    return integer(16, true);
  case TensorProto::INT16:
    return integer(16);
  case TensorProto::INT32:
    return integer(32);
  case TensorProto::INT64:
    return integer(64);
  case TensorProto::BOOL:
    return integer(1);
  case TensorProto::FLOAT16:
    return builder.getF16Type();
  case TensorProto::DOUBLE:
    return builder.getF64Type();
  case TensorProto::UINT32:
    return integer(32, true);
  case TensorProto::UINT64:
    return integer(64, true);
  case TensorProto::BFLOAT16:
    return builder.getBF16Type();
  }
  std::string name = TensorProto::DataType_IsValid(dataType)
                         ? TensorProto::DataType_Name(TensorProto::DataType(dataType))
                         : std::to_string(dataType);
  throw ImportError("element type " + name + " is not supported");
}

/// One of the typed fields (float_data …) as storage bytes. 16-bit floats are held as integers of
/// their bits.
static Tensor readTyped(const TensorProto &tensor, RankedTensorType type) {
  Tensor result;
  auto allocate = [&](int count) {
    if (count != type.getNumElements())
      throw ImportError("expected " + std::to_string(type.getNumElements()) + " values, got " +
                        std::to_string(count));
    result = Tensor::allocate(type);
  };
  auto write = [&](const auto &field, auto number) {
    allocate(field.size());
    std::vector<decltype(number)> numbers(field.begin(), field.end());
    writeNumbers(result.kind(), numbers.data(), result.mutableData(), numbers.size());
  };
  Type element = type.getElementType();
  if (element.isF32())
    write(tensor.float_data(), double());
  else if (element.isF64())
    write(tensor.double_data(), double());
  else if (element.isF16() || element.isBF16()) {
    allocate(tensor.int32_data_size());
    for (int i = 0; i < tensor.int32_data_size(); ++i)
      reinterpret_cast<uint16_t *>(result.mutableData())[i] = uint16_t(tensor.int32_data(i));
  } else if (element.isInteger(64) && !element.isUnsignedInteger())
    write(tensor.int64_data(), int64_t());
  else if (element.isUnsignedInteger(64) || element.isUnsignedInteger(32))
    write(tensor.uint64_data(), uint64_t());
  else
    write(tensor.int32_data(), int64_t());
  return result;
}

static Tensor fromRaw(RankedTensorType type, ArrayRef<char> bytes) {
  llvm::Expected<Tensor> tensor = Tensor::fromBytes(type, bytes);
  if (!tensor)
    throw ImportError(llvm::toString(tensor.takeError()));
  return *tensor;
}

static RankedTensorType tensorTypeOf(MLIRContext *context, const TensorProto &tensor) {
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  return tensorType(dims, elementType(context, tensor.data_type()));
}

Tensor weft::frontend::valueOf(MLIRContext *context, const TensorProto &tensor) {
  RankedTensorType type = tensorTypeOf(context, tensor);
  return tensor.has_raw_data() ? fromRaw(type, tensor.raw_data()) : readTyped(tensor, type);
}

static void checkLength(RankedTensorType type, uint64_t length) {
  if (length != uint64_t(storageBytes(type)))
    throw ImportError("its shape needs " + std::to_string(storageBytes(type)) +
                      " bytes, but it holds " + std::to_string(length));
}

static uint64_t parseNumber(StringRef text, StringRef key) {
  uint64_t value;
  if (text.getAsInteger(10, value))
    throw ImportError("external data has a malformed " + key.str() + ": '" + text.str() + "'");
  return value;
}

void TensorReader::readExternal(const TensorProto &tensor, bool wantValue, StoredTensor &stored) {
  std::string location;
  ByteRange range{0, uint64_t(storageBytes(stored.type))};
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      range.offset = parseNumber(entry.value(), "offset");
    else if (entry.key() == "length")
      range.length = parseNumber(entry.value(), "length");
  }
  checkLength(stored.type, range.length);
  if (range.offset > uint64_t(maxTensorBytes))
    throw ImportError("external data has an offset beyond 2^48");
  const DataFile &found = data.find(location);
  if (found.size && (range.offset > *found.size || range.length > *found.size - range.offset))
    throw ImportError("bytes " + std::to_string(range.offset) + " to " +
                      std::to_string(range.offset + range.length) + " lie beyond the end of '" +
                      found.path.string() + "', which has " + std::to_string(*found.size));
  stored.external = ExternalAttr::get(context, found.reference, range.offset, range.length);
  if (wantValue && found.size && storageBytes(stored.type) <= maxConstantBytes)
    stored.value = fromRaw(stored.type, data.read(found, range));
}

void TensorReader::readInline(ByteRange range, bool wantValue, StoredTensor &stored) {
  checkLength(stored.type, range.length);
  stored.external = ExternalAttr::get(context, modelName, range.offset, range.length);
  if (wantValue && storageBytes(stored.type) <= maxConstantBytes)
    stored.value = fromRaw(stored.type, file.bytes(range));
}

StoredTensor TensorReader::read(const TensorProto &tensor, bool wantValue) {
  StoredTensor stored;
  stored.type = tensorTypeOf(context, tensor);
  if (tensor.has_segment())
    throw ImportError("tensors stored in segments are not supported");
  if (tensor.data_location() == TensorProto::EXTERNAL)
    readExternal(tensor, wantValue, stored);
  else if (std::optional<ByteRange> range = file.rawData(tensor))
    readInline(*range, wantValue, stored);
  else
    stored.value = readTyped(tensor, stored.type);
  return stored;
}
