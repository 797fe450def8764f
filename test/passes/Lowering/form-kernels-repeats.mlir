// RUN: weft-opt %s --split-input-file --weft-form-kernels | FileCheck %s

// Where devices share the columns of a softmax, collectives part its kernels. Each casts, shifts and compares for itself: none of that
// is kept in memory.
dist.mesh @mesh <["model"=4]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x4000xbf16>, %[[LABELS:.*]]: tensor<4xi64>)
func.func @main(%x: tensor<4x4000xbf16>, %labels: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[FIRST:.*]] = dist.offset
  // CHECK-NEXT: %[[M:.*]] = call @{{.*}}(%[[X]]) : (tensor<4x4000xbf16>) -> tensor<4xf32>
  // CHECK-NEXT: %[[TOP:.*]] = dist.all_reduce max %[[M]]
  // CHECK-NEXT: %[[S:.*]] = call @{{.*}}(%[[X]], %[[TOP]]) : (tensor<4x4000xbf16>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[SUM:.*]] = dist.all_reduce sum %[[S]]
  // CHECK-NEXT: %[[OWN:.*]] = call @[[KERNEL:.*]](%[[X]], %[[TOP]], %[[FIRST]], %[[LABELS]])
  // CHECK-NEXT: return %[[SUM]], %[[OWN]]
  %first = dist.offset axes ["model"] block 4000 on @mesh : tensor<i64>
  %w = weft.cast %x : tensor<4x4000xbf16> to tensor<4x4000xf32>
  %m = weft.reduce max %w dims [1] : tensor<4x4000xf32> -> tensor<4xf32>
  %top = dist.all_reduce max %m axes ["model"] on @mesh : tensor<4xf32>
  %tops = weft.broadcast %top dims [0] : tensor<4xf32> to tensor<4x4000xf32>
  %d = weft.sub %w, %tops : tensor<4x4000xf32>
  %e = weft.exp %d : tensor<4x4000xf32>
  %s = weft.reduce sum %e dims [1] : tensor<4x4000xf32> -> tensor<4xf32>
  %sum = dist.all_reduce sum %s axes ["model"] on @mesh : tensor<4xf32>
  %i = weft.iota 1 : tensor<4x4000xi64>
  %f = weft.broadcast %first dims [] : tensor<i64> to tensor<4x4000xi64>
  %at = weft.add %i, %f : tensor<4x4000xi64>
  %l = weft.broadcast %labels dims [0] : tensor<4xi64> to tensor<4x4000xi64>
  %is = weft.compare eq %at, %l : tensor<4x4000xi64>
  %z = weft.constant dense<0.0> : tensor<4x4000xf32>
  %p = weft.select %is, %d, %z : tensor<4x4000xi1>, tensor<4x4000xf32>
  %own = weft.reduce sum %p dims [1] : tensor<4x4000xf32> -> tensor<4xf32>
  return %sum, %own : tensor<4xf32>, tensor<4xf32>
}
// CHECK: func.func private @[[KERNEL]](%[[X:.*]]: tensor<4x4000xbf16>, %[[TOP:.*]]: tensor<4xf32>, %[[FIRST:.*]]: tensor<i64> {exec.param}, %[[LABELS:.*]]: tensor<4xi64>)
// CHECK-NEXT: %[[W:.*]] = weft.cast %[[X]]
// CHECK-NEXT: %[[TOPS:.*]] = weft.broadcast %[[TOP]] dims [0]
// CHECK-NEXT: %[[D:.*]] = weft.sub %[[W]], %[[TOPS]]
// CHECK: %[[IS:.*]] = weft.compare eq
// CHECK: %[[P:.*]] = weft.select %[[IS]], %[[D]],
// CHECK-NEXT: %[[OWN:.*]] = weft.reduce sum %[[P]] dims [1]
// CHECK-NEXT: return %[[OWN]]

// -----

// What takes much to compute, or more to read than what is made of it, is kept; and what something else than a kernel reads besides.
dist.mesh @mesh <["model"=4]>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %v: tensor<8x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) {
  // CHECK: %{{.*}}:2 = call @[[EXP:.*]](%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
  // CHECK: %{{.*}}:2 = call @[[SUM:.*]](%{{.*}}, %{{.*}}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
  // CHECK: %{{.*}}:2 = call @[[READ:.*]](%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
  %e = weft.exp %x : tensor<4x8xf32>
  %0 = weft.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = dist.all_reduce sum %0 axes ["model"] on @mesh : tensor<4xf32>
  %2 = weft.broadcast %1 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %3 = weft.div %e, %2 : tensor<4x8xf32>
  %first = weft.reduce max %3 dims [1] : tensor<4x8xf32> -> tensor<4xf32>

  %s = weft.add %x, %y : tensor<4x8xf32>
  %4 = weft.reduce max %s dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %5 = dist.all_reduce max %4 axes ["model"] on @mesh : tensor<4xf32>
  %6 = weft.broadcast %5 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %7 = weft.sub %s, %6 : tensor<4x8xf32>
  %second = weft.reduce sum %7 dims [1] : tensor<4x8xf32> -> tensor<4xf32>

  %n = weft.neg %y : tensor<4x8xf32>
  %8 = weft.reduce max %n dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %9 = dist.all_reduce max %8 axes ["model"] on @mesh : tensor<4xf32>
  %10 = weft.broadcast %9 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %11 = weft.sub %n, %10 : tensor<4x8xf32>
  %third = weft.reduce sum %11 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %p = weft.dot_general %n, %v batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %first, %second, %third, %p : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>
}

// -----

// What is made of a state's old value is kept, as the state is changed where it lies meanwhile.
dist.mesh @mesh <["model"=4]>
weft.weight kind(state) @m : tensor<4x8xf32> = dense<0.0> : tensor<4x8xf32>
// CHECK-LABEL: func.func @main
func.func @main(%g: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: %[[M:.*]] = weft.load @m
  // CHECK-NEXT: call @{{.*}}(%[[M]]) : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
  %m = weft.load @m : tensor<4x8xf32>
  %n = weft.neg %m : tensor<4x8xf32>
  %0 = weft.reduce max %n dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = dist.all_reduce max %0 axes ["model"] on @mesh : tensor<4xf32>
  %2 = weft.broadcast %1 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %3 = weft.sub %n, %2 : tensor<4x8xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %next = weft.add %m, %g : tensor<4x8xf32>
  weft.store @m, %next : tensor<4x8xf32>
  return %4 : tensor<4xf32>
}
