// RUN: weft-opt %s --weft-propagate-shardings --weft-partition --split-input-file | FileCheck %s

// What is stored and what is loaded lie in one way: the split of the new row reaches the cache.
// CHECK: weft.weight kind(state) @cache
// CHECK-SAME: dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"}, {}]>
// CHECK-LABEL: func.func @main
module {
  dist.mesh @mesh <["data"=2, "model"=2]>
  weft.weight kind(state) @cache : tensor<2x4x8xf32> = dense<0.0> : tensor<2x4x8xf32>
  func.func @main(%row: tensor<2x4x1xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"}, {}]>, weft.name = "row"},
                  %at: tensor<2x4x1xi64> {weft.name = "at"}) -> (tensor<2x4x8xf32> {weft.name = "y"}) {
    // CHECK: %[[OLD:.*]] = dist.load_shard @cache start 0 shape [2, 4, 8] strides [32, 8, 1] sharding <@mesh, [{"data"}, {"model"}, {}]> : tensor<1x2x8xf32>
    %old = weft.load @cache : tensor<2x4x8xf32>
    // CHECK: %[[NEW:.*]] = weft.scatter_elements set %[[OLD]]
    %new = weft.scatter_elements set %old, %at, %row axis 2 : (tensor<2x4x8xf32>, tensor<2x4x1xi64>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
    // CHECK: dist.store_shard @cache, %[[NEW]] sharding <@mesh, [{"data"}, {"model"}, {}]> : tensor<1x2x8xf32>
    weft.store @cache, %new : tensor<2x4x8xf32>
    return %new : tensor<2x4x8xf32>
  }
}

// -----

// A state that is pinned otherwise is brought to its use, and back to its place.
// CHECK-LABEL: func.func @main
module {
  dist.mesh @mesh <["x"=2]>
  weft.weight kind(state) @w : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"x"}, {}]>}
  func.func @main(%x: tensor<4x4xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>, weft.name = "x"})
      -> (tensor<4x4xf32> {weft.name = "y", dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>}) {
    // CHECK: %[[W:.*]] = dist.load_shard @w {{.*}} sharding <@mesh, [{"x"}, {}]> : tensor<2x4xf32>
    %w = weft.load @w : tensor<4x4xf32>
    // CHECK: dist.all_to_all
    %0 = weft.add %w, %x {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>} : tensor<4x4xf32>
    // CHECK: %[[BACK:.*]] = dist.all_to_all
    // CHECK: dist.store_shard @w, %[[BACK]] sharding <@mesh, [{"x"}, {}]> : tensor<2x4xf32>
    weft.store @w, %0 : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
