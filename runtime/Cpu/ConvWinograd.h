//===- ConvWinograd.h - convolutions by Winograd's algorithm ----*- C++ -*-===//
//
// A convolution by 3 x 3 windows with stride 1 makes a tile of 4 x 4 outputs of 6 x 6 inputs. In
// another basis of these 36 it is a product element by element, for each channel of each side
// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", F(4x4, 3x3)): a quarter of
// the multiplications.
//
//   input, tile by tile  →  [36, tiles, channels] ─┐
//                                                  ├─ 36 products →  [36, tiles, outputs]  → output
//   kernel               →  [36, channels, outputs]┘
//
// Sums are of numbers some times as large as the output's, so that rounding errors are two to four
// times those of the plain sum.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_CONVWINOGRAD_H
#define WEFT_RUNTIME_CPU_CONVWINOGRAD_H

#include "runtime/Cpu/ConvDirect.h"
#include "runtime/Cpu/FewRows.h"

namespace weft::runtime {

/// Null where it does not apply, or does not pay. `areWide`: by AVX-512, else by AVX2.
std::unique_ptr<DirectConv> makeWinogradConv(const Convolution &conv, const Epilogue *epilogue,
                                             bool areWide = hasWideVectors());

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_CONVWINOGRAD_H
