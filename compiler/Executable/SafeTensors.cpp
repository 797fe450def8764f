#include "compiler/Executable/SafeTensors.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace llvm;
using namespace weft;

/// The format's name of an element type.
static std::string getTypeName(program::DType dtype) {
  // I8 … U64, F16, BF16, F32 and F64 have the same names.
  return dtype == program::I1 ? "BOOL" : program::DType_Name(dtype);
}

Expected<std::vector<uint64_t>> weft::writeSafeTensors(const std::string &path,
                                                       ArrayRef<TensorSource> tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::vector<uint64_t> offsets;
  uint64_t end = 0;
  for (const TensorSource &tensor : tensors) {
    offsets.push_back(end);
    header[tensor.name] = {{"dtype", getTypeName(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {end, end + tensor.bytes}}};
    end += tensor.bytes;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize(alignTo(text.size(), 8), ' ');
  std::error_code error;
  raw_fd_ostream out(path, error);
  if (error)
    return createStringError(error, "cannot write %s: %s", path.c_str(), error.message().c_str());
  support::endian::write<uint64_t>(out, text.size(), endianness::little);
  out << text;
  for (auto [tensor, offset] : zip_equal(tensors, offsets)) {
    if (Error failed = tensor.write(out))
      return std::move(failed);
    offset += sizeof(uint64_t) + text.size();
  }
  out.close();
  if (out.has_error()) {
    error = out.error();
    out.clear_error();
    return createStringError(error, "cannot write %s: %s", path.c_str(), error.message().c_str());
  }
  return offsets;
}
