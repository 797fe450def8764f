// RUN: %unit/KernelCases %s
// Row reductions, normalisations and softmax, alone and fused with what surrounds them.

func.func @residual_layer_norm(%a: tensor<128x768xf32>, %bias: tensor<768xf32>, %x: tensor<1x128x768xf32>,
                               %scale: tensor<768xf32>, %shift: tensor<768xf32>)
    -> (tensor<1x128x768xf32>, tensor<1x128x768xf32>) {
  %0 = weft.broadcast %bias dims [1] : tensor<768xf32> to tensor<128x768xf32>
  %1 = weft.add %a, %0 : tensor<128x768xf32>
  %2 = weft.reshape %1 : tensor<128x768xf32> to tensor<1x128x768xf32>
  %3 = weft.add %x, %2 : tensor<1x128x768xf32>
  %4 = weft.layer_norm %3 scale %scale : tensor<768xf32> bias %shift : tensor<768xf32> axis 2 epsilon 1.0e-05 : tensor<1x128x768xf32>
  return %4, %3 : tensor<1x128x768xf32>, tensor<1x128x768xf32>
}

func.func @causal_softmax(%s: tensor<1x12x64x64xf32>) -> tensor<1x12x64x64xf32> {
  %0 = weft.constant dense<0.125> : tensor<1x12x64x64xf32>
  %1 = weft.mul %s, %0 : tensor<1x12x64x64xf32>
  %2 = weft.iota 3 : tensor<1x12x64x64xi32>
  %3 = weft.iota 2 : tensor<1x12x64x64xi32>
  %4 = weft.compare le %2, %3 : tensor<1x12x64x64xi32>
  %5 = weft.constant dense<0xFF800000> : tensor<1x12x64x64xf32>
  %6 = weft.select %4, %1, %5 : tensor<1x12x64x64xi1>, tensor<1x12x64x64xf32>
  %7 = weft.softmax %6 axis 3 : tensor<1x12x64x64xf32>
  return %7 : tensor<1x12x64x64xf32>
}

func.func @rms_norm(%x: tensor<3x5x33xf32>, %scale: tensor<33xf32>) -> tensor<3x5x33xf32> {
  %0 = weft.rms_norm %x scale %scale : tensor<33xf32> axis 2 epsilon 1.0e-06 : tensor<3x5x33xf32>
  return %0 : tensor<3x5x33xf32>
}

func.func @two_dims_norm(%x: tensor<4x6x10xf32>) -> tensor<4x6x10xf32> {
  %0 = weft.layer_norm %x axis 1 epsilon 1.0e-06 : tensor<4x6x10xf32>
  return %0 : tensor<4x6x10xf32>
}

func.func @long_softmax(%x: tensor<2x50257xf32>) -> tensor<2x50257xf32> {
  %0 = weft.softmax %x axis 1 : tensor<2x50257xf32>
  return %0 : tensor<2x50257xf32>
}

func.func @softmax_middle(%x: tensor<4x10x300xf32>) -> tensor<4x10x300xf32> {
  %0 = weft.softmax %x axis 1 : tensor<4x10x300xf32>
  return %0 : tensor<4x10x300xf32>
}

func.func @masked_row_is_nan(%x: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %0 = weft.constant dense<0xFF800000> : tensor<2x16xf32>
  %1 = weft.iota 0 : tensor<2x16xi32>
  %2 = weft.constant dense<0> : tensor<2x16xi32>
  %3 = weft.compare eq %1, %2 : tensor<2x16xi32>
  %4 = weft.select %3, %x, %0 : tensor<2x16xi1>, tensor<2x16xf32>
  %5 = weft.softmax %4 axis 1 : tensor<2x16xf32>
  return %5 : tensor<2x16xf32>
}

func.func @row_sums(%x: tensor<7x13xf32>) -> (tensor<7xf32>, tensor<7x13xf32>) {
  %0 = weft.reduce sum %x dims [1] : tensor<7x13xf32> -> tensor<7xf32>
  %1 = weft.exp %x : tensor<7x13xf32>
  return %0, %1 : tensor<7xf32>, tensor<7x13xf32>
}

func.func @all_sum(%x: tensor<37x53xf32>) -> tensor<f32> {
  %0 = weft.reduce sum %x dims [0, 1] : tensor<37x53xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @column_sums(%x: tensor<50x300xf32>) -> tensor<300xf32> {
  %0 = weft.mul %x, %x : tensor<50x300xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<50x300xf32> -> tensor<300xf32>
  %2 = weft.sqrt %1 : tensor<300xf32>
  return %2 : tensor<300xf32>
}

func.func @middle_max(%x: tensor<5x6x7xf32>) -> tensor<5x7xf32> {
  %0 = weft.reduce max %x dims [1] : tensor<5x6x7xf32> -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

func.func @integer_reductions(%x: tensor<6x9xi32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) {
  %0 = weft.reduce sum %x dims [1] : tensor<6x9xi32> -> tensor<6xi32>
  %1 = weft.reduce max %x dims [1] : tensor<6x9xi32> -> tensor<6xi32>
  %2 = weft.reduce min %x dims [1] : tensor<6x9xi32> -> tensor<6xi32>
  %3 = weft.reduce prod %x dims [1] : tensor<6x9xi32> -> tensor<6xi32>
  return %0, %1, %2, %3 : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
}

func.func @any_and_all(%x: tensor<40x3xi1>) -> (tensor<40xi1>, tensor<40xi1>) {
  %0 = weft.reduce max %x dims [1] : tensor<40x3xi1> -> tensor<40xi1>
  %1 = weft.reduce min %x dims [1] : tensor<40x3xi1> -> tensor<40xi1>
  return %0, %1 : tensor<40xi1>, tensor<40xi1>
}

func.func @bf16_norm(%x: tensor<8x64xbf16>) -> tensor<8x64xbf16> attributes {test.tolerance = 1.0e-2} {
  %0 = weft.layer_norm %x axis 1 epsilon 1.0e-05 : tensor<8x64xbf16>
  return %0 : tensor<8x64xbf16>
}

func.func @f64_softmax(%x: tensor<8x64xf64>) -> tensor<8x64xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.softmax %x axis 1 : tensor<8x64xf64>
  return %0 : tensor<8x64xf64>
}

func.func @reduction_read_elsewhere(%x: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %0 = weft.reduce sum %x dims [1] : tensor<6x6xf32> -> tensor<6xf32>
  %1 = weft.broadcast %0 dims [1] : tensor<6xf32> to tensor<6x6xf32>
  %2 = weft.add %x, %1 : tensor<6x6xf32>
  return %2 : tensor<6x6xf32>
}

func.func @norm_of_pairs(%x: tensor<4x4x1xf32>, %y: tensor<4x4x1xf32>) -> tensor<4x8xf32> {
  %0 = weft.sub %x, %y : tensor<4x4x1xf32>
  %1 = weft.add %x, %y : tensor<4x4x1xf32>
  %2 = weft.concat %0, %1 axis 2 : (tensor<4x4x1xf32>, tensor<4x4x1xf32>) -> tensor<4x4x2xf32>
  %3 = weft.reshape %2 : tensor<4x4x2xf32> to tensor<4x8xf32>
  %4 = weft.softmax %3 axis 1 : tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}
