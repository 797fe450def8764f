// RUN: weft-opt %s --verify-roundtrip | FileCheck %s

// Every operation with attributes or operands of its own prints as it is written.

module attributes {weft.source = "model.onnx"} {
  // CHECK: weft.weight @table : tensor<512x64xf32> = #weft.external<"model.data", 0, 131072>
  weft.weight @table : tensor<512x64xf32> = #weft.external<"model.data", 0, 131072>
  // CHECK: weft.weight kind(constant) @ones : tensor<2x2xi1> = dense<true> : tensor<2x2xi1>
  weft.weight kind(constant) @ones : tensor<2x2xi1> = dense<true> : tensor<2x2xi1>
  // CHECK: weft.weight kind(state) @"optimizer.m:w" : tensor<4xf32> = dense<0.000000e+00> : tensor<4xf32> in host
  weft.weight kind(state) @"optimizer.m:w" : tensor<4xf32> = dense<0.0> : tensor<4xf32> in host
  // CHECK: weft.weight kind(state) @mean : tensor<4xf32> = dense<0.000000e+00> : tensor<4xf32>
  weft.weight kind(state) @mean : tensor<4xf32> = dense<0.0> : tensor<4xf32>

  // CHECK-LABEL: @symbols
  func.func @symbols() -> (tensor<512x64xf32>, tensor<4xf32>) {
    // CHECK: weft.load @table : tensor<512x64xf32>
    %0 = weft.load @table : tensor<512x64xf32>
    // CHECK: weft.constant dense<1.250000e-01> : tensor<4xf32>
    %1 = weft.constant dense<0.125> : tensor<4xf32>
    // CHECK: weft.store @mean, %{{.*}} : tensor<4xf32>
    weft.store @mean, %1 : tensor<4xf32>
    return %0, %1 : tensor<512x64xf32>, tensor<4xf32>
  }

  // CHECK-LABEL: @elementwise
  func.func @elementwise(%x: tensor<4x8xf32>, %i: tensor<4x8xi64>, %c: tensor<4x8xi1>) {
    // CHECK: weft.tanh %{{.*}} : tensor<4x8xf32>
    %0 = weft.tanh %x : tensor<4x8xf32>
    // CHECK: weft.add %{{.*}}, %{{.*}} : tensor<4x8xf32>
    %1 = weft.add %x, %0 : tensor<4x8xf32>
    // CHECK: weft.is_nan %{{.*}} : tensor<4x8xf32>
    %2 = weft.is_nan %1 : tensor<4x8xf32>
    // CHECK: weft.cast %{{.*}} : tensor<4x8xi64> to tensor<4x8xf32>
    %3 = weft.cast %i : tensor<4x8xi64> to tensor<4x8xf32>
    // CHECK: weft.compare lt %{{.*}}, %{{.*}} : tensor<4x8xf32>
    %4 = weft.compare lt %1, %3 : tensor<4x8xf32>
    // CHECK: weft.and %{{.*}}, %{{.*}} : tensor<4x8xi1>
    %5 = weft.and %2, %4 : tensor<4x8xi1>
    // CHECK: weft.gelu tanh %{{.*}} : tensor<4x8xf32>
    %6 = weft.gelu tanh %x : tensor<4x8xf32>
    // CHECK: weft.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xi1>, tensor<4x8xf32>
    %7 = weft.select %5, %6, %x : tensor<4x8xi1>, tensor<4x8xf32>
    return
  }

