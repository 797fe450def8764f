// RUN: weft-opt %s --weft-raise-gelu --canonicalize | FileCheck %s

// CHECK-LABEL: func @byErf
// CHECK-SAME: (%[[X:.*]]: tensor
func.func @byErf(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = weft.constant dense<0.5> : tensor<4x8xf32>
  %one = weft.constant dense<1.0> : tensor<4x8xf32>
  %rootTwo = weft.constant dense<1.41421354> : tensor<4x8xf32>
  %0 = weft.div %x, %rootTwo : tensor<4x8xf32>
  %1 = weft.erf %0 : tensor<4x8xf32>
  %2 = weft.add %1, %one : tensor<4x8xf32>
  %3 = weft.mul %x, %2 : tensor<4x8xf32>
  %4 = weft.mul %3, %half : tensor<4x8xf32>
  // CHECK-NEXT: %[[Y:.*]] = weft.gelu erf %[[X]]
  // CHECK-NEXT: return %[[Y]]
  return %4 : tensor<4x8xf32>
}

// The half inside the sum: x · (0.5·erf + 0.5).
// CHECK-LABEL: func @halfInside
func.func @halfInside(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = weft.constant dense<0.5> : tensor<4x8xf32>
  %rootHalf = weft.constant dense<0.707106769> : tensor<4x8xf32>
  %0 = weft.mul %x, %rootHalf : tensor<4x8xf32>
  %1 = weft.erf %0 : tensor<4x8xf32>
  %2 = weft.mul %half, %1 : tensor<4x8xf32>
  %3 = weft.add %half, %2 : tensor<4x8xf32>
  %4 = weft.mul %3, %x : tensor<4x8xf32>
  // CHECK-NEXT: weft.gelu erf
  return %4 : tensor<4x8xf32>
}

// CHECK-LABEL: func @byTanh
func.func @byTanh(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = weft.constant dense<0.5> : tensor<4x8xf32>
  %one = weft.constant dense<1.0> : tensor<4x8xf32>
  %c = weft.constant dense<4.471500e-02> : tensor<4x8xf32>
  %root = weft.constant dense<0.797884583> : tensor<4x8xf32>
  %square = weft.mul %x, %x : tensor<4x8xf32>
  %cube = weft.mul %square, %x : tensor<4x8xf32>
  %0 = weft.mul %cube, %c : tensor<4x8xf32>
  %1 = weft.add %x, %0 : tensor<4x8xf32>
  %2 = weft.mul %1, %root : tensor<4x8xf32>
  %3 = weft.tanh %2 : tensor<4x8xf32>
  %4 = weft.add %3, %one : tensor<4x8xf32>
  %5 = weft.mul %x, %half : tensor<4x8xf32>
  %6 = weft.mul %5, %4 : tensor<4x8xf32>
  // CHECK-NEXT: weft.gelu tanh
  return %6 : tensor<4x8xf32>
}

// Another number in place of √2.
// CHECK-LABEL: func @otherScale
func.func @otherScale(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = weft.constant dense<0.5> : tensor<4x8xf32>
  %one = weft.constant dense<1.0> : tensor<4x8xf32>
  %root = weft.constant dense<1.5> : tensor<4x8xf32>
  %0 = weft.div %x, %root : tensor<4x8xf32>
  %1 = weft.erf %0 : tensor<4x8xf32>
  %2 = weft.add %1, %one : tensor<4x8xf32>
  %3 = weft.mul %x, %2 : tensor<4x8xf32>
  %4 = weft.mul %3, %half : tensor<4x8xf32>
  // CHECK-NOT: weft.gelu
  // CHECK: return
  return %4 : tensor<4x8xf32>
}

