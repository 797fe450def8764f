//===- Work.h - arithmetic of an operation ----------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_GRAPH_WORK_H
#define WEFT_COMPILER_GRAPH_WORK_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace weft {

/// Floating-point operations of a product, a convolution or attention: two for each pair of
/// elements that it multiplies and adds, of causal attention those it sees. None for operations
/// that are no such.
std::optional<int64_t> countProductFlops(mlir::Operation *op);

/// Floating-point operations: those of products; one an element for what computes element by
/// element or reduces; none for what only moves elements.
int64_t countFlops(mlir::Operation *op);

/// Of the type's static shape; 0 if it has none.
int64_t countElements(mlir::Type type);

/// Of all its elements, a truth value taking one.
int64_t countBytes(mlir::Type type);

} // namespace weft

#endif // WEFT_COMPILER_GRAPH_WORK_H
