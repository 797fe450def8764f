weft.weight kind(state) @a : tensor<64x64xf32> = dense<1.0> : tensor<64x64xf32>
weft.weight kind(state) @b : tensor<64x64xf32> = dense<1.0> : tensor<64x64xf32>
weft.weight kind(state) @c : tensor<64x64xf32> = dense<1.0> : tensor<64x64xf32>
func.func @main(%x: tensor<64x64xf32> {weft.name = "x"}) -> (tensor<64x64xf32> {weft.name = "y"}) {
  %a = weft.load @a : tensor<64x64xf32>
  %b = weft.load @b : tensor<64x64xf32>
  %c = weft.load @c : tensor<64x64xf32>
  %0 = weft.add %x, %a : tensor<64x64xf32> loc("added_a")
  %1 = weft.add %0, %b : tensor<64x64xf32> loc("added_b")
  %2 = weft.add %1, %c : tensor<64x64xf32> loc("added_c")
  weft.store @a, %0 : tensor<64x64xf32>
  weft.store @b, %1 : tensor<64x64xf32>
  weft.store @c, %2 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
