// RUN: weft-opt %s --weft-sink-views | FileCheck %s

// CHECK-LABEL: func @flattenedBatch
// CHECK-SAME: (%[[X:.*]]: tensor<4x32x64xf32>, %[[W:.*]]: tensor
func.func @flattenedBatch(%x: tensor<4x32x64xf32>, %w: tensor<64x96xf32>) -> tensor<4x32x96xf32> {
  // CHECK-NEXT: %[[Y:.*]] = weft.dot_general %[[X]], %[[W]] batch [] x [] contract [2] x [0]
  // CHECK-NEXT: return %[[Y]]
  %0 = weft.reshape %x : tensor<4x32x64xf32> to tensor<128x64xf32>
  %1 = weft.dot_general %0, %w batch [] x [] contract [1] x [0] : (tensor<128x64xf32>, tensor<64x96xf32>) -> tensor<128x96xf32>
  %2 = weft.reshape %1 : tensor<128x96xf32> to tensor<4x32x96xf32>
  return %2 : tensor<4x32x96xf32>
}

// Batch and heads that were made one dimension for a batched product.
// CHECK-LABEL: func @flattenedHeads
func.func @flattenedHeads(%q: tensor<4x8x32x16xf32>, %k: tensor<4x8x16x32xf32>) -> tensor<4x8x32x32xf32> {
  // CHECK-NEXT: weft.dot_general {{.*}} batch [0, 1] x [0, 1] contract [3] x [2]
  // CHECK-NEXT: return
  %0 = weft.reshape %q : tensor<4x8x32x16xf32> to tensor<32x32x16xf32>
  %1 = weft.reshape %k : tensor<4x8x16x32xf32> to tensor<32x16x32xf32>
  %2 = weft.dot_general %0, %1 batch [0] x [0] contract [2] x [1] : (tensor<32x32x16xf32>, tensor<32x16x32xf32>) -> tensor<32x32x32xf32>
  %3 = weft.reshape %2 : tensor<32x32x32xf32> to tensor<4x8x32x32xf32>
  return %3 : tensor<4x8x32x32xf32>
}

