// A device's part of a value that waits for a barrier is cut as soon as that is made, so that not all of it waits, and holds memory of its own. What is
// gathered of it behind the barrier is gathered there.
// RUN: weft-opt %s --weft-partition-pipeline | FileCheck %s
// RUN: weft-opt %s --weft-partition-pipeline --weft-kernel-pipeline --weft-select-pipeline | FileCheck %s --check-prefix=HELD

// CHECK: %[[H:.*]] = weft.dot_general
// CHECK-NEXT: %[[PART:.*]] = dist.slice %[[H]] dim 0
// CHECK: weft.dot_general
// CHECK: %[[WAIT:.*]] = weft.barrier %[[PART]]
// CHECK-NEXT: dist.all_gather %[[WAIT]]

// HELD: gemm {{.*}} to <activations, 0, f32 [256, 256] value [[H:[0-9]+]]>
// HELD-NEXT: copy <activations, 0 + 131072 * ["model"], f32 [128, 256] value [[H]]> to <activations, 0, f32 [128, 256] value [[PART:[0-9]+]]>
// HELD-NEXT: gemm <activations, 0, f32 [256, 256] value [[H]]>
// HELD: collective {{.*}}f32 [128, 256] value [[PART]]>
dist.mesh @mesh <["model"=2]>
weft.weight kind(trained) @w : tensor<256x256xf32> = dense<1.0> : tensor<256x256xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
weft.weight kind(trained) @v : tensor<256x256xf32> = dense<1.0> : tensor<256x256xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
func.func @main(%x: tensor<256x256xf32> {weft.name = "x"}) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<256x256xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {}]>, weft.name = "grad:h"}) attributes {dist.propagated} {
  %w = weft.load @w : tensor<256x256xf32>
  %h = weft.dot_general %x, %w batch [] x [] contract [1] x [0] {dist.split = {}} : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %v = weft.load @v : tensor<256x256xf32>
  %y = weft.dot_general %h, %v batch [] x [] contract [1] x [0] {dist.split = {}} : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %loss = weft.reduce sum %y dims [0, 1] {dist.split = {}} : tensor<256x256xf32> -> tensor<f32>
  %wait = weft.barrier %h {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>, dist.split = {d0 = #dist.dim<{"model"}>}} : tensor<256x256xf32>
  %dh = weft.exp %wait {dist.split = {}} : tensor<256x256xf32>
  return %loss, %dh : tensor<f32>, tensor<256x256xf32>
}
