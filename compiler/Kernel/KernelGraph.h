//===- KernelGraph.h - a kernel as a plain graph ----------------*- C++ -*-===//
//
// What code generation works on: the operations of one kernel function as nodes in topological
// order, semantic ones (softmax, norms, gelu, rotary) written out, with no tie to MLIR, so that
// kernels compile on any thread.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_KERNELGRAPH_H
#define WEFT_COMPILER_KERNEL_KERNELGRAPH_H

#include "compiler/Kernel/KernelCompiler.h"
#include "dialects/Support/DType.h"
#include "dialects/Support/ReduceKind.h"

namespace weft::kernel {

/// Whether integers of the type are widened by zeros: i1 too, which holds 0 or 1.
inline bool isZeroExtended(DType type) { return type == DType::I1 || isUnsigned(type); }

/// `ints` holds, by operation: Input: strides. Iota: dim. Compare: direction (CompareDirection).
/// Broadcast: dims. Transpose: permutation. Slice: starts, then strides. Reverse: dims. Concat:
/// axis. Pad: low. Gather: axis, check. GatherElements: axis, check. GatherNd: batch_dims, first
/// check (one for each element of a tuple). Reduce: dims; `kind`. Dot: batch count, contract count,
/// then lhs_batch, rhs_batch, lhs_contract, rhs_contract. Cumsum: axis, exclusive, reverse.
/// ScatterElements: axis, check, drop; `kind`. ScatterNd: first check, drop; `kind`. Both may have
/// the shard's start as a fourth operand. Identity: `kind`, of Reduce. Sort: axis, descending;
/// `kind` 0 for the values, 1 for their positions. Windows: for each dimension of the operand the
/// stride and the dimension of positions, then the dilation and the dimension of the window's
/// elements (-1 where it has one).
enum class Opcode : uint8_t {
  // Leaves.
  Input,
  Param,
  Constant,
  Iota,
  Identity, ///< a reduction of no elements
  // Elementwise.
  Abs,
  Acos,
  Asin,
  Atan,
  Cbrt,
  Ceil,
  Cos,
  Cosh,
  CountLeadingZeros,
  Erf,
  Exp,
  Expm1,
  Floor,
  IsInf,
  IsNan,
  Log,
  Log1p,
  Neg,
  Not,
  Popcount,
  Round,
  Rsqrt,
  Sign,
  Sin,
  Sinh,
  Sqrt,
  Tan,
  Tanh,
  Add,
  And,
  Atan2,
  Div,
  Max,
  Min,
  Mul,
  Or,
  Pow,
  Rem,
  ShiftLeft,
  ShiftRight,
  Sub,
  Xor,
  Cast,
  Compare,
  Select,
  // One operand at other indices.
  Broadcast,
  Reshape,
  Reverse,
  Slice,
  Transpose,
  Windows, ///< every window of its operand
  // Operands chosen by index or by data.
  Concat,
  Pad,
  Gather,
  GatherElements,
  GatherNd,
  // Loops.
  Reduce,
  Dot,
  Cumsum,
  ScatterElements,
  ScatterNd,
  Sort,
};

inline bool isElementwise(Opcode op) { return op >= Opcode::Abs && op <= Opcode::Select; }

struct Node {
  Opcode op;
  DType type;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<unsigned, 3> operands;
  llvm::SmallVector<int64_t, 8> ints;
  int kind = 0;     ///< Reduce, Identity: ReduceKind; scatters: ScatterKind; Sort: which result
  std::string data; ///< Constant: the bytes of one element (a splat) or of all

  int64_t size() const;
};

/// How a Reduce, an Identity or a Dot joins elements.
ReduceKind getReduceKind(const Node &node);

struct Graph {
  std::vector<Node> nodes; ///< operands come before their readers
  llvm::SmallVector<unsigned> inputs, params, outputs;
  std::vector<KernelCheck> checks;
  std::vector<InPlace> inPlace;

  /// Which of them is about a result; null where it has memory of its own.
  const InPlace *findInPlace(unsigned result) const;
  const Node &operator[](unsigned node) const { return nodes[node]; }
  /// A text that is equal exactly for kernels of equal code.
  std::string str() const;
};

/// Reads a kernel function; a diagnostic where an operation cannot be part of a kernel.
mlir::FailureOr<Graph> buildGraph(mlir::func::FuncOp kernel);

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_KERNELGRAPH_H
