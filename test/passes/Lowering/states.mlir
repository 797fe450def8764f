// RUN: weft-opt %s --weft-form-kernels --weft-select-instructions --split-input-file | FileCheck %s

// A row of a cache is written where it lies; who reads the cache reads the state.
// CHECK-LABEL: exec.program @class0
// CHECK: buffer [[CACHE:[0-9]+]] state 512 align 64 live step
// CHECK: weight_block @cache start <0> strides [64, 8, 1] into <state, 0, f32 [2, 8, 8] value [[CACHE]]>
// CHECK: launch {{.*}} [#exec.operand<state, 0, f32 [2, 8, 8] value [[CACHE]]>{{.*}}] to [#exec.operand<state, 0, f32 [2, 8, 8] value [[CACHE]]>]
// CHECK-NOT: copy <
// CHECK: gemm {{.*}} <state, 0, f32 [2, 8, 8] {{.*}}value [[CACHE]]>
// CHECK-NOT: copy <
module {
  weft.weight kind(state) @cache : tensor<2x8x8xf32> = dense<0.0> : tensor<2x8x8xf32>
  func.func @main(%q: tensor<2x1x8xf32>, %row: tensor<2x1x8xf32>, %at: tensor<2x1x8xi64>) -> tensor<2x1x8xf32> {
    %old = weft.load @cache : tensor<2x8x8xf32>
    %new = weft.scatter_elements set %old, %at, %row axis 1 : (tensor<2x8x8xf32>, tensor<2x1x8xi64>, tensor<2x1x8xf32>) -> tensor<2x8x8xf32>
    %0 = weft.dot_general %q, %new batch [0] x [0] contract [2] x [2] : (tensor<2x1x8xf32>, tensor<2x8x8xf32>) -> tensor<2x1x8xf32>
    weft.store @cache, %new : tensor<2x8x8xf32>
    return %0 : tensor<2x1x8xf32>
  }
}

// -----

// Readers of the old value go before what changes it.
// CHECK-LABEL: exec.program @class0
// CHECK: segment @forward
// CHECK: gemm
// CHECK: launch {{.*}} to [#exec.operand<state,
// CHECK-NOT: copy <
module {
  weft.weight kind(state) @cache : tensor<2x8x8xf32> = dense<0.0> : tensor<2x8x8xf32>
  func.func @main(%q: tensor<2x1x8xf32>, %row: tensor<2x1x8xf32>, %at: tensor<2x1x8xi64>) -> tensor<2x1x8xf32> {
    %old = weft.load @cache : tensor<2x8x8xf32>
    %new = weft.scatter_elements set %old, %at, %row axis 1 : (tensor<2x8x8xf32>, tensor<2x1x8xi64>, tensor<2x1x8xf32>) -> tensor<2x8x8xf32>
    %0 = weft.dot_general %q, %old batch [0] x [0] contract [2] x [2] : (tensor<2x1x8xf32>, tensor<2x8x8xf32>) -> tensor<2x1x8xf32>
    weft.store @cache, %new : tensor<2x8x8xf32>
    return %0 : tensor<2x1x8xf32>
  }
}

// -----

// An old value that is returned is needed to the end: what is stored is copied then.
// CHECK-LABEL: exec.program @class0
// CHECK: copy <state{{.*}} to <activations
// CHECK: launch {{.*}} to [#exec.operand<activations
// CHECK: copy <state{{.*}} to <activations
// CHECK: copy <activations{{.*}} to <state
module {
  weft.weight kind(state) @mean : tensor<8xf32> = dense<0.0> : tensor<8xf32>
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %old = weft.load @mean : tensor<8xf32>
    %new = weft.add %old, %x : tensor<8xf32>
    weft.store @mean, %new : tensor<8xf32>
    return %old : tensor<8xf32>
  }
}

// -----

