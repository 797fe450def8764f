//===- TensorFile.cpp - whole tensors written by all ranks ----------------===//

#include "runtime/Executor/TensorFile.h"

#include "runtime/Executor/Agree.h"

#include <algorithm>

namespace weft::runtime {

TensorFile::TensorFile(Transport &transport, const std::string &path, std::vector<SafeTensor> all)
    : transport(transport), tensors(std::move(all)) {
  std::string header = formatSafeTensors(tensors);
  agree(transport, [&] {
    if (transport.getRank() != 0)
      return;
    whole = std::make_unique<OutputFile>(path);
    File &file = whole->getStaged();
    file.writeAt(0, header.data(), header.size());
    uint64_t end = header.size();
    for (const SafeTensor &tensor : tensors)
      end = std::max(end, tensor.offset + getNumBytes(tensor));
    file.resize(end);
    staged = file.getPath();
  });
  staged = gatherTexts(transport, staged).front();
}

void TensorFile::write(const StridedBlock &block, const std::byte *memory) {
  if (!part.isOpen())
    part = File::openForWriting(staged);
  writeBlock(part, block, memory);
}

void TensorFile::commit() {
  part = File();
  gatherTexts(transport, ""); // all have written their parts
  agree(transport, [&] {
    if (whole)
      whole->commit();
  });
}

} // namespace weft::runtime
