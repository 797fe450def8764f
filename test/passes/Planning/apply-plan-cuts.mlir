// RUN: split-file %s %t
// RUN: weft-opt "--weft-apply-plan=mesh=data=2;model=2 cuts=h" %t/two.mlir | FileCheck %t/two.mlir
// RUN: weft-opt "--weft-apply-plan=mesh=data=2 cuts=a,b" %t/skip.mlir | FileCheck %t/skip.mlir
// RUN: weft-opt "--weft-apply-plan=mesh=data=2 cuts=h shard=weight:w=[{data},{}]" %t/weights.mlir | FileCheck %t/weights.mlir
// RUN: weft-opt "--weft-apply-plan=mesh=data=2 cuts=h shard=h=[{data}];x=[{data}]" %t/pins.mlir | FileCheck %t/pins.mlir
// RUN: weft-opt "--weft-apply-plan=mesh=data=2 cuts=h" %t/state.mlir | FileCheck %t/state.mlir
// RUN: weft-opt "--weft-apply-plan=cuts=h" %t/two.mlir | FileCheck %t/two.mlir --check-prefix=ONE

// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 cuts=hh" %t/two.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: the model has no value 'hh', did you mean 'h'?
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 cuts=x" %t/two.mlir 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: error: cannot cut behind 'x': it is an input, no part would be left before it
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 cuts=y" %t/two.mlir 2>&1 | FileCheck %s --check-prefix=LAST
// LAST: cannot cut behind 'y': nothing is left to compute behind it
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 cuts=inner" %t/errors.mlir 2>&1 | FileCheck %s --check-prefix=FUSED
// FUSED: error: cannot cut behind 'inner': it was fused into weft.gelu 'gelu', cut behind that value instead
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 cuts=table" %t/errors.mlir 2>&1 | FileCheck %s --check-prefix=CONSTANT
// CONSTANT: cannot cut behind 'table': it depends on no input, every part that reads it makes it anew
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 cuts=w" %t/errors.mlir 2>&1 | FileCheck %s --check-prefix=WEIGHT
// WEIGHT: cannot cut behind 'w': it depends on no input
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 cuts=gelu,up" %t/errors.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 cuts=gelu,gelu" %t/errors.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: cannot cut behind '{{up|gelu}}': the part that ends behind 'gelu' holds it already; name cuts in the order in which they are computed, each once
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2;model=2 cuts=up,gelu" %t/errors.mlir 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: --mesh: 2 meshes for 3 parts; give one a part, or one for all
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 cuts=h" %t/written.mlir 2>&1 | FileCheck %s --check-prefix=WRITTEN
// WRITTEN: error: expected a model without a mesh
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2;model=2 cuts=h shard=h=[{batch},{}]" %t/two.mlir 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: --shard: sharding of 'h': the mesh has no axis 'batch'
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2;model=2 cuts=h shard=x=[{model},{}]" %t/two.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: mesh 'mesh0': sharding of 'x': the mesh has no axis 'model'

//--- two.mlir
// CHECK: dist.mesh @mesh0 <["data"=2]>
// CHECK: dist.mesh @mesh1 <["model"=2], first_device = 2>
// ONE: dist.mesh @mesh0 <[]>
// ONE: dist.mesh @mesh1 <[], first_device = 1>
func.func @main(%x: tensor<4x8xf32> {weft.name = "x"}) -> (tensor<4x8xf32> {weft.name = "out"}) {
  %h = weft.exp %x : tensor<4x8xf32> loc("h")
  %y = weft.tanh %h : tensor<4x8xf32> loc("y")
  return %y : tensor<4x8xf32>
}
// CHECK: func.func @part0(%[[X:.*]]: tensor<4x8xf32> {weft.name = "x"}) -> tensor<4x8xf32> attributes {dist.mesh = @mesh0}
// CHECK: %[[H:.*]] = weft.exp %[[X]]
// CHECK: return %[[H]]
// CHECK: func.func @part1(%[[H:.*]]: tensor<4x8xf32> {weft.name = "h"}) -> (tensor<4x8xf32> {weft.name = "out"}) attributes {dist.mesh = @mesh1}
// CHECK: %[[Y:.*]] = weft.tanh %[[H]]
// CHECK: return %[[Y]]
// CHECK: func.func @main(%[[X:.*]]: tensor<4x8xf32> {weft.name = "x"}) -> (tensor<4x8xf32> {weft.name = "out"})
// CHECK: %[[H:.*]] = call @part0(%[[X]])
// CHECK: %[[Y:.*]] = call @part1(%[[H]])
// CHECK: return %[[Y]]

