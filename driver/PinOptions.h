//===- PinOptions.h - what --pin decides ------------------------*- C++ -*-===//

#ifndef WEFT_DRIVER_PINOPTIONS_H
#define WEFT_DRIVER_PINOPTIONS_H

#include "compiler/Plan/PlanSyntax.h"
#include "driver/Outcome.h"
#include "mlir/IR/MLIRContext.h"
#include <string>
#include <vector>

namespace weft {

/// Decides in a plan that was started from options what pins ask for, NAME=VALUE[,NAME=VALUE]…
/// each: degrees of axes (`data=8,model=4`), `microbatches`, `recompute`, `offload`,
/// `optimizer_sharding`, how many stages there are (`stage`), on how many meshes (`chunks`), in
/// which order (`schedule`). Without --mesh, pinned axes are the mesh; with a cluster `data` and
/// `model` that are not pinned are left to the search, as axes of size 0. Fails with Usage for what
/// cannot be pinned so or was said otherwise, with Infeasible where the cluster's devices do not
/// make such a mesh.
Outcome addPins(mlir::MLIRContext &context, const std::vector<std::string> &pins, plan::Plan &plan);

/// How stages that are cut by hand stand on meshes, as pins say; what else they say is not read.
Outcome readLayout(mlir::MLIRContext &context, const std::vector<std::string> &pins,
                   StageLayout &layout);

/// The same of a plan that asks for a number of stages. The problem, or "".
std::string findLayout(const plan::Plan &plan, StageLayout &layout);

} // namespace weft

#endif // WEFT_DRIVER_PINOPTIONS_H