// A choice by mask, element by element, changes the state in place; so does a decayed mean.
// CHECK-LABEL: exec.program @class0
// CHECK: buffer [[CACHE:[0-9]+]] state
// CHECK: launch {{.*}}value [[CACHE]]>{{.*}} to [{{.*}}value [[CACHE]]>
// CHECK-NOT: copy <
module {
  weft.weight kind(state) @cache : tensor<4x8xf32> = dense<0.0> : tensor<4x8xf32>
  func.func @main(%m: tensor<4x8xi1>, %x: tensor<4x8xf32>) {
    %old = weft.load @cache : tensor<4x8xf32>
    %new = weft.select %m, %x, %old : tensor<4x8xi1>, tensor<4x8xf32>
    weft.store @cache, %new : tensor<4x8xf32>
    return
  }
}

// -----

// A cache that slides moves once, within its memory; the new row is copied to its end.
// CHECK-LABEL: exec.program @class0
// CHECK: segment @forward
// CHECK-NEXT: copy <state, 32, f32 [2, 7, 8] strides [64, 8, 1] value [[CACHE:[0-9]+]]> to <state, 0, f32 [2, 7, 8] strides [64, 8, 1] value [[CACHE]]>
// CHECK-NEXT: copy <activations{{.*}} to <state, 224, f32 [2, 1, 8] strides [64, 8, 1] value [[CACHE]]>
// CHECK-NOT: copy <
module {
  weft.weight kind(state) @cache : tensor<2x8x8xf32> = dense<0.0> : tensor<2x8x8xf32>
  func.func @main(%row: tensor<2x1x8xf32>) -> tensor<2x8x8xf32> {
    %old = weft.load @cache : tensor<2x8x8xf32>
    %rest = weft.slice %old starts [0, 1, 0] strides [1, 1, 1] : tensor<2x8x8xf32> to tensor<2x7x8xf32>
    %new = weft.concat %rest, %row axis 1 : (tensor<2x7x8xf32>, tensor<2x1x8xf32>) -> tensor<2x8x8xf32>
    weft.store @cache, %new : tensor<2x8x8xf32>
    return %new : tensor<2x8x8xf32>
  }
}

// -----

// States that change places: each is kept until the other has been written.
// CHECK-LABEL: exec.program @class0
// CHECK: segment @forward
// CHECK-NEXT: copy <state{{.*}} to <activations
// CHECK-NEXT: copy <state{{.*}} to <activations
// CHECK-NEXT: copy <activations{{.*}} to <state
// CHECK-NEXT: copy <activations{{.*}} to <state
module {
  weft.weight kind(state) @a : tensor<8xf32> = dense<0.0> : tensor<8xf32>
  weft.weight kind(state) @b : tensor<8xf32> = dense<1.0> : tensor<8xf32>
  func.func @main() {
    %a = weft.load @a : tensor<8xf32>
    %b = weft.load @b : tensor<8xf32>
    weft.store @a, %b : tensor<8xf32>
    weft.store @b, %a : tensor<8xf32>
    return
  }
}

// -----

