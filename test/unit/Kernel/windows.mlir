// RUN: %unit/KernelCases %s
// Windows: lanes of neighbouring windows, padding, strides, dilation.

func.func @max_pool(%x: tensor<2x3x17x150xf32>) -> tensor<2x3x9x75xf32> {
  %0 = weft.reduce_window max %x window [1, 1, 3, 3] strides [1, 1, 2, 2] dilations [1, 1, 1, 1] low [0, 0, 1, 1] high [0, 0, 1, 1]
      : tensor<2x3x17x150xf32> -> tensor<2x3x9x75xf32>
  return %0 : tensor<2x3x9x75xf32>
}

func.func @sum_channels_last(%x: tensor<2x9x8x5xf32>) -> tensor<2x4x6x5xf32> {
  %0 = weft.reduce_window sum %x window [1, 3, 2, 1] strides [1, 2, 1, 1] dilations [1, 1, 2, 1] low [0, 0, 0, 0] high [0, 0, 0, 0]
      : tensor<2x9x8x5xf32> -> tensor<2x4x6x5xf32>
  return %0 : tensor<2x4x6x5xf32>
}

func.func @min_bytes(%x: tensor<7x6xui8> {test.range = array<i64: 3, 200>}) -> tensor<7x3xui8> {
  %0 = weft.reduce_window min %x window [2, 3] strides [1, 2] dilations [1, 1] low [1, 1] high [0, 0] : tensor<7x6xui8> -> tensor<7x3xui8>
  return %0 : tensor<7x3xui8>
}

func.func @product(%x: tensor<9xf64>) -> tensor<7xf64> {
  %0 = weft.reduce_window prod %x window [3] strides [1] dilations [1] low [0] high [0] : tensor<9xf64> -> tensor<7xf64>
  return %0 : tensor<7xf64>
}

func.func @cumulative(%x: tensor<3x20xf32>) -> tensor<3x20xf32> {
  %0 = weft.reduce_window sum %x window [1, 20] strides [1, 1] dilations [1, 1] low [0, 19] high [0, 0] : tensor<3x20xf32> -> tensor<3x20xf32>
  return %0 : tensor<3x20xf32>
}

func.func @strided_alone(%x: tensor<8x9xf32>) -> tensor<4x5xf32> {
  %0 = weft.reduce_window max %x window [1, 1] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : tensor<8x9xf32> -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
