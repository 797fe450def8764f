//===- Tensors.h - types and values of ONNX tensors -------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_ONNX_TENSORS_H
#define WEFT_FRONTENDS_ONNX_TENSORS_H

#include "compiler/Interpret/Tensor.h"
#include "frontends/onnx/DataFiles.h"
#include "frontends/onnx/ModelFile.h"

namespace weft::frontend {

/// The element type of a TensorProto.DataType. Throws ImportError for types that Weft does not
/// have.
mlir::Type elementType(mlir::MLIRContext *context, int32_t dataType);

/// A tensor type. Throws ImportError where a size is below 0 or the bytes exceed 2^48 (no machine
/// holds more, and sums of such sizes do not overflow).
mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Bytes of a tensor in files: i1 takes one an element.
int64_t storageBytes(mlir::RankedTensorType type);

/// The value of a tensor that holds its data itself, raw or typed. Throws ImportError where type,
/// shape and data do not fit together.
Tensor valueOf(mlir::MLIRContext *context, const onnx::TensorProto &tensor);

/// A tensor of a model: its type and where its values lie.
struct StoredTensor {
  mlir::RankedTensorType type;
  mlir::Attribute
      external; ///< #weft.external; null where the values are held in the protobuf itself
  Tensor value; ///< null where they were not asked for, are too many, or their file is absent
};

class TensorReader {
public:
  TensorReader(mlir::MLIRContext *context, const ModelFile &file, DataFiles &data,
               llvm::StringRef modelName)
      : context(context), file(file), data(data), modelName(modelName) {}

  /// Constants of more bytes than this stay in their file and take no part in folding.
  static constexpr int64_t maxConstantBytes = 64 << 20;

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
