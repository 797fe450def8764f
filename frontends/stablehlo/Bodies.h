//===- Bodies.h - what the regions of reductions compute --------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_STABLEHLO_BODIES_H
#define WEFT_FRONTENDS_STABLEHLO_BODIES_H

#include "frontends/common/Emitter.h"
#include "mlir/IR/Region.h"

namespace weft::frontend::stablehlo {

/// The reduction that a region of two scalars computes, operands in any order: one operation of
/// StableHLO, and what it means on booleans. None where it is something else.
std::optional<ReduceKind> reduceKindOf(mlir::Region &body);

/// How a region of (old element, update) joins the two; none where it does something else.
std::optional<ScatterKind> scatterKindOf(mlir::Region &body);

/// x and y joined, element by element.
mlir::Value emitJoin(Emitter &emit, ReduceKind kind, mlir::Value x, mlir::Value y);
/// x joined with `init`, unless that changes nothing.
mlir::Value emitJoinInit(Emitter &emit, ReduceKind kind, mlir::Value x, mlir::Value init);

} // namespace weft::frontend::stablehlo

#endif // WEFT_FRONTENDS_STABLEHLO_BODIES_H
