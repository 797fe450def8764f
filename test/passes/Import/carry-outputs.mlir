// RUN: weft-opt %s --weft-carry-outputs='pairs=output_1=cache,s_*=t_*' | FileCheck %s
// RUN: weft-opt %s --weft-carry-outputs='pairs=result[1]*=P*,s_a=t_a' | FileCheck %s --check-prefix=PATHS

// A carried input is a state of its name, zero at first, or of the value that a weight of that name has.
// CHECK: weft.weight kind(state) @t_b : tensor<2xf32> = dense<1.000000e+00> : tensor<2xf32>
weft.weight @t_b : tensor<2xf32> = dense<1.0> : tensor<2xf32> loc(fused["t_b", "P['b']"])
// CHECK: weft.weight kind(state) @cache : tensor<4xf32> = dense<0.000000e+00> : tensor<4xf32>
// CHECK: weft.weight kind(state) @t_a : tensor<i64> = dense<0> : tensor<i64>
// CHECK: func.func @main(%[[X:.*]]: tensor<4xf32> {weft.name = "x"}) -> (tensor<4xf32> {weft.name = "output_0"})
func.func @main(%x: tensor<4xf32> {weft.name = "x"}, %cache: tensor<4xf32> {weft.name = "cache"} loc(fused["cache", "P['c']"]),
                %a: tensor<i64> {weft.name = "t_a"})
    -> (tensor<4xf32> {weft.name = "output_0"}, tensor<4xf32> {weft.name = "output_1", weft.path = "result[1]['c']"},
        tensor<i64> {weft.name = "s_a"}, tensor<2xf32> {weft.name = "s_b", weft.path = "result[1]['b']"}) {
  // CHECK-DAG: %[[CACHE:.*]] = weft.load @cache : tensor<4xf32>
  // CHECK-DAG: %[[A:.*]] = weft.load @t_a : tensor<i64>
  // CHECK: %[[SUM:.*]] = weft.add %[[CACHE]], %[[X]]
  %0 = weft.add %cache, %x : tensor<4xf32>
  // CHECK: %[[NEXT:.*]] = weft.add %[[A]], %[[A]]
  %1 = weft.add %a, %a : tensor<i64>
  // CHECK: %[[B:.*]] = weft.exp
  %b = weft.load @t_b : tensor<2xf32>
  %2 = weft.exp %b : tensor<2xf32>
  // CHECK: weft.store @cache, %[[SUM]]
  // CHECK: weft.store @t_a, %[[NEXT]]
  // CHECK: weft.store @t_b, %[[B]]
  // CHECK: return %[[X]] : tensor<4xf32>
  return %x, %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<2xf32>
}

// Outputs are known by where they stand in what the function returned, too, and weights by the arguments that they were.
// PATHS: weft.weight kind(state) @t_b : tensor<2xf32> = dense<1.000000e+00>
// PATHS-DAG: weft.weight kind(state) @cache : tensor<4xf32> = dense<0.000000e+00>
// PATHS-DAG: weft.weight kind(state) @t_a : tensor<i64> = dense<0>
// PATHS: func.func @main(%{{.*}}: tensor<4xf32> {weft.name = "x"}) -> (tensor<4xf32> {weft.name = "output_0"})
