weft.weight kind(state) @a : tensor<64x64xf32> = dense<1.0> : tensor<64x64xf32>
weft.weight kind(state) @b : tensor<64x64xf32> = dense<1.0> : tensor<64x64xf32>
weft.weight kind(state) @c : tensor<64x64xf32> = dense<1.0> : tensor<64x64xf32>
func.func @main(%x: tensor<2x64xf32> {weft.name = "x"}) -> (tensor<2x64xf32> {weft.name = "y"}) {
  %a = weft.load @a : tensor<64x64xf32>
  %b = weft.load @b : tensor<64x64xf32>
  %c = weft.load @c : tensor<64x64xf32>
  %0 = weft.dot_general %x, %a batch [] x [] contract [1] x [0] : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32> loc("by_a")
  %1 = weft.dot_general %0, %b batch [] x [] contract [1] x [0] : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32> loc("by_b")
  %2 = weft.dot_general %1, %c batch [] x [] contract [1] x [0] : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32> loc("by_c")
  %next_a = weft.add %a, %a : tensor<64x64xf32> loc("next_a")
  %next_b = weft.add %b, %b : tensor<64x64xf32> loc("next_b")
  %next_c = weft.add %c, %c : tensor<64x64xf32> loc("next_c")
  weft.store @a, %next_a : tensor<64x64xf32>
  weft.store @b, %next_b : tensor<64x64xf32>
  weft.store @c, %next_c : tensor<64x64xf32>
  return %2 : tensor<2x64xf32>
}