// CHECK-LABEL: func @elementwise
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<4x8xf32>)
func.func @elementwise(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %[[SUM:.*]] = weft.add %[[X]], %[[Y]]
  // CHECK-NEXT: %[[VIEW:.*]] = weft.transpose %[[SUM]] [1, 0]
  // CHECK-NEXT: return %[[VIEW]]
  %0 = weft.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = weft.transpose %y [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %2 = weft.add %0, %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// Heads that one operand has in groups, the other side by side with their elements, both joined with
// rows: the product has rows and heads apart.
// CHECK-LABEL: func @differentlyJoined
// CHECK-SAME: (%[[X:.*]]: tensor<4x6x8xf32>, %[[Y:.*]]: tensor<4x3x16xf32>)
func.func @differentlyJoined(%x: tensor<4x6x8xf32>, %y: tensor<4x3x16xf32>) -> tensor<4x48xf32> {
  // CHECK-DAG: %[[HEADS:.*]] = weft.reshape %[[X]] : tensor<4x6x8xf32> to tensor<4x3x2x8xf32>
  // CHECK-DAG: %[[GROUPS:.*]] = weft.reshape %[[Y]] : tensor<4x3x16xf32> to tensor<4x3x2x8xf32>
  // CHECK: %[[PRODUCT:.*]] = weft.mul %[[HEADS]], %[[GROUPS]] : tensor<4x3x2x8xf32>
  // CHECK-NEXT: weft.reshape %[[PRODUCT]] : tensor<4x3x2x8xf32> to tensor<4x48xf32>
  %0 = weft.reshape %x : tensor<4x6x8xf32> to tensor<24x8xf32>
  %1 = weft.reshape %y : tensor<4x3x16xf32> to tensor<24x8xf32>
  %2 = weft.mul %0, %1 : tensor<24x8xf32>
  %3 = weft.reshape %2 : tensor<24x8xf32> to tensor<4x48xf32>
  return %3 : tensor<4x48xf32>
}

// 6 and 4 split 24 across one another.
// CHECK-LABEL: func @acrossOneAnother
func.func @acrossOneAnother(%x: tensor<4x6xf32>, %y: tensor<6x4xf32>) -> tensor<24xf32> {
  // CHECK: weft.add {{.*}} : tensor<24xf32>
  %0 = weft.reshape %x : tensor<4x6xf32> to tensor<24xf32>
  %1 = weft.reshape %y : tensor<6x4xf32> to tensor<24xf32>
  %2 = weft.add %0, %1 : tensor<24xf32>
  return %2 : tensor<24xf32>
}

weft.weight @bias : tensor<8x6xf32> = #weft.external<"w", 0, 192>

// A weight is viewed the other way, which costs nothing.
// CHECK-LABEL: func @withWeight
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x6xf32>)
func.func @withWeight(%x: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  // CHECK: %[[BIAS:.*]] = weft.reshape %{{.*}} : tensor<8x6xf32> to tensor<2x4x6xf32>
  // CHECK-NEXT: %[[SUM:.*]] = weft.add %[[X]], %[[BIAS]] : tensor<2x4x6xf32>
  // CHECK-NEXT: return %[[SUM]]
  %w = weft.load @bias : tensor<8x6xf32>
  %0 = weft.reshape %x : tensor<2x4x6xf32> to tensor<8x6xf32>
  %1 = weft.add %0, %w : tensor<8x6xf32>
  %2 = weft.reshape %1 : tensor<8x6xf32> to tensor<2x4x6xf32>
  return %2 : tensor<2x4x6xf32>
}

// CHECK-LABEL: func @softmaxAndReduce
// CHECK-SAME: (%[[X:.*]]: tensor
func.func @softmaxAndReduce(%x: tensor<4x8x16xf32>) -> (tensor<16x8x4xf32>, tensor<32xf32>) {
  // CHECK-DAG: weft.softmax %[[X]] axis 1
  // CHECK-DAG: weft.reduce sum %[[X]] dims [2]
  %0 = weft.transpose %x [2, 1, 0] : tensor<4x8x16xf32> -> tensor<16x8x4xf32>
  %1 = weft.softmax %0 axis 1 : tensor<16x8x4xf32>
  %2 = weft.reshape %x : tensor<4x8x16xf32> to tensor<32x16xf32>
  %3 = weft.reduce sum %2 dims [1] : tensor<32x16xf32> -> tensor<32xf32>
  return %1, %3 : tensor<16x8x4xf32>, tensor<32xf32>
}

// CHECK-LABEL: func @sliceAndConcat
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @sliceAndConcat(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // CHECK-DAG: %[[LOW:.*]] = weft.slice %[[X]] starts [0, 0]
  // CHECK-DAG: %[[HIGH:.*]] = weft.slice %[[X]] starts [0, 4]
  // CHECK: %[[ALL:.*]] = weft.concat %[[HIGH]], %[[LOW]] axis 1
  // CHECK: weft.transpose %[[ALL]] [1, 0]
  %0 = weft.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = weft.slice %0 starts [0, 0] strides [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
  %2 = weft.slice %0 starts [4, 0] strides [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
  %3 = weft.concat %2, %1 axis 0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// A norm over rows does not mind how rows are arranged.
// CHECK-LABEL: func @norm
// CHECK-SAME: (%[[X:.*]]: tensor
func.func @norm(%x: tensor<4x32x64xf32>) -> tensor<128x64xf32> {
  // CHECK: weft.layer_norm %[[X]] axis 2
  %0 = weft.reshape %x : tensor<4x32x64xf32> to tensor<128x64xf32>
  %1 = weft.layer_norm %0 axis 1 epsilon 1.0e-05 : tensor<128x64xf32>
  return %1 : tensor<128x64xf32>
}

// A reshape that splits a dimension stays, and so does one whose other operand has no such view.
// CHECK-LABEL: func @notSunk
func.func @notSunk(%x: tensor<128x64xf32>, %y: tensor<4x32x64xf32>) -> tensor<4x32x64xf32> {
  // CHECK-NEXT: %[[VIEW:.*]] = weft.reshape
  // CHECK-NEXT: weft.add %[[VIEW]]
  %0 = weft.reshape %x : tensor<128x64xf32> to tensor<4x32x64xf32>
  %1 = weft.add %0, %y : tensor<4x32x64xf32>
  return %1 : tensor<4x32x64xf32>
}

// A softmax over flattened dimensions, and a norm whose dimension is transposed away, keep their views.
// CHECK-LABEL: func @dimensionLost
func.func @dimensionLost(%x: tensor<4x8x16xf32>) -> (tensor<4x128xf32>, tensor<4x16x8xf32>) {
  // CHECK-DAG: weft.softmax %{{.*}} axis 1 : tensor<4x128xf32>
  // CHECK-DAG: weft.rms_norm {{.*}} : tensor<4x16x8xf32>
  %0 = weft.reshape %x : tensor<4x8x16xf32> to tensor<4x128xf32>
  %1 = weft.softmax %0 axis 1 : tensor<4x128xf32>
  %2 = weft.transpose %x [0, 2, 1] : tensor<4x8x16xf32> -> tensor<4x16x8xf32>
  %3 = weft.rms_norm %2 axis 2 epsilon 1.0e-05 : tensor<4x16x8xf32>
  return %1, %3 : tensor<4x128xf32>, tensor<4x16x8xf32>
}

// A dimension of heads and one of parts, of which one is selected: the product has no unit dimension.
// CHECK-LABEL: func @unitDimension
func.func @unitDimension(%q: tensor<2x3x4x8xf32>, %k: tensor<2x4x1x16x8xf32>) -> tensor<2x4x3x16xf32> {
  // CHECK: weft.dot_general {{.*}} : (tensor<2x3x4x8xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x3x16xf32>
  // CHECK-NEXT: return
  %0 = weft.dot_general %q, %k batch [0, 2] x [0, 1] contract [3] x [4] : (tensor<2x3x4x8xf32>, tensor<2x4x1x16x8xf32>) -> tensor<2x4x3x1x16xf32>
  %1 = weft.reshape %0 : tensor<2x4x3x1x16xf32> to tensor<2x4x3x16xf32>
  return %1 : tensor<2x4x3x16xf32>
}

// What is repeated is viewed before it is.
// CHECK-LABEL: func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @broadcast(%x: tensor<4x8xf32>) -> (tensor<8x2x4xf32>, tensor<2x32xf32>) {
  // CHECK-DAG: %[[T:.*]] = weft.transpose %[[X]] [1, 0]
  // CHECK-DAG: weft.broadcast %[[T]] dims [0, 2] : tensor<8x4xf32> to tensor<8x2x4xf32>
  // CHECK-DAG: %[[R:.*]] = weft.reshape %[[X]] : tensor<4x8xf32> to tensor<32xf32>
  // CHECK-DAG: weft.broadcast %[[R]] dims [1] : tensor<32xf32> to tensor<2x32xf32>
  %0 = weft.broadcast %x dims [1, 2] : tensor<4x8xf32> to tensor<2x4x8xf32>
  %1 = weft.transpose %0 [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  %2 = weft.reshape %0 : tensor<2x4x8xf32> to tensor<2x32xf32>
  return %1, %2 : tensor<8x2x4xf32>, tensor<2x32xf32>
}

// Heads that both operands joined, one of them with more at once: one query a head, as decoders have it.
// CHECK-LABEL: func @oneQuery
// CHECK-SAME: (%[[Q:.*]]: tensor<2x1x24xf32>, %[[K:.*]]: tensor<2x3x16x8xf32>)
func.func @oneQuery(%q: tensor<2x1x24xf32>, %k: tensor<2x3x16x8xf32>) -> tensor<2x3x1x16xf32> {
  // CHECK: %[[H:.*]] = weft.reshape %[[Q]] : tensor<2x1x24xf32> to tensor<2x3x1x8xf32>
  // CHECK: %[[P:.*]] = weft.dot_general %[[H]], %[[K]] batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x3x1x8xf32>, tensor<2x3x16x8xf32>) -> tensor<2x3x1x16xf32>
  // CHECK: return %[[P]]
  %0 = weft.reshape %q : tensor<2x1x24xf32> to tensor<6x1x8xf32>
  %1 = weft.reshape %k : tensor<2x3x16x8xf32> to tensor<6x16x8xf32>
  %2 = weft.dot_general %0, %1 batch [0] x [0] contract [2] x [2] : (tensor<6x1x8xf32>, tensor<6x16x8xf32>) -> tensor<6x1x16xf32>
  %3 = weft.reshape %2 : tensor<6x1x16xf32> to tensor<2x3x1x16xf32>
  return %3 : tensor<2x3x1x16xf32>
}
