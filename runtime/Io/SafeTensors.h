//===- SafeTensors.h - the table of a .safetensors file ---------*- C++ -*-===//
//
// A .safetensors file is a u64 length, a JSON object of that length that says of every tensor its
// type, shape and place, and the tensors' bytes, row-major and little endian.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_IO_SAFETENSORS_H
#define WEFT_RUNTIME_IO_SAFETENSORS_H

#include "runtime/Support/DType.h"

#include <map>
#include <string>
#include <vector>

namespace weft::runtime {

struct SafeTensor {
  std::string name;
  DType dtype = program::DTYPE_UNKNOWN; ///< unknown: `typeName` is one that Weft has not
  std::string typeName;                 ///< as the format calls it: "F32"
  std::vector<int64_t> shape;
  uint64_t offset = 0; ///< bytes from the start of the file
};

/// Reads the table. An Error of kind BadInput names the file, and the tensor that does not fit.
std::vector<SafeTensor> readSafeTensors(const std::string &path);

/// The bytes before the tensors, which lie behind them in this order; sets their offsets.
/// `metadata` is what the format lets a file say of itself.
std::string formatSafeTensors(std::vector<SafeTensor> &tensors,
                              const std::map<std::string, std::string> &metadata = {});

/// Bytes of a tensor.
uint64_t getNumBytes(const SafeTensor &tensor);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_IO_SAFETENSORS_H
