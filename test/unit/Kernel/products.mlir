// RUN: %unit/KernelCases %s
// Products of element types that no library call takes.

func.func @integer_product(%a: tensor<5x7xi32>, %b: tensor<7x300xi32>) -> tensor<5x300xi32> {
  %0 = weft.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<5x7xi32>, tensor<7x300xi32>) -> tensor<5x300xi32>
  return %0 : tensor<5x300xi32>
}

func.func @f64_batched_transposed(%a: tensor<2x3x5x7xf64>, %b: tensor<2x3x4x7xf64>) -> tensor<2x3x5x4xf64> attributes {test.tolerance = 1.0e-14} {
  %0 = weft.dot_general %a, %b batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x3x5x7xf64>, tensor<2x3x4x7xf64>) -> tensor<2x3x5x4xf64>
  return %0 : tensor<2x3x5x4xf64>
}

func.func @f64_two_contracted(%a: tensor<3x5x7xf64>, %b: tensor<5x4x7xf64>) -> tensor<3x4xf64> attributes {test.tolerance = 1.0e-14} {
  %0 = weft.dot_general %a, %b batch [] x [] contract [1, 2] x [0, 2] : (tensor<3x5x7xf64>, tensor<5x4x7xf64>) -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

func.func @bf16_product(%a: tensor<6x40xbf16>, %b: tensor<40x30xbf16>) -> tensor<6x30xbf16> attributes {test.tolerance = 1.0e-2} {
  %0 = weft.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<6x40xbf16>, tensor<40x30xbf16>) -> tensor<6x30xbf16>
  return %0 : tensor<6x30xbf16>
}

func.func @f32_product(%a: tensor<6x40xf32>, %b: tensor<40x30xf32>) -> tensor<6x30xf32> {
  %0 = weft.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<6x40xf32>, tensor<40x30xf32>) -> tensor<6x30xf32>
  return %0 : tensor<6x30xf32>
}

func.func @inner_product(%a: tensor<40xf32>, %b: tensor<40xf32>) -> tensor<f32> {
  %0 = weft.dot_general %a, %b batch [] x [] contract [0] x [0] : (tensor<40xf32>, tensor<40xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @i1_product(%a: tensor<6x4xi1> {test.range = array<i64: 0, 2>}, %b: tensor<4x3xi1> {test.range = array<i64: 0, 2>}) -> tensor<6x3xi1> {
  %0 = weft.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<6x4xi1>, tensor<4x3xi1>) -> tensor<6x3xi1>
  return %0 : tensor<6x3xi1>
}
