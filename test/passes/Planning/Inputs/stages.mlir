weft.weight @u : tensor<16x32xf32> = #weft.external<"w.bin", 0, 2048>
weft.weight @v : tensor<32x8xf32> = #weft.external<"w.bin", 2048, 1024>
func.func @main(%x: tensor<4x16xf32> {weft.name = "x"}) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %u = weft.load @u : tensor<16x32xf32>
  %0 = weft.dot_general %x, %u batch [] x [] contract [1] x [0]
      : (tensor<4x16xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
  %h = weft.tanh %0 : tensor<4x32xf32> loc("h")
  %v = weft.load @v : tensor<32x8xf32>
  %y = weft.dot_general %h, %v batch [] x [] contract [1] x [0]
      : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32> loc("y")
  %q = weft.mul %y, %y : tensor<4x8xf32>
  %l = weft.reduce sum %q dims [0, 1] : tensor<4x8xf32> -> tensor<f32> loc("loss")
  return %l : tensor<f32>
}
