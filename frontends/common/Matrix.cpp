#include "frontends/common/Matrix.h"

#include "compiler/Interpret/Numbers.h"
#include "frontends/common/Limits.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

Matrix::Matrix(int64_t rows, int64_t columns) : rows(rows), columns(columns) {
  if (rows < 1 || columns < 1 ||
      llvm::SaturatingMultiply<uint64_t>(rows, columns) > uint64_t(maxMatrixElements))
    throw ImportError("a size of " + std::to_string(rows) + " made of " + std::to_string(columns) +
                      " is out of range: weights " + std::to_string(rows) + "x" +
                      std::to_string(columns));
  numbers.resize(rows * columns);
}

Value Matrix::build(Emitter &emit, Value x) const {
  return emit.constant(tensorOf(typeOf(x).clone({rows, columns}), numbers));
}
