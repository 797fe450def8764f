// A network of two layers, whose weights lie in weights.bin.
weft.weight @"up.weight" : tensor<5x6xf32> = #weft.external<"weights.bin", 0, 120>
weft.weight @"up.bias" : tensor<5xf32> = #weft.external<"weights.bin", 120, 20>
weft.weight @"down.weight" : tensor<7x5xf32> = #weft.external<"weights.bin", 140, 140>
func.func @main(%x: tensor<4x6xf32> {weft.name = "x"}) -> (tensor<4x7xf32> {weft.name = "logits"}) {
  %0 = weft.load @"up.weight" : tensor<5x6xf32>
  %1 = weft.dot_general %x, %0 batch [] x [] contract [1] x [1] : (tensor<4x6xf32>, tensor<5x6xf32>) -> tensor<4x5xf32>
  %2 = weft.load @"up.bias" : tensor<5xf32>
  %3 = weft.broadcast %2 dims [1] : tensor<5xf32> to tensor<4x5xf32>
  %4 = weft.add %1, %3 : tensor<4x5xf32>
  %5 = weft.tanh %4 : tensor<4x5xf32>
  %6 = weft.load @"down.weight" : tensor<7x5xf32>
  %7 = weft.dot_general %5, %6 batch [] x [] contract [1] x [1] : (tensor<4x5xf32>, tensor<7x5xf32>) -> tensor<4x7xf32>
  return %7 : tensor<4x7xf32>
}
