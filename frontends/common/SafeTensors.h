//===- SafeTensors.h - which tensors a .safetensors file holds --*- C++ -*-===//
//
// Format: u64 little endian length of the header, the header (JSON: name → dtype, shape,
// data_offsets from the header's end), then the tensors' bytes. Only the header is read.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_SAFETENSORS_H
#define WEFT_FRONTENDS_COMMON_SAFETENSORS_H

#include "frontends/common/Types.h"
#include <string>
#include <vector>

namespace weft::frontend {

/// A tensor of the file: row-major elements, little endian, i1 a byte each.
struct FileTensor {
  mlir::RankedTensorType type; ///< null where Weft has no such element type
  std::string dtype;           ///< as the file calls it
  uint64_t offset = 0;         ///< from the file's start
  uint64_t length = 0;         ///< bytes
};

/// The tensors by name, in the file's order. Throws ImportError where the file cannot be read or is
/// not of the format, and where a tensor lies beyond its end.
std::vector<std::pair<std::string, FileTensor>> readSafeTensors(mlir::MLIRContext *context,
                                                                const std::string &path);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_SAFETENSORS_H
