// RUN: weft import %s --raw | FileCheck %s
// RUN: weft import %s --raw | FileCheck %s --check-prefix=NAMES

// Arguments are called as their locations say, results by their order, values after the call that
// they stand in and their own location.

// CHECK: func.func @main(
// CHECK-SAME: tensor<2x3xf32> {weft.name = "P['w']"}
// CHECK-SAME: tensor<4x2xf32> {weft.name = "x"}
// CHECK-SAME: tensor<4x2xf32> {weft.name = "arg2"}
// CHECK-SAME: -> (tensor<4x3xf32> {weft.name = "output_0"}, tensor<4x2xf32> {weft.name = "output_1", weft.path = "result[1]['h']"})
// CHECK-NOT: call
// CHECK: weft.neg
// CHECK: weft.neg

// NAMES-DAG: #[[LONG:.*]] = loc("P['w']")
// NAMES-DAG: #[[SHORT:.*]] = loc("w")
// NAMES-DAG: loc(fused[#[[LONG]], #[[SHORT]]])
// NAMES-DAG: loc("jit(f)/dot_general")
// NAMES-DAG: loc("jit(f)/jit(g)/neg")
// NAMES-DAG: loc("jit(f)/jit(g)/neg~2")
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x3xf32>, tensor<4x2xf32>), res_attrs = [{}, {jax.result_info = "result[1]['h']"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%w: tensor<2x3xf32> loc("P['w']"), %x: tensor<4x2xf32> loc("x"), %y: tensor<4x2xf32> loc(unknown)):
    %0 = "func.call"(%x) <{callee = @g}> : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("jit(f)/jit(g)")
    %1 = "func.call"(%y) <{callee = @g}> : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("jit(f)/jit(g)")
    %2 = "stablehlo.dot_general"(%0, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32> loc("jit(f)/dot_general")
    "func.return"(%2, %1) : (tensor<4x3xf32>, tensor<4x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x2xf32>) -> tensor<4x2xf32>, sym_name = "g", sym_visibility = "private"}> ({
  ^bb0(%x: tensor<4x2xf32>):
    %0 = "stablehlo.negate"(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("neg")
    "func.return"(%0) : (tensor<4x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
