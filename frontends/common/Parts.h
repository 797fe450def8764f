//===- Parts.h - tensors taken apart along a dimension ----------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_PARTS_H
#define WEFT_FRONTENDS_COMMON_PARTS_H

#include "frontends/common/Types.h"
#include "llvm/ADT/STLExtras.h"

namespace weft::frontend {

/// Throws ImportError unless parts of these sizes make up dimension `dim`.
void checkParts(mlir::Value x, int64_t dim, llvm::ArrayRef<int64_t> sizes);

/// Parts of these sizes along `dim`, one after the other, as the results of a frontend's node.
/// Parts that nothing uses are left out.
template <typename Node>
void emitParts(Node &node, mlir::Value x, int64_t dim, llvm::ArrayRef<int64_t> sizes) {
  checkParts(x, dim, sizes);
  int64_t start = 0;
  for (auto [index, size] : llvm::enumerate(sizes)) {
    if (node.wants(index)) {
      node.beginResult(index);
      node.result(index, node.emit.sliceDim(x, dim, start, size));
    }
    start += size;
  }
}

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_PARTS_H
