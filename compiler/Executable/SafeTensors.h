//===- SafeTensors.h - writing tensors to a .safetensors file ---*- C++ -*-===//
//
// Format: u64 little endian length of the header, the header (JSON: name → dtype, shape,
// data_offsets from the header's end; padded with spaces to 8 bytes), then the bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXECUTABLE_SAFETENSORS_H
#define WEFT_COMPILER_EXECUTABLE_SAFETENSORS_H

#include "runtime/Program/executable.pb.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace weft {

/// One tensor: its description, and a function that writes its bytes in pieces.
struct TensorSource {
  std::string name;
  program::DType dtype;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  std::function<llvm::Error(llvm::raw_ostream &)> write;
};

/// Writes the file and returns the offset of each tensor's bytes from the file's start.
llvm::Expected<std::vector<uint64_t>> writeSafeTensors(const std::string &path,
                                                       llvm::ArrayRef<TensorSource> tensors);

} // namespace weft

#endif // WEFT_COMPILER_EXECUTABLE_SAFETENSORS_H
