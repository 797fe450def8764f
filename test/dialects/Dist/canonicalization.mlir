// RUN: weft-opt %s --canonicalize | FileCheck %s

dist.mesh @mesh <["x"=2, "y"=4, "one"=1]>

// CHECK-LABEL: func.func @groups_of_one(
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32>
func.func @groups_of_one(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = dist.all_gather %x dim 0 axes ["one"] on @mesh : tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = dist.all_reduce sum %0 axes ["one"] on @mesh : tensor<8x8xf32>
  %2 = dist.reduce_scatter sum %1 dim 0 axes ["one"] on @mesh : tensor<8x8xf32> -> tensor<8x8xf32>
  %3 = dist.all_to_all %2 split 0 concat 1 axes ["one"] on @mesh : tensor<8x8xf32> -> tensor<8x8xf32>
  %4 = dist.slice %3 dim 0 axes ["one"] on @mesh : tensor<8x8xf32> -> tensor<8x8xf32>
  %5 = dist.permute %4 from ["x"] to ["x"] on @mesh : tensor<8x8xf32>
  // CHECK: return %[[X]]
  return %5 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @inverse_pairs(
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32>
func.func @inverse_pairs(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = dist.all_gather %x dim 0 axes ["x"] on @mesh : tensor<8x8xf32> -> tensor<16x8xf32>
  %1 = dist.slice %0 dim 0 axes ["x"] on @mesh : tensor<16x8xf32> -> tensor<8x8xf32>
  %2 = dist.slice %1 dim 1 axes ["y"] on @mesh : tensor<8x8xf32> -> tensor<8x2xf32>
  %3 = dist.all_gather %2 dim 1 axes ["y"] on @mesh : tensor<8x2xf32> -> tensor<8x8xf32>
  %4 = dist.all_to_all %3 split 0 concat 1 axes ["x"] on @mesh : tensor<8x8xf32> -> tensor<4x16xf32>
  %5 = dist.all_to_all %4 split 1 concat 0 axes ["x"] on @mesh : tensor<4x16xf32> -> tensor<8x8xf32>
  %6 = dist.permute %5 from ["x", "y"] to ["y", "x"] on @mesh : tensor<8x8xf32>
  %7 = dist.permute %6 from ["y", "x"] to ["x", "y"] on @mesh : tensor<8x8xf32>
  // CHECK: return %[[X]]
  return %7 : tensor<8x8xf32>
}

// Blocks lie first axis major: of a gather over [x, y], a slice over [x] leaves the gather over [y].
// CHECK-LABEL: func.func @slice_of_gather_prefix(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>, %[[Y:.*]]: tensor<8xf32>
func.func @slice_of_gather_prefix(%x: tensor<2xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<2xf32>) {
  // CHECK: %[[G:.*]] = dist.all_gather %[[X]] dim 0 axes ["y"] on @mesh : tensor<2xf32> -> tensor<8xf32>
  %0 = dist.all_gather %x dim 0 axes ["x", "y"] on @mesh : tensor<2xf32> -> tensor<16xf32>
  %1 = dist.slice %0 dim 0 axes ["x"] on @mesh : tensor<16xf32> -> tensor<8xf32>
  // CHECK: %[[S:.*]] = dist.slice %[[Y]] dim 0 axes ["y"] on @mesh : tensor<8xf32> -> tensor<2xf32>
  %2 = dist.all_gather %y dim 0 axes ["x"] on @mesh : tensor<8xf32> -> tensor<16xf32>
  %3 = dist.slice %2 dim 0 axes ["x", "y"] on @mesh : tensor<16xf32> -> tensor<2xf32>
  // CHECK: return %[[G]], %[[S]]
  return %1, %3 : tensor<8xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @gather_of_slice_suffix(
// CHECK-SAME: %[[X:.*]]: tensor<16xf32>
func.func @gather_of_slice_suffix(%x: tensor<16xf32>) -> (tensor<8xf32>, tensor<32xf32>) {
  // CHECK: %[[S:.*]] = dist.slice %[[X]] dim 0 axes ["x"] on @mesh : tensor<16xf32> -> tensor<8xf32>
  %0 = dist.slice %x dim 0 axes ["x", "y"] on @mesh : tensor<16xf32> -> tensor<2xf32>
  %1 = dist.all_gather %0 dim 0 axes ["y"] on @mesh : tensor<2xf32> -> tensor<8xf32>
  // CHECK: %[[G:.*]] = dist.all_gather %[[X]] dim 0 axes ["x"] on @mesh : tensor<16xf32> -> tensor<32xf32>
  %2 = dist.slice %x dim 0 axes ["y"] on @mesh : tensor<16xf32> -> tensor<4xf32>
  %3 = dist.all_gather %2 dim 0 axes ["x", "y"] on @mesh : tensor<4xf32> -> tensor<32xf32>
  // CHECK: return %[[S]], %[[G]]
  return %1, %3 : tensor<8xf32>, tensor<32xf32>
}

// The order of axes matters: this pair permutes blocks and stays.
// CHECK-LABEL: func.func @gather_then_other_order(
func.func @gather_then_other_order(%x: tensor<2xf32>) -> tensor<8xf32> {
  // CHECK: dist.all_gather {{.*}} ["x", "y"]
  // CHECK: dist.slice {{.*}} ["y"]
  %0 = dist.all_gather %x dim 0 axes ["x", "y"] on @mesh : tensor<2xf32> -> tensor<16xf32>
  %1 = dist.slice %0 dim 0 axes ["y"] on @mesh : tensor<16xf32> -> tensor<4xf32>
  %2 = dist.all_gather %1 dim 0 axes ["x"] on @mesh : tensor<4xf32> -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func.func @merge_same_kind(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>
func.func @merge_same_kind(%x: tensor<8xf32>) -> (tensor<64xf32>, tensor<8xf32>, tensor<1xf32>) {
  // CHECK: %[[G:.*]] = dist.all_gather %[[X]] dim 0 axes ["x", "y"]
  %0 = dist.all_gather %x dim 0 axes ["y"] on @mesh : tensor<8xf32> -> tensor<32xf32>
  %1 = dist.all_gather %0 dim 0 axes ["x"] on @mesh : tensor<32xf32> -> tensor<64xf32>
  // CHECK: %[[R:.*]] = dist.all_reduce sum %[[X]] axes ["y", "x"]
  %2 = dist.all_reduce sum %x axes ["y"] on @mesh : tensor<8xf32>
  %3 = dist.all_reduce sum %2 axes ["x"] on @mesh : tensor<8xf32>
  // CHECK: %[[S:.*]] = dist.slice %[[X]] dim 0 axes ["y", "x"]
  %4 = dist.slice %x dim 0 axes ["y"] on @mesh : tensor<8xf32> -> tensor<2xf32>
  %5 = dist.slice %4 dim 0 axes ["x"] on @mesh : tensor<2xf32> -> tensor<1xf32>
  // CHECK: return %[[G]], %[[R]], %[[S]]
  return %1, %3, %5 : tensor<64xf32>, tensor<8xf32>, tensor<1xf32>
}

// CHECK-LABEL: func.func @merge_kinds(
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32>
func.func @merge_kinds(%x: tensor<8x8xf32>) -> (tensor<2x8xf32>, tensor<8x8xf32>, tensor<16x4xf32>) {
  // CHECK: %[[P:.*]] = dist.reduce_scatter sum %[[X]] dim 0 axes ["y"] on @mesh
  // CHECK: %[[S:.*]] = dist.all_reduce sum %[[P]] axes ["x"]
  %0 = dist.all_reduce sum %x axes ["x", "y"] on @mesh : tensor<8x8xf32>
  %1 = dist.slice %0 dim 0 axes ["y"] on @mesh : tensor<8x8xf32> -> tensor<2x8xf32>
  // CHECK: %[[R:.*]] = dist.all_reduce max %[[X]] axes ["x"]
  %2 = dist.reduce_scatter max %x dim 1 axes ["x"] on @mesh : tensor<8x8xf32> -> tensor<8x4xf32>
  %3 = dist.all_gather %2 dim 1 axes ["x"] on @mesh : tensor<8x4xf32> -> tensor<8x8xf32>
  // CHECK: %[[A:.*]] = dist.all_to_all %[[X]] split 1 concat 0 axes ["x"]
  %4 = dist.all_gather %x dim 0 axes ["x"] on @mesh : tensor<8x8xf32> -> tensor<16x8xf32>
  %5 = dist.slice %4 dim 1 axes ["x"] on @mesh : tensor<16x8xf32> -> tensor<16x4xf32>
  // CHECK: return %[[S]], %[[R]], %[[A]]
  return %1, %3, %5 : tensor<2x8xf32>, tensor<8x8xf32>, tensor<16x4xf32>
}

// CHECK-LABEL: func.func @sum_of_reduces(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>
func.func @sum_of_reduces(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[L:.*]] = weft.add %[[X]], %[[Y]]
  // CHECK: %[[R:.*]] = dist.all_reduce sum %[[L]] axes ["x"]
  %0 = dist.all_reduce sum %x axes ["x"] on @mesh : tensor<8xf32>
  %1 = dist.all_reduce sum %y axes ["x"] on @mesh : tensor<8xf32>
  %2 = weft.add %0, %1 : tensor<8xf32>
  // CHECK: return %[[R]]
  return %2 : tensor<8xf32>
}

// Biases and a residual stand between: both branches are still reduced once.
// CHECK-LABEL: func.func @sum_with_other_addends(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>, %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>
func.func @sum_with_other_addends(%x: tensor<8xf32>, %y: tensor<8xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[L:.*]] = weft.add %[[X]], %[[Y]]
  // CHECK: %[[R:.*]] = dist.all_reduce sum %[[L]] axes ["x"]
  // CHECK: %[[S:.*]] = weft.add %[[R]], %[[A]]
  // CHECK: %[[T:.*]] = weft.add %[[S]], %[[B]]
  %0 = dist.all_reduce sum %x axes ["x"] on @mesh : tensor<8xf32>
  %1 = weft.add %0, %a : tensor<8xf32>
  %2 = dist.all_reduce sum %y axes ["x"] on @mesh : tensor<8xf32>
  %3 = weft.add %2, %b : tensor<8xf32>
  %4 = weft.add %1, %3 : tensor<8xf32>
  // CHECK: return %[[T]]
  return %4 : tensor<8xf32>
}

// CHECK-LABEL: func.func @difference_of_reduces(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>
func.func @difference_of_reduces(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[L:.*]] = weft.sub %[[X]], %[[Y]]
  // CHECK: dist.all_reduce sum %[[L]] axes ["x"]
  %0 = dist.all_reduce sum %x axes ["x"] on @mesh : tensor<8xf32>
  %1 = dist.all_reduce sum %y axes ["x"] on @mesh : tensor<8xf32>
  %2 = weft.sub %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Maxima do not add, and a reduction that is used elsewhere stays.
// CHECK-LABEL: func.func @kept(
func.func @kept(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: dist.all_reduce max
  // CHECK: dist.all_reduce max
  // CHECK: %[[ADD:.*]] = weft.add
  // CHECK: %[[S:.*]] = dist.all_reduce sum
  // CHECK: weft.add %[[ADD]], %[[S]]
  %0 = dist.all_reduce max %x axes ["x"] on @mesh : tensor<8xf32>
  %1 = dist.all_reduce max %y axes ["x"] on @mesh : tensor<8xf32>
  %2 = weft.add %0, %1 : tensor<8xf32>
  %3 = dist.all_reduce sum %x axes ["x"] on @mesh : tensor<8xf32>
  %4 = weft.add %2, %3 : tensor<8xf32>
  return %4, %3 : tensor<8xf32>, tensor<8xf32>
}

dist.mesh @first <["x"=2], first_device = 16>
dist.mesh @second <["x"=2], first_device = 18>
func.func private @on_first() -> tensor<8xf32> attributes {dist.mesh = @first}
func.func private @on_second() -> tensor<8xf32> attributes {dist.mesh = @second}

// One mesh has nothing to join.
// CHECK-LABEL: func.func @one_mesh(
func.func @one_mesh() -> tensor<8xf32> {
  // CHECK: %[[A:.*]] = call @on_first()
  %0 = call @on_first() : () -> tensor<8xf32>
  %1 = dist.cross_mesh_all_reduce sum %0 on @first : tensor<8xf32>
  // CHECK-NEXT: return %[[A]]
  return %1 : tensor<8xf32>
}

// The largest of equal values is each of them; their sum is not.
// CHECK-LABEL: func.func @reduced_twice(
func.func @reduced_twice() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @on_first() : () -> tensor<8xf32>
  %1 = call @on_second() : () -> tensor<8xf32>
  // CHECK: %[[MAX:.*]]:2 = dist.cross_mesh_all_reduce max
  %2:2 = dist.cross_mesh_all_reduce max %0 on @first, %1 on @second : tensor<8xf32>
  %3:2 = dist.cross_mesh_all_reduce max %2#0 on @first, %2#1 on @second : tensor<8xf32>
  // CHECK: %[[SUM:.*]]:2 = dist.cross_mesh_all_reduce sum %[[MAX]]#0 on @first, %[[MAX]]#1 on @second
  %4:2 = dist.cross_mesh_all_reduce sum %3#0 on @first, %3#1 on @second : tensor<8xf32>
  // CHECK: return %[[MAX]]#0, %[[SUM]]#1
  return %3#0, %4#1 : tensor<8xf32>, tensor<8xf32>
}
