//===- Proto.h - libonnx's protobuf classes, quietly ------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_ONNX_PROTO_H
#define WEFT_FRONTENDS_ONNX_PROTO_H

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#include <onnx/onnx_pb.h>
#pragma clang diagnostic pop

#endif // WEFT_FRONTENDS_ONNX_PROTO_H
