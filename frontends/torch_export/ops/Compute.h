//===- Compute.h - the types that ATen computes in --------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_OPS_COMPUTE_H
#define WEFT_FRONTENDS_TORCH_EXPORT_OPS_COMPUTE_H

#include "frontends/torch_export/Node.h"

namespace weft::frontend::aten {

/// ATen's kernels compute floats narrower than f32 in f32 and round once; integers and bools become
/// floats where a function has float results only.
inline mlir::Type computeType(Node &node, mlir::Type element) {
  return element.getIntOrFloatBitWidth() < 32 || !mlir::isa<mlir::FloatType>(element)
             ? node.emit.builder.getF32Type()
             : element;
}

/// All dimensions of a tensor, and all but one.
inline Shape allDims(mlir::Value x) {
  return llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, typeOf(x).getRank()));
}
inline Shape allDimsBut(mlir::Value x, int64_t kept) {
  Shape dims = allDims(x);
  llvm::erase(dims, kept);
  return dims;
}

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_OPS_COMPUTE_H