// What skips a part goes from the one that makes it to the one that reads it, a constant is made where it is read, what
// is an output of the model leaves the part that makes it, and an input that nothing reads is one of the last part.
//--- skip.mlir
func.func @main(%x: tensor<4xf32> {weft.name = "x"}, %unused: tensor<2xf32> {weft.name = "unused"})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %one = weft.constant dense<1.0> : tensor<4xf32>
  %two = weft.add %one, %one : tensor<4xf32>
  %a = weft.add %x, %two : tensor<4xf32> loc("a")
  %b = weft.tanh %a : tensor<4xf32> loc("b")
  %c = weft.mul %b, %two : tensor<4xf32>
  %d = weft.add %c, %a : tensor<4xf32>
  return %d, %b : tensor<4xf32>, tensor<4xf32>
}
// CHECK: func.func @part0(%[[X:.*]]: tensor<4xf32> {weft.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: weft.constant
// CHECK: %[[A:.*]] = weft.add %[[X]]
// CHECK: return %[[A]], %[[A]]
// CHECK: func.func @part1(%[[A:.*]]: tensor<4xf32> {weft.name = "a"}) -> (tensor<4xf32> {weft.name = "1"}, tensor<4xf32>)
// CHECK-NOT: weft.constant
// CHECK: %[[B:.*]] = weft.tanh %[[A]]
// CHECK: return %[[B]], %[[B]]
// CHECK: func.func @part2(%[[B:.*]]: tensor<4xf32> {weft.name = "b"}, %[[A:.*]]: tensor<4xf32> {weft.name = "a"}, %{{.*}}: tensor<2xf32> {weft.name = "unused"}) -> (tensor<4xf32> {weft.name = "0"})
// CHECK: weft.constant
// CHECK: %[[C:.*]] = weft.mul %[[B]]
// CHECK: weft.add %[[C]], %[[A]]
// CHECK: func.func @main(
// CHECK: %[[FIRST:.*]]:2 = call @part0(%{{.*}})
// CHECK: %[[SECOND:.*]]:2 = call @part1(%[[FIRST]]#0)
// CHECK: %[[THIRD:.*]] = call @part2(%[[SECOND]]#1, %[[FIRST]]#1, %{{.*}})
// CHECK: return %[[THIRD]], %[[SECOND]]#0

// A weight that two parts read is loaded by both, and stored on both meshes.
//--- weights.mlir
weft.weight @w : tensor<8x8xf32> = #weft.external<"w", 0, 256>
func.func @main(%x: tensor<4x8xf32> {weft.name = "x"}) -> tensor<4x8xf32> {
  %w = weft.load @w : tensor<8x8xf32> loc("w")
  %h = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("h")
  %y = weft.dot_general %h, %w batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("y")
  return %y : tensor<4x8xf32>
}
// CHECK: weft.weight @w {{.*}} {dist.pinned, dist.shardings = [#dist.sharding<@mesh0, [{"data"}, {}]>, #dist.sharding<@mesh1, [{"data"}, {}]>]}
// CHECK: func.func @part0
// CHECK: weft.load @w
// CHECK: func.func @part1
// CHECK: weft.load @w

// A state is loaded and stored in the first part that reads it, whatever is computed for that; the next is given what it held.
//--- state.mlir
weft.weight kind(state) @s : tensor<4x8xf32> = #weft.external<"s", 0, 128>
weft.weight kind(state) @count : tensor<i64> = #weft.external<"count", 0, 8>
func.func @main(%x: tensor<4x8xf32> {weft.name = "x"}) -> (tensor<4x8xf32> {weft.name = "out"}) {
  %one = weft.constant dense<1> : tensor<i64>
  %s = weft.load @s : tensor<4x8xf32> loc("s")
  %again = weft.load @s : tensor<4x8xf32> loc("s")
  %count = weft.load @count : tensor<i64> loc("count")
  %h = weft.add %x, %s : tensor<4x8xf32> loc("h")
  %e = weft.exp %h : tensor<4x8xf32>
  %y = weft.add %e, %again : tensor<4x8xf32> loc("y")
  weft.store @s, %e : tensor<4x8xf32>
  %next = weft.add %count, %one : tensor<i64>
  weft.store @count, %next : tensor<i64>
  return %y : tensor<4x8xf32>
}
// CHECK: func.func @part0(%[[X:.*]]: tensor<4x8xf32> {weft.name = "x"}) -> (
// CHECK-NOT: @count
// CHECK: %[[S:.*]] = weft.load @s
// CHECK: %[[H:.*]] = weft.add %[[X]], %[[S]]
// CHECK: %[[E:.*]] = weft.exp %[[H]]
// CHECK: weft.store @s, %[[E]]
// CHECK: return
// CHECK: func.func @part1(
// CHECK-NOT: @s
// CHECK: %[[COUNT:.*]] = weft.load @count
// CHECK: weft.add %{{.*}}, %{{.*}} : tensor<4x8xf32>
// CHECK: %[[NEXT:.*]] = weft.add %[[COUNT]], %{{.*}} : tensor<i64>
// CHECK: weft.store @count, %[[NEXT]]
// CHECK: return

// What two parts hold is pinned in both.
//--- pins.mlir
func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
  %h = weft.exp %x : tensor<4xf32> loc("h")
  %y = weft.add %h, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK: func.func @part0(%{{.*}}: tensor<4xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh0, [{"data"}]>, weft.name = "x"})
// CHECK: weft.exp {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh0, [{"data"}]>}
// CHECK: func.func @part1(%{{.*}}: tensor<4xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh1, [{"data"}]>, weft.name = "h"}, %{{.*}}: tensor<4xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh1, [{"data"}]>, weft.name = "x"})

//--- errors.mlir
weft.weight @w : tensor<4x4xf32> = #weft.external<"w", 0, 64>
func.func @main(%x: tensor<4x4xf32> {weft.name = "x"}) -> tensor<4x4xf32> {
  %w = weft.load @w : tensor<4x4xf32> loc("w")
  %table = weft.exp %w : tensor<4x4xf32> loc("table")
  %up = weft.add %x, %table : tensor<4x4xf32> loc("up")
  %gelu = weft.gelu erf %up : tensor<4x4xf32> loc(fused["gelu", "inner"])
  %y = weft.tanh %gelu : tensor<4x4xf32> loc("y")
  return %y : tensor<4x4xf32>
}

//--- written.mlir
dist.mesh @mesh <["data"=2]>
func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
  %h = weft.exp %x {dist.sharding = #dist.sharding<@mesh, [{"data"}]>} : tensor<4xf32> loc("h")
  %y = weft.tanh %h : tensor<4xf32>
  return %y : tensor<4xf32>
}
