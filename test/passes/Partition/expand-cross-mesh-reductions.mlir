// RUN: weft-opt %s --split-input-file --weft-expand-cross-mesh-reductions | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-propagate-shardings --weft-expand-cross-mesh-reductions --weft-partition --canonicalize --cse | FileCheck %s --check-prefix=LOCAL

// Two meshes: each that reads it joins all values, in one order. Reductions that stand together share the parts.
dist.mesh @a <["data"=2]>
dist.mesh @b <[], first_device = 2>
func.func @part0(%x: tensor<8x4xf32> {dist.sharding = #dist.sharding<@a, [{"data"}, {}]>}) -> (tensor<4xf32>, tensor<4xf32>) attributes {dist.mesh = @a} {
  %g = weft.reduce sum %x dims [0] : tensor<8x4xf32> -> tensor<4xf32>
  %m = weft.reduce max %x dims [0] : tensor<8x4xf32> -> tensor<4xf32>
  return %g, %m : tensor<4xf32>, tensor<4xf32>
}
func.func @part1(%x: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dist.mesh = @b} {
  %g = weft.reduce sum %x dims [0] : tensor<8x4xf32> -> tensor<4xf32>
  %m = weft.reduce max %x dims [0] : tensor<8x4xf32> -> tensor<4xf32>
  return %g, %m : tensor<4xf32>, tensor<4xf32>
}
func.func @main(%x: tensor<8x4xf32> {weft.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = call @part0(%x) : (tensor<8x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1:2 = call @part1(%x) : (tensor<8x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2:2 = dist.cross_mesh_all_reduce sum %0#0 on @a, %1#0 on @b : tensor<4xf32>
  %3:2 = dist.cross_mesh_all_reduce max %0#1 on @a, %1#1 on @b : tensor<4xf32>
  return %2#0, %2#1, %3#0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @join_a(
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf32> {dist.sharding = #dist.sharding<@a, [{}]>}, %[[B:[^:]*]]: tensor<4xf32> {{{.*}}}, %[[C:[^:]*]]: tensor<4xf32> {{{.*}}}, %[[D:[^:]*]]: tensor<4xf32> {{{.*}}})
// CHECK-SAME: attributes {dist.mesh = @a, dist.propagated}
// CHECK-NEXT: %[[S:.*]] = weft.add %[[A]], %[[B]]
// CHECK-NEXT: %[[M:.*]] = weft.max %[[C]], %[[D]]
// CHECK-NEXT: return %[[S]], %[[M]]
// CHECK-LABEL: func.func @join_b(
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf32> {{{.*}}}, %[[B:[^:]*]]: tensor<4xf32> {{{.*}}})
// CHECK-NEXT: %[[S:.*]] = weft.add %[[A]], %[[B]]
// CHECK-NEXT: return %[[S]]
// CHECK-LABEL: func.func @main(
// CHECK: %[[P0:.*]]:2 = call @part0
// CHECK: %[[P1:.*]]:2 = call @part1
// CHECK: %[[JA:.*]]:2 = call @join_a(%[[P0]]#0, %[[P1]]#0, %[[P0]]#1, %[[P1]]#1)
// CHECK: %[[JB:.*]] = call @join_b(%[[P0]]#0, %[[P1]]#0)
// CHECK: return %[[JA]]#0, %[[JB]], %[[JA]]#1

// Each is reduced within its mesh first; devices that hold the same send a part of it each.
// LOCAL-LABEL: func.func @part0(
// LOCAL: dist.reduce_scatter sum
// LOCAL: dist.all_reduce max
// LOCAL-LABEL: func.func @main(
// LOCAL: dist.transfer %{{.*}} from <@b, [{}]> to <@a, [{}]> : tensor<4xf32> -> tensor<4xf32>
// LOCAL: dist.transfer %{{.*}} from <@a, [{"data"}]> to <@b, [{}]> : tensor<2xf32> -> tensor<4xf32>

// -----

// Three meshes and a large value: a chunk each along the dimension that no mesh splits and that divides. Within a mesh each device
// takes a piece: what is partial is scattered, and nobody gathers before the sums are known.
dist.mesh @a <["data"=2]>
dist.mesh @b <["data"=2], first_device = 2>
dist.mesh @c <["data"=2], first_device = 4>
func.func @part0(%x: tensor<1024x128xf32> {dist.sharding = #dist.sharding<@a, [{"data"}, {}]>}, %y: tensor<1024x384xf32> {dist.sharding = #dist.sharding<@a, [{"data"}, {}]>}) -> tensor<128x384xf32> attributes {dist.mesh = @a} {
  %g = weft.dot_general %x, %y batch [] x [] contract [0] x [0] : (tensor<1024x128xf32>, tensor<1024x384xf32>) -> tensor<128x384xf32>
  return %g : tensor<128x384xf32>
}
func.func @part1(%x: tensor<1024x128xf32> {dist.sharding = #dist.sharding<@b, [{"data"}, {}]>}, %y: tensor<1024x384xf32> {dist.sharding = #dist.sharding<@b, [{"data"}, {}]>}) -> tensor<128x384xf32> attributes {dist.mesh = @b} {
  %g = weft.dot_general %x, %y batch [] x [] contract [0] x [0] : (tensor<1024x128xf32>, tensor<1024x384xf32>) -> tensor<128x384xf32>
  return %g : tensor<128x384xf32>
}
func.func @part2(%x: tensor<1024x128xf32> {dist.sharding = #dist.sharding<@c, [{"data"}, {}]>}, %y: tensor<1024x384xf32> {dist.sharding = #dist.sharding<@c, [{"data"}, {}]>}) -> tensor<128x384xf32> attributes {dist.mesh = @c} {
  %g = weft.dot_general %x, %y batch [] x [] contract [0] x [0] : (tensor<1024x128xf32>, tensor<1024x384xf32>) -> tensor<128x384xf32>
  return %g : tensor<128x384xf32>
}
func.func @main(%x: tensor<1024x128xf32> {weft.name = "x"}, %y: tensor<1024x384xf32> {weft.name = "y"}) -> tensor<128x384xf32> {
  %0 = call @part0(%x, %y) : (tensor<1024x128xf32>, tensor<1024x384xf32>) -> tensor<128x384xf32>
  %1 = call @part1(%x, %y) : (tensor<1024x128xf32>, tensor<1024x384xf32>) -> tensor<128x384xf32>
  %2 = call @part2(%x, %y) : (tensor<1024x128xf32>, tensor<1024x384xf32>) -> tensor<128x384xf32>
  %3:3 = dist.cross_mesh_all_reduce sum %0 on @a, %1 on @b, %2 on @c : tensor<128x384xf32>
  return %3#1 : tensor<128x384xf32>
}
// CHECK-LABEL: func.func @part0(
// CHECK: %[[G:.*]] = weft.dot_general
// CHECK: %[[C0:.*]] = weft.slice %[[G]] starts [0, 0] strides [1, 1] {dist.sharding = #dist.sharding<@a, [{"data"}, {}]>} : tensor<128x384xf32> to tensor<128x128xf32>
// CHECK: %[[C1:.*]] = weft.slice %[[G]] starts [0, 128] strides [1, 1] {{.*}} to tensor<128x128xf32>
// CHECK: %[[C2:.*]] = weft.slice %[[G]] starts [0, 256] strides [1, 1] {{.*}} to tensor<128x128xf32>
// CHECK: return %[[G]], %[[C0]], %[[C1]], %[[C2]]
// CHECK-LABEL: func.func @join_c(
// CHECK: weft.add
// CHECK: weft.add
// CHECK-LABEL: func.func @collect_b(
// CHECK: weft.concat %{{.*}}, %{{.*}}, %{{.*}} axis 1 {dist.sharding = #dist.sharding<@b, [{"data"}, {}]>} : (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x384xf32>
// CHECK-LABEL: func.func @main(
// CHECK: %[[SA:.*]] = call @join_a(
// CHECK: %[[SB:.*]] = call @join_b(
// CHECK: %[[SC:.*]] = call @join_c(
// CHECK: %[[ALL:.*]] = call @collect_b(%[[SA]], %[[SB]], %[[SC]])
// CHECK: return %[[ALL]]
// LOCAL-LABEL: func.func @part1(
// LOCAL: %[[P:.*]] = weft.dot_general
// LOCAL-NOT: dist.all_reduce
// LOCAL: dist.reduce_scatter sum %[[P]] dim 0 axes ["data"] on @b : tensor<128x384xf32> -> tensor<64x384xf32>
// LOCAL-NOT: dist.all_gather
// LOCAL-LABEL: func.func @join_c(
// LOCAL: weft.add {{.*}} : tensor<64x128xf32>
// LOCAL-LABEL: func.func @main(
// LOCAL: dist.transfer %{{.*}} from <@b, [{"data"}, {}]> to <@a, [{"data"}, {}]> : tensor<64x128xf32> -> tensor<64x128xf32>
