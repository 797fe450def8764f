// A device's part of a value that waits behind a barrier is cut, and waits, as soon as that is made, so that not all of it waits; and holds memory of
// its own.
// RUN: weft-opt %s --weft-partition-pipeline | FileCheck %s
// RUN: weft-opt %s --weft-partition-pipeline --weft-kernel-pipeline --weft-select-pipeline | FileCheck %s --check-prefix=HELD

// CHECK: %[[H:.*]] = weft.dot_general
// CHECK-NEXT: %[[PART:.*]] = dist.slice %[[H]] dim 0
// CHECK-NEXT: weft.barrier %[[PART]]
// CHECK: weft.dot_general

// HELD: gemm {{.*}} to <activations, 0, f32 [8, 8] value [[H:[0-9]+]]>
// HELD-NEXT: copy <activations, 0 + 128 * ["model"], f32 [4, 8] value [[H]]> to <activations, 0, f32 [4, 8] value [[PART:[0-9]+]]>
// HELD-NEXT: gemm <activations, 0, f32 [8, 8] value [[H]]>
// HELD: launch {{.*}}f32 [4, 8] value [[PART]]>
dist.mesh @mesh <["model"=2]>
weft.weight kind(trained) @w : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
weft.weight kind(trained) @v : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
func.func @main(%x: tensor<8x8xf32> {weft.name = "x"}) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>, weft.name = "grad:h"}) attributes {dist.propagated} {
  %w = weft.load @w : tensor<8x8xf32>
  %h = weft.dot_general %x, %w batch [] x [] contract [1] x [0] {dist.split = {}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = weft.load @v : tensor<8x8xf32>
  %y = weft.dot_general %h, %v batch [] x [] contract [1] x [0] {dist.split = {}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %loss = weft.reduce sum %y dims [0, 1] {dist.split = {}} : tensor<8x8xf32> -> tensor<f32>
  %wait = weft.barrier %h {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>, dist.split = {d0 = #dist.dim<{"model"}>}} : tensor<8x8xf32>
  %dh = weft.exp %wait {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>, dist.split = {d0 = #dist.dim<{"model"}>}} : tensor<8x8xf32>
  return %loss, %dh : tensor<f32>, tensor<8x8xf32>
}
