//===- FewRows.h - products of a few rows -----------------------*- C++ -*-===//
//
// A product of a few rows by a large matrix takes as long as reading that matrix: the weights of a
// decoder that makes one token for each of a few sequences. Libraries pack the matrix into blocks
// first, which is more traffic than the product. Here it is read once, where it lies, and the rest
// stays in a core's caches:
//
//   b row-major:      for four rows of b at a time, and a strip of columns:
//                       c[each row, strip] += a[row, 4] · b[4, strip]
//   b column-major:   for four columns of b at a time, one dot product with each row of a
//
// (eight of them for one row; as many lines as registers hold where these are of AVX2). A matrix of
// f16 or bf16 is widened as it is read, which takes half the time then.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_FEWROWS_H
#define WEFT_RUNTIME_CPU_FEWROWS_H

#include "runtime/Cpu/Gemm.h"

namespace weft::runtime {

/// Whether multiplyFewRows() computes c = a·b, and sooner than a library: of f32, f16 or bf16, a
/// few rows, with a unit stride along rows of c, along rows or columns of b, and on a CPU with
/// AVX2. Of a and c of 16 bits it is the copies in f32 that it takes.
bool isOfFewRows(const Matrix &a, const Matrix &b, const Matrix &c);

/// Whether the CPU has AVX-512.
bool hasWideVectors();

/// c = a·b, or c += a·b, on the calling thread, by AVX-512 or, not `areWide`, by AVX2.
void multiplyFewRows(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate,
                     bool areWide = hasWideVectors());

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_FEWROWS_H
