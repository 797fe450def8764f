//===- Matrix.h - weights by which a dimension is multiplied ----*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_MATRIX_H
#define WEFT_FRONTENDS_COMMON_MATRIX_H

#include "frontends/common/Emitter.h"

namespace weft::frontend {

/// A constant [rows, columns] under construction: zeros at first.
class Matrix {
public:
  /// Throws ImportError where a side is below 1, or there are more than maxMatrixElements.
  Matrix(int64_t rows, int64_t columns);

  double &at(int64_t row, int64_t column) { return numbers[row * columns + column]; }
  llvm::MutableArrayRef<double> row(int64_t index) {
    return llvm::MutableArrayRef(numbers).slice(index * columns, columns);
  }
  /// In the type of x's elements.
  mlir::Value build(Emitter &emit, mlir::Value x) const;

private:
  int64_t rows, columns;
  std::vector<double> numbers;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_MATRIX_H
