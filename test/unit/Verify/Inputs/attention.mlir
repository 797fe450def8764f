// Causal attention with a mask and logarithms of sums, and its gradients; two query heads share a head of keys.
module attributes {weft.source = "attention.mlir"} {
  func.func @main(%q: tensor<2x4x6x8xf32> {weft.name = "q"}, %k: tensor<2x2x6x8xf32> {weft.name = "k"},
                  %v: tensor<2x2x6x8xf32> {weft.name = "v"}, %m: tensor<2x1x1x6xi1> {weft.name = "m"},
                  %b: tensor<1x4x6x6xf32> {weft.name = "b"}, %g: tensor<2x4x6x8xf32> {weft.name = "g"})
      -> (tensor<2x4x6x8xf32> {weft.name = "y"}, tensor<2x4x6xf32> {weft.name = "lse"}, tensor<2x4x6x8xf32> {weft.name = "dq"},
          tensor<2x2x6x8xf32> {weft.name = "dk"}, tensor<2x2x6x8xf32> {weft.name = "dv"}) {
    %y, %lse = weft.attention %q, %k, %v mask %m bias %b scale 0.5 causal masked_rows zero
        : (tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x1x1x6xi1>, tensor<1x4x6x6xf32>)
        -> (tensor<2x4x6x8xf32>, tensor<2x4x6xf32>) loc("attention")
    %dq, %dk, %dv = weft.attention_backward %q, %k, %v mask %m bias %b result %y lse %lse gradient %g scale 0.5 causal masked_rows zero
        : (tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x1x1x6xi1>, tensor<1x4x6x6xf32>,
           tensor<2x4x6x8xf32>, tensor<2x4x6xf32>, tensor<2x4x6x8xf32>)
        -> (tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>) loc("attention")
    return %y, %lse, %dq, %dk, %dv : tensor<2x4x6x8xf32>, tensor<2x4x6xf32>, tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>
  }
}
