//===- Dims.h - lists of dimensions -----------------------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_DIMS_H
#define WEFT_FRONTENDS_COMMON_DIMS_H

#include "frontends/common/Types.h"
#include "llvm/ADT/STLExtras.h"

namespace weft::frontend {

/// What `resolve` makes of the dimensions given, ascending. Throws ImportError where one is given
/// twice.
template <typename Resolve> Shape sortedDims(llvm::ArrayRef<int64_t> given, Resolve resolve) {
  Shape dims;
  for (int64_t dim : given)
    dims.push_back(resolve(dim));
  llvm::sort(dims);
  if (std::adjacent_find(dims.begin(), dims.end()) != dims.end())
    throw ImportError("a dimension is given twice");
  return dims;
}

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_DIMS_H
