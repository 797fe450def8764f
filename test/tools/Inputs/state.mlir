weft.weight kind(state) @sum : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @main(%x: tensor<4xf32> {weft.name = "x"}, %n: tensor<i64> {weft.name = "n"}) -> (tensor<4xf32> {weft.name = "total"}) {
  %old = weft.load @sum : tensor<4xf32>
  %0 = weft.cast %n : tensor<i64> to tensor<f32>
  %1 = weft.broadcast %0 dims [] : tensor<f32> to tensor<4xf32>
  %2 = weft.mul %x, %1 : tensor<4xf32>
  %new = weft.add %old, %2 : tensor<4xf32>
  weft.store @sum, %new : tensor<4xf32>
  return %new : tensor<4xf32>
}
