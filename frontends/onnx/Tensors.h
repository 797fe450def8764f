//===- Tensors.h - types and values of ONNX tensors -------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_ONNX_TENSORS_H
#define WEFT_FRONTENDS_ONNX_TENSORS_H

#include "frontends/common/Weights.h"
#include "frontends/onnx/DataFiles.h"
#include "frontends/onnx/ModelFile.h"

namespace weft::frontend {

/// The element type of a TensorProto.DataType. Throws ImportError for types that Weft does not
/// have.
mlir::Type elementType(mlir::MLIRContext *context, int32_t dataType);

/// The value of a tensor that holds its data itself, raw or typed. Throws ImportError where type,
/// shape and data do not fit together.
Tensor valueOf(mlir::MLIRContext *context, const onnx::TensorProto &tensor);

class TensorReader {
public:
  TensorReader(mlir::MLIRContext *context, const ModelFile &file, DataFiles &data,
               llvm::StringRef modelName)
      : context(context), file(file), data(data), modelName(modelName) {}

  /// `wantValue`: read the values too, as far as maxConstantBytes. Values that only the protobuf
  /// holds are always read.
  StoredTensor read(const onnx::TensorProto &tensor, bool wantValue);

private:
  void readExternal(const onnx::TensorProto &tensor, bool wantValue, StoredTensor &stored);
  void readInline(ByteRange range, bool wantValue, StoredTensor &stored);

  mlir::MLIRContext *context;
  const ModelFile &file;
  DataFiles &data;
  std::string modelName; ///< how #weft.external names the model file itself
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_TENSORS_H
