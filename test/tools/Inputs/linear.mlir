// What train.mlir and jax_step.mlir train, without the training.
weft.weight @w : tensor<6x4xf32> = dense<0.5> : tensor<6x4xf32>
weft.weight @b : tensor<4xf32> = dense<0.25> : tensor<4xf32>
func.func @main(%x: tensor<8x6xf32> {weft.name = "x"}) -> (tensor<8x4xf32> {weft.name = "y"}) {
  %w = weft.load @w : tensor<6x4xf32>
  %b = weft.load @b : tensor<4xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %1 = weft.broadcast %b dims [1] : tensor<4xf32> to tensor<8x4xf32>
  %2 = weft.add %0, %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
