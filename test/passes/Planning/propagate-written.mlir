// RUN: weft-opt %s --split-input-file --weft-propagate-shardings > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: weft-opt %t.mlir --split-input-file --weft-propagate-shardings | diff %t.mlir -
// RUN: weft-opt %s --split-input-file --weft-propagate-shardings --weft-partition-pipeline | FileCheck %s --check-prefix=LOCAL

// A sharding that stands in a module is a decision, pinned or not: it stays, spreads, and is marked. Propagating what was
// propagated changes nothing.

// On a load: the second product is split by rows, though nobody says so.
// CHECK-LABEL: dist.mesh @loads
// CHECK: weft.weight @up {{.*}} {dist.sharding = #dist.sharding<@loads, [{}, {"model"}]>}
// CHECK: weft.weight @down {{.*}} {dist.sharding = #dist.sharding<@loads, [{"model"}, {}]>}
// CHECK: func.func @main({{.*}}) -> ({{.*}}) attributes {dist.propagated}
// CHECK: weft.load @up {dist.pinned, dist.sharding = #dist.sharding<@loads, [{}, {"model"}]>}
// CHECK: weft.dot_general {{.*}} {dist.sharding = #dist.sharding<@loads, [{}, {"model"}]>}
// CHECK: weft.load @down {dist.sharding = #dist.sharding<@loads, [{"model"}, {}]>}
// LOCAL-LABEL: dist.mesh @loads
// LOCAL-NOT: dist.propagated
// LOCAL: dist.load_shard @up {{.*}} : tensor<8x8xf32>
// LOCAL: dist.load_shard @down {{.*}} : tensor<8x8xf32>
// LOCAL: dist.all_reduce
// LOCAL-NOT: dist.all
// LOCAL: return
dist.mesh @loads <["model"=2]>
weft.weight @up : tensor<8x16xf32> = #weft.external<"w", 0, 512>
weft.weight @down : tensor<16x8xf32> = #weft.external<"w", 512, 512>
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %up = weft.load @up {dist.sharding = #dist.sharding<@loads, [{}, {"model"}]>} : tensor<8x16xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %down = weft.load @down : tensor<16x8xf32>
  %1 = weft.dot_general %0, %down batch [] x [] contract [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// On a weight: its loads follow, and may be split further.
// CHECK-LABEL: dist.mesh @weights
// CHECK: weft.weight @w {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@weights, [{"model"}]>}
// CHECK: weft.load @w {dist.sharding = #dist.sharding<@weights, [{"model"}]>}
// CHECK: weft.add {{.*}} {dist.sharding = #dist.sharding<@weights, [{"model"}]>}
// LOCAL-LABEL: dist.mesh @weights
// LOCAL: dist.load_shard @w {{.*}} : tensor<4xf32>
dist.mesh @weights <["model"=2]>
weft.weight @w : tensor<8xf32> = #weft.external<"w", 0, 32> {dist.sharding = #dist.sharding<@weights, [{"model"}]>}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %w = weft.load @w : tensor<8xf32>
  %0 = weft.add %x, %w : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// On an argument, forwards; on a result of the function, backwards; a sub-axis as it is.
// CHECK-LABEL: dist.mesh @ports
// CHECK: func.func @main(%[[X:.*]]: tensor<8x8xf32> {dist.pinned, dist.sharding = #dist.sharding<@ports, [{"x":(1)2}, {}]>},
// CHECK-SAME: %[[Y:.*]]: tensor<8x8xf32> {dist.sharding = #dist.sharding<@ports, [{}, {"x"}]>})
// CHECK-SAME: -> (tensor<8x8xf32> {dist.sharding = #dist.sharding<@ports, [{"x":(1)2}, {}]>},
// CHECK-SAME: tensor<8x8xf32> {dist.pinned, dist.sharding = #dist.sharding<@ports, [{}, {"x"}]>})
// CHECK: weft.exp {{.*}} {dist.sharding = #dist.sharding<@ports, [{"x":(1)2}, {}]>}
// CHECK: weft.tanh {{.*}} {dist.sharding = #dist.sharding<@ports, [{}, {"x"}]>}
// LOCAL-LABEL: dist.mesh @ports
// LOCAL: weft.exp {{.*}} : tensor<4x8xf32>
// LOCAL: weft.tanh {{.*}} : tensor<8x2xf32>
dist.mesh @ports <["x"=4]>
func.func @main(%x: tensor<8x8xf32> {dist.sharding = #dist.sharding<@ports, [{"x":(1)2}, {}]>}, %y: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32> {dist.sharding = #dist.sharding<@ports, [{}, {"x"}]>}) {
  %0 = weft.exp %x : tensor<8x8xf32>
  %1 = weft.tanh %y : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Two that conflict both stay, with a reshard between; so do a value and the result that returns it.
// CHECK-LABEL: dist.mesh @conflicts
// CHECK: -> (tensor<8x8xf32> {dist.pinned, dist.sharding = #dist.sharding<@conflicts, [{}, {}]>})
// CHECK: weft.exp {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@conflicts, [{}, {"x"}]>}
// CHECK: weft.tanh {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@conflicts, [{"x"}, {}]>}
// LOCAL-LABEL: dist.mesh @conflicts
// LOCAL: %[[M:.*]] = dist.all_to_all %{{.*}} split 1 concat 0 axes ["x"] {{.*}} -> tensor<8x4xf32>
// LOCAL: %[[E:.*]] = weft.exp %[[M]] : tensor<8x4xf32>
// LOCAL: %[[B:.*]] = dist.all_to_all %[[E]] split 0 concat 1 axes ["x"] {{.*}} -> tensor<4x8xf32>
// LOCAL: %[[T:.*]] = weft.tanh %[[B]] : tensor<4x8xf32>
// LOCAL: %[[Y:.*]] = dist.all_gather %[[T]] dim 0
// LOCAL: return %[[Y]] : tensor<8x8xf32>
dist.mesh @conflicts <["x"=2]>
func.func @main(%x: tensor<8x8xf32> {dist.sharding = #dist.sharding<@conflicts, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {dist.sharding = #dist.sharding<@conflicts, [{}, {}]>}) {
  %0 = weft.exp %x {dist.sharding = #dist.sharding<@conflicts, [{}, {"x"}]>} : tensor<8x8xf32>
  %1 = weft.tanh %0 {dist.sharding = #dist.sharding<@conflicts, [{"x"}, {}]>} : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// A partial value: the product is split by what it contracts, and what is made of it is reduced.
// CHECK-LABEL: dist.mesh @partial
// CHECK: weft.dot_general {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@partial, [{}, {}], partial = sum{"x"}>}
// CHECK: weft.exp {{.*}} {dist.sharding = #dist.sharding<@partial, [{}, {}]>}
// LOCAL-LABEL: dist.mesh @partial
// LOCAL-SAME: "x"=2
// LOCAL: weft.dot_general {{.*}} : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
// LOCAL: dist.all_reduce sum
// LOCAL: weft.exp
dist.mesh @partial <["x"=2]>
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] {dist.sharding = #dist.sharding<@partial, [{}, {}], partial = sum{"x"}>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = weft.exp %0 : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// Of several results: all are decisions, or those that `dist.pinned` names.
// CHECK-LABEL: dist.mesh @several
// CHECK: weft.sort {{.*}} {dist.pinned = array<i1: true, true>, dist.shardings = [#dist.sharding<@several, [{"x"}, {}]>, #dist.sharding<@several, [{}, {}]>]}
// CHECK: weft.sort {{.*}} {dist.pinned = array<i1: false, true>, dist.shardings = [#dist.sharding<@several, [{"x"}, {}]>, #dist.sharding<@several, [{"x"}, {}]>]}
// LOCAL-LABEL: dist.mesh @several
dist.mesh @several <["x"=2]>
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x2xf32>, tensor<8x2xi64>, tensor<8x2xf32>, tensor<8x2xi64>) {
  %0, %1 = weft.sort %x axis 1 count 2 descending {dist.shardings = [#dist.sharding<@several, [{"x"}, {}]>, #dist.sharding<@several, [{}, {}]>]} : tensor<8x8xf32> -> tensor<8x2xf32>, tensor<8x2xi64>
  %2, %3 = weft.sort %y axis 1 count 2 descending {dist.pinned = array<i1: false, true>, dist.shardings = [#dist.sharding<@several, [{}, {}]>, #dist.sharding<@several, [{"x"}, {}]>]} : tensor<8x8xf32> -> tensor<8x2xf32>, tensor<8x2xi64>
  return %0, %1, %2, %3 : tensor<8x2xf32>, tensor<8x2xi64>, tensor<8x2xf32>, tensor<8x2xi64>
}

// -----

// Where propagation went before, everything is kept; what is new in the function follows.
// CHECK-LABEL: dist.mesh @again
// CHECK: weft.exp {{.*}} {dist.sharding = #dist.sharding<@again, [{}]>}
// CHECK: weft.tanh {{.*}} {dist.sharding = #dist.sharding<@again, [{}]>}
dist.mesh @again <["x"=2]>
func.func @main(%x: tensor<8xf32> {dist.pinned, dist.sharding = #dist.sharding<@again, [{"x"}]>}) -> tensor<8xf32> attributes {dist.propagated} {
  %0 = weft.exp %x {dist.sharding = #dist.sharding<@again, [{}]>} : tensor<8xf32>
  %1 = weft.tanh %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