  // CHECK-LABEL: @views
  func.func @views(%x: tensor<4x8xf32>, %v: tensor<f32>) {
    // CHECK: weft.broadcast %{{.*}} dims [1, 2] : tensor<4x8xf32> to tensor<2x4x8xf32>
    %0 = weft.broadcast %x dims [1, 2] : tensor<4x8xf32> to tensor<2x4x8xf32>
    // CHECK: weft.concat %{{.*}}, %{{.*}} axis 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %1 = weft.concat %x, %x axis 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    // CHECK: weft.pad %{{.*}}, %{{.*}} low [0, 1] high [0, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x11xf32>
    %2 = weft.pad %x, %v low [0, 1] high [0, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x11xf32>
    // CHECK: weft.reshape %{{.*}} : tensor<4x8xf32> to tensor<32xf32>
    %3 = weft.reshape %x : tensor<4x8xf32> to tensor<32xf32>
    // CHECK: weft.reverse %{{.*}} dims [1] : tensor<4x8xf32>
    %4 = weft.reverse %x dims [1] : tensor<4x8xf32>
    // CHECK: weft.slice %{{.*}} starts [0, 1] strides [1, 3] : tensor<4x8xf32> to tensor<4x3xf32>
    %5 = weft.slice %x starts [0, 1] strides [1, 3] : tensor<4x8xf32> to tensor<4x3xf32>
    // CHECK: weft.transpose %{{.*}} [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    %6 = weft.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    // CHECK: weft.iota 1 : tensor<4x8xi64>
    %7 = weft.iota 1 : tensor<4x8xi64>
    return
  }

  // CHECK-LABEL: @indexing
  func.func @indexing(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>, %o: tensor<i64>) {
    // CHECK: weft.gather %{{.*}}, %{{.*}} axis 0 : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2x8xf32>
    %0 = weft.gather %x, %i axis 0 : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2x8xf32>
    // CHECK: weft.gather %{{.*}}, %{{.*}} offset %{{.*}} : tensor<i64> axis 0 extent 16 : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2x8xf32>
    %1 = weft.gather %x, %i offset %o : tensor<i64> axis 0 extent 16 : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2x8xf32>
    // CHECK: weft.gather_elements %{{.*}}, %{{.*}} axis 1 : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
    %2 = weft.gather_elements %x, %i axis 1 : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
    // CHECK: weft.gather_nd %{{.*}}, %{{.*}} batch_dims 0 : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4xf32>
    %3 = weft.gather_nd %x, %i batch_dims 0 : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4xf32>
    // CHECK: weft.scatter_elements add %{{.*}}, %{{.*}}, %{{.*}} axis 1 : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>
    %4 = weft.scatter_elements add %x, %i, %u axis 1 : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>
    // CHECK: weft.scatter_nd set %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4xf32>) -> tensor<4x8xf32>
    %5 = weft.scatter_nd set %x, %i, %3 : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4xf32>) -> tensor<4x8xf32>
    // CHECK: weft.scatter_nd max %{{.*}}, %{{.*}}, %{{.*}} offset %{{.*}} : tensor<i64> drop extent 16 : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4xf32>) -> tensor<4x8xf32>
    %6 = weft.scatter_nd max %x, %i, %3 offset %o : tensor<i64> drop extent 16 : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4xf32>) -> tensor<4x8xf32>
    // CHECK: weft.sort %{{.*}} axis 1 count 2 descending : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi64>
    %7, %8 = weft.sort %x axis 1 count 2 descending : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi64>
    return
  }

  // CHECK-LABEL: @reductions
  func.func @reductions(%x: tensor<4x8xf32>) {
    // CHECK: weft.reduce max %{{.*}} dims [0] : tensor<4x8xf32> -> tensor<8xf32>
    %0 = weft.reduce max %x dims [0] : tensor<4x8xf32> -> tensor<8xf32>
    // CHECK: weft.reduce_window sum %{{.*}} window [2, 3] strides [1, 2] dilations [1, 1] low [-1, 1] high [0, 1] input_dilations [2, 1] : tensor<4x8xf32> -> tensor<5x4xf32>
    %3 = weft.reduce_window sum %x window [2, 3] strides [1, 2] dilations [1, 1] low [-1, 1] high [0, 1] input_dilations [2, 1] : tensor<4x8xf32> -> tensor<5x4xf32>
    // CHECK: weft.cumsum %{{.*}} axis 1 exclusive reverse : tensor<4x8xf32>
    %1 = weft.cumsum %x axis 1 exclusive reverse : tensor<4x8xf32>
    // CHECK: weft.softmax %{{.*}} axis 1 : tensor<4x8xf32>
    %2 = weft.softmax %x axis 1 : tensor<4x8xf32>
    return
  }

  // CHECK-LABEL: @products
  func.func @products(%x: tensor<4x32x64xf32>, %w: tensor<64x192xf32>, %p: tensor<4x3x32x32xf32>, %k: tensor<64x3x16x16xf32>) {
    // CHECK: weft.dot_general %{{.*}}, %{{.*}} batch [] x [] contract [2] x [0] : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
    %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
    // CHECK: weft.conv %{{.*}}, %{{.*}} strides [16, 16] low [0, 0] high [0, 0] dilations [1, 1] groups 1 : (tensor<4x3x32x32xf32>, tensor<64x3x16x16xf32>) -> tensor<4x64x2x2xf32>
    %1 = weft.conv %p, %k strides [16, 16] low [0, 0] high [0, 0] dilations [1, 1] groups 1
        : (tensor<4x3x32x32xf32>, tensor<64x3x16x16xf32>) -> tensor<4x64x2x2xf32>
    // CHECK: weft.conv %{{.*}}, %{{.*}} strides [1, 1] low [15, -1] high [15, -1] dilations [1, 1] input_dilations [2, 2] groups 1 : (tensor<4x3x32x32xf32>, tensor<64x3x16x16xf32>) -> tensor<4x64x78x46xf32>
    %2 = weft.conv %p, %k strides [1, 1] low [15, -1] high [15, -1] dilations [1, 1] input_dilations [2, 2] groups 1
        : (tensor<4x3x32x32xf32>, tensor<64x3x16x16xf32>) -> tensor<4x64x78x46xf32>
    // CHECK: weft.conv_kernel_gradient %{{.*}}, %{{.*}} strides [16, 16] low [0, 0] high [0, 0] dilations [1, 1] groups 1 : (tensor<4x3x32x32xf32>, tensor<4x64x2x2xf32>) -> tensor<64x3x16x16xf32>
    %3 = weft.conv_kernel_gradient %p, %1 strides [16, 16] low [0, 0] high [0, 0] dilations [1, 1] groups 1
        : (tensor<4x3x32x32xf32>, tensor<4x64x2x2xf32>) -> tensor<64x3x16x16xf32>
    return
  }

  // CHECK-LABEL: @attention
  func.func @attention(%q: tensor<4x8x32x64xf32>, %k: tensor<4x2x32x64xf32>, %m: tensor<4x1x1x32xi1>, %b: tensor<1x8x32x32xf32>) {
    // CHECK: weft.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.250000e-01 causal masked_rows nan : (tensor<4x8x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x2x32x64xf32>) -> tensor<4x8x32x64xf32>
    %0 = weft.attention %q, %k, %k scale 0.125 causal masked_rows nan
        : (tensor<4x8x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x2x32x64xf32>) -> tensor<4x8x32x64xf32>
    // CHECK: weft.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} bias %{{.*}} scale 1.000000e+00 query_offset 3 window 8 softcap 5.000000e+01 masked_rows zero :
    %1:2 = weft.attention %q, %k, %k mask %m bias %b scale 1.0 query_offset 3 window 8 softcap 50.0 masked_rows zero
        : (tensor<4x8x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x1x1x32xi1>, tensor<1x8x32x32xf32>)
        -> (tensor<4x8x32x64xf32>, tensor<4x8x32xf32>)
    // CHECK: weft.attention_backward %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} bias %{{.*}} result %{{.*}} lse %{{.*}} gradient %{{.*}} scale 1.000000e+00 query_offset 3 window 8 softcap 5.000000e+01 masked_rows zero :
    %2:3 = weft.attention_backward %q, %k, %k mask %m bias %b result %1#0 lse %1#1 gradient %0 scale 1.0 query_offset 3 window 8 softcap 50.0 masked_rows zero
        : (tensor<4x8x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x1x1x32xi1>, tensor<1x8x32x32xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32xf32>, tensor<4x8x32x64xf32>)
        -> (tensor<4x8x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x2x32x64xf32>)
    return
  }

  func.func private @descend(%x: tensor<f32>, %gradient: tensor<f32>, %rate: tensor<f32>) -> tensor<f32> {
    %0 = weft.mul %gradient, %rate : tensor<f32>
    %1 = weft.sub %x, %0 : tensor<f32>
    return %1 : tensor<f32>
  }

  // CHECK-LABEL: @map
  func.func @map(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %r: tensor<f32>) {
    // CHECK: weft.map @descend(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %0 = weft.map @descend(%x, %g, %r) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    return
  }

  // CHECK-LABEL: @norms
  func.func @norms(%x: tensor<4x32x64xf32>, %s: tensor<64xf32>, %h: tensor<4x8x32x16xf32>, %c: tensor<1x32x8xf32>) {
    // CHECK: weft.layer_norm %{{.*}} scale %{{.*}} : tensor<64xf32> bias %{{.*}} : tensor<64xf32> axis 2 epsilon 1.000000e-05 : tensor<4x32x64xf32>
    %0 = weft.layer_norm %x scale %s : tensor<64xf32> bias %s : tensor<64xf32> axis 2 epsilon 1.0e-5 : tensor<4x32x64xf32>
    // CHECK: weft.rms_norm %{{.*}} scale %{{.*}} : tensor<64xf32> axis 2 epsilon 9.9{{.*}}E-7 : tensor<4x32x64xf32>
    %1 = weft.rms_norm %x scale %s : tensor<64xf32> axis 2 epsilon 1.0e-6 : tensor<4x32x64xf32>
    // CHECK: weft.rotary %{{.*}}, %{{.*}}, %{{.*}} interleaved : tensor<4x8x32x16xf32>, tensor<1x32x8xf32>, tensor<1x32x8xf32>
    %2 = weft.rotary %h, %c, %c interleaved : tensor<4x8x32x16xf32>, tensor<1x32x8xf32>, tensor<1x32x8xf32>
    return
  }
}
