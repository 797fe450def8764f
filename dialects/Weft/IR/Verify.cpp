#include "dialects/Weft/IR/Verify.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

std::string weft::shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  return text + "]";
}

LogicalResult weft::verifyIndex(Operation *op, StringRef what, int64_t value, int64_t limit) {
  if (value >= 0 && value < limit)
    return success();
  return op->emitOpError() << "expected " << what << " within [0, " << limit << "), got: " << value;
}

LogicalResult weft::verifyDims(Operation *op, StringRef what, ArrayRef<int64_t> dims,
                               int64_t rank) {
  int64_t previous = -1;
  for (int64_t dim : dims) {
    if (dim <= previous || dim >= rank)
      return op->emitOpError() << "expected " << what << " strictly increasing within [0, " << rank
                               << "), got: " << shapeText(dims);
    previous = dim;
  }
  return success();
}

LogicalResult weft::verifyCount(Operation *op, StringRef what, ArrayRef<int64_t> values,
                                int64_t count) {
  if (static_cast<int64_t>(values.size()) == count)
    return success();
  return op->emitOpError() << "expected " << count << " entries in " << what
                           << ", got: " << values.size();
}

LogicalResult weft::verifyShape(Operation *op, StringRef what, Value value,
                                ArrayRef<int64_t> expected) {
  if (shapeOf(value) == expected)
    return success();
  return op->emitOpError() << "expected " << what << " of shape " << shapeText(expected)
                           << ", got: " << shapeText(shapeOf(value));
}

LogicalResult weft::verifyElement(Operation *op, StringRef what, Value value, Type expected) {
  if (elementOf(value) == expected)
    return success();
  return op->emitOpError() << "expected " << what << " of element type " << expected
                           << ", got: " << elementOf(value);
}
