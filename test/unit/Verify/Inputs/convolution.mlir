// A bias and a residual sum follow the convolution, in the memory of its result; the residual is read later too.
module attributes {weft.source = "convolution.mlir"} {
  func.func @main(%x: tensor<2x16x20xf32> {weft.name = "x"}, %k: tensor<16x16x3xf32> {weft.name = "k"}, %b: tensor<16xf32> {weft.name = "b"})
      -> (tensor<2x16x20xf32> {weft.name = "y"}) {
    %0 = weft.conv %x, %k strides [1] low [1] high [1] dilations [1] groups 1 : (tensor<2x16x20xf32>, tensor<16x16x3xf32>) -> tensor<2x16x20xf32> loc("conv")
    %1 = weft.broadcast %b dims [1] : tensor<16xf32> to tensor<2x16x20xf32>
    %2 = weft.add %0, %1 : tensor<2x16x20xf32>
    %3 = weft.add %2, %x : tensor<2x16x20xf32> loc("y")
    return %3 : tensor<2x16x20xf32>
  }
}
