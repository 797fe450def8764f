// RUN: weft-opt %s --split-input-file --weft-partition --canonicalize --cse | FileCheck %s

// A vocabulary split over devices: each looks up the rows it has, the rest is zero, one all_reduce joins them.
dist.mesh @mesh <["model"=4]>
weft.weight @table : tensor<64x8xf32> = #weft.external<"w.data", 0, 2048>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[IDS:.*]]: tensor<2x6xi64>
func.func @main(%ids: tensor<2x6xi64> {weft.name = "ids"}) -> (tensor<2x6x8xf32> {weft.name = "y"}) {
  // CHECK: %[[T:.*]] = dist.load_shard @table {{.*}} : tensor<16x8xf32>
  // CHECK: %[[O:.*]] = dist.offset axes ["model"] block 16 on @mesh : tensor<i64>
  // CHECK: %[[P:.*]] = weft.gather %[[T]], %[[IDS]] offset %[[O]] : tensor<i64> axis 0 extent 64
  // CHECK: dist.all_reduce sum %[[P]] axes ["model"] on @mesh : tensor<2x6x8xf32>
  %table = weft.load @table {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>} : tensor<64x8xf32>
  %0 = weft.gather %table, %ids axis 0 : (tensor<64x8xf32>, tensor<2x6xi64>) -> tensor<2x6x8xf32>
  return %0 : tensor<2x6x8xf32>
}

// -----

// Partial products that are wanted split: reduce_scatter, then the next operation is local.
dist.mesh @mesh <["model"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>, weft.name = "x"},
                %w: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>, weft.name = "w"})
    -> (tensor<4x6xf32> {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>, weft.name = "y"}) {
  // CHECK: %[[P:.*]] = weft.dot_general {{.*}} -> tensor<4x6xf32>
  // CHECK: %[[S:.*]] = dist.reduce_scatter sum %[[P]] dim 0 axes ["model"] on @mesh : tensor<4x6xf32> -> tensor<2x6xf32>
  // CHECK: weft.tanh %[[S]] : tensor<2x6xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = weft.tanh %0 {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>} : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// A split that moves to another dimension is one all_to_all, shared by both uses; one that is only refined is a slice.
dist.mesh @mesh <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
func.func @main(%x: tensor<8x8xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"x"}, {}]>, weft.name = "x"})
    -> (tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>, weft.name = "moved"},
        tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>, weft.name = "again"},
        tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"x", "y"}, {}]>, weft.name = "refined"}) {
  // CHECK: %[[A:.*]] = dist.all_to_all %[[X]] split 1 concat 0 axes ["x"] on @mesh : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: %[[S:.*]] = dist.slice %[[X]] dim 0 axes ["y"] on @mesh : tensor<4x8xf32> -> tensor<2x8xf32>
  // CHECK: return %[[A]], %[[A]], %[[S]]
  return %x, %x, %x : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Two branches, both partial over one axis, are added before they are reduced, though biases stand between.
dist.mesh @mesh <["model"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>, weft.name = "x"},
                %w: tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>, weft.name = "w"},
                %v: tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>, weft.name = "v"},
                %b: tensor<4x8xf32> {weft.name = "b"})
    -> (tensor<4x8xf32> {weft.name = "y"}) {
  // CHECK: %[[P:.*]] = weft.dot_general
  // CHECK: %[[Q:.*]] = weft.dot_general
  // CHECK: %[[L:.*]] = weft.add %[[Q]], %[[P]]
  // CHECK: dist.all_reduce sum %[[L]] axes ["model"]
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.dot_general %x, %v batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = weft.add %0, %b : tensor<4x8xf32>
  %3 = weft.add %1, %2 : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// A partial sum is carried through linear operations that make it no larger.
dist.mesh @mesh <["model"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>, weft.name = "x"},
                %w: tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>, weft.name = "w"})
    -> (tensor<4xf32> {weft.name = "y"}) {
  // CHECK: %[[P:.*]] = weft.dot_general
  // CHECK: %[[V:.*]] = weft.reduce sum %[[P]] dims [1]
  // CHECK: dist.all_reduce sum %[[V]] axes ["model"] on @mesh : tensor<4xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Positions count from where the shard starts; splat constants have no position.
dist.mesh @mesh <["x"=2]>
// CHECK-LABEL: func.func @main
func.func @main() -> (tensor<8xi64> {dist.sharding = #dist.sharding<@mesh, [{"x"}]>, weft.name = "y"}) {
  // CHECK-DAG: %[[C:.*]] = weft.constant dense<3> : tensor<4xi64>
  // CHECK-DAG: %[[I:.*]] = weft.iota 0 : tensor<4xi64>
  // CHECK-DAG: %[[O:.*]] = dist.offset axes ["x"] block 4
  // CHECK-DAG: %[[B:.*]] = weft.broadcast %[[O]]
  // CHECK: %[[P:.*]] = weft.add %[[I]], %[[B]]
  // CHECK: weft.mul %[[P]], %[[C]]
  %0 = weft.iota 0 {dist.sharding = #dist.sharding<@mesh, [{"x"}]>} : tensor<8xi64>
  %1 = weft.constant {dist.sharding = #dist.sharding<@mesh, [{"x"}]>} dense<3> : tensor<8xi64>
  %2 = weft.mul %0, %1 {dist.sharding = #dist.sharding<@mesh, [{"x"}]>} : tensor<8xi64>
  return %2 : tensor<8xi64>
}

// -----

// A view that no strides express is computed; the weight is loaded as it is stored.
dist.mesh @mesh <["x"=2]>
weft.weight @w : tensor<4x8xf32> = #weft.external<"w.data", 0, 128>
// CHECK-LABEL: func.func @main
func.func @main() -> (tensor<32xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"}]>, weft.name = "y"}) {
  // CHECK: %[[W:.*]] = dist.load_shard @w start 0 shape [8, 4] strides [1, 8] sharding <@mesh, [{"x"}, {}]> : tensor<4x4xf32>
  // CHECK: %[[Y:.*]] = weft.reshape %[[W]] : tensor<4x4xf32> to tensor<16xf32>
  // CHECK: return %[[Y]]
  %w = weft.load @w : tensor<4x8xf32>
  %t = weft.transpose %w [1, 0] {dist.sharding = #dist.sharding<@mesh, [{"x"}, {}]>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %0 = weft.reshape %t {dist.sharding = #dist.sharding<@mesh, [{"x"}]>} : tensor<8x4xf32> to tensor<32xf32>
  return %0 : tensor<32xf32>
}

// -----

// Without a mesh, one device.
// CHECK: dist.mesh @mesh <[]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%{{.*}}: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [{}]>, weft.global_type = tensor<4xf32>, weft.name = "x"})
func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> (tensor<4xf32> {weft.name = "y"}) {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
