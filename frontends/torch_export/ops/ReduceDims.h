//===- ReduceDims.h - which dimensions are reduced --------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_OPS_REDUCEDIMS_H
#define WEFT_FRONTENDS_TORCH_EXPORT_OPS_REDUCEDIMS_H

#include "frontends/torch_export/ops/Compute.h"

namespace weft::frontend::aten {

struct ReduceDims {
  Shape dims;
  bool keep; ///< as dimensions of size 1
};

/// Of `dim` and `keepdim`. No dimensions, or an empty list of them, mean all; a scalar has none.
inline ReduceDims readDims(Node &node, mlir::Value x) {
  int64_t rank = typeOf(x).getRank();
  ReduceDims read{{}, node.flag("keepdim", false)};
  if (node.has("dim"))
    read.dims = node.dims(node.integers("dim"), rank);
  if (read.dims.empty() || rank == 0)
    read.dims = allDims(x);
  return read;
}

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_OPS_REDUCEDIMS_H
