#include "frontends/onnx/ModelFile.h"

#include <google/protobuf/stubs/logging.h>
#include <limits>

using namespace weft::frontend;

ModelFile::ModelFile(llvm::StringRef path) {
  auto opened =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!opened)
    throw ImportError("cannot read the file: " + opened.getError().message());
  buffer = std::move(*opened);
  std::string stripped = stripRawData(buffer->getBuffer());
  if (stripped.size() > size_t(std::numeric_limits<int>::max()))
    throw ImportError("the graph without its raw weights exceeds 2 GiB");
  google::protobuf::LogSilencer silencer;
  if (!proto.ParseFromArray(stripped.data(), stripped.size()))
    throw ImportError("not an ONNX model: the protobuf does not parse");
  if (!proto.has_graph())
    throw ImportError("not an ONNX model: it has no graph");
}
