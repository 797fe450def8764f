//===- PartAssignment.h - which operation goes where ------------*- C++ -*-===//
//
// Before a model is cut (Parts.h): the part of each of its operations. Of a model that infers, a
// part is what the value at its end needs and no earlier part has; the last takes the rest. Of a
// training step that is so of the forward pass, up to the loss. What is computed of it stands where
// that stands: a gradient in the stage of what it is read with, and a state, with all that changes
// it, in the first stage that reads it.
//
// Worked example, cut behind %h:
//
//   %h  = dot_general %x, %u           stage 0        weft.load @u, weft.store @u
//   %y  = dot_general %h, %v           stage 1        weft.load @v, weft.store @v
//   %l  = reduce sum %y                stage 1
//   %dv = dot_general %h, %1           stage 1: %h is there, too
//   %dh = dot_general %1, %v           stage 1
//   %du = dot_general %x, %dh          stage 0, which is handed %dh
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_PARTASSIGNMENT_H
#define WEFT_COMPILER_SHARDING_PARTASSIGNMENT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace weft {

class PartAssignment {
public:
  static constexpr unsigned none = ~0u;

  /// The part of what an operation makes; `none` where each part that reads it makes it anew.
  unsigned get(mlir::Operation *op) const {
    auto found = parts.find(op);
    return found == parts.end() ? none : found->second;
  }
  /// `none` for arguments, too.
  unsigned get(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op ? get(op) : none;
  }
  /// Whether a part that reads the value is handed it.
  bool isHanded(mlir::Value value) const {
    return llvm::isa<mlir::BlockArgument>(value) || parts.contains(value.getDefiningOp());
  }

  unsigned count = 0;                                ///< of parts
  llvm::DenseMap<mlir::Operation *, unsigned> parts; ///< of what is not made anew
};

/// The parts of @main that end behind the values `ends`, in this order. None, after an error at
/// the value, where a part would be empty. A training step is one whose results name a loss; sums
/// of what several stages make are parenthesised by stage.
std::optional<PartAssignment> assignParts(mlir::func::FuncOp main,
                                          llvm::ArrayRef<mlir::Value> ends);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_PARTASSIGNMENT_H
