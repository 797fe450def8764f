//===- Norms.h - distances of which losses are made -------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_OPS_NORMS_H
#define WEFT_FRONTENDS_TORCH_EXPORT_OPS_NORMS_H

#include "frontends/torch_export/Node.h"

namespace weft::frontend::aten {

/// The p-norm of x - y + ε along the last dimension.
mlir::Value emitPairwiseDistance(Emitter &emit, mlir::Value x, mlir::Value y, double p,
                                 double epsilon, bool keep);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_OPS_NORMS_H
