//===- WireScan.h - takes the weights out of an .onnx file ------*- C++ -*-===//
//
// Parsing a model would copy every initializer into memory. Instead the wire format is scanned
// first: the bytes of `TensorProto.raw_data` are left where they lie and only their place in the
// file is kept, in the tensor's doc_string (dropped from the source, so that nobody else can write
// there):
//
//   file    initializer { dims: 768 dims: 3072 data_type: 1 name: "up" raw_data: <9437184 bytes at
//   1024> } copy    initializer { dims: 768 dims: 3072 data_type: 1 name: "up" doc_string: "1024
//   9437184" }
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_ONNX_WIRESCAN_H
#define WEFT_FRONTENDS_ONNX_WIRESCAN_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace weft::frontend {

/// Bytes of a file.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// A serialized ModelProto without its raw tensor data. Throws ImportError where the file is not
/// well-formed protobuf.
std::string stripRawData(llvm::StringRef file);

/// The place of a tensor's raw data as the stripped copy's doc_string tells it.
std::optional<ByteRange> parseRange(llvm::StringRef text);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_WIRESCAN_H