// One buffer of two layers: each layer's slice changes in its place, is read there, and nothing is copied. The second layer's
// change reads what the first made.
// CHECK-LABEL: exec.program @class0
// CHECK: buffer [[CACHE:[0-9]+]] state 512 align 64 live step
// CHECK: launch {{.*}} [#exec.operand<state, 0, f32 [1, 8, 8] value [[CACHE]]>{{.*}}] to [#exec.operand<state, 0, f32 [1, 8, 8] value [[CACHE]]>]
// CHECK: gemm {{.*}} <state, 0, f32 [8, 8] {{.*}}value [[CACHE]]>
// CHECK: launch {{.*}} [#exec.operand<state, 256, f32 [1, 8, 8] value [[CACHE]]>{{.*}}] to [#exec.operand<state, 256, f32 [1, 8, 8] value [[CACHE]]>]
// CHECK-NOT: copy <
module {
  weft.weight kind(state) @cache : tensor<2x8x8xf32> = dense<0.0> : tensor<2x8x8xf32>
  func.func @main(%row: tensor<1x8xf32>, %at: tensor<1x8xi64>) -> tensor<1x8xf32> {
    %old = weft.load @cache : tensor<2x8x8xf32>
    %s0 = weft.slice %old starts [0, 0, 0] strides [1, 1, 1] : tensor<2x8x8xf32> to tensor<1x8x8xf32>
    %r0 = weft.reshape %s0 : tensor<1x8x8xf32> to tensor<8x8xf32>
    %n0 = weft.scatter_elements set %r0, %at, %row axis 0 : (tensor<8x8xf32>, tensor<1x8xi64>, tensor<1x8xf32>) -> tensor<8x8xf32>
    %0 = weft.dot_general %row, %n0 batch [] x [] contract [1] x [1] : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %s1 = weft.slice %old starts [1, 0, 0] strides [1, 1, 1] : tensor<2x8x8xf32> to tensor<1x8x8xf32>
    %r1 = weft.reshape %s1 : tensor<1x8x8xf32> to tensor<8x8xf32>
    %n1 = weft.scatter_elements set %r1, %at, %0 axis 0 : (tensor<8x8xf32>, tensor<1x8xi64>, tensor<1x8xf32>) -> tensor<8x8xf32>
    %p0 = weft.reshape %n0 : tensor<8x8xf32> to tensor<1x8x8xf32>
    %p1 = weft.reshape %n1 : tensor<8x8xf32> to tensor<1x8x8xf32>
    %new = weft.concat %p0, %p1 axis 0 : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<2x8x8xf32>
    weft.store @cache, %new : tensor<2x8x8xf32>
    return %0 : tensor<1x8xf32>
  }
}

// -----

// Two changes one after the other, of which the first is read between them.
// CHECK-LABEL: exec.program @class0
// CHECK: buffer [[CACHE:[0-9]+]] state
// CHECK: launch {{.*}} to [#exec.operand<state, 0, f32 [8, 8] value [[CACHE]]>]
// CHECK: gemm {{.*}}value [[CACHE]]>
// CHECK: launch {{.*}} to [#exec.operand<state, 0, f32 [8, 8] value [[CACHE]]>]
// CHECK-NOT: copy <
module {
  weft.weight kind(state) @cache : tensor<8x8xf32> = dense<0.0> : tensor<8x8xf32>
  func.func @main(%row: tensor<1x8xf32>, %at: tensor<1x8xi64>) -> tensor<1x8xf32> {
    %old = weft.load @cache : tensor<8x8xf32>
    %one = weft.scatter_elements set %old, %at, %row axis 0 : (tensor<8x8xf32>, tensor<1x8xi64>, tensor<1x8xf32>) -> tensor<8x8xf32>
    %0 = weft.dot_general %row, %one batch [] x [] contract [1] x [1] : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %two = weft.scatter_elements set %one, %at, %0 axis 0 : (tensor<8x8xf32>, tensor<1x8xi64>, tensor<1x8xf32>) -> tensor<8x8xf32>
    weft.store @cache, %two : tensor<8x8xf32>
    return %0 : tensor<1x8xf32>
  }
}

// -----

// The first change is read at the end: the second is made elsewhere, and copied to the state then.
// CHECK-LABEL: exec.program @class0
// CHECK: launch {{.*}} to [#exec.operand<state,
// CHECK: copy <state{{.*}} to <activations
// CHECK: launch {{.*}} to [#exec.operand<activations
// CHECK: copy <activations{{.*}} to <state
module {
  weft.weight kind(state) @cache : tensor<8x8xf32> = dense<0.0> : tensor<8x8xf32>
  func.func @main(%row: tensor<1x8xf32>, %at: tensor<1x8xi64>) -> tensor<8x8xf32> {
    %old = weft.load @cache : tensor<8x8xf32>
    %one = weft.scatter_elements set %old, %at, %row axis 0 : (tensor<8x8xf32>, tensor<1x8xi64>, tensor<1x8xf32>) -> tensor<8x8xf32>
    %two = weft.scatter_elements add %one, %at, %row axis 0 : (tensor<8x8xf32>, tensor<1x8xi64>, tensor<1x8xf32>) -> tensor<8x8xf32>
    weft.store @cache, %two : tensor<8x8xf32>
    return %one : tensor<8x8xf32>
  }
}
