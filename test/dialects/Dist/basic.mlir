// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s

// CHECK: dist.mesh @mesh <["data"=2, "model"=4]>
dist.mesh @mesh <["data"=2, "model"=4]>
// CHECK: dist.mesh @turned <["x"=2, "y"=2], device_order = [0, 2, 1, 3]>
dist.mesh @turned <["x"=2, "y"=2], device_order = [0, 2, 1, 3]>

// CHECK: dist.mesh @behind <["x"=2], first_device = 8>
dist.mesh @behind <["x"=2], first_device = 8>
// CHECK: dist.mesh @last <["x"=2], device_order = [1, 0], first_device = 10>
dist.mesh @last <["x"=2], first_device = 10, device_order = [1, 0]>

// CHECK: weft.weight @tied {{.*}} {dist.pinned = array<i1: true, false>, dist.shardings = [#dist.sharding<@behind, [{"x"}]>, #dist.sharding<@last, [{}]>]}
weft.weight @tied : tensor<8xf32> = #weft.external<"w.data", 0, 32> {dist.pinned = array<i1: true, false>, dist.shardings = [#dist.sharding<@behind, [{"x"}]>, #dist.sharding<@last, [{}]>]}
weft.weight @qkv : tensor<8x96xf32> = #weft.external<"w.data", 0, 3072>

