//===- SliceShardings.h - how slices of a sequence lie ----------*- C++ -*-===//

#ifndef WEFT_COMPILER_SHARDING_SLICESHARDINGS_H
#define WEFT_COMPILER_SHARDING_SLICESHARDINGS_H

#include "compiler/Sharding/OperationSplit.h"
#include "compiler/Sharding/SequenceDims.h"

namespace weft {

/// How a slice lies on a mesh that lies there as the whole sequence does, of `length` tokens: by
/// the same axes, whatever blocks they make of it.
class SliceShardings {
public:
  SliceShardings(MeshShape mesh, int64_t length) : mesh(std::move(mesh)), length(length) {}

  /// Of a value of type `type`, where `attr` is that of the whole and `dims` are what is sliced.
  dist::ShardingAttr get(dist::ShardingAttr attr, mlir::Type type,
                         llvm::ArrayRef<SequenceDim> dims) const;
  /// The same in what is said of an argument or a result.
  mlir::DictionaryAttr get(mlir::DictionaryAttr described, mlir::Type type,
                           const SequenceDim &dim) const;

  using FindDims = llvm::function_ref<llvm::SmallVector<SequenceDim>(const TensorFactors &)>;

  /// The split of `made`, a slice of `whole`, by which its tensors lie as those of the whole do.
  /// Null where there is none. `findDims`: where a tensor of the whole is sliced.
  mlir::DictionaryAttr getSplit(mlir::Operation *made, mlir::Operation &whole,
                                FindDims findDims) const;

private:
  AxisList get(const AxisList &axes, int64_t size, const SequenceDim &dim) const;
  TensorSharding get(TensorSharding sharding, mlir::Type type,
                     llvm::ArrayRef<SequenceDim> dims) const;

  MeshShape mesh;
  int64_t length;
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_SLICESHARDINGS_H
