//===- KernelGraph.h - a kernel as a plain graph ----------------*- C++ -*-===//
//
// What code generation works on: the operations of one kernel function as nodes in topological
// order, with no tie to MLIR, so that kernels compile on any thread. Of
//
//   %0 = weft.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
//   %1 = weft.exp %0 : tensor<4xf32>
//
// the nodes are 0: Input {strides 8, 1}, 1: Reduce {sum, dims 1} of 0, and 2: Elementwise
// {"weft_exp(f32)f32"} of 1. What an elementwise node computes is a function by that name
// (Arithmetic.h); operations that consist of simpler ones have been written out before
// (Decomposition.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_KERNELGRAPH_H
#define WEFT_COMPILER_KERNEL_KERNELGRAPH_H

#include "compiler/Kernel/KernelCompiler.h"
#include "compiler/Kernel/NodeKinds.h"
#include "dialects/Support/DType.h"

namespace weft::kernel {

/// Whether integers of the type are widened by zeros: i1 too, which holds 0 or 1.
inline bool isZeroExtended(DType type) { return type == DType::I1 || isUnsigned(type); }

struct Node {
  NodeKind kind;
  DType type;
  Dims shape;
  llvm::SmallVector<unsigned, 3> operands;

  int64_t size() const;

  template <typename... Kinds> bool is() const {
    return (std::holds_alternative<Kinds>(kind) || ...);
  }
  template <typename Kind> const Kind *get() const { return std::get_if<Kind>(&kind); }
  template <typename Kind> const Kind &as() const { return std::get<Kind>(kind); }

  /// Whether each element joins a loop of the operands' elements.
  bool isReduction() const { return is<Reduce, Dot>(); }
  /// Whether it is computed in order along a dimension, and alone: scans, scatters, sorts.
  bool isOrdered() const { return is<Cumsum, ScatterElements, ScatterNd, Sort>(); }
};

/// How a reduction, or one of no elements, joins elements.
ReduceKind getReduceKind(const Node &node);

struct Graph {
  std::vector<Node> nodes; ///< operands come before their readers
  llvm::SmallVector<unsigned> inputs, params, outputs;
  std::vector<KernelCheck> checks;
  std::vector<InPlace> inPlace;

  /// Which of them is about a result; null where it has memory of its own.
  const InPlace *findInPlace(unsigned result) const;
  const Node &operator[](unsigned node) const { return nodes[node]; }
  const Node &operand(const Node &node, unsigned number) const {
    return nodes[node.operands[number]];
  }
  /// A text that is equal exactly for kernels of equal code.
  std::string str() const;
};

/// Reads a kernel function; a diagnostic where an operation cannot be part of a kernel.
mlir::FailureOr<Graph> buildGraph(mlir::func::FuncOp kernel);

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_KERNELGRAPH_H
