// RUN: weft-opt %s --split-input-file --weft-propagate-shardings --weft-partition --canonicalize --cse | FileCheck %s

// Rows of the second weight lie as columns of the first: 5 over 4 are 2, 2, 1, 0. What is read across is made zero once, since
// e⁰ is not; the weight's padding is zero. The product of rows is all_reduced.
dist.mesh @mesh <["model"=4]>
weft.weight @up : tensor<8x5xf32> = #weft.external<"w", 0, 160>
weft.weight @down : tensor<5x8xf32> = #weft.external<"w", 160, 160>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<3x8xf32> {weft.name = "x"}) -> (tensor<3x8xf32> {weft.name = "y"}) {
  // CHECK: %[[UP:.*]] = dist.load_shard @up {{.*}} sharding <@mesh, [{}, {"model"}]> : tensor<8x2xf32>
  // CHECK: %[[H:.*]] = weft.dot_general %{{.*}}, %[[UP]] {{.*}} -> tensor<3x2xf32>
  // CHECK: %[[E:.*]] = weft.exp %[[H]] : tensor<3x2xf32>
  // CHECK: %[[M:.*]] = dist.mask_padding sum %[[E]] dim 1 of 5 axes ["model"] on @mesh : tensor<3x2xf32>
  // CHECK: %[[DOWN:.*]] = dist.load_shard @down {{.*}} sharding <@mesh, [{"model"}, {}]> : tensor<2x8xf32>
  // CHECK-NOT: mask_padding
  // CHECK: %[[P:.*]] = weft.dot_general %[[M]], %[[DOWN]]
  // CHECK: dist.all_reduce sum %[[P]]
  %up = weft.load @up : tensor<8x5xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>} : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  %1 = weft.exp %0 : tensor<3x5xf32>
  %down = weft.load @down : tensor<5x8xf32>
  %2 = weft.dot_general %1, %down batch [] x [] contract [1] x [0] : (tensor<3x5xf32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}

// -----

// Without anything between, zeros of the weights stay zeros: nothing is masked.
dist.mesh @mesh <["model"=4]>
weft.weight @up : tensor<8x5xf32> = #weft.external<"w", 0, 160>
weft.weight @down : tensor<5x8xf32> = #weft.external<"w", 160, 160>
// CHECK-LABEL: func.func @main
// CHECK-NOT: mask_padding
func.func @main(%x: tensor<3x8xf32> {weft.name = "x"}) -> (tensor<3x8xf32> {weft.name = "y"}) {
  %up = weft.load @up : tensor<8x5xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>} : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  %down = weft.load @down : tensor<5x8xf32>
  %2 = weft.dot_general %0, %down batch [] x [] contract [1] x [0] : (tensor<3x5xf32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}

// -----

// A whole value is lengthened before it is cut, and cut where it ends once it is joined.
dist.mesh @mesh <["x"=2]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<5x4xf32>
func.func @main(%x: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {}]>, weft.name = "x"})
    -> (tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {}]>, weft.name = "y"}) {
  // CHECK: %[[P:.*]] = weft.pad %[[X]], %{{.*}} low [0, 0] high [1, 0] : (tensor<5x4xf32>, tensor<f32>) -> tensor<6x4xf32>
  // CHECK: %[[S:.*]] = dist.slice %[[P]] dim 0 axes ["x"] on @mesh : tensor<6x4xf32> -> tensor<3x4xf32>
  // CHECK: %[[E:.*]] = weft.exp %[[S]] : tensor<3x4xf32>
  // CHECK: %[[G:.*]] = dist.all_gather %[[E]] dim 0 axes ["x"] on @mesh : tensor<3x4xf32> -> tensor<6x4xf32>
  // CHECK: weft.slice %[[G]] starts [0, 0] strides [1, 1] : tensor<6x4xf32> to tensor<5x4xf32>
  %0 = weft.exp %x {dist.sharding = #dist.sharding<@mesh, [{"x"}, {}]>} : tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

// Maxima over padding start from the least value; indices in padding are legal.
dist.mesh @mesh <["x"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"}, {}]>, weft.name = "x"},
                %ids: tensor<3xi64> {dist.sharding = #dist.sharding<@mesh, [{"x"}]>, weft.name = "ids"},
                %table: tensor<9x4xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {}]>, weft.name = "table"})
    -> (tensor<4xf32> {weft.name = "y"}, tensor<3x4xf32> {weft.name = "z"}) {
  // CHECK: dist.mask_padding max %{{.*}} dim 0 of 5 axes ["x"] on @mesh : tensor<3x4xf32>
  %0 = weft.reduce max %x dims [0] : tensor<5x4xf32> -> tensor<4xf32>
  // CHECK: %[[I:.*]] = weft.add
  // CHECK: dist.mask_padding sum %[[I]] dim 0 of 3 axes ["x"] on @mesh : tensor<2xi64>
  %1 = weft.add %ids, %ids : tensor<3xi64>
  %2 = weft.gather %table, %1 axis 0 : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %0, %2 : tensor<4xf32>, tensor<3x4xf32>
}

// -----

// 7 heads over 2 are 4 and 3; where they are joined with their elements, blocks are of whole heads.
dist.mesh @mesh <["x"=2]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<2x64xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"x"} unit 16]>, weft.global_type = tensor<2x112xf32>
func.func @main(%x: tensor<2x7x16xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}, {}]>, weft.name = "x"})
    -> (tensor<2x112xf32> {weft.name = "y"}) {
  // CHECK: weft.reshape %{{.*}} : tensor<2x4x16xf32> to tensor<2x64xf32>
  %0 = weft.reshape %x : tensor<2x7x16xf32> to tensor<2x112xf32>
  return %0 : tensor<2x112xf32>
}
