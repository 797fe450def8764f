//===- MatrixProduct.h - what devices ask of matrix products ----*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICE_MATRIXPRODUCT_H
#define WEFT_RUNTIME_DEVICE_MATRIXPRODUCT_H

#include "runtime/Device/Calls.h"

namespace weft::runtime {

/// A matrix as product libraries name it: rows `leading` elements apart (at least 1), or,
/// transposed ('T'), columns.
struct Layout {
  bool fits = false; ///< rows or columns have a unit stride and do not overlap
  char transpose = 'N';
  int64_t leading = 1;
};

/// `fits` is false where libraries do not take the matrix as it lies. Strides count elements.
Layout getLayout(int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride);

/// An Error of kind BadInput where operands do not fit each other.
void checkGemm(const GemmCall &call);

/// Merges the last batch dimension into the rows while b does not depend on it and rows continue
/// it: a projection of [batch, sequence, features] by one weight is a single tall product.
void mergeBatchIntoRows(GemmCall &call);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICE_MATRIXPRODUCT_H
