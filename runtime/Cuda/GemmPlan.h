//===- GemmPlan.h - matrix products as libraries take them ------*- C++ -*-===//
//
// A product of operands with arbitrary strides as strided batches of matrices whose rows or columns
// lie side by side. For example a [6, 4, 5] (strides 20, 5, 1), b [6, 5, 7] (strides 0, 7, 1) and c
// [6, 4, 7] row-major are one product of 24 rows; were b's strides 70, 14, 2, it would be copied
// into the workspace first, with strides 35, 7, 1, and the six products be one batch.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_GEMMPLAN_H
#define WEFT_RUNTIME_CUDA_GEMMPLAN_H

#include "runtime/Cuda/StridedCopy.h"
#include "runtime/Device/MatrixProduct.h"

#include <array>
#include <optional>
#include <vector>

namespace weft::runtime {

/// By operand: a, b, c. Strides count elements.
using OfOperands = std::array<int64_t, 3>;

/// The batch dimensions of a product: one call for each of `starts`, of `count` matrices `strides`
/// elements apart.
struct GemmBatches {
  int64_t count = 1;
  OfOperands strides = {};
  std::vector<OfOperands> starts;

  explicit GemmBatches(const GemmCall &call);
};

/// An operand that is copied into the workspace, because no library takes it as it lies.
struct PackedOperand {
  View view;      ///< its copy, at byte `offset` of the workspace
  StridedCopy in; ///< from the operand
  StridedCopy out;
};

/// A copy of the operand for the workspace, at byte `offset` there: its rows lie side by side, and
/// batch dimensions that repeat (stride 0) still do.
PackedOperand packOperand(const View &view, int64_t offset);

/// Bytes of the elements that a view has in memory: of dimensions that repeat, one.
int64_t getStoredBytes(const View &view);

/// The layout of the operand's matrices.
Layout getMatrixLayout(const View &view);

/// cᵀ = bᵀ·aᵀ.
void transposeProduct(GemmCall &call);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_GEMMPLAN_H
