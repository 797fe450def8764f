// RUN: weft-opt --weft-decompose-padding %s | FileCheck %s

dist.mesh @mesh <["model"=4]>

// What lies behind the seventh column, counted over all devices, becomes zero.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[X:.*]]: tensor<8x2xf32>
// CHECK-DAG: %[[START:.*]] = dist.offset axes ["model"] block 2 on @mesh : tensor<i64>
// CHECK-DAG: %[[EXTENT:.*]] = weft.constant dense<7> : tensor<i64>
// CHECK: %[[LEFT:.*]] = weft.sub %[[EXTENT]], %[[START]] : tensor<i64>
// CHECK: %[[NARROW:.*]] = weft.cast %[[LEFT]] : tensor<i64> to tensor<i32>
// CHECK: %[[LIMIT:.*]] = weft.broadcast %[[NARROW]] dims [] : tensor<i32> to tensor<8x2xi32>
// CHECK: %[[I:.*]] = weft.iota 1 : tensor<8x2xi32>
// CHECK: %[[ZERO:.*]] = weft.constant dense<0.000000e+00> : tensor<8x2xf32>
// CHECK: %[[INSIDE:.*]] = weft.compare lt %[[I]], %[[LIMIT]] : tensor<8x2xi32>
// CHECK: %[[Y:.*]] = weft.select %[[INSIDE]], %[[X]], %[[ZERO]]
// CHECK: return %[[Y]]
func.func @sum(%x: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = dist.mask_padding sum %x dim 1 of 7 axes ["model"] on @mesh : tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// CHECK-LABEL: func.func @identities(
// CHECK: weft.constant dense<0xFF800000> : tensor<2xf32>
// CHECK: weft.constant dense<0x7F800000> : tensor<2xf32>
// CHECK: weft.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK: weft.constant dense<-128> : tensor<2xi8>
// CHECK: weft.constant dense<true> : tensor<2xi1>
func.func @identities(%x: tensor<2xf32>, %i: tensor<2xi8>, %b: tensor<2xi1>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi8>, tensor<2xi1>) {
  %0 = dist.mask_padding max %x dim 0 of 7 axes ["model"] on @mesh : tensor<2xf32>
  %1 = dist.mask_padding min %x dim 0 of 7 axes ["model"] on @mesh : tensor<2xf32>
  %2 = dist.mask_padding prod %x dim 0 of 7 axes ["model"] on @mesh : tensor<2xf32>
  %3 = dist.mask_padding max %i dim 0 of 7 axes ["model"] on @mesh : tensor<2xi8>
  %4 = dist.mask_padding min %b dim 0 of 7 axes ["model"] on @mesh : tensor<2xi1>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi8>, tensor<2xi1>
}
