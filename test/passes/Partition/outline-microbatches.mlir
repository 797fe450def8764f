// RUN: weft-opt %s --weft-outline-microbatches --split-input-file --verify-diagnostics | FileCheck %s

// The count of what is valid comes before everything; what reads weights alike for every microbatch is computed once.
module {
  dist.mesh @mesh <["data"=2]>
  weft.weight @w : tensor<8xf32> = dense<1.0> : tensor<8xf32>
  // CHECK-LABEL: func.func @begin() attributes {dist.mesh = @mesh}
  // CHECK: weft.store @accumulate.0.begin
  // CHECK: weft.store @accumulate.1.begin
  // CHECK-LABEL: func.func @count(
  // CHECK: %[[COUNT:.*]] = weft.reduce sum
  // CHECK: %[[BEFORE:.*]] = weft.load @accumulate.0.count
  // CHECK: %[[MORE:.*]] = weft.add %[[BEFORE]], %[[COUNT]]
  // CHECK: weft.store @accumulate.0.count, %[[MORE]]
  // CHECK-LABEL: func.func @prepare() -> tensor<8xf32>
  // CHECK: %[[ONCE:.*]] = weft.exp
  // CHECK: return %[[ONCE]]
  // CHECK-LABEL: func.func @microbatch(
  // CHECK: weft.load @accumulate.0.microbatch
  // CHECK-NOT: weft.exp
  // CHECK: weft.store @accumulate.1.microbatch
  // CHECK-LABEL: func.func @update(
  // CHECK: %[[SUM:.*]] = weft.load @accumulate.1.update
  // CHECK: %[[LAST:.*]] = weft.add %[[SUM]]
  // CHECK: weft.store @accumulate.1.update, %[[LAST]]
  // CHECK: dist.all_reduce sum %[[LAST]]
  // CHECK: weft.weight kind(state) @accumulate.1.update : tensor<8xf32> {{.*}} {weft.accumulator = 1 : i64}
  // CHECK-LABEL: func.func @main(
  // CHECK: call @begin()
  // CHECK: call @count(%{{.*}}) {weft.microbatches_of_call = array<i64: 0, 4>}
  // CHECK: %[[READY:.*]] = call @prepare()
  // CHECK: call @microbatch(%[[READY]], %{{.*}}) {weft.microbatches_of_call = array<i64: 0, 3>}
  // CHECK: %[[RESULT:.*]] = call @update(%[[READY]], %{{.*}}) {weft.microbatches_of_call = array<i64: 3, 1>}
  // CHECK: return %[[RESULT]]
  func.func @main(%x: tensor<4x8xf32> {weft.microbatch_dim = 0 : i64}, %valid: tensor<4xf32> {weft.microbatch_dim = 0 : i64})
      -> tensor<8xf32> attributes {weft.microbatches = 4 : i64} {
    %n = weft.reduce sum %valid dims [0] : tensor<4xf32> -> tensor<f32>
    %all = dist.accumulate %n : tensor<f32> to tensor<f32>
    %w = weft.load @w : tensor<8xf32>
    %e = weft.exp %w : tensor<8xf32>
    %be = weft.broadcast %e dims [1] : tensor<8xf32> to tensor<4x8xf32>
    %y = weft.mul %x, %be : tensor<4x8xf32>
    %bn = weft.broadcast %all dims [] : tensor<f32> to tensor<4x8xf32>
    %z = weft.div %y, %bn : tensor<4x8xf32>
    %s = weft.reduce sum %z dims [0] : tensor<4x8xf32> -> tensor<8xf32>
    %g = dist.accumulate %s : tensor<8xf32> to tensor<8xf32>
    %r = dist.all_reduce sum %g axes ["data"] on @mesh : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module {
  dist.mesh @mesh <["data"=2]>
  // expected-error @+1 {{expected results that are sums over the batch, got rows of it as result 0}}
  func.func @main(%x: tensor<4x8xf32> {weft.microbatch_dim = 0 : i64}) -> (tensor<4x8xf32> {weft.microbatch_dim = 0 : i64})
      attributes {weft.microbatches = 4 : i64} {
    return %x : tensor<4x8xf32>
  }
}

// -----

// What every microbatch changes, and its number, go from one to the next: the first begins with the state, the last stores it.
module {
  dist.mesh @mesh <["data"=2]>
  weft.weight @w : tensor<8xf32> = dense<1.0> : tensor<8xf32>
  weft.weight kind(state) @mean : tensor<8xf32> = dense<0.0> : tensor<8xf32> {weft.each_microbatch}
  weft.weight kind(state) @steps : tensor<i64> = dense<0> : tensor<i64>
  // CHECK-LABEL: func.func @begin()
  // CHECK: %[[FIRST:.*]] = weft.load @mean
  // CHECK: weft.store @accumulate.[[MEAN:[0-9]+]].begin, %[[FIRST]]
  // CHECK: %[[ZERO:.*]] = weft.constant dense<0> : tensor<i64>
  // CHECK: weft.store @accumulate.[[NUMBER:[0-9]+]].begin, %[[ZERO]]
  // CHECK-LABEL: func.func @microbatch(
  // CHECK: %[[I:.*]] = weft.load @accumulate.[[NUMBER]].microbatch : tensor<i64>
  // CHECK: weft.cast %[[I]]
  // CHECK: %[[OLD:.*]] = weft.load @accumulate.[[MEAN]].microbatch
  // CHECK: %[[NEW:.*]] = weft.add %[[OLD]],
  // CHECK: weft.store @accumulate.[[MEAN]].microbatch, %[[NEW]]
  // CHECK-NOT: @steps
  // CHECK: %[[NEXT:.*]] = weft.add {{.*}} : tensor<i64>
  // CHECK: weft.store @accumulate.[[NUMBER]].microbatch, %[[NEXT]] : tensor<i64>
  // CHECK-LABEL: func.func @update(
  // CHECK: weft.load @accumulate.[[NUMBER]].update
  // CHECK: %[[LATEST:.*]] = weft.load @accumulate.[[MEAN]].update
  // CHECK: %[[LAST:.*]] = weft.add %[[LATEST]],
  // CHECK: weft.store @mean, %[[LAST]]
  // CHECK: weft.store @steps
  // CHECK-LABEL: func.func @main(
  func.func @main(%x: tensor<4x8xf32> {weft.microbatch_dim = 0 : i64}) -> tensor<8xf32> attributes {weft.microbatches = 4 : i64} {
    %i = dist.microbatch : tensor<i64>
    %f = weft.cast %i : tensor<i64> to tensor<f32>
    %b = weft.broadcast %f dims [] : tensor<f32> to tensor<4x8xf32>
    %y = weft.mul %x, %b : tensor<4x8xf32>
    %w = weft.load @w : tensor<8xf32>
    %bw = weft.broadcast %w dims [1] : tensor<8xf32> to tensor<4x8xf32>
    %z = weft.mul %y, %bw : tensor<4x8xf32>
    %s = weft.reduce sum %z dims [0] : tensor<4x8xf32> -> tensor<8xf32>
    %old = weft.load @mean : tensor<8xf32>
    %new = weft.add %old, %s : tensor<8xf32>
    weft.store @mean, %new : tensor<8xf32>
    %g = dist.accumulate %s : tensor<8xf32> to tensor<8xf32>
    %n = weft.load @steps : tensor<i64>
    %one = weft.constant dense<1> : tensor<i64>
    %m = weft.add %n, %one : tensor<i64>
    weft.store @steps, %m : tensor<i64>
    return %g : tensor<8xf32>
  }
}

// -----

// A sum that is counted before anything else counts microbatches of its own.
module {
  dist.mesh @mesh <["data"=2]>
  weft.weight @w : tensor<i64> = dense<1> : tensor<i64>
  // CHECK-LABEL: func.func @begin()
  // CHECK-COUNT-4: weft.store
  // CHECK-LABEL: func.func @count(
  // CHECK: weft.load @accumulate.[[COUNTED:[0-9]+]].count : tensor<i64>
  // CHECK: weft.store @accumulate.[[COUNTED]].count
  // CHECK-LABEL: func.func @microbatch(
  // CHECK-NOT: @accumulate.[[COUNTED]].
  // CHECK-LABEL: func.func @main(
  func.func @main(%x: tensor<4xi64> {weft.microbatch_dim = 0 : i64}) -> tensor<i64> attributes {weft.microbatches = 4 : i64} {
    %i = dist.microbatch : tensor<i64>
    %b = weft.broadcast %i dims [] : tensor<i64> to tensor<4xi64>
    %y = weft.mul %x, %b : tensor<4xi64>
    %s = weft.reduce sum %y dims [0] : tensor<4xi64> -> tensor<i64>
    %n = dist.accumulate %s : tensor<i64> to tensor<i64>
    %w = weft.load @w : tensor<i64>
    %t = weft.mul %s, %w : tensor<i64>
    %u = weft.mul %t, %n : tensor<i64>
    %g = dist.accumulate %u : tensor<i64> to tensor<i64>
    return %g : tensor<i64>
  }
}

// -----

// What weights are computed to is kept for all microbatches, but not what is only brought from other ranks: it would take the memory that was
// split.
module {
  dist.mesh @mesh <["data"=2]>
  weft.weight @v : tensor<4x8xf32> = dense<1.0> : tensor<4x8xf32>
  weft.weight @w : tensor<8xf32> = dense<1.0> : tensor<8xf32>
  // CHECK-LABEL: func.func @prepare(
  // CHECK-NOT: dist.all_
  // CHECK: weft.exp
  // CHECK-NOT: dist.all_
  // CHECK-LABEL: func.func @microbatch(
  // CHECK: dist.all_to_all
  // CHECK: dist.all_gather
  // CHECK-LABEL: func.func @update(
  // CHECK: dist.all_to_all
  // CHECK: dist.all_gather
  func.func @main(%x: tensor<4x8xf32> {weft.microbatch_dim = 0 : i64}) -> tensor<8xf32> attributes {weft.microbatches = 4 : i64} {
    %v = dist.load_shard @v start 0 shape [4, 8] strides [8, 1] sharding <@mesh, [{}, {"data"}]> : tensor<4x4xf32>
    %moved = dist.all_to_all %v split 0 concat 1 axes ["data"] on @mesh : tensor<4x4xf32> -> tensor<2x8xf32>
    %w = dist.load_shard @w start 0 shape [8] strides [1] sharding <@mesh, [{"data"}]> : tensor<4xf32>
    %whole = dist.all_gather %w dim 0 axes ["data"] on @mesh : tensor<4xf32> -> tensor<8xf32>
    %own = weft.load @w : tensor<8xf32>
    %e = weft.exp %own : tensor<8xf32>
    %be = weft.broadcast %e dims [1] : tensor<8xf32> to tensor<4x8xf32>
    %bw = weft.broadcast %whole dims [1] : tensor<8xf32> to tensor<4x8xf32>
    %y = weft.mul %x, %be : tensor<4x8xf32>
    %z = weft.mul %y, %bw : tensor<4x8xf32>
    %t = weft.dot_general %z, %moved batch [] x [] contract [1] x [1] : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %s = weft.dot_general %t, %moved batch [] x [] contract [1] x [0] : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
    %r = weft.reduce sum %s dims [0] : tensor<4x8xf32> -> tensor<8xf32>
    %g = dist.accumulate %r : tensor<8xf32> to tensor<8xf32>
    return %g : tensor<8xf32>
  }
}
