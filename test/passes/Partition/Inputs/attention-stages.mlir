// Two causal blocks over 8 tokens, a table of positions, which is longer, and one that is not, and the squares of what comes out as the loss.
weft.weight @positions : tensor<10x8xf32> = #weft.external<"w.bin", 0, 320>
weft.weight @exact : tensor<8x8xf32> = #weft.external<"w.bin", 832, 256>
weft.weight @u : tensor<8x8xf32> = #weft.external<"w.bin", 320, 256>
weft.weight @v : tensor<8x8xf32> = #weft.external<"w.bin", 576, 256>
func.func @main(%x: tensor<4x8x8xf32> {weft.name = "x"}) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
  %table = weft.load @positions : tensor<10x8xf32>
  %rows = weft.slice %table starts [0, 0] strides [1, 1] : tensor<10x8xf32> to tensor<8x8xf32>
  %p = weft.broadcast %rows dims [1, 2] : tensor<8x8xf32> to tensor<4x8x8xf32>
  %e = weft.load @exact : tensor<8x8xf32>
  %f = weft.broadcast %e dims [1, 2] : tensor<8x8xf32> to tensor<4x8x8xf32>
  %g = weft.add %x, %f : tensor<4x8x8xf32>
  %in = weft.add %g, %p : tensor<4x8x8xf32>
  %u = weft.load @u : tensor<8x8xf32>
  %0 = weft.dot_general %in, %u batch [] x [] contract [2] x [0] : (tensor<4x8x8xf32>, tensor<8x8xf32>) -> tensor<4x8x8xf32> loc("k0")
  %q0 = weft.reshape %in : tensor<4x8x8xf32> to tensor<4x1x8x8xf32>
  %k0 = weft.reshape %0 : tensor<4x8x8xf32> to tensor<4x1x8x8xf32>
  %a0 = weft.attention %q0, %k0, %k0 scale 0.5 causal masked_rows nan
      : (tensor<4x1x8x8xf32>, tensor<4x1x8x8xf32>, tensor<4x1x8x8xf32>) -> tensor<4x1x8x8xf32> loc("a0")
  %h = weft.reshape %a0 : tensor<4x1x8x8xf32> to tensor<32x8xf32> loc("h")
  %v = weft.load @v : tensor<8x8xf32>
  %1 = weft.dot_general %h, %v batch [] x [] contract [1] x [0] : (tensor<32x8xf32>, tensor<8x8xf32>) -> tensor<32x8xf32> loc("k1")
  %q1 = weft.reshape %h : tensor<32x8xf32> to tensor<4x1x8x8xf32>
  %k1 = weft.reshape %1 : tensor<32x8xf32> to tensor<4x1x8x8xf32>
  %a1 = weft.attention %q1, %k1, %k1 scale 0.5 causal masked_rows nan
      : (tensor<4x1x8x8xf32>, tensor<4x1x8x8xf32>, tensor<4x1x8x8xf32>) -> tensor<4x1x8x8xf32> loc("a1")
  %s = weft.mul %a1, %a1 : tensor<4x1x8x8xf32>
  %l = weft.reduce sum %s dims [0, 1, 2, 3] : tensor<4x1x8x8xf32> -> tensor<f32> loc("loss")
  return %l : tensor<f32>
}
