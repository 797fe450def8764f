//===- SafeTensors.cpp - the table of a .safetensors file -----------------===//

#include "runtime/Io/SafeTensors.h"

#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"

#include <nlohmann/json.hpp>

namespace weft::runtime {

namespace {

using Json = nlohmann::ordered_json;

/// More than this is no header; the format's own reader has the same bound.
constexpr uint64_t maxHeaderBytes = 100'000'000;
constexpr std::string_view metadataKey = "__metadata__";

/// The format's name of an element type: as in the proto, but for bools.
std::string getTypeName(DType dtype) {
  return dtype == program::I1 ? "BOOL" : program::DType_Name(dtype);
}

DType parseTypeName(const std::string &name) {
  DType dtype = program::DTYPE_UNKNOWN;
  if (name == "BOOL")
    return program::I1;
  return name != "I1" && program::DType_Parse(name, &dtype) ? dtype : program::DTYPE_UNKNOWN;
}

SafeTensor readEntry(const std::string &name, const Json &entry, uint64_t dataStart,
                     uint64_t fileBytes) {
  SafeTensor tensor;
  tensor.name = name;
  tensor.typeName = entry.at("dtype").get<std::string>();
  tensor.dtype = parseTypeName(tensor.typeName);
  uint64_t bytes = static_cast<uint64_t>(getElementSize(tensor.dtype));
  bool overflows = false;
  for (const Json &extent : entry.at("shape")) {
    tensor.shape.push_back(static_cast<int64_t>(extent.get<uint64_t>()));
    overflows |= tensor.shape.back() < 0 ||
                 __builtin_mul_overflow(bytes, static_cast<uint64_t>(tensor.shape.back()), &bytes);
  }
  uint64_t begin = entry.at("data_offsets").at(0).get<uint64_t>(),
           end = entry.at("data_offsets").at(1).get<uint64_t>();
  if (overflows || begin > end || end > fileBytes - dataStart)
    throw std::runtime_error("its bytes lie beyond the end of the file");
  if (tensor.dtype != program::DTYPE_UNKNOWN && end - begin != bytes)
    throw std::runtime_error(
        fmt::format("its shape needs {} bytes, it has {}", bytes, end - begin));
  tensor.offset = dataStart + begin;
  return tensor;
}

} // namespace

uint64_t getNumBytes(const SafeTensor &tensor) {
  auto bytes = static_cast<uint64_t>(getElementSize(tensor.dtype));
  for (int64_t extent : tensor.shape)
    bytes *= static_cast<uint64_t>(extent);
  return bytes;
}

std::vector<SafeTensor> readSafeTensors(const std::string &path) {
  File file = File::open(path);
  uint64_t fileBytes = file.getSize(), length = 0;
  auto bad = [&](const std::string &what) {
    throwBadInput("'{}' is not a readable .safetensors file: {}", path, what);
  };
  if (fileBytes < sizeof(length))
    bad("it is shorter than a header");
  file.readAt(0, &length, sizeof(length));
  if (length > maxHeaderBytes || length > fileBytes - sizeof(length))
    bad("its header is truncated");
  std::string text(length, '\0');
  file.readAt(sizeof(length), text.data(), length);
  std::vector<SafeTensor> tensors;
  Json header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    bad("its header is no JSON object");
  for (const auto &[name, entry] : header.items()) {
    if (name == metadataKey)
      continue;
    try {
      tensors.push_back(readEntry(name, entry, sizeof(length) + length, fileBytes));
    } catch (const std::exception &error) {
      bad(fmt::format("tensor '{}': {}", name, error.what()));
    }
  }
  return tensors;
}

std::string formatSafeTensors(std::vector<SafeTensor> &tensors,
                              const std::map<std::string, std::string> &metadata) {
  constexpr uint64_t alignment = 8;
  Json header = Json::object();
  if (!metadata.empty())
    header[metadataKey] = metadata;
  uint64_t end = 0;
  for (SafeTensor &tensor : tensors) {
    tensor.offset = end;
    end += getNumBytes(tensor);
    header[tensor.name] = {{"dtype", getTypeName(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {tensor.offset, end}}};
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char *>(&length), sizeof(length));
  for (SafeTensor &tensor : tensors)
    tensor.offset += sizeof(length) + text.size();
  return bytes + text;
}

} // namespace weft::runtime