// CHECK-LABEL: func.func @attributes(
// CHECK-SAME: %{{.*}}: tensor<8x16xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model":(1)2}], partial = sum{"model":(2)2}>}
func.func @attributes(%x: tensor<8x16xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model":(1)2}], partial = sum{"model":(2)2}>})
    -> (tensor<4x16xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>, weft.global_type = tensor<8x16xf32>}) {
  // CHECK: weft.add {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data", "model"}, {}]>}
  %0 = weft.add %x, %x {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data", "model"}, {}]>} : tensor<8x16xf32>
  %1 = dist.slice %0 dim 0 axes ["data"] on @mesh : tensor<8x16xf32> -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// 7 columns in blocks of 2, 5 groups of 3 rows in blocks of 9.
// CHECK-LABEL: func.func @padded(
// CHECK-SAME: tensor<9x2xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"} unit 3, {"model"}]>, weft.global_type = tensor<15x7xf32>}
func.func @padded(%x: tensor<9x2xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"} unit 3, {"model"}]>, weft.global_type = tensor<15x7xf32>}) -> tensor<9x2xf32> {
  // CHECK: dist.mask_padding max %{{.*}} dim 1 of 7 axes ["model"] on @mesh : tensor<9x2xf32>
  %0 = dist.mask_padding max %x dim 1 of 7 axes ["model"] on @mesh : tensor<9x2xf32>
  return %0 : tensor<9x2xf32>
}

// CHECK-LABEL: func.func @collectives(
func.func @collectives(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // CHECK: dist.all_gather %{{.*}} dim 1 axes ["model"] on @mesh : tensor<4x16xf32> -> tensor<4x64xf32>
  %0 = dist.all_gather %x dim 1 axes ["model"] on @mesh : tensor<4x16xf32> -> tensor<4x64xf32>
  // CHECK: dist.all_reduce max %{{.*}} axes ["data", "model"] on @mesh : tensor<4x64xf32>
  %1 = dist.all_reduce max %0 axes ["data", "model"] on @mesh : tensor<4x64xf32>
  // CHECK: dist.reduce_scatter sum %{{.*}} dim 0 axes ["model":(1)2] on @mesh : tensor<4x64xf32> -> tensor<2x64xf32>
  %2 = dist.reduce_scatter sum %1 dim 0 axes ["model":(1)2] on @mesh : tensor<4x64xf32> -> tensor<2x64xf32>
  // CHECK: dist.all_to_all %{{.*}} split 1 concat 0 axes ["data"] on @mesh : tensor<2x64xf32> -> tensor<4x32xf32>
  %3 = dist.all_to_all %2 split 1 concat 0 axes ["data"] on @mesh : tensor<2x64xf32> -> tensor<4x32xf32>
  // CHECK: dist.slice %{{.*}} dim 1 axes ["data"] on @mesh : tensor<4x32xf32> -> tensor<4x16xf32>
  %4 = dist.slice %3 dim 1 axes ["data"] on @mesh : tensor<4x32xf32> -> tensor<4x16xf32>
  // CHECK: dist.permute %{{.*}} from ["x", "y"] to ["y", "x"] on @turned : tensor<4x16xf32>
  %5 = dist.permute %4 from ["x", "y"] to ["y", "x"] on @turned : tensor<4x16xf32>
  return %5 : tensor<4x16xf32>
}

// CHECK-LABEL: func.func @offset(
func.func @offset() -> tensor<i64> {
  // CHECK: dist.offset axes ["data", "model"] block 128 on @mesh : tensor<i64>
  %0 = dist.offset axes ["data", "model"] block 128 on @mesh : tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @load_shard(
func.func @load_shard() -> tensor<8x2x4xf32> {
  // CHECK: dist.load_shard @qkv start 32 shape [8, 8, 4] strides [96, 4, 1] sharding <@mesh, [{}, {"model"}, {}]> : tensor<8x2x4xf32>
  %0 = dist.load_shard @qkv start 32 shape [8, 8, 4] strides [96, 4, 1] sharding <@mesh, [{}, {"model"}, {}]> : tensor<8x2x4xf32>
  return %0 : tensor<8x2x4xf32>
}

weft.weight kind(state) @cache : tensor<2x8x4xf32> = dense<0.0> : tensor<2x8x4xf32>
// CHECK-LABEL: func.func @store_shard(
func.func @store_shard(%x: tensor<1x2x4xf32>) {
  // CHECK: dist.store_shard @cache, %{{.*}} sharding <@mesh, [{"data"}, {"model"}, {}]> : tensor<1x2x4xf32>
  dist.store_shard @cache, %x sharding <@mesh, [{"data"}, {"model"}, {}]> : tensor<1x2x4xf32>
  return
}

// CHECK-LABEL: func.func @result_of(
func.func @result_of() -> tensor<8x2x4xf32> {
  // CHECK: dist.result_of @load_shard 0 : tensor<8x2x4xf32>
  %0 = dist.result_of @load_shard 0 : tensor<8x2x4xf32>
  return %0 : tensor<8x2x4xf32>
}

// CHECK-LABEL: func.func @transfer(
func.func @transfer(%x: tensor<4x16xf32>) -> tensor<8x8xf32> {
  // CHECK: dist.transfer %{{.*}} from <@mesh, [{"data"}, {}]> to <@turned, [{}, {"x"}]> : tensor<4x16xf32> -> tensor<8x8xf32>
  %0 = dist.transfer %x from <@mesh, [{"data"}, {}]> to <@turned, [{}, {"x"}]> : tensor<4x16xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @part(
// CHECK-SAME: %{{.*}}: tensor<8xf32> {dist.arrival = #dist.sharding<@behind, [{"x"}]>, dist.sharding = #dist.sharding<@behind, [{}]>})
// CHECK-SAME: attributes {dist.mesh = @behind}
func.func @part(%x: tensor<8xf32> {dist.arrival = #dist.sharding<@behind, [{"x"}]>, dist.sharding = #dist.sharding<@behind, [{}]>}) -> tensor<8xf32> attributes {dist.mesh = @behind} {
  return %x : tensor<8xf32>
}

func.func private @first() -> tensor<8xf32> attributes {dist.mesh = @behind}
func.func private @second() -> tensor<8xf32> attributes {dist.mesh = @last}
func.func private @read(tensor<8xf32>) attributes {dist.mesh = @last}
// CHECK-LABEL: func.func @cross_mesh_all_reduce(
func.func @cross_mesh_all_reduce() {
  // CHECK: %[[A:.*]] = call @first()
  %0 = call @first() : () -> tensor<8xf32>
  // CHECK: %[[B:.*]] = call @second()
  %1 = call @second() : () -> tensor<8xf32>
  // CHECK: %[[SUM:.*]]:2 = dist.cross_mesh_all_reduce sum %[[A]] on @behind, %[[B]] on @last : tensor<8xf32>
  %2:2 = dist.cross_mesh_all_reduce sum %0 on @behind, %1 on @last : tensor<8xf32>
  // CHECK: %[[MAX:.*]]:2 = dist.cross_mesh_all_reduce max %[[SUM]]#0 on @behind, %[[SUM]]#1 on @last {weft.note = "kept"} : tensor<8xf32>
  %3:2 = dist.cross_mesh_all_reduce max %2#0 on @behind, %2#1 on @last {weft.note = "kept"} : tensor<8xf32>
  // CHECK: call @read(%[[MAX]]#1)
  call @read(%3#1) : (tensor<8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @accumulate(
func.func @accumulate(%x: tensor<8xbf16>) -> tensor<8xf32> {
  // CHECK: dist.accumulate %{{.*}} : tensor<8xbf16> to tensor<8xf32>
  %0 = dist.accumulate %x : tensor<8xbf16> to tensor<8xf32>
  // CHECK: dist.accumulate %{{.*}} : tensor<8xbf16> to tensor<8xf32> onto %{{.*}} : tensor<8xf32>
  %1 = dist.accumulate %x : tensor<8xbf16> to tensor<8xf32> onto %0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @microbatch(
func.func @microbatch() -> tensor<i64> {
  // CHECK: dist.microbatch : tensor<i64>
  %0 = dist.microbatch : tensor<i64>
  return %0 : tensor<i64>
}
