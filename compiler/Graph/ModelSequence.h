//===- ModelSequence.h - a function as a sequence ---------------*- C++ -*-===//
//
// What a model computes from its inputs and its weights, in order: the sequence in which blocks are
// found. Three kinds of operations are no part of it and follow those that use them:
//
//   fixed      depends on weights and constants alone (a transposed weight)
//   prepared   depends on inputs or states, but on no weight of two dimensions (a mask, positions)
//   ending     a store or what the function returns
//
// A model without weights takes them as arguments: its floating-point arguments count as weights.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_GRAPH_MODELSEQUENCE_H
#define WEFT_COMPILER_GRAPH_MODELSEQUENCE_H

#include "compiler/Graph/BlockBounds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace weft {

class ModelSequence {
public:
  explicit ModelSequence(mlir::func::FuncOp function);

  const OperationSequence &getSequence() const { return sequence; }
  /// By place in the sequence.
  const std::vector<mlir::Operation *> &getOperations() const { return operations; }
  /// Whether the value depends on weights and constants alone.
  bool isFixed(mlir::Value value) const { return facts.lookup(value).role == Role::Fixed; }

private:
  enum class Role : uint8_t { Fixed, Prepared, Main };
  struct Facts {
    Role role = Role::Prepared;
    bool weight = false; ///< stems from a weight of two dimensions
    uint64_t hash = 0;   ///< of all that a fixed or prepared value is computed by
  };
  void addArguments(mlir::func::FuncOp function, bool asWeights);
  Facts describe(mlir::Operation &op) const;
  bool isWeighted(mlir::Operation *op) const;
  void order();
  void addNode(uint32_t place);
  uint64_t hashOperand(mlir::Value value) const;

  OperationSequence sequence;
  std::vector<mlir::Operation *> operations;
  llvm::DenseMap<mlir::Value, Facts> facts;
  llvm::DenseMap<mlir::Value, uint32_t> values; ///< of the sequence
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> weights;
};

} // namespace weft

#endif // WEFT_COMPILER_GRAPH_MODELSEQUENCE_H
