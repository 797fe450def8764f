weft.weight @"<i>&amp;'one'" : tensor<8x8xf32> = #weft.external<"w.bin", 0, 256>
func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = weft.load @"<i>&amp;'one'" : tensor<8x8xf32>
  %0 = weft.dot_general %arg0, %w batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
