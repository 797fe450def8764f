//===- MatrixProduct.cpp - what devices ask of matrix products ------------===//

#include "runtime/Device/MatrixProduct.h"

#include "runtime/Support/Error.h"

#include <algorithm>

namespace weft::runtime {

Layout getLayout(int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride) {
  bool rowMajor = (columnStride == 1 || columns == 1) && (rowStride >= columns || rows == 1);
  if (rowMajor)
    return {true, 'N', std::max<int64_t>(1, rows == 1 ? columns : rowStride)};
  bool columnMajor = (rowStride == 1 || rows == 1) && (columnStride >= rows || columns == 1);
  if (columnMajor)
    return {true, 'T', std::max<int64_t>(1, columns == 1 ? rows : columnStride)};
  return {};
}

void checkGemm(const GemmCall &call) {
  const View &a = call.a, &b = call.b, &c = call.c;
  size_t rank = c.shape.size();
  bool fits = rank >= 2 && a.shape.size() == rank && b.shape.size() == rank && a.dtype == c.dtype &&
              b.dtype == c.dtype;
  for (size_t i = 0; fits && i + 2 < rank; ++i)
    fits = a.shape[i] == c.shape[i] && b.shape[i] == c.shape[i];
  if (!fits || a.shape[rank - 2] != c.shape[rank - 2] || b.shape[rank - 1] != c.shape[rank - 1] ||
      a.shape[rank - 1] != b.shape[rank - 2])
    throwBadInput("a matrix product of operands that do not fit");
}

void mergeBatchIntoRows(GemmCall &call) {
  View &a = call.a, &b = call.b, &c = call.c;
  while (c.shape.size() > 2) {
    size_t m = c.shape.size() - 2, batch = m - 1;
    if (c.shape[batch] != 1) {
      bool continues = b.strides[batch] == 0 && c.shape[m] > 0;
      for (const View *view : {&a, &c})
        continues &= view->strides[batch] == view->shape[m] * view->strides[m];
      if (!continues)
        return;
      for (View *view : {&a, &c})
        view->shape[m] *= view->shape[batch];
    }
    for (View *view : {&a, &b, &c}) {
      view->shape.erase(view->shape.begin() + static_cast<int64_t>(batch));
      view->strides.erase(view->strides.begin() + static_cast<int64_t>(batch));
    }
  }
}

} // namespace weft::runtime
