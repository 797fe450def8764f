module {
  func.func @main(%x: tensor<2x4xf32> {weft.name = "x"}, %e: tensor<0x4xf32> {weft.name = "e"}, %i: tensor<0x1xi64> {weft.name = "i"})
      -> (tensor<2x4xf32> {weft.name = "joined"}, tensor<0x2xi64> {weft.name = "places"}, tensor<2x3xf32> {weft.name = "product"},
          tensor<4xf32> {weft.name = "sum"}, tensor<2x4xf32> {weft.name = "scattered"}) {
    %0 = weft.exp %e : tensor<0x4xf32>
    %1 = weft.concat %x, %0 axis 0 : (tensor<2x4xf32>, tensor<0x4xf32>) -> tensor<2x4xf32>
    %2, %3 = weft.sort %0 axis 1 count 2 : tensor<0x4xf32> -> tensor<0x2xf32>, tensor<0x2xi64>
    %4 = weft.slice %x starts [0, 0] strides [1, 1] : tensor<2x4xf32> to tensor<2x0xf32>
    %5 = weft.slice %e starts [0, 0] strides [1, 1] : tensor<0x4xf32> to tensor<0x3xf32>
    %6 = weft.dot_general %4, %5 batch [] x [] contract [1] x [0] : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
    %7 = weft.reduce sum %0 dims [0] : tensor<0x4xf32> -> tensor<4xf32>
    %8 = weft.scatter_nd add %x, %i, %e : (tensor<2x4xf32>, tensor<0x1xi64>, tensor<0x4xf32>) -> tensor<2x4xf32>
    return %1, %3, %6, %7, %8 : tensor<2x4xf32>, tensor<0x2xi64>, tensor<2x3xf32>, tensor<4xf32>, tensor<2x4xf32>
  }
}
