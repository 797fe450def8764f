//===- NodeKinds.h - what nodes of a kernel's graph do ----------*- C++ -*-===//
//
// One struct a kind, with what it needs beside its operands. `name` and `fields` are what makes two
// kernels the same (Graph::str).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_NODEKINDS_H
#define WEFT_COMPILER_KERNEL_NODEKINDS_H

#include "dialects/Support/ReduceKind.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <tuple>
#include <variant>

namespace weft::kernel {

using Dims = llvm::SmallVector<int64_t, 4>;

//===--- Leaves ------------------------------------------------------------===//

/// Memory that the kernel is given.
struct Input {
  static constexpr llvm::StringLiteral name = "input";
  Dims strides; ///< in elements
  auto fields() const { return std::tie(strides); }
};

/// A number that the kernel is given.
struct Param {
  static constexpr llvm::StringLiteral name = "param";
  auto fields() const { return std::tie(); }
};

struct Constant {
  static constexpr llvm::StringLiteral name = "constant";
  std::string bytes; ///< of one element (a splat) or of all
  auto fields() const { return std::tie(bytes); }
};

/// The position along a dimension.
struct Iota {
  static constexpr llvm::StringLiteral name = "iota";
  int64_t dim;
  auto fields() const { return std::tie(dim); }
};

/// A reduction of no elements.
struct Identity {
  static constexpr llvm::StringLiteral name = "identity";
  ReduceKind reduction;
  auto fields() const { return std::tie(reduction); }
};

//===--- Arithmetic --------------------------------------------------------===//

struct Elementwise {
  static constexpr llvm::StringLiteral name = "elementwise";
  std::string function; ///< that computes an element (Arithmetic.h)
  int64_t cost;         ///< of one element, in additions
  auto fields() const { return std::tie(function); }
};

//===--- One operand at other indices --------------------------------------===//

struct Broadcast {
  static constexpr llvm::StringLiteral name = "broadcast";
  Dims dims;
  auto fields() const { return std::tie(dims); }
};

struct Reshape {
  static constexpr llvm::StringLiteral name = "reshape";
  auto fields() const { return std::tie(); }
};

struct Reverse {
  static constexpr llvm::StringLiteral name = "reverse";
  Dims dims;
  auto fields() const { return std::tie(dims); }
};

struct Slice {
  static constexpr llvm::StringLiteral name = "slice";
  Dims starts, strides;
  auto fields() const { return std::tie(starts, strides); }
};

struct Transpose {
  static constexpr llvm::StringLiteral name = "transpose";
  Dims permutation;
  auto fields() const { return std::tie(permutation); }
};

/// Every window of the operand. Along each of its dimensions, `positionDim` of the result counts
/// where windows lie, and `elementDim`, if there is one, the elements of each.
struct Windows {
  static constexpr llvm::StringLiteral name = "windows";
  struct Dim {
    int64_t stride, positionDim, dilation;
    std::optional<int64_t> elementDim;
  };
  llvm::SmallVector<Dim, 4> dims;
  auto fields() const { return std::tie(dims); }
};

//===--- Operands chosen by index or by data -------------------------------===//

struct Concat {
  static constexpr llvm::StringLiteral name = "concat";
  int64_t axis;
  auto fields() const { return std::tie(axis); }
};

/// Operands: the tensor, what surrounds it.
struct Pad {
  static constexpr llvm::StringLiteral name = "pad";
  Dims low;
  auto fields() const { return std::tie(low); }
};

/// Operands: the tensor, indices, and where the tensor starts if it is a shard. `check` is the
/// number of the check of an index, here and below.
struct Gather {
  static constexpr llvm::StringLiteral name = "gather";
  int64_t axis;
  unsigned check;
  auto fields() const { return std::tie(axis, check); }
};

struct GatherElements {
  static constexpr llvm::StringLiteral name = "gather_elements";
  int64_t axis;
  unsigned check;
  auto fields() const { return std::tie(axis, check); }
};

struct GatherNd {
  static constexpr llvm::StringLiteral name = "gather_nd";
  int64_t batchDims;
  unsigned firstCheck; ///< one for each element of a tuple
  auto fields() const { return std::tie(batchDims, firstCheck); }
};

//===--- Loops -------------------------------------------------------------===//

struct Reduce {
  static constexpr llvm::StringLiteral name = "reduce";
  ReduceKind reduction;
  Dims dims;
  auto fields() const { return std::tie(reduction, dims); }
};

struct Dot {
  static constexpr llvm::StringLiteral name = "dot";
  Dims lhsBatch, rhsBatch, lhsContract, rhsContract;
  auto fields() const { return std::tie(lhsBatch, rhsBatch, lhsContract, rhsContract); }
};

struct Cumsum {
  static constexpr llvm::StringLiteral name = "cumsum";
  int64_t axis;
  bool isExclusive, isReverse;
  auto fields() const { return std::tie(axis, isExclusive, isReverse); }
};

/// Operands of both scatters: the tensor, indices, updates, and where the tensor starts if it is a
/// shard. Without `join`, updates take the place of what is there.
struct ScatterElements {
  static constexpr llvm::StringLiteral name = "scatter_elements";
  int64_t axis;
  unsigned check;
  bool drops; ///< what lies outside
  std::optional<ReduceKind> join;
  auto fields() const { return std::tie(axis, check, drops, join); }
};

struct ScatterNd {
  static constexpr llvm::StringLiteral name = "scatter_nd";
  unsigned firstCheck; ///< one for each element of a tuple
  bool drops;
  std::optional<ReduceKind> join;
  auto fields() const { return std::tie(firstCheck, drops, join); }
};

/// One node a result.
struct Sort {
  static constexpr llvm::StringLiteral name = "sort";
  int64_t axis;
  bool isDescending;
  bool givesPlaces; ///< rather than values
  auto fields() const { return std::tie(axis, isDescending, givesPlaces); }
};

using NodeKind =
    std::variant<Input, Param, Constant, Iota, Identity, Elementwise, Broadcast, Reshape, Reverse,
                 Slice, Transpose, Windows, Concat, Pad, Gather, GatherElements, GatherNd, Reduce,
                 Dot, Cumsum, ScatterElements, ScatterNd, Sort>;

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_NODEKINDS_H
