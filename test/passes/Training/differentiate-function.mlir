// RUN: weft-opt %s --weft-differentiate='function=stage wrt=0,1,up' | FileCheck %s

// A stage of two layers on a slice of a sequence: what the tokens before it left comes in, and goes out with its own. The
// gradients of what goes out come in behind the arguments; those of what it is differentiated by go out behind the results.
weft.weight @up : tensor<4x8xf32> = dense<1.0> : tensor<4x8xf32>
weft.weight @down : tensor<8x4xf32> = dense<1.0> : tensor<8x4xf32>
// CHECK-LABEL: func.func @stage(
// CHECK-LABEL: func.func @"grad:stage"(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>, %[[PREFIX:.*]]: tensor<6x8xf32>, %{{.*}}: tensor<2xi64>, %[[DY:.*]]: tensor<2x4xf32>, %[[DALL:.*]]: tensor<8x8xf32>
// CHECK-SAME: -> (tensor<2x4xf32>, tensor<8x8xf32>, tensor<2xi64>, tensor<2x4xf32>, tensor<6x8xf32>, tensor<4x8xf32>)
func.func @stage(%x: tensor<2x4xf32>, %prefix: tensor<6x8xf32>, %ids: tensor<2xi64>) -> (tensor<2x4xf32>, tensor<8x8xf32>, tensor<2xi64>) {
  // CHECK: %[[UP:.*]] = weft.load @up
  %up = weft.load @up : tensor<4x8xf32>
  // CHECK: %[[DOWN:.*]] = weft.load @down
  %down = weft.load @down : tensor<8x4xf32>
  %own = weft.dot_general %x, %up batch [] x [] contract [1] x [0] : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  // CHECK: %[[ALL:.*]] = weft.concat %[[PREFIX]], %{{.*}} axis 0
  %all = weft.concat %prefix, %own axis 0 : (tensor<6x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %scores = weft.dot_general %own, %all batch [] x [] contract [1] x [1] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  // CHECK: %[[Y:.*]] = weft.dot_general %{{.*}}, %[[DOWN]]
  %y = weft.dot_general %scores, %down batch [] x [] contract [1] x [0] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  // Of the input and of the weight each product has a gradient of its own; @down is not asked for.
  // CHECK: %[[DSCORES:.*]] = weft.dot_general %[[DY]], %[[DOWN]] batch [] x [] contract [1] x [1]
  // CHECK-NOT: -> tensor<8x4xf32>
  // CHECK: %[[DKEYS:.*]] = weft.dot_general %{{.*}} -> tensor<8x8xf32>
  // What attends to the prefix, and what goes on with it, add up.
  // CHECK: %[[SUM:.*]] = weft.add %[[DALL]], %[[DKEYS]]
  // CHECK: %[[DPREFIX:.*]] = weft.slice %[[SUM]] starts [0, 0] {{.*}} to tensor<6x8xf32>
  // CHECK: %[[DOWN_SLICE:.*]] = weft.slice %[[SUM]] starts [6, 0] {{.*}} to tensor<2x8xf32>
  // CHECK: %[[DOWN_SUM:.*]] = weft.add %{{.*}}, %[[DOWN_SLICE]]
  // CHECK-DAG: %[[DX:.*]] = weft.dot_general %[[DOWN_SUM]], %[[UP]] batch [] x [] contract [1] x [1]
  // CHECK-DAG: %[[DUP:.*]] = weft.dot_general %[[X]], %[[DOWN_SUM]] batch [] x [] contract [0] x [0]
  // CHECK: return %[[Y]], %[[ALL]], %{{.*}}, %[[DX]], %[[DPREFIX]], %[[DUP]]
  return %y, %all, %ids : tensor<2x4xf32>, tensor<8x8xf32>, tensor<2xi64>
}
