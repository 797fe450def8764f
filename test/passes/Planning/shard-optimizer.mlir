// DEFINE: %{plan} = --weft-split-constants --weft-apply-plan=mesh=data=2 --weft-choose-shardings=optimizer-sharding=
// RUN: weft-opt %s %{plan}1 | FileCheck %s --check-prefixes=ALL,ONE
// RUN: weft-opt %s %{plan}2 | FileCheck %s --check-prefixes=ALL,TWO
// RUN: weft-opt %s %{plan}3 | FileCheck %s --check-prefixes=ALL,THREE

// The state is split from the first stage on, sums over microbatches from the second, the parameter from the third. A weight
// is split along a dimension that all its gradient's sums have: of @rows only the first four are used, so that columns are.
// ONE: weft.weight kind(trained) @w {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
// TWO: weft.weight kind(trained) @w {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
// THREE: weft.weight kind(trained) @w {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>}
weft.weight kind(trained) @w : tensor<8x6xf32> = dense<1.0> : tensor<8x6xf32>
// ONE: weft.weight kind(trained) @rows {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
// TWO: weft.weight kind(trained) @rows {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
// THREE: weft.weight kind(trained) @rows {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"data"}]>}
weft.weight kind(trained) @rows : tensor<8x6xf32> = dense<1.0> : tensor<8x6xf32>
// ALL: @"optimizer.m:w" {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>}
weft.weight kind(state) @"optimizer.m:w" : tensor<8x6xf32> = dense<0.0> : tensor<8x6xf32>
// ALL: @"optimizer.m:rows" {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"data"}]>}
weft.weight kind(state) @"optimizer.m:rows" : tensor<8x6xf32> = dense<0.0> : tensor<8x6xf32>
// ALL-LABEL: func.func @main
func.func @main(%x: tensor<2x8xf32> {weft.microbatch_dim = 0}, %y: tensor<2x6xf32> {weft.microbatch_dim = 0})
    -> (tensor<8x6xf32> {weft.name = "grad:w", weft.role = "gradient"}, tensor<8x6xf32> {weft.name = "grad:rows", weft.role = "gradient"})
    attributes {weft.microbatches = 2} {
  %zero = weft.constant dense<0.0> : tensor<f32>
  %0 = weft.dot_general %x, %y batch [] x [] contract [0] x [0] : (tensor<2x8xf32>, tensor<2x6xf32>) -> tensor<8x6xf32>
  // ONE: dist.accumulate {{.*}}carries = array<i64: 0>, sum = #dist.dim<{"data"}>
  // TWO: dist.accumulate {{.*}} [{"data"}, {}]
  // THREE: dist.accumulate {{.*}} [{"data"}, {}]
  %1 = dist.accumulate %0 : tensor<8x6xf32> to tensor<8x6xf32>
  %2 = weft.slice %x starts [0, 0] strides [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
  %3 = weft.dot_general %2, %y batch [] x [] contract [0] x [0] : (tensor<2x4xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  // ONE: dist.accumulate {{.*}}carries = array<i64: 0>, sum = #dist.dim<{"data"}>
  // TWO: dist.accumulate {{.*}} [{}, {"data"}]
  // THREE: dist.accumulate {{.*}} [{}, {"data"}]
  %4 = dist.accumulate %3 : tensor<4x6xf32> to tensor<4x6xf32>
  %5 = weft.pad %4, %zero low [0, 0] high [4, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<8x6xf32>
  %w = weft.load @w : tensor<8x6xf32>
  %rows = weft.load @rows : tensor<8x6xf32>
  %mw = weft.load @"optimizer.m:w" : tensor<8x6xf32>
  %mr = weft.load @"optimizer.m:rows" : tensor<8x6xf32>
  %6 = weft.add %mw, %1 : tensor<8x6xf32>
  %7 = weft.add %mr, %5 : tensor<8x6xf32>
  %8 = weft.sub %w, %6 : tensor<8x6xf32>
  %9 = weft.sub %rows, %7 : tensor<8x6xf32>
  weft.store @w, %8 : tensor<8x6xf32>
  weft.store @rows, %9 : tensor<8x6xf32>
  weft.store @"optimizer.m:w", %6 : tensor<8x6xf32>
  weft.store @"optimizer.m:rows", %7 : tensor<8x6xf32>
  return %1, %5 : tensor<8x6xf32>, tensor<8x6xf32>
}
