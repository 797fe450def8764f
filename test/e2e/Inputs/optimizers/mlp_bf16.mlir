// A network of two layers of bf16, whose weights lie in weights_bf16.bin.
weft.weight @"up.weight" : tensor<5x6xbf16> = #weft.external<"weights_bf16.bin", 0, 60>
weft.weight @"up.bias" : tensor<5xbf16> = #weft.external<"weights_bf16.bin", 60, 10>
weft.weight @"down.weight" : tensor<7x5xbf16> = #weft.external<"weights_bf16.bin", 70, 70>
func.func @main(%x: tensor<4x6xbf16> {weft.name = "x"}) -> (tensor<4x7xbf16> {weft.name = "logits"}) {
  %0 = weft.load @"up.weight" : tensor<5x6xbf16>
  %1 = weft.dot_general %x, %0 batch [] x [] contract [1] x [1] : (tensor<4x6xbf16>, tensor<5x6xbf16>) -> tensor<4x5xbf16>
  %2 = weft.load @"up.bias" : tensor<5xbf16>
  %3 = weft.broadcast %2 dims [1] : tensor<5xbf16> to tensor<4x5xbf16>
  %4 = weft.add %1, %3 : tensor<4x5xbf16>
  %5 = weft.tanh %4 : tensor<4x5xbf16>
  %6 = weft.load @"down.weight" : tensor<7x5xbf16>
  %7 = weft.dot_general %5, %6 batch [] x [] contract [1] x [1] : (tensor<4x5xbf16>, tensor<7x5xbf16>) -> tensor<4x7xbf16>
  return %7 : tensor<4x7xbf16>
}
