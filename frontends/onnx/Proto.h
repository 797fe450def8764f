//===- Proto.h - libonnx's protobuf classes, quietly ------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_ONNX_PROTO_H
#define WEFT_FRONTENDS_ONNX_PROTO_H

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#include <onnx/onnx_pb.h>
#pragma clang diagnostic pop

#include <stdexcept>

namespace weft::frontend {

/// What is wrong with a model, or with one node of it: thrown by importers, caught where nodes are
/// walked. The text is in lowercase and names no node; whoever catches it does.
struct ImportError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_PROTO_H