// The curve of another value.
// CHECK-LABEL: func @otherValue
func.func @otherValue(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = weft.constant dense<0.5> : tensor<4x8xf32>
  %rootHalf = weft.constant dense<0.707106769> : tensor<4x8xf32>
  %0 = weft.mul %y, %rootHalf : tensor<4x8xf32>
  %1 = weft.erf %0 : tensor<4x8xf32>
  %2 = weft.mul %half, %1 : tensor<4x8xf32>
  %3 = weft.add %half, %2 : tensor<4x8xf32>
  %4 = weft.mul %3, %x : tensor<4x8xf32>
  // CHECK-NOT: weft.gelu
  // CHECK: return
  return %4 : tensor<4x8xf32>
}

// Twice gelu is not gelu.
// CHECK-LABEL: func @twice
func.func @twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = weft.constant dense<1.0> : tensor<4x8xf32>
  %rootHalf = weft.constant dense<0.707106769> : tensor<4x8xf32>
  %0 = weft.mul %x, %rootHalf : tensor<4x8xf32>
  %1 = weft.erf %0 : tensor<4x8xf32>
  %2 = weft.add %one, %1 : tensor<4x8xf32>
  %3 = weft.mul %2, %x : tensor<4x8xf32>
  // CHECK-NOT: weft.gelu
  // CHECK: return
  return %3 : tensor<4x8xf32>
}

// √½ of f64.
// CHECK-LABEL: func @wide
func.func @wide(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %half = weft.constant dense<0.5> : tensor<4x8xf64>
  %rootHalf = weft.constant dense<0.70710678118654757> : tensor<4x8xf64>
  %0 = weft.mul %x, %rootHalf : tensor<4x8xf64>
  %1 = weft.erf %0 : tensor<4x8xf64>
  %2 = weft.mul %half, %1 : tensor<4x8xf64>
  %3 = weft.add %half, %2 : tensor<4x8xf64>
  %4 = weft.mul %3, %x : tensor<4x8xf64>
  // CHECK-NEXT: weft.gelu erf
  // CHECK: return
  return %4 : tensor<4x8xf64>
}

// In f64 the √½ of f32 is another number.
// CHECK-LABEL: func @wideRounded
func.func @wideRounded(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %half = weft.constant dense<0.5> : tensor<4x8xf64>
  %rootHalf = weft.constant dense<0.707106769084930419921875> : tensor<4x8xf64>
  %0 = weft.mul %x, %rootHalf : tensor<4x8xf64>
  %1 = weft.erf %0 : tensor<4x8xf64>
  %2 = weft.mul %half, %1 : tensor<4x8xf64>
  %3 = weft.add %half, %2 : tensor<4x8xf64>
  %4 = weft.mul %3, %x : tensor<4x8xf64>
  // CHECK-NOT: weft.gelu
  // CHECK: return
  return %4 : tensor<4x8xf64>
}

// Five digits of √½ are not what f32 rounds it to.
// CHECK-LABEL: func @nearly
func.func @nearly(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = weft.constant dense<0.5> : tensor<4x8xf32>
  %rootHalf = weft.constant dense<0.70711> : tensor<4x8xf32>
  %0 = weft.mul %x, %rootHalf : tensor<4x8xf32>
  %1 = weft.erf %0 : tensor<4x8xf32>
  %2 = weft.mul %half, %1 : tensor<4x8xf32>
  %3 = weft.add %half, %2 : tensor<4x8xf32>
  %4 = weft.mul %3, %x : tensor<4x8xf32>
  // CHECK-NOT: weft.gelu
  // CHECK: return
  return %4 : tensor<4x8xf32>
}

// The √½ of bf16.
// CHECK-LABEL: func @narrow
func.func @narrow(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %half = weft.constant dense<0.5> : tensor<4x8xbf16>
  %rootHalf = weft.constant dense<0.70703125> : tensor<4x8xbf16>
  %0 = weft.mul %x, %rootHalf : tensor<4x8xbf16>
  %1 = weft.erf %0 : tensor<4x8xbf16>
  %2 = weft.mul %half, %1 : tensor<4x8xbf16>
  %3 = weft.add %half, %2 : tensor<4x8xbf16>
  %4 = weft.mul %3, %x : tensor<4x8xbf16>
  // CHECK-NEXT: weft.gelu erf
  // CHECK: return
  return %4 : tensor<4x8xbf16>
}
