func.func @main(%x: tensor<4xf32> {weft.name = "x"}, %n: tensor<i64> {weft.name = "n"}, %count: tensor<f32> {weft.name = "count"})
    -> (tensor<4xf32> {weft.name = "output_0"}, tensor<f32> {weft.name = "output_1"}) {
  %0 = weft.broadcast %count dims [] : tensor<f32> to tensor<4xf32>
  %1 = weft.add %x, %0 : tensor<4xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %2 = weft.add %count, %one : tensor<f32>
  return %1, %2 : tensor<4xf32>, tensor<f32>
}
