//===- Spatial.h - numbers for each spatial dimension -----------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_OPS_SPATIAL_H
#define WEFT_FRONTENDS_TORCH_EXPORT_OPS_SPATIAL_H

#include "frontends/torch_export/Node.h"

namespace weft::frontend::aten {

/// One number for each spatial dimension; one for all is repeated. Throws ImportError where one is
/// below `least`.
inline Shape perSpatial(Node &node, llvm::StringRef name, size_t count, int64_t otherwise,
                        int64_t least) {
  Shape values = node.integers(name, Shape(1, otherwise));
  if (values.size() == 1)
    values.resize(count, values.front());
  if (values.size() != count ||
      llvm::any_of(values, [&](int64_t v) { return v < least || v > (1 << 30); }))
    throw ImportError("argument '" + name.str() + "' must have " + std::to_string(count) +
                      " entries of " + std::to_string(least) + " or more");
  return values;
}

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_OPS_SPATIAL_H
