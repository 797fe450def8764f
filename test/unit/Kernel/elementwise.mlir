// RUN: %unit/KernelCases %s
// Every elementwise operation, on ordinary and special values.

func.func @abs_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.abs %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @abs_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.abs %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @abs_bf16(%x: tensor<72xbf16> {test.values = array<f64: 1.0, 0.5, 3.0, 0.01, 10.0>}) -> tensor<72xbf16> attributes {test.tolerance = 8.0e-3} {
  %0 = weft.abs %x : tensor<72xbf16>
  return %0 : tensor<72xbf16>
}

func.func @abs_f16(%x: tensor<72xf16> {test.values = array<f64: 1.0, 0.5, 3.0, 0.01, 10.0>}) -> tensor<72xf16> attributes {test.tolerance = 1.0e-3} {
  %0 = weft.abs %x : tensor<72xf16>
  return %0 : tensor<72xf16>
}

func.func @acos_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, -0.5, 0.99, -0.3, 2.0>}) -> tensor<72xf32> {
  %0 = weft.acos %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @acos_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, -0.5, 0.99, -0.3, 2.0>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.acos %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @asin_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, -0.5, 0.99, -0.3, 2.0>}) -> tensor<72xf32> {
  %0 = weft.asin %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @asin_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, -0.5, 0.99, -0.3, 2.0>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.asin %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @atan_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.atan %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @atan_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.atan %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @ceil_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.ceil %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @ceil_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.ceil %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @cos_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.cos %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @cos_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.cos %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @cosh_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, 3.0, -4.0, 0.01>}) -> tensor<72xf32> {
  %0 = weft.cosh %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @cosh_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, 3.0, -4.0, 0.01>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.cosh %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @erf_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.erf %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @erf_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.erf %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @exp_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, 3.0, -4.0, 0.01, -100.0>}) -> tensor<72xf32> {
  %0 = weft.exp %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @exp_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, 3.0, -4.0, 0.01, -100.0>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.exp %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @exp_bf16(%x: tensor<72xbf16> {test.values = array<f64: 1.0, 0.5, 3.0, 0.01, 10.0>}) -> tensor<72xbf16> attributes {test.tolerance = 8.0e-3} {
  %0 = weft.exp %x : tensor<72xbf16>
  return %0 : tensor<72xbf16>
}

func.func @exp_f16(%x: tensor<72xf16> {test.values = array<f64: 1.0, 0.5, 3.0, 0.01, 10.0>}) -> tensor<72xf16> attributes {test.tolerance = 1.0e-3} {
  %0 = weft.exp %x : tensor<72xf16>
  return %0 : tensor<72xf16>
}

func.func @floor_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.floor %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @floor_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.floor %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @log_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.log %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @log_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.log %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @log1p_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.log1p %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @log1p_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.log1p %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @neg_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.neg %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @neg_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.neg %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @reciprocal_f32(%x: tensor<72xf32> {test.values = array<f64: 1.0, -1.0, 0.5, 3.0, -4.0, 0.01, 100.0, 0.0>}) -> tensor<72xf32> {
  %0 = weft.reciprocal %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @reciprocal_f64(%x: tensor<72xf64> {test.values = array<f64: 1.0, -1.0, 0.5, 3.0, -4.0, 0.01, 100.0, 0.0>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.reciprocal %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @round_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.round %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @round_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.round %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @rsqrt_f32(%x: tensor<72xf32> {test.values = array<f64: 1.0, -1.0, 0.5, 3.0, 0.01, 100.0, 0.0>}) -> tensor<72xf32> {
  %0 = weft.rsqrt %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @rsqrt_f64(%x: tensor<72xf64> {test.values = array<f64: 1.0, -1.0, 0.5, 3.0, 0.01, 100.0, 0.0>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.rsqrt %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @rsqrt_bf16(%x: tensor<72xbf16> {test.values = array<f64: 1.0, 0.5, 3.0, 0.01, 10.0>}) -> tensor<72xbf16> attributes {test.tolerance = 8.0e-3} {
  %0 = weft.rsqrt %x : tensor<72xbf16>
  return %0 : tensor<72xbf16>
}

func.func @rsqrt_f16(%x: tensor<72xf16> {test.values = array<f64: 1.0, 0.5, 3.0, 0.01, 10.0>}) -> tensor<72xf16> attributes {test.tolerance = 1.0e-3} {
  %0 = weft.rsqrt %x : tensor<72xf16>
  return %0 : tensor<72xf16>
}

func.func @sigmoid_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.sigmoid %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @sigmoid_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.sigmoid %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @sign_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.sign %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @sign_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.sign %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @sin_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.sin %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @sin_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.sin %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @sinh_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, 3.0, -4.0, 0.01>}) -> tensor<72xf32> {
  %0 = weft.sinh %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @sinh_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, 3.0, -4.0, 0.01>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.sinh %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @sqrt_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.sqrt %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @sqrt_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.sqrt %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @tan_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, 3.0, -4.0, 0.01, 100.0>}) -> tensor<72xf32> {
  %0 = weft.tan %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @tan_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 0.5, 3.0, -4.0, 0.01, 100.0>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.tan %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @tanh_f32(%x: tensor<72xf32> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf32> {
  %0 = weft.tanh %x : tensor<72xf32>
  return %0 : tensor<72xf32>
}

func.func @tanh_f64(%x: tensor<72xf64> {test.values = array<f64: 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 88.0, -90.0, 0.001, -0.7, 0.3, 10.0, -10.0, 1000.0, 3.0e-39>}) -> tensor<72xf64> attributes {test.tolerance = 1.0e-13} {
  %0 = weft.tanh %x : tensor<72xf64>
  return %0 : tensor<72xf64>
}

func.func @tanh_bf16(%x: tensor<72xbf16> {test.values = array<f64: 1.0, 0.5, 3.0, 0.01, 10.0>}) -> tensor<72xbf16> attributes {test.tolerance = 8.0e-3} {
  %0 = weft.tanh %x : tensor<72xbf16>
  return %0 : tensor<72xbf16>
}

func.func @tanh_f16(%x: tensor<72xf16> {test.values = array<f64: 1.0, 0.5, 3.0, 0.01, 10.0>}) -> tensor<72xf16> attributes {test.tolerance = 1.0e-3} {
  %0 = weft.tanh %x : tensor<72xf16>
  return %0 : tensor<72xf16>
}

func.func @gelu_erf(%x: tensor<4x333xf32>) -> tensor<4x333xf32> {
  %0 = weft.gelu erf %x : tensor<4x333xf32>
  return %0 : tensor<4x333xf32>
}

func.func @gelu_tanh(%x: tensor<4x333xf32>) -> tensor<4x333xf32> {
  %0 = weft.gelu tanh %x : tensor<4x333xf32>
  return %0 : tensor<4x333xf32>
}

func.func @add_f32(%x: tensor<110xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf32> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf32> {
  %0 = weft.add %x, %y : tensor<110xf32>
  return %0 : tensor<110xf32>
}

func.func @add_f64(%x: tensor<110xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf64> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf64> attributes {test.tolerance = 1.0e-12} {
  %0 = weft.add %x, %y : tensor<110xf64>
  return %0 : tensor<110xf64>
}

func.func @div_f32(%x: tensor<110xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf32> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf32> {
  %0 = weft.div %x, %y : tensor<110xf32>
  return %0 : tensor<110xf32>
}

func.func @div_f64(%x: tensor<110xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf64> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf64> attributes {test.tolerance = 1.0e-12} {
  %0 = weft.div %x, %y : tensor<110xf64>
  return %0 : tensor<110xf64>
}

func.func @max_f32(%x: tensor<110xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf32> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf32> {
  %0 = weft.max %x, %y : tensor<110xf32>
  return %0 : tensor<110xf32>
}

func.func @max_f64(%x: tensor<110xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf64> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf64> attributes {test.tolerance = 1.0e-12} {
  %0 = weft.max %x, %y : tensor<110xf64>
  return %0 : tensor<110xf64>
}

func.func @min_f32(%x: tensor<110xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf32> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf32> {
  %0 = weft.min %x, %y : tensor<110xf32>
  return %0 : tensor<110xf32>
}

func.func @min_f64(%x: tensor<110xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf64> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf64> attributes {test.tolerance = 1.0e-12} {
  %0 = weft.min %x, %y : tensor<110xf64>
  return %0 : tensor<110xf64>
}

func.func @mul_f32(%x: tensor<110xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf32> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf32> {
  %0 = weft.mul %x, %y : tensor<110xf32>
  return %0 : tensor<110xf32>
}

func.func @mul_f64(%x: tensor<110xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf64> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf64> attributes {test.tolerance = 1.0e-12} {
  %0 = weft.mul %x, %y : tensor<110xf64>
  return %0 : tensor<110xf64>
}

func.func @pow_f32(%x: tensor<110xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf32> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf32> {
  %0 = weft.pow %x, %y : tensor<110xf32>
  return %0 : tensor<110xf32>
}

func.func @pow_f64(%x: tensor<110xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf64> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf64> attributes {test.tolerance = 1.0e-12} {
  %0 = weft.pow %x, %y : tensor<110xf64>
  return %0 : tensor<110xf64>
}

func.func @rem_f32(%x: tensor<110xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf32> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf32> {
  %0 = weft.rem %x, %y : tensor<110xf32>
  return %0 : tensor<110xf32>
}

func.func @rem_f64(%x: tensor<110xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf64> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf64> attributes {test.tolerance = 1.0e-12} {
  %0 = weft.rem %x, %y : tensor<110xf64>
  return %0 : tensor<110xf64>
}

func.func @sub_f32(%x: tensor<110xf32> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf32> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf32> {
  %0 = weft.sub %x, %y : tensor<110xf32>
  return %0 : tensor<110xf32>
}

func.func @sub_f64(%x: tensor<110xf64> {test.values = array<f64: 0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 7.25, -8.0, 0x7FF8000000000000>},
    %y: tensor<110xf64> {test.values = array<f64: 2.0, -1.0, 3.0, 0.0, 0.5, -0.5, 1.5>}) -> tensor<110xf64> attributes {test.tolerance = 1.0e-12} {
  %0 = weft.sub %x, %y : tensor<110xf64>
  return %0 : tensor<110xf64>
}

func.func @add_i8(%x: tensor<64xi8> {test.range = array<i64: -100, 100>}, %y: tensor<64xi8> {test.range = array<i64: 1, 6>}) -> tensor<64xi8> {
  %0 = weft.add %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @add_i32(%x: tensor<64xi32> {test.range = array<i64: -100, 100>}, %y: tensor<64xi32> {test.range = array<i64: 1, 6>}) -> tensor<64xi32> {
  %0 = weft.add %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @add_i64(%x: tensor<64xi64> {test.range = array<i64: -100, 100>}, %y: tensor<64xi64> {test.range = array<i64: 1, 6>}) -> tensor<64xi64> {
  %0 = weft.add %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @add_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.add %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @add_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.add %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @add_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.add %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @div_i8(%x: tensor<64xi8> {test.range = array<i64: -100, 100>}, %y: tensor<64xi8> {test.values = array<f64: 1.0, -1.0, 3.0, -4.0>}) -> tensor<64xi8> {
  %0 = weft.div %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @div_i32(%x: tensor<64xi32> {test.range = array<i64: -100, 100>}, %y: tensor<64xi32> {test.values = array<f64: 1.0, -1.0, 3.0, -4.0>}) -> tensor<64xi32> {
  %0 = weft.div %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @div_i64(%x: tensor<64xi64> {test.range = array<i64: -100, 100>}, %y: tensor<64xi64> {test.values = array<f64: 1.0, -1.0, 3.0, -4.0>}) -> tensor<64xi64> {
  %0 = weft.div %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @div_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.div %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @div_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.div %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @div_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.div %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @max_i8(%x: tensor<64xi8> {test.range = array<i64: -100, 100>}, %y: tensor<64xi8> {test.range = array<i64: 1, 6>}) -> tensor<64xi8> {
  %0 = weft.max %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @max_i32(%x: tensor<64xi32> {test.range = array<i64: -100, 100>}, %y: tensor<64xi32> {test.range = array<i64: 1, 6>}) -> tensor<64xi32> {
  %0 = weft.max %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @max_i64(%x: tensor<64xi64> {test.range = array<i64: -100, 100>}, %y: tensor<64xi64> {test.range = array<i64: 1, 6>}) -> tensor<64xi64> {
  %0 = weft.max %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @max_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.max %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @max_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.max %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @max_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.max %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @min_i8(%x: tensor<64xi8> {test.range = array<i64: -100, 100>}, %y: tensor<64xi8> {test.range = array<i64: 1, 6>}) -> tensor<64xi8> {
  %0 = weft.min %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @min_i32(%x: tensor<64xi32> {test.range = array<i64: -100, 100>}, %y: tensor<64xi32> {test.range = array<i64: 1, 6>}) -> tensor<64xi32> {
  %0 = weft.min %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @min_i64(%x: tensor<64xi64> {test.range = array<i64: -100, 100>}, %y: tensor<64xi64> {test.range = array<i64: 1, 6>}) -> tensor<64xi64> {
  %0 = weft.min %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @min_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.min %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @min_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.min %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @min_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.min %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @mul_i8(%x: tensor<64xi8> {test.range = array<i64: -100, 100>}, %y: tensor<64xi8> {test.range = array<i64: 1, 6>}) -> tensor<64xi8> {
  %0 = weft.mul %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @mul_i32(%x: tensor<64xi32> {test.range = array<i64: -100, 100>}, %y: tensor<64xi32> {test.range = array<i64: 1, 6>}) -> tensor<64xi32> {
  %0 = weft.mul %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @mul_i64(%x: tensor<64xi64> {test.range = array<i64: -100, 100>}, %y: tensor<64xi64> {test.range = array<i64: 1, 6>}) -> tensor<64xi64> {
  %0 = weft.mul %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @mul_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.mul %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @mul_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.mul %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @mul_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.mul %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @pow_i8(%x: tensor<64xi8> {test.range = array<i64: -4, 5>}, %y: tensor<64xi8> {test.range = array<i64: -2, 6>}) -> tensor<64xi8> {
  %0 = weft.pow %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @pow_i32(%x: tensor<64xi32> {test.range = array<i64: -4, 5>}, %y: tensor<64xi32> {test.range = array<i64: -2, 6>}) -> tensor<64xi32> {
  %0 = weft.pow %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @pow_i64(%x: tensor<64xi64> {test.range = array<i64: -4, 5>}, %y: tensor<64xi64> {test.range = array<i64: -2, 6>}) -> tensor<64xi64> {
  %0 = weft.pow %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @pow_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.pow %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @pow_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.pow %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @pow_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.pow %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @rem_i8(%x: tensor<64xi8> {test.range = array<i64: -100, 100>}, %y: tensor<64xi8> {test.values = array<f64: 1.0, -1.0, 3.0, -4.0>}) -> tensor<64xi8> {
  %0 = weft.rem %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @rem_i32(%x: tensor<64xi32> {test.range = array<i64: -100, 100>}, %y: tensor<64xi32> {test.values = array<f64: 1.0, -1.0, 3.0, -4.0>}) -> tensor<64xi32> {
  %0 = weft.rem %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @rem_i64(%x: tensor<64xi64> {test.range = array<i64: -100, 100>}, %y: tensor<64xi64> {test.values = array<f64: 1.0, -1.0, 3.0, -4.0>}) -> tensor<64xi64> {
  %0 = weft.rem %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @rem_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.rem %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @rem_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.rem %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @rem_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.rem %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @sub_i8(%x: tensor<64xi8> {test.range = array<i64: -100, 100>}, %y: tensor<64xi8> {test.range = array<i64: 1, 6>}) -> tensor<64xi8> {
  %0 = weft.sub %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @sub_i32(%x: tensor<64xi32> {test.range = array<i64: -100, 100>}, %y: tensor<64xi32> {test.range = array<i64: 1, 6>}) -> tensor<64xi32> {
  %0 = weft.sub %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @sub_i64(%x: tensor<64xi64> {test.range = array<i64: -100, 100>}, %y: tensor<64xi64> {test.range = array<i64: 1, 6>}) -> tensor<64xi64> {
  %0 = weft.sub %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @sub_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.sub %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @sub_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.sub %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @sub_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.sub %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @and_i8(%x: tensor<64xi8> {test.range = array<i64: -100, 100>}, %y: tensor<64xi8> {test.range = array<i64: 1, 6>}) -> tensor<64xi8> {
  %0 = weft.and %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @and_i32(%x: tensor<64xi32> {test.range = array<i64: -100, 100>}, %y: tensor<64xi32> {test.range = array<i64: 1, 6>}) -> tensor<64xi32> {
  %0 = weft.and %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @and_i64(%x: tensor<64xi64> {test.range = array<i64: -100, 100>}, %y: tensor<64xi64> {test.range = array<i64: 1, 6>}) -> tensor<64xi64> {
  %0 = weft.and %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @and_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.and %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @and_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.and %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @and_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.and %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @or_i8(%x: tensor<64xi8> {test.range = array<i64: -100, 100>}, %y: tensor<64xi8> {test.range = array<i64: 1, 6>}) -> tensor<64xi8> {
  %0 = weft.or %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @or_i32(%x: tensor<64xi32> {test.range = array<i64: -100, 100>}, %y: tensor<64xi32> {test.range = array<i64: 1, 6>}) -> tensor<64xi32> {
  %0 = weft.or %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @or_i64(%x: tensor<64xi64> {test.range = array<i64: -100, 100>}, %y: tensor<64xi64> {test.range = array<i64: 1, 6>}) -> tensor<64xi64> {
  %0 = weft.or %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @or_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.or %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @or_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.or %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @or_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.or %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @xor_i8(%x: tensor<64xi8> {test.range = array<i64: -100, 100>}, %y: tensor<64xi8> {test.range = array<i64: 1, 6>}) -> tensor<64xi8> {
  %0 = weft.xor %x, %y : tensor<64xi8>
  return %0 : tensor<64xi8>
}

func.func @xor_i32(%x: tensor<64xi32> {test.range = array<i64: -100, 100>}, %y: tensor<64xi32> {test.range = array<i64: 1, 6>}) -> tensor<64xi32> {
  %0 = weft.xor %x, %y : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @xor_i64(%x: tensor<64xi64> {test.range = array<i64: -100, 100>}, %y: tensor<64xi64> {test.range = array<i64: 1, 6>}) -> tensor<64xi64> {
  %0 = weft.xor %x, %y : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @xor_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 100>}, %y: tensor<64xui8> {test.range = array<i64: 1, 6>}) -> tensor<64xui8> {
  %0 = weft.xor %x, %y : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @xor_ui32(%x: tensor<64xui32> {test.range = array<i64: 0, 100>}, %y: tensor<64xui32> {test.range = array<i64: 1, 6>}) -> tensor<64xui32> {
  %0 = weft.xor %x, %y : tensor<64xui32>
  return %0 : tensor<64xui32>
}

func.func @xor_ui64(%x: tensor<64xui64> {test.range = array<i64: 0, 100>}, %y: tensor<64xui64> {test.range = array<i64: 1, 6>}) -> tensor<64xui64> {
  %0 = weft.xor %x, %y : tensor<64xui64>
  return %0 : tensor<64xui64>
}

func.func @and_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.and %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @or_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.or %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @xor_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.xor %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @add_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.add %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @mul_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.mul %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @max_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.max %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @min_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.min %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @abs_i32(%x: tensor<64xi32>) -> tensor<64xi32> {
  %0 = weft.abs %x : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @abs_i64(%x: tensor<64xi64>) -> tensor<64xi64> {
  %0 = weft.abs %x : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @abs_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 9>}) -> tensor<64xui8> {
  %0 = weft.abs %x : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @neg_i32(%x: tensor<64xi32>) -> tensor<64xi32> {
  %0 = weft.neg %x : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @neg_i64(%x: tensor<64xi64>) -> tensor<64xi64> {
  %0 = weft.neg %x : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @neg_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 9>}) -> tensor<64xui8> {
  %0 = weft.neg %x : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @not_i32(%x: tensor<64xi32>) -> tensor<64xi32> {
  %0 = weft.not %x : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @not_i64(%x: tensor<64xi64>) -> tensor<64xi64> {
  %0 = weft.not %x : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @not_i1(%x: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.not %x : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @not_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 9>}) -> tensor<64xui8> {
  %0 = weft.not %x : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @sign_i32(%x: tensor<64xi32>) -> tensor<64xi32> {
  %0 = weft.sign %x : tensor<64xi32>
  return %0 : tensor<64xi32>
}

func.func @sign_i64(%x: tensor<64xi64>) -> tensor<64xi64> {
  %0 = weft.sign %x : tensor<64xi64>
  return %0 : tensor<64xi64>
}

func.func @sign_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 9>}) -> tensor<64xui8> {
  %0 = weft.sign %x : tensor<64xui8>
  return %0 : tensor<64xui8>
}

func.func @compare_eq_f32(%x: tensor<64xf32> {test.values = array<f64: 0.0, 1.0, 0x7FF8000000000000, -1.0>}, %y: tensor<64xf32> {test.values = array<f64: 1.0, 0.0, 0x7FF8000000000000, -1.0>}) -> tensor<64xi1> {
  %0 = weft.compare eq %x, %y : tensor<64xf32>
  return %0 : tensor<64xi1>
}

func.func @compare_eq_i64(%x: tensor<64xi64>, %y: tensor<64xi64>) -> tensor<64xi1> {
  %0 = weft.compare eq %x, %y : tensor<64xi64>
  return %0 : tensor<64xi1>
}

func.func @compare_eq_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 200>}, %y: tensor<64xui8> {test.range = array<i64: 0, 200>}) -> tensor<64xi1> {
  %0 = weft.compare eq %x, %y : tensor<64xui8>
  return %0 : tensor<64xi1>
}

func.func @compare_eq_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.compare eq %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @compare_ne_f32(%x: tensor<64xf32> {test.values = array<f64: 0.0, 1.0, 0x7FF8000000000000, -1.0>}, %y: tensor<64xf32> {test.values = array<f64: 1.0, 0.0, 0x7FF8000000000000, -1.0>}) -> tensor<64xi1> {
  %0 = weft.compare ne %x, %y : tensor<64xf32>
  return %0 : tensor<64xi1>
}

func.func @compare_ne_i64(%x: tensor<64xi64>, %y: tensor<64xi64>) -> tensor<64xi1> {
  %0 = weft.compare ne %x, %y : tensor<64xi64>
  return %0 : tensor<64xi1>
}

func.func @compare_ne_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 200>}, %y: tensor<64xui8> {test.range = array<i64: 0, 200>}) -> tensor<64xi1> {
  %0 = weft.compare ne %x, %y : tensor<64xui8>
  return %0 : tensor<64xi1>
}

func.func @compare_ne_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.compare ne %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @compare_lt_f32(%x: tensor<64xf32> {test.values = array<f64: 0.0, 1.0, 0x7FF8000000000000, -1.0>}, %y: tensor<64xf32> {test.values = array<f64: 1.0, 0.0, 0x7FF8000000000000, -1.0>}) -> tensor<64xi1> {
  %0 = weft.compare lt %x, %y : tensor<64xf32>
  return %0 : tensor<64xi1>
}

func.func @compare_lt_i64(%x: tensor<64xi64>, %y: tensor<64xi64>) -> tensor<64xi1> {
  %0 = weft.compare lt %x, %y : tensor<64xi64>
  return %0 : tensor<64xi1>
}

func.func @compare_lt_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 200>}, %y: tensor<64xui8> {test.range = array<i64: 0, 200>}) -> tensor<64xi1> {
  %0 = weft.compare lt %x, %y : tensor<64xui8>
  return %0 : tensor<64xi1>
}

func.func @compare_lt_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.compare lt %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @compare_le_f32(%x: tensor<64xf32> {test.values = array<f64: 0.0, 1.0, 0x7FF8000000000000, -1.0>}, %y: tensor<64xf32> {test.values = array<f64: 1.0, 0.0, 0x7FF8000000000000, -1.0>}) -> tensor<64xi1> {
  %0 = weft.compare le %x, %y : tensor<64xf32>
  return %0 : tensor<64xi1>
}

func.func @compare_le_i64(%x: tensor<64xi64>, %y: tensor<64xi64>) -> tensor<64xi1> {
  %0 = weft.compare le %x, %y : tensor<64xi64>
  return %0 : tensor<64xi1>
}

func.func @compare_le_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 200>}, %y: tensor<64xui8> {test.range = array<i64: 0, 200>}) -> tensor<64xi1> {
  %0 = weft.compare le %x, %y : tensor<64xui8>
  return %0 : tensor<64xi1>
}

func.func @compare_le_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.compare le %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @compare_gt_f32(%x: tensor<64xf32> {test.values = array<f64: 0.0, 1.0, 0x7FF8000000000000, -1.0>}, %y: tensor<64xf32> {test.values = array<f64: 1.0, 0.0, 0x7FF8000000000000, -1.0>}) -> tensor<64xi1> {
  %0 = weft.compare gt %x, %y : tensor<64xf32>
  return %0 : tensor<64xi1>
}

func.func @compare_gt_i64(%x: tensor<64xi64>, %y: tensor<64xi64>) -> tensor<64xi1> {
  %0 = weft.compare gt %x, %y : tensor<64xi64>
  return %0 : tensor<64xi1>
}

func.func @compare_gt_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 200>}, %y: tensor<64xui8> {test.range = array<i64: 0, 200>}) -> tensor<64xi1> {
  %0 = weft.compare gt %x, %y : tensor<64xui8>
  return %0 : tensor<64xi1>
}

func.func @compare_gt_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.compare gt %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @compare_ge_f32(%x: tensor<64xf32> {test.values = array<f64: 0.0, 1.0, 0x7FF8000000000000, -1.0>}, %y: tensor<64xf32> {test.values = array<f64: 1.0, 0.0, 0x7FF8000000000000, -1.0>}) -> tensor<64xi1> {
  %0 = weft.compare ge %x, %y : tensor<64xf32>
  return %0 : tensor<64xi1>
}

func.func @compare_ge_i64(%x: tensor<64xi64>, %y: tensor<64xi64>) -> tensor<64xi1> {
  %0 = weft.compare ge %x, %y : tensor<64xi64>
  return %0 : tensor<64xi1>
}

func.func @compare_ge_ui8(%x: tensor<64xui8> {test.range = array<i64: 0, 200>}, %y: tensor<64xui8> {test.range = array<i64: 0, 200>}) -> tensor<64xi1> {
  %0 = weft.compare ge %x, %y : tensor<64xui8>
  return %0 : tensor<64xi1>
}

func.func @compare_ge_i1(%x: tensor<64xi1>, %y: tensor<64xi1>) -> tensor<64xi1> {
  %0 = weft.compare ge %x, %y : tensor<64xi1>
  return %0 : tensor<64xi1>
}

func.func @is_inf(%x: tensor<8xf32> {test.values = array<f64: 0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000>}) -> tensor<8xi1> {
  %0 = weft.is_inf %x : tensor<8xf32>
  return %0 : tensor<8xi1>
}

func.func @is_nan(%x: tensor<8xf32> {test.values = array<f64: 0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000>}) -> tensor<8xi1> {
  %0 = weft.is_nan %x : tensor<8xf32>
  return %0 : tensor<8xi1>
}

func.func @cast_i1_i8(%x: tensor<90xi1> {test.range = array<i64: 0, 2>}) -> tensor<90xi8> {
  %0 = weft.cast %x : tensor<90xi1> to tensor<90xi8>
  return %0 : tensor<90xi8>
}

func.func @cast_i1_i32(%x: tensor<90xi1> {test.range = array<i64: 0, 2>}) -> tensor<90xi32> {
  %0 = weft.cast %x : tensor<90xi1> to tensor<90xi32>
  return %0 : tensor<90xi32>
}

func.func @cast_i1_i64(%x: tensor<90xi1> {test.range = array<i64: 0, 2>}) -> tensor<90xi64> {
  %0 = weft.cast %x : tensor<90xi1> to tensor<90xi64>
  return %0 : tensor<90xi64>
}

func.func @cast_i1_ui8(%x: tensor<90xi1> {test.range = array<i64: 0, 2>}) -> tensor<90xui8> {
  %0 = weft.cast %x : tensor<90xi1> to tensor<90xui8>
  return %0 : tensor<90xui8>
}

func.func @cast_i1_ui64(%x: tensor<90xi1> {test.range = array<i64: 0, 2>}) -> tensor<90xui64> {
  %0 = weft.cast %x : tensor<90xi1> to tensor<90xui64>
  return %0 : tensor<90xui64>
}

func.func @cast_i1_f16(%x: tensor<90xi1> {test.range = array<i64: 0, 2>}) -> tensor<90xf16> {
  %0 = weft.cast %x : tensor<90xi1> to tensor<90xf16>
  return %0 : tensor<90xf16>
}

func.func @cast_i1_bf16(%x: tensor<90xi1> {test.range = array<i64: 0, 2>}) -> tensor<90xbf16> {
  %0 = weft.cast %x : tensor<90xi1> to tensor<90xbf16>
  return %0 : tensor<90xbf16>
}

func.func @cast_i1_f32(%x: tensor<90xi1> {test.range = array<i64: 0, 2>}) -> tensor<90xf32> {
  %0 = weft.cast %x : tensor<90xi1> to tensor<90xf32>
  return %0 : tensor<90xf32>
}

func.func @cast_i1_f64(%x: tensor<90xi1> {test.range = array<i64: 0, 2>}) -> tensor<90xf64> {
  %0 = weft.cast %x : tensor<90xi1> to tensor<90xf64>
  return %0 : tensor<90xf64>
}

func.func @cast_i8_i1(%x: tensor<90xi8> {test.range = array<i64: -128, 128>}) -> tensor<90xi1> {
  %0 = weft.cast %x : tensor<90xi8> to tensor<90xi1>
  return %0 : tensor<90xi1>
}

func.func @cast_i8_i32(%x: tensor<90xi8> {test.range = array<i64: -128, 128>}) -> tensor<90xi32> {
  %0 = weft.cast %x : tensor<90xi8> to tensor<90xi32>
  return %0 : tensor<90xi32>
}

func.func @cast_i8_i64(%x: tensor<90xi8> {test.range = array<i64: -128, 128>}) -> tensor<90xi64> {
  %0 = weft.cast %x : tensor<90xi8> to tensor<90xi64>
  return %0 : tensor<90xi64>
}

func.func @cast_i8_ui8(%x: tensor<90xi8> {test.range = array<i64: -128, 128>}) -> tensor<90xui8> {
  %0 = weft.cast %x : tensor<90xi8> to tensor<90xui8>
  return %0 : tensor<90xui8>
}

func.func @cast_i8_ui64(%x: tensor<90xi8> {test.range = array<i64: -128, 128>}) -> tensor<90xui64> {
  %0 = weft.cast %x : tensor<90xi8> to tensor<90xui64>
  return %0 : tensor<90xui64>
}

func.func @cast_i8_f16(%x: tensor<90xi8> {test.range = array<i64: -128, 128>}) -> tensor<90xf16> {
  %0 = weft.cast %x : tensor<90xi8> to tensor<90xf16>
  return %0 : tensor<90xf16>
}

func.func @cast_i8_bf16(%x: tensor<90xi8> {test.range = array<i64: -128, 128>}) -> tensor<90xbf16> {
  %0 = weft.cast %x : tensor<90xi8> to tensor<90xbf16>
  return %0 : tensor<90xbf16>
}

func.func @cast_i8_f32(%x: tensor<90xi8> {test.range = array<i64: -128, 128>}) -> tensor<90xf32> {
  %0 = weft.cast %x : tensor<90xi8> to tensor<90xf32>
  return %0 : tensor<90xf32>
}

func.func @cast_i8_f64(%x: tensor<90xi8> {test.range = array<i64: -128, 128>}) -> tensor<90xf64> {
  %0 = weft.cast %x : tensor<90xi8> to tensor<90xf64>
  return %0 : tensor<90xf64>
}

func.func @cast_i32_i1(%x: tensor<90xi32> {test.range = array<i64: -128, 128>}) -> tensor<90xi1> {
  %0 = weft.cast %x : tensor<90xi32> to tensor<90xi1>
  return %0 : tensor<90xi1>
}

func.func @cast_i32_i8(%x: tensor<90xi32> {test.range = array<i64: -128, 128>}) -> tensor<90xi8> {
  %0 = weft.cast %x : tensor<90xi32> to tensor<90xi8>
  return %0 : tensor<90xi8>
}

func.func @cast_i32_i64(%x: tensor<90xi32> {test.range = array<i64: -128, 128>}) -> tensor<90xi64> {
  %0 = weft.cast %x : tensor<90xi32> to tensor<90xi64>
  return %0 : tensor<90xi64>
}

func.func @cast_i32_ui8(%x: tensor<90xi32> {test.range = array<i64: -128, 128>}) -> tensor<90xui8> {
  %0 = weft.cast %x : tensor<90xi32> to tensor<90xui8>
  return %0 : tensor<90xui8>
}

func.func @cast_i32_ui64(%x: tensor<90xi32> {test.range = array<i64: -128, 128>}) -> tensor<90xui64> {
  %0 = weft.cast %x : tensor<90xi32> to tensor<90xui64>
  return %0 : tensor<90xui64>
}

func.func @cast_i32_f16(%x: tensor<90xi32> {test.range = array<i64: -128, 128>}) -> tensor<90xf16> {
  %0 = weft.cast %x : tensor<90xi32> to tensor<90xf16>
  return %0 : tensor<90xf16>
}

func.func @cast_i32_bf16(%x: tensor<90xi32> {test.range = array<i64: -128, 128>}) -> tensor<90xbf16> {
  %0 = weft.cast %x : tensor<90xi32> to tensor<90xbf16>
  return %0 : tensor<90xbf16>
}

func.func @cast_i32_f32(%x: tensor<90xi32> {test.range = array<i64: -128, 128>}) -> tensor<90xf32> {
  %0 = weft.cast %x : tensor<90xi32> to tensor<90xf32>
  return %0 : tensor<90xf32>
}

func.func @cast_i32_f64(%x: tensor<90xi32> {test.range = array<i64: -128, 128>}) -> tensor<90xf64> {
  %0 = weft.cast %x : tensor<90xi32> to tensor<90xf64>
  return %0 : tensor<90xf64>
}

func.func @cast_i64_i1(%x: tensor<90xi64> {test.range = array<i64: -128, 128>}) -> tensor<90xi1> {
  %0 = weft.cast %x : tensor<90xi64> to tensor<90xi1>
  return %0 : tensor<90xi1>
}

func.func @cast_i64_i8(%x: tensor<90xi64> {test.range = array<i64: -128, 128>}) -> tensor<90xi8> {
  %0 = weft.cast %x : tensor<90xi64> to tensor<90xi8>
  return %0 : tensor<90xi8>
}

func.func @cast_i64_i32(%x: tensor<90xi64> {test.range = array<i64: -128, 128>}) -> tensor<90xi32> {
  %0 = weft.cast %x : tensor<90xi64> to tensor<90xi32>
  return %0 : tensor<90xi32>
}

func.func @cast_i64_ui8(%x: tensor<90xi64> {test.range = array<i64: -128, 128>}) -> tensor<90xui8> {
  %0 = weft.cast %x : tensor<90xi64> to tensor<90xui8>
  return %0 : tensor<90xui8>
}

func.func @cast_i64_ui64(%x: tensor<90xi64> {test.range = array<i64: -128, 128>}) -> tensor<90xui64> {
  %0 = weft.cast %x : tensor<90xi64> to tensor<90xui64>
  return %0 : tensor<90xui64>
}

func.func @cast_i64_f16(%x: tensor<90xi64> {test.range = array<i64: -128, 128>}) -> tensor<90xf16> {
  %0 = weft.cast %x : tensor<90xi64> to tensor<90xf16>
  return %0 : tensor<90xf16>
}

func.func @cast_i64_bf16(%x: tensor<90xi64> {test.range = array<i64: -128, 128>}) -> tensor<90xbf16> {
  %0 = weft.cast %x : tensor<90xi64> to tensor<90xbf16>
  return %0 : tensor<90xbf16>
}

func.func @cast_i64_f32(%x: tensor<90xi64> {test.range = array<i64: -128, 128>}) -> tensor<90xf32> {
  %0 = weft.cast %x : tensor<90xi64> to tensor<90xf32>
  return %0 : tensor<90xf32>
}

func.func @cast_i64_f64(%x: tensor<90xi64> {test.range = array<i64: -128, 128>}) -> tensor<90xf64> {
  %0 = weft.cast %x : tensor<90xi64> to tensor<90xf64>
  return %0 : tensor<90xf64>
}

func.func @cast_ui8_i1(%x: tensor<90xui8> {test.range = array<i64: 0, 256>}) -> tensor<90xi1> {
  %0 = weft.cast %x : tensor<90xui8> to tensor<90xi1>
  return %0 : tensor<90xi1>
}

func.func @cast_ui8_i8(%x: tensor<90xui8> {test.range = array<i64: 0, 256>}) -> tensor<90xi8> {
  %0 = weft.cast %x : tensor<90xui8> to tensor<90xi8>
  return %0 : tensor<90xi8>
}

func.func @cast_ui8_i32(%x: tensor<90xui8> {test.range = array<i64: 0, 256>}) -> tensor<90xi32> {
  %0 = weft.cast %x : tensor<90xui8> to tensor<90xi32>
  return %0 : tensor<90xi32>
}

func.func @cast_ui8_i64(%x: tensor<90xui8> {test.range = array<i64: 0, 256>}) -> tensor<90xi64> {
  %0 = weft.cast %x : tensor<90xui8> to tensor<90xi64>
  return %0 : tensor<90xi64>
}

func.func @cast_ui8_ui64(%x: tensor<90xui8> {test.range = array<i64: 0, 256>}) -> tensor<90xui64> {
  %0 = weft.cast %x : tensor<90xui8> to tensor<90xui64>
  return %0 : tensor<90xui64>
}

func.func @cast_ui8_f16(%x: tensor<90xui8> {test.range = array<i64: 0, 256>}) -> tensor<90xf16> {
  %0 = weft.cast %x : tensor<90xui8> to tensor<90xf16>
  return %0 : tensor<90xf16>
}

func.func @cast_ui8_bf16(%x: tensor<90xui8> {test.range = array<i64: 0, 256>}) -> tensor<90xbf16> {
  %0 = weft.cast %x : tensor<90xui8> to tensor<90xbf16>
  return %0 : tensor<90xbf16>
}

func.func @cast_ui8_f32(%x: tensor<90xui8> {test.range = array<i64: 0, 256>}) -> tensor<90xf32> {
  %0 = weft.cast %x : tensor<90xui8> to tensor<90xf32>
  return %0 : tensor<90xf32>
}

func.func @cast_ui8_f64(%x: tensor<90xui8> {test.range = array<i64: 0, 256>}) -> tensor<90xf64> {
  %0 = weft.cast %x : tensor<90xui8> to tensor<90xf64>
  return %0 : tensor<90xf64>
}

func.func @cast_ui64_i1(%x: tensor<90xui64> {test.range = array<i64: 0, 256>}) -> tensor<90xi1> {
  %0 = weft.cast %x : tensor<90xui64> to tensor<90xi1>
  return %0 : tensor<90xi1>
}

func.func @cast_ui64_i8(%x: tensor<90xui64> {test.range = array<i64: 0, 256>}) -> tensor<90xi8> {
  %0 = weft.cast %x : tensor<90xui64> to tensor<90xi8>
  return %0 : tensor<90xi8>
}

func.func @cast_ui64_i32(%x: tensor<90xui64> {test.range = array<i64: 0, 256>}) -> tensor<90xi32> {
  %0 = weft.cast %x : tensor<90xui64> to tensor<90xi32>
  return %0 : tensor<90xi32>
}

func.func @cast_ui64_i64(%x: tensor<90xui64> {test.range = array<i64: 0, 256>}) -> tensor<90xi64> {
  %0 = weft.cast %x : tensor<90xui64> to tensor<90xi64>
  return %0 : tensor<90xi64>
}

func.func @cast_ui64_ui8(%x: tensor<90xui64> {test.range = array<i64: 0, 256>}) -> tensor<90xui8> {
  %0 = weft.cast %x : tensor<90xui64> to tensor<90xui8>
  return %0 : tensor<90xui8>
}

func.func @cast_ui64_f16(%x: tensor<90xui64> {test.range = array<i64: 0, 256>}) -> tensor<90xf16> {
  %0 = weft.cast %x : tensor<90xui64> to tensor<90xf16>
  return %0 : tensor<90xf16>
}

func.func @cast_ui64_bf16(%x: tensor<90xui64> {test.range = array<i64: 0, 256>}) -> tensor<90xbf16> {
  %0 = weft.cast %x : tensor<90xui64> to tensor<90xbf16>
  return %0 : tensor<90xbf16>
}

func.func @cast_ui64_f32(%x: tensor<90xui64> {test.range = array<i64: 0, 256>}) -> tensor<90xf32> {
  %0 = weft.cast %x : tensor<90xui64> to tensor<90xf32>
  return %0 : tensor<90xf32>
}

func.func @cast_ui64_f64(%x: tensor<90xui64> {test.range = array<i64: 0, 256>}) -> tensor<90xf64> {
  %0 = weft.cast %x : tensor<90xui64> to tensor<90xf64>
  return %0 : tensor<90xf64>
}

func.func @cast_f16_i1(%x: tensor<90xf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xi1> {
  %0 = weft.cast %x : tensor<90xf16> to tensor<90xi1>
  return %0 : tensor<90xi1>
}

func.func @cast_f16_i8(%x: tensor<90xf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xi8> {
  %0 = weft.cast %x : tensor<90xf16> to tensor<90xi8>
  return %0 : tensor<90xi8>
}

func.func @cast_f16_i32(%x: tensor<90xf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xi32> {
  %0 = weft.cast %x : tensor<90xf16> to tensor<90xi32>
  return %0 : tensor<90xi32>
}

func.func @cast_f16_i64(%x: tensor<90xf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xi64> {
  %0 = weft.cast %x : tensor<90xf16> to tensor<90xi64>
  return %0 : tensor<90xi64>
}

func.func @cast_f16_ui8(%x: tensor<90xf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xui8> {
  %0 = weft.cast %x : tensor<90xf16> to tensor<90xui8>
  return %0 : tensor<90xui8>
}

func.func @cast_f16_ui64(%x: tensor<90xf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xui64> {
  %0 = weft.cast %x : tensor<90xf16> to tensor<90xui64>
  return %0 : tensor<90xui64>
}

func.func @cast_f16_bf16(%x: tensor<90xf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xbf16> {
  %0 = weft.cast %x : tensor<90xf16> to tensor<90xbf16>
  return %0 : tensor<90xbf16>
}

func.func @cast_f16_f32(%x: tensor<90xf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xf32> {
  %0 = weft.cast %x : tensor<90xf16> to tensor<90xf32>
  return %0 : tensor<90xf32>
}

func.func @cast_f16_f64(%x: tensor<90xf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xf64> {
  %0 = weft.cast %x : tensor<90xf16> to tensor<90xf64>
  return %0 : tensor<90xf64>
}

func.func @cast_bf16_i1(%x: tensor<90xbf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xi1> {
  %0 = weft.cast %x : tensor<90xbf16> to tensor<90xi1>
  return %0 : tensor<90xi1>
}

func.func @cast_bf16_i8(%x: tensor<90xbf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xi8> {
  %0 = weft.cast %x : tensor<90xbf16> to tensor<90xi8>
  return %0 : tensor<90xi8>
}

func.func @cast_bf16_i32(%x: tensor<90xbf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xi32> {
  %0 = weft.cast %x : tensor<90xbf16> to tensor<90xi32>
  return %0 : tensor<90xi32>
}

func.func @cast_bf16_i64(%x: tensor<90xbf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xi64> {
  %0 = weft.cast %x : tensor<90xbf16> to tensor<90xi64>
  return %0 : tensor<90xi64>
}

func.func @cast_bf16_ui8(%x: tensor<90xbf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xui8> {
  %0 = weft.cast %x : tensor<90xbf16> to tensor<90xui8>
  return %0 : tensor<90xui8>
}

func.func @cast_bf16_ui64(%x: tensor<90xbf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xui64> {
  %0 = weft.cast %x : tensor<90xbf16> to tensor<90xui64>
  return %0 : tensor<90xui64>
}

func.func @cast_bf16_f16(%x: tensor<90xbf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xf16> {
  %0 = weft.cast %x : tensor<90xbf16> to tensor<90xf16>
  return %0 : tensor<90xf16>
}

func.func @cast_bf16_f32(%x: tensor<90xbf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xf32> {
  %0 = weft.cast %x : tensor<90xbf16> to tensor<90xf32>
  return %0 : tensor<90xf32>
}

func.func @cast_bf16_f64(%x: tensor<90xbf16> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0>}) -> tensor<90xf64> {
  %0 = weft.cast %x : tensor<90xbf16> to tensor<90xf64>
  return %0 : tensor<90xf64>
}

func.func @cast_f32_i1(%x: tensor<90xf32> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xi1> {
  %0 = weft.cast %x : tensor<90xf32> to tensor<90xi1>
  return %0 : tensor<90xi1>
}

func.func @cast_f32_i8(%x: tensor<90xf32> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xi8> {
  %0 = weft.cast %x : tensor<90xf32> to tensor<90xi8>
  return %0 : tensor<90xi8>
}

func.func @cast_f32_i32(%x: tensor<90xf32> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xi32> {
  %0 = weft.cast %x : tensor<90xf32> to tensor<90xi32>
  return %0 : tensor<90xi32>
}

func.func @cast_f32_i64(%x: tensor<90xf32> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xi64> {
  %0 = weft.cast %x : tensor<90xf32> to tensor<90xi64>
  return %0 : tensor<90xi64>
}

func.func @cast_f32_ui8(%x: tensor<90xf32> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xui8> {
  %0 = weft.cast %x : tensor<90xf32> to tensor<90xui8>
  return %0 : tensor<90xui8>
}

func.func @cast_f32_ui64(%x: tensor<90xf32> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xui64> {
  %0 = weft.cast %x : tensor<90xf32> to tensor<90xui64>
  return %0 : tensor<90xui64>
}

func.func @cast_f32_f16(%x: tensor<90xf32> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xf16> {
  %0 = weft.cast %x : tensor<90xf32> to tensor<90xf16>
  return %0 : tensor<90xf16>
}

func.func @cast_f32_bf16(%x: tensor<90xf32> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xbf16> {
  %0 = weft.cast %x : tensor<90xf32> to tensor<90xbf16>
  return %0 : tensor<90xbf16>
}

func.func @cast_f32_f64(%x: tensor<90xf32> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xf64> {
  %0 = weft.cast %x : tensor<90xf32> to tensor<90xf64>
  return %0 : tensor<90xf64>
}

func.func @cast_f64_i1(%x: tensor<90xf64> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xi1> {
  %0 = weft.cast %x : tensor<90xf64> to tensor<90xi1>
  return %0 : tensor<90xi1>
}

func.func @cast_f64_i8(%x: tensor<90xf64> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xi8> {
  %0 = weft.cast %x : tensor<90xf64> to tensor<90xi8>
  return %0 : tensor<90xi8>
}

func.func @cast_f64_i32(%x: tensor<90xf64> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xi32> {
  %0 = weft.cast %x : tensor<90xf64> to tensor<90xi32>
  return %0 : tensor<90xi32>
}

func.func @cast_f64_i64(%x: tensor<90xf64> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xi64> {
  %0 = weft.cast %x : tensor<90xf64> to tensor<90xi64>
  return %0 : tensor<90xi64>
}

func.func @cast_f64_ui8(%x: tensor<90xf64> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xui8> {
  %0 = weft.cast %x : tensor<90xf64> to tensor<90xui8>
  return %0 : tensor<90xui8>
}

func.func @cast_f64_ui64(%x: tensor<90xf64> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xui64> {
  %0 = weft.cast %x : tensor<90xf64> to tensor<90xui64>
  return %0 : tensor<90xui64>
}

func.func @cast_f64_f16(%x: tensor<90xf64> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xf16> {
  %0 = weft.cast %x : tensor<90xf64> to tensor<90xf16>
  return %0 : tensor<90xf16>
}

func.func @cast_f64_bf16(%x: tensor<90xf64> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xbf16> {
  %0 = weft.cast %x : tensor<90xf64> to tensor<90xbf16>
  return %0 : tensor<90xbf16>
}

func.func @cast_f64_f32(%x: tensor<90xf64> {test.values = array<f64: 0.0, 1.5, -1.5, 100.25, -3.0, 2.0, 300.0, 0x7FF8000000000000, -1.0e10, 1.0e10>}) -> tensor<90xf32> {
  %0 = weft.cast %x : tensor<90xf64> to tensor<90xf32>
  return %0 : tensor<90xf32>
}

func.func @select(%c: tensor<5x40xi1> {test.range = array<i64: 0, 2>}, %x: tensor<5x40xbf16>, %y: tensor<5x40xbf16>) -> tensor<5x40xbf16> {
  %0 = weft.select %c, %x, %y : tensor<5x40xi1>, tensor<5x40xbf16>
  return %0 : tensor<5x40xbf16>
}
