#include "frontends/common/SafeTensors.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/Endian.h"
#include <fstream>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace weft::frontend;

/// More than this is no header; the format's own reader has the same bound.
static constexpr uint64_t maxHeaderBytes = 100'000'000;

/// Null for types that Weft has not.
static Type elementOf(MLIRContext *context, StringRef dtype) {
  Builder builder(context);
  if (dtype == "BOOL")
    return builder.getI1Type();
  if (dtype == "F16")
    return builder.getF16Type();
  if (dtype == "BF16")
    return builder.getBF16Type();
  if (dtype == "F32")
    return builder.getF32Type();
  if (dtype == "F64")
    return builder.getF64Type();
  unsigned width = 0;
  bool isUnsigned = dtype.consume_front("U");
  if ((!isUnsigned && !dtype.consume_front("I")) || dtype.getAsInteger(10, width) ||
      !llvm::is_contained({8u, 16u, 32u, 64u}, width))
    return {};
  return IntegerType::get(context, width,
                          isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
}

static FileTensor readEntry(MLIRContext *context, const nlohmann::json &entry, uint64_t dataStart,
                            uint64_t dataBytes) {
  FileTensor tensor;
  tensor.dtype = entry.at("dtype").get<std::string>();
  Shape shape;
  for (const auto &size : entry.at("shape"))
    shape.push_back(size.get<int64_t>());
  const auto &offsets = entry.at("data_offsets");
  uint64_t begin = offsets.at(0).get<uint64_t>(), end = offsets.at(1).get<uint64_t>();
  if (begin > end || end > dataBytes)
    throw ImportError("bytes " + std::to_string(begin) + " to " + std::to_string(end) +
                      " lie beyond the end of its data, which has " + std::to_string(dataBytes));
  tensor.offset = dataStart + begin;
  tensor.length = end - begin;
  if (Type element = elementOf(context, tensor.dtype)) {
    tensor.type = tensorType(shape, element);
    if (uint64_t(storageBytes(tensor.type)) != tensor.length)
      throw ImportError("its shape needs " + std::to_string(storageBytes(tensor.type)) +
                        " bytes, but it holds " + std::to_string(tensor.length));
  }
  return tensor;
}

/// The header as JSON, and where the data starts.
static nlohmann::ordered_json readHeader(std::ifstream &file, uint64_t fileBytes,
                                         uint64_t &dataStart) {
  char prefix[sizeof(uint64_t)];
  if (fileBytes < sizeof(prefix) || !file.read(prefix, sizeof(prefix)))
    throw ImportError("it is too short for a safetensors file");
  uint64_t length = llvm::support::endian::read64le(prefix);
  if (length > fileBytes - sizeof(prefix) || length > maxHeaderBytes)
    throw ImportError("it is no safetensors file: a header of " + std::to_string(length) +
                      " bytes does not fit");
  std::string text(length, '\0');
  if (!file.read(text.data(), length))
    throw ImportError("its header cannot be read");
  dataStart = sizeof(prefix) + length;
  auto header = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    throw ImportError("it is no safetensors file: its header is not JSON");
  return header;
}

std::vector<std::pair<std::string, FileTensor>>
weft::frontend::readSafeTensors(MLIRContext *context, const std::string &path) {
  std::string where = "weights file '" + path + "': ";
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    throw ImportError(where + "it cannot be opened");
  uint64_t fileBytes = file.tellg(), dataStart = 0;
  file.seekg(0);
  std::vector<std::pair<std::string, FileTensor>> tensors;
  std::string name;
  try {
    nlohmann::ordered_json header = readHeader(file, fileBytes, dataStart);
    for (const auto &[key, entry] : header.items()) {
      name = key;
      if (key != "__metadata__")
        tensors.push_back({key, readEntry(context, entry, dataStart, fileBytes - dataStart)});
    }
  } catch (const std::exception &error) {
    throw ImportError(where + (name.empty() ? "" : "tensor '" + name + "': ") + error.what());
  }
  return tensors;
}
