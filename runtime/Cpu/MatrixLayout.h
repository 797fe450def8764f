//===- MatrixLayout.h - matrices as product libraries name them -*- C++ -*-===//

#ifndef WEFT_RUNTIME_CPU_MATRIXLAYOUT_H
#define WEFT_RUNTIME_CPU_MATRIXLAYOUT_H

#include "runtime/Cpu/Gemm.h"
#include "runtime/Device/MatrixProduct.h"

namespace weft::runtime {

/// `fits` is false where libraries do not take the matrix as it lies.
Layout getLayout(const Matrix &m);

/// Whether multiplyBfloats() computes c = a·b: of bf16, as libraries take them, on a processor that
/// has products of them.
bool isOfBfloats(const Matrix &a, const Matrix &b, const Matrix &c);

/// c = a·b, or c += a·b, in bf16 with sums in f32, on the calling thread, through oneDNN.
void multiplyBfloats(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate);

/// c = a·b, or c += a·b, in f64, on the calling thread, through BLIS.
void multiplyDouble(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_MATRIXLAYOUT_H
