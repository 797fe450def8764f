// RUN: weft-opt %s --weft-raise-norms --canonicalize | FileCheck %s

// CHECK-LABEL: func @rms
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[SCALE:.*]]: tensor<8xf32>)
func.func @rms(%x: tensor<4x8xf32>, %scale: tensor<8xf32>) -> tensor<4x8xf32> {
  %eight = weft.constant dense<8.0> : tensor<4xf32>
  %epsilon = weft.constant dense<1.0e-06> : tensor<4xf32>
  %0 = weft.mul %x, %x : tensor<4x8xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = weft.div %1, %eight : tensor<4xf32>
  %3 = weft.add %2, %epsilon : tensor<4xf32>
  %4 = weft.rsqrt %3 : tensor<4xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %6 = weft.mul %x, %5 : tensor<4x8xf32>
  %7 = weft.broadcast %scale dims [1] : tensor<8xf32> to tensor<4x8xf32>
  %8 = weft.mul %7, %6 : tensor<4x8xf32>
  // CHECK-NEXT: weft.rms_norm %[[X]] scale %[[SCALE]] : tensor<8xf32> axis 1 epsilon 9.99{{.*}}E-7
  // CHECK-NEXT: return
  return %8 : tensor<4x8xf32>
}

// CHECK-LABEL: func @layer
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[SCALE:.*]]: tensor<8xf32>, %[[BIAS:.*]]: tensor<8xf32>)
func.func @layer(%x: tensor<4x8xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>) -> tensor<4x8xf32> {
  %eight = weft.constant dense<8.0> : tensor<4xf32>
  %epsilon = weft.constant dense<1.0e-05> : tensor<4xf32>
  %sum = weft.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %mean = weft.div %sum, %eight : tensor<4xf32>
  %means = weft.broadcast %mean dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %centred = weft.sub %x, %means : tensor<4x8xf32>
  %0 = weft.mul %centred, %centred : tensor<4x8xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = weft.div %1, %eight : tensor<4xf32>
  %3 = weft.add %2, %epsilon : tensor<4xf32>
  %4 = weft.sqrt %3 : tensor<4xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %6 = weft.div %centred, %5 : tensor<4x8xf32>
  %7 = weft.broadcast %scale dims [1] : tensor<8xf32> to tensor<4x8xf32>
  %8 = weft.mul %6, %7 : tensor<4x8xf32>
  %9 = weft.broadcast %bias dims [1] : tensor<8xf32> to tensor<4x8xf32>
  %10 = weft.add %8, %9 : tensor<4x8xf32>
  // CHECK-NEXT: weft.layer_norm %[[X]] scale %[[SCALE]] : tensor<8xf32> bias %[[BIAS]] : tensor<8xf32> axis 1
  // CHECK-NEXT: return
  return %10 : tensor<4x8xf32>
}

// CHECK-LABEL: func @softmax
// CHECK-SAME: (%[[X:.*]]: tensor
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = weft.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = weft.broadcast %0 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %2 = weft.sub %x, %1 : tensor<4x8xf32>
  %3 = weft.exp %2 : tensor<4x8xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %6 = weft.div %3, %5 : tensor<4x8xf32>
  // CHECK-NEXT: weft.softmax %[[X]] axis 1
  // CHECK-NEXT: return
  return %6 : tensor<4x8xf32>
}

// Divided by one less than there are (Bessel's correction).
// CHECK-LABEL: func @otherCount
func.func @otherCount(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %seven = weft.constant dense<7.0> : tensor<4xf32>
  %epsilon = weft.constant dense<1.0e-06> : tensor<4xf32>
  %0 = weft.mul %x, %x : tensor<4x8xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = weft.div %1, %seven : tensor<4xf32>
  %3 = weft.add %2, %epsilon : tensor<4xf32>
  %4 = weft.rsqrt %3 : tensor<4xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %6 = weft.mul %x, %5 : tensor<4x8xf32>
  // CHECK-NOT: weft.rms_norm
  // CHECK: return
  return %6 : tensor<4x8xf32>
}

