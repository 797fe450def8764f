//===- ModelFile.h - a parsed .onnx file ------------------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_ONNX_MODELFILE_H
#define WEFT_FRONTENDS_ONNX_MODELFILE_H

#include "frontends/common/ImportError.h"
#include "frontends/onnx/Proto.h"
#include "frontends/onnx/WireScan.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace weft::frontend {

/// The graph of an .onnx file, parsed without its weights; the file stays mapped for those who need
/// some bytes of it.
class ModelFile {
public:
  /// Throws ImportError where the file cannot be read or parsed.
  explicit ModelFile(llvm::StringRef path);

  const onnx::ModelProto &model() const { return proto; }

  /// The place of a tensor's raw data in the file; none where its values are held otherwise.
  std::optional<ByteRange> rawData(const onnx::TensorProto &tensor) const {
    return parseRange(tensor.doc_string());
  }
  llvm::ArrayRef<char> bytes(ByteRange range) const {
    return {buffer->getBufferStart() + range.offset, range.length};
  }

private:
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  onnx::ModelProto proto;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_MODELFILE_H
