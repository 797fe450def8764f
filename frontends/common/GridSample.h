//===- GridSample.h - images at places that are computed --------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_GRIDSAMPLE_H
#define WEFT_FRONTENDS_COMMON_GRIDSAMPLE_H

#include "frontends/common/Emitter.h"

namespace weft::frontend {

/// What lies beyond the borders of an image.
enum class GridBorder { Zeros, Border, Reflection };

/// An image [n, c, h, w] at places [n, h', w', 2], columns then rows, from -1 at one border to 1 at
/// the other: of the middles of the elements there if aligned, else of their outer edges. The
/// nearest elements, or between the four around each place. Throws ImportError where the two do not
/// fit each other.
mlir::Value emitGridSample(Emitter &emit, mlir::Value image, mlir::Value grid, bool isNearest,
                           GridBorder border, bool isAligned);

/// The places of the elements of images of this size, [n, c, h, w], under affine maps [n, 2, 3].
mlir::Value emitAffineGrid(Emitter &emit, mlir::Value maps, llvm::ArrayRef<int64_t> size,
                           bool isAligned);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_GRIDSAMPLE_H
