// RUN: weft import %s --raw | FileCheck %s

// Windows of many booleans are made of smaller ones, padded by what changes nothing: true, where
// all are to be true.

// CHECK-LABEL: func.func @main(
// CHECK: weft.constant dense<true> : tensor<2xi1>
"builtin.module"() ({
  "func.func"() <{function_type = () -> tensor<2xi1>, sym_name = "main"}> ({
    %x = "stablehlo.constant"() <{value = dense<true> : tensor<2048xi1>}> : () -> tensor<2048xi1>
    %init = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %y = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 2048>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i1>, %b: tensor<i1>):
      %both = "stablehlo.and"(%a, %b) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%both) : (tensor<i1>) -> ()
    }) : (tensor<2048xi1>, tensor<i1>) -> tensor<2xi1>
    "func.return"(%y) : (tensor<2xi1>) -> ()
  }) : () -> ()
}) : () -> ()
