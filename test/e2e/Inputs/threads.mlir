func.func @main(%x: tensor<4x130x384xf32> {weft.name = "x"}, %up: tensor<384x1000xf32> {weft.name = "up"},
                %down: tensor<1000x384xf32> {weft.name = "down"}, %image: tensor<2x24x30x30xf32> {weft.name = "image"},
                %kernel: tensor<48x24x3x3xf32> {weft.name = "kernel"})
    -> (tensor<4x130x384xf32> {weft.name = "y"}, tensor<2x48x30x30xf32> {weft.name = "picture"}) {
  %0 = weft.dot_general %x, %up batch [] x [] contract [2] x [0]
      : (tensor<4x130x384xf32>, tensor<384x1000xf32>) -> tensor<4x130x1000xf32>
  %1 = weft.softmax %0 axis 2 : tensor<4x130x1000xf32>
  %2 = weft.dot_general %1, %down batch [] x [] contract [2] x [0]
      : (tensor<4x130x1000xf32>, tensor<1000x384xf32>) -> tensor<4x130x384xf32>
  %3 = weft.conv %image, %kernel strides [1, 1] low [1, 1] high [1, 1] dilations [1, 1] groups 1
      : (tensor<2x24x30x30xf32>, tensor<48x24x3x3xf32>) -> tensor<2x48x30x30xf32>
  return %2, %3 : tensor<4x130x384xf32>, tensor<2x48x30x30xf32>
}