// The statistics of rows scale columns: 8 = 8, but it is no norm.
// CHECK-LABEL: func @otherDimension
func.func @otherDimension(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %eight = weft.constant dense<8.0> : tensor<8xf32>
  %epsilon = weft.constant dense<1.0e-06> : tensor<8xf32>
  %0 = weft.mul %x, %x : tensor<8x8xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<8x8xf32> -> tensor<8xf32>
  %2 = weft.div %1, %eight : tensor<8xf32>
  %3 = weft.add %2, %epsilon : tensor<8xf32>
  %4 = weft.rsqrt %3 : tensor<8xf32>
  %5 = weft.broadcast %4 dims [1] : tensor<8xf32> to tensor<8x8xf32>
  %6 = weft.mul %x, %5 : tensor<8x8xf32>
  // CHECK-NOT: weft.rms_norm
  // CHECK: return
  return %6 : tensor<8x8xf32>
}

// A norm that is read without its scale, too, keeps it apart.
// CHECK-LABEL: func @sharedNorm
func.func @sharedNorm(%x: tensor<4x8xf32>, %scale: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: %[[NORM:.*]] = weft.rms_norm %{{.*}} axis 1
  %0 = weft.rms_norm %x axis 1 epsilon 1.0e-06 : tensor<4x8xf32>
  %1 = weft.broadcast %scale dims [1] : tensor<8xf32> to tensor<4x8xf32>
  // CHECK: weft.mul %[[NORM]]
  %2 = weft.mul %0, %1 : tensor<4x8xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Not shifted by the largest element, it would overflow elsewhere than softmax does.
// CHECK-LABEL: func @unshifted
func.func @unshifted(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = weft.exp %x : tensor<4x8xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = weft.broadcast %1 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %3 = weft.div %0, %2 : tensor<4x8xf32>
  // CHECK-NOT: weft.softmax
  // CHECK: return
  return %3 : tensor<4x8xf32>
}

// Bessel's correction of many elements.
// CHECK-LABEL: func @otherLargeCount
func.func @otherLargeCount(%x: tensor<4x262144xf32>) -> tensor<4x262144xf32> {
  %count = weft.constant dense<262143.0> : tensor<4xf32>
  %epsilon = weft.constant dense<9.9999999747524271E-7> : tensor<4xf32>
  %0 = weft.mul %x, %x : tensor<4x262144xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x262144xf32> -> tensor<4xf32>
  %2 = weft.div %1, %count : tensor<4xf32>
  %3 = weft.add %2, %epsilon : tensor<4xf32>
  %4 = weft.rsqrt %3 : tensor<4xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<4xf32> to tensor<4x262144xf32>
  %6 = weft.mul %x, %5 : tensor<4x262144xf32>
  // CHECK-NOT: weft.rms_norm
  // CHECK: return
  return %6 : tensor<4x262144xf32>
}

// Bessel's correction in a narrow type.
// CHECK-LABEL: func @otherNarrowCount
func.func @otherNarrowCount(%x: tensor<4x256xbf16>) -> tensor<4x256xbf16> {
  %count = weft.constant dense<255.0> : tensor<4xbf16>
  %epsilon = weft.constant dense<9.9999999747524271E-7> : tensor<4xbf16>
  %0 = weft.mul %x, %x : tensor<4x256xbf16>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x256xbf16> -> tensor<4xbf16>
  %2 = weft.div %1, %count : tensor<4xbf16>
  %3 = weft.add %2, %epsilon : tensor<4xbf16>
  %4 = weft.rsqrt %3 : tensor<4xbf16>
  %5 = weft.broadcast %4 dims [0] : tensor<4xbf16> to tensor<4x256xbf16>
  %6 = weft.mul %x, %5 : tensor<4x256xbf16>
  // CHECK-NOT: weft.rms_norm
  // CHECK: return
  return %6 : tensor<4x256xbf16>
}

// In f64 an epsilon that went through f32 is what it is.
// CHECK-LABEL: func @wide
func.func @wide(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %count = weft.constant dense<8.0> : tensor<4xf64>
  %epsilon = weft.constant dense<9.9999999747524271E-7> : tensor<4xf64>
  %0 = weft.mul %x, %x : tensor<4x8xf64>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf64> -> tensor<4xf64>
  %2 = weft.div %1, %count : tensor<4xf64>
  %3 = weft.add %2, %epsilon : tensor<4xf64>
  %4 = weft.rsqrt %3 : tensor<4xf64>
  %5 = weft.broadcast %4 dims [0] : tensor<4xf64> to tensor<4x8xf64>
  %6 = weft.mul %x, %5 : tensor<4x8xf64>
  // CHECK: weft.rms_norm %{{.*}} axis 1 epsilon 9.9999999747524271E-7
  // CHECK: return
  return %6 : tensor<4x8xf64>
}
