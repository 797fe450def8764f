//===- Layout.h - how torch laid out a tensor -------------------*- C++ -*-===//
//
// Layouts in memory are the compiler's own; torch's only tell which operators made views and which
// made copies.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_LAYOUT_H
#define WEFT_FRONTENDS_TORCH_EXPORT_LAYOUT_H

#include "frontends/common/Types.h"
#include "frontends/torch_export/Symbols.h"

namespace weft::frontend::aten {

/// Sizes and strides as the archive records them, in elements.
struct Layout {
  Shape sizes, strides;
  int64_t offset = 0; ///< of the first element in the storage

  /// Whether elements lie row-major, without gaps.
  bool isRowMajor() const;
};

/// Of a tensor of the graph; none where the archive does not tell, or only running does.
std::optional<Layout> layoutOf(const Graph &graph, const Symbols &symbols, llvm::StringRef name);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_LAYOUT_H
