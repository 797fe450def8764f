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
