//===- TensorFile.h - whole tensors written by all ranks --------*- C++ -*-===//
//
// A .safetensors file that rank 0 makes and puts in its place, and into which every rank writes its
// blocks, at their positions: nobody holds a whole tensor.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_TENSORFILE_H
#define WEFT_RUNTIME_EXECUTOR_TENSORFILE_H

#include "runtime/Collective/Transport.h"
#include "runtime/Io/SafeTensors.h"
#include "runtime/Io/StridedBlock.h"
#include "runtime/Support/OutputFile.h"

#include <memory>

namespace weft::runtime {

class TensorFile {
public:
  /// Begins a file of these tensors; called by every rank.
  TensorFile(Transport &transport, const std::string &path, std::vector<SafeTensor> tensors);

  /// A tensor, with its place in the file.
  const SafeTensor &getTensor(size_t number) const { return tensors[number]; }
  /// Writes a block of a tensor, whose `begin` counts from the file's first byte.
  void write(const StridedBlock &block, const std::byte *memory);
  /// Puts the file in its place once every rank has written; called by every rank.
  void commit();

private:
  Transport &transport;
  std::vector<SafeTensor> tensors;
  std::unique_ptr<OutputFile> whole; ///< of rank 0
  std::string staged;                ///< path until it is in its place
  File part;                         ///< the same, for this rank to write
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_TENSORFILE_H
