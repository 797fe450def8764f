// RUN: weft-opt %s --split-input-file --weft-partition --canonicalize --cse | FileCheck %s

// The gradient of an embedding, the batch split: each device adds up its own updates, one all_reduce joins the sums,
// which are fewer than the updates.
dist.mesh @mesh <["data"=2]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[IDS:.*]]: tensor<2x60x1xi64>{{.*}}, %[[U:.*]]: tensor<2x60x8xf32>
func.func @main(%ids: tensor<4x60x1xi64> {weft.name = "ids", dist.sharding = #dist.sharding<@mesh, [{"data"}, {}, {}]>},
                %u: tensor<4x60x8xf32> {weft.name = "u", dist.sharding = #dist.sharding<@mesh, [{"data"}, {}, {}]>})
    -> (tensor<8x8xf32> {weft.name = "y"}) {
  // CHECK: %[[ZERO:.*]] = weft.constant dense<0.000000e+00> : tensor<8x8xf32>
  // CHECK: %[[PART:.*]] = weft.scatter_nd add %[[ZERO]], %[[IDS]], %[[U]] :
  // CHECK: dist.all_reduce sum %[[PART]] axes ["data"] on @mesh : tensor<8x8xf32>
  %zero = weft.constant dense<0.0> : tensor<8x8xf32>
  %0 = weft.scatter_nd add %zero, %ids, %u : (tensor<8x8xf32>, tensor<4x60x1xi64>, tensor<4x60x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// The vocabulary split: each device takes the updates of the rows that it holds.
dist.mesh @mesh <["model"=4]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[IDS:.*]]: tensor<6x1xi64>{{.*}}, %[[U:.*]]: tensor<6x8xf32>
func.func @main(%ids: tensor<6x1xi64> {weft.name = "ids"}, %u: tensor<6x8xf32> {weft.name = "u"})
    -> (tensor<64x8xf32> {weft.name = "y", dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}) {
  // CHECK-DAG: %[[ZERO:.*]] = weft.constant dense<0.000000e+00> : tensor<16x8xf32>
  // CHECK-DAG: %[[O:.*]] = dist.offset axes ["model"] block 16 on @mesh : tensor<i64>
  // CHECK: weft.scatter_nd add %[[ZERO]], %[[IDS]], %[[U]] offset %[[O]] : tensor<i64> extent 64
  // CHECK-NOT: dist.all
  %zero = weft.constant {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>} dense<0.0> : tensor<64x8xf32>
  %0 = weft.scatter_nd add %zero, %ids, %u {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>} : (tensor<64x8xf32>, tensor<6x1xi64>, tensor<6x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
