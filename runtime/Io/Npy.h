//===- Npy.h - numpy's .npy files -------------------------------*- C++ -*-===//
//
// Reads headers of versions 1 to 3 and writes version 1 (2 where the header is long), as
// numpy.lib.format describes them. Little-endian and byte-wide element types only; bf16, which
// numpy lacks, is written as f32. Whatever a bad file holds ends in an Error of kind BadInput that
// names the file.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_IO_NPY_H
#define WEFT_RUNTIME_IO_NPY_H

#include "runtime/Support/DType.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace weft::runtime {

struct NpyHeader {
  DType dtype = program::DTYPE_UNKNOWN;
  std::vector<int64_t> shape;
  bool fortranOrder = false; ///< elements lie column-major
  uint64_t dataOffset = 0;   ///< bytes from the start of the file to the first element

  int64_t getNumElements() const;
  uint64_t getNumBytes() const;
};

/// A whole array in memory, row-major.
struct NpyArray {
  DType dtype = program::DTYPE_UNKNOWN;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
};

/// Reads the header and checks that the file is long enough for its elements.
NpyHeader readNpyHeader(const std::string &path);

/// The header of what `read` gives: bytes [offset, offset + bytes) of `size`. `name` stands for the
/// source in messages.
using ReadBytes = std::function<void(uint64_t offset, void *data, uint64_t bytes)>;
NpyHeader readNpyHeader(const std::string &name, uint64_t size, const ReadBytes &read);

/// Reads a whole file; column-major files are turned into row-major arrays.
NpyArray readNpy(const std::string &path);

/// Writes a whole file through a temporary one that takes its place at the end.
void writeNpy(const std::string &path, const NpyArray &array);

/// The bytes that precede the elements of a row-major array. `dtype` must not be bf16 (see
/// getNpyDType).
std::string formatNpyHeader(DType dtype, const std::vector<int64_t> &shape);

/// The element type that stands for `dtype` in .npy files: f32 for bf16, itself else.
DType getNpyDType(DType dtype);

/// The file that holds the tensor `name`: NAME.npy, other characters than letters, digits, '.', '_'
/// and '-' percent-encoded.
std::string getNpyFileName(const std::string &name);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_IO_NPY_H
