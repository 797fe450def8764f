// As JAX writes `jax.jit(step)`: a step of gradient descent, step(P, x, labels) -> (loss, P).
"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{function_type = (tensor<4xf32>, tensor<6x4xf32>, tensor<8x6xf32>, tensor<8x4xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<6x4xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]['b']"}, {jax.result_info = "result[1]['w']"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%b: tensor<4xf32> loc("P['b']"), %w: tensor<6x4xf32> loc("P['w']"), %x: tensor<8x6xf32> loc("x"), %labels: tensor<8x4xf32> loc("labels")):
    %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %part = "stablehlo.constant"() <{value = dense<3.125000e-02> : tensor<f32>}> : () -> tensor<f32>
    %scale = "stablehlo.constant"() <{value = dense<6.250000e-02> : tensor<8x4xf32>}> : () -> tensor<8x4xf32>
    %rate = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %1 = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<8x4xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %d = "stablehlo.subtract"(%2, %labels) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %square = "stablehlo.multiply"(%d, %d) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %sum = "stablehlo.reduce"(%square, %zero) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = "stablehlo.add"(%l, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %loss = "stablehlo.multiply"(%sum, %part) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %dy = "stablehlo.multiply"(%d, %scale) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %gw = "stablehlo.dot_general"(%x, %dy) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<8x6xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
    %gb = "stablehlo.reduce"(%dy, %zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = "stablehlo.add"(%l, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
    %rates = "stablehlo.broadcast_in_dim"(%rate) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6x4xf32>
    %rateb = "stablehlo.broadcast_in_dim"(%rate) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %sw = "stablehlo.multiply"(%gw, %rates) : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
    %sb = "stablehlo.multiply"(%gb, %rateb) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w1 = "stablehlo.subtract"(%w, %sw) : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
    %b1 = "stablehlo.subtract"(%b, %sb) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%loss, %b1, %w1) : (tensor<f32>, tensor<4xf32>, tensor<6x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
