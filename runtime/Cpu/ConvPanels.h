//===- ConvPanels.h - convolutions as products by panels, AVX2 --*- C++ -*-===//
//
// Of an image whose channels are last, a window is a few runs of memory, and the output of a
// position is a row:
//
//   output [positions, outputs] = windows [positions, taps · channels] · kernel in panels
//
// Windows of one element with stride 1 are the input itself; others are gathered, for some
// positions at a time. The kernel is kept in panels (PanelProduct.h), so that all there is to do is
// multiply.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_CONVPANELS_H
#define WEFT_RUNTIME_CPU_CONVPANELS_H

#include "runtime/Cpu/ConvDirect.h"
#include "runtime/Cpu/FewRows.h"

namespace weft::runtime {

/// Null where it does not apply, or oneDNN's kernels are faster: where these are of AVX-512
/// (`areWide`).
std::unique_ptr<DirectConv> makePanelConv(const Convolution &conv, const Epilogue *epilogue,
                                          bool areWide = hasWideVectors());

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_CONVPANELS_H
