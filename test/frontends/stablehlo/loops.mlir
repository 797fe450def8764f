// RUN: weft import %s --raw | FileCheck %s

// A loop whose rounds are counted by constants is unrolled; the stack that it fills is joined once,
// and each round takes its own slice of the weights.

// CHECK-LABEL: func.func @main(
// CHECK-NOT: weft.compare
// CHECK: weft.slice %arg0 starts [0, 0]
// CHECK: weft.slice %arg0 starts [1, 0]
// CHECK: weft.slice %arg0 starts [2, 0]
// CHECK: %[[STACK:.*]] = weft.concat %{{.*}}, %{{.*}}, %{{.*}} axis 0 : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
// CHECK-NOT: weft.concat
// CHECK: return %{{.*}}, %[[STACK]]
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<3x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>), sym_name = "main"}> ({
  ^bb0(%w: tensor<3x4xf32>, %x: tensor<4xf32>):
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %empty = "stablehlo.constant"() <{value = dense<0.0> : tensor<3x4xf32>}> : () -> tensor<3x4xf32>
    %r:3 = "stablehlo.while"(%zero, %x, %empty) ({
    ^bb0(%i: tensor<i32>, %c: tensor<4xf32>, %s: tensor<3x4xf32>):
      %n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %go = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%go) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %c: tensor<4xf32>, %s: tensor<3x4xf32>):
      %row = "stablehlo.dynamic_slice"(%w, %i, %zero) <{slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %flat = "stablehlo.reshape"(%row) : (tensor<1x4xf32>) -> tensor<4xf32>
      %next = "stablehlo.multiply"(%c, %flat) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %kept = "stablehlo.reshape"(%next) : (tensor<4xf32>) -> tensor<1x4xf32>
      %stack = "stablehlo.dynamic_update_slice"(%s, %kept, %i, %zero) : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
      %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %more = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%more, %next, %stack) : (tensor<i32>, tensor<4xf32>, tensor<3x4xf32>) -> ()
    }) : (tensor<i32>, tensor<4xf32>, tensor<3x4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<3x4xf32>)
    "func.return"(%r#1, %r#2) : (tensor<4xf32>, tensor<3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
