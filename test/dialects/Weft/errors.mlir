// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @addTypes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  "weft.add"(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @attentionGroups(%q: tensor<2x4x3x8xf32>, %k: tensor<2x3x3x8xf32>) {
  // C1 of weft.attention
  // expected-error @+1 {{expected query heads to be a multiple of key heads, got: 4, 3}}
  %0 = weft.attention %q, %k, %k scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x3x3x8xf32>, tensor<2x3x3x8xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @reshapeCount(%x: tensor<4x8xf32>) {
  // C1 of weft.reshape
  // expected-error @+1 {{expected as many elements in the result as in the operand, got: 36 != 32}}
  %0 = weft.reshape %x : tensor<4x8xf32> to tensor<4x9xf32>
  return
}

// -----

func.func @sliceOut(%x: tensor<4x8xf32>) {
  // C2 of weft.slice
  // expected-error @+1 {{expected the last element of dimension 1 within 8, got: 8}}
  %0 = weft.slice %x starts [0, 6] strides [1, 1] : tensor<4x8xf32> to tensor<4x3xf32>
  return
}

// -----

func.func @transposeTwice(%x: tensor<4x8xf32>) {
  // C1 of weft.transpose
  // expected-error @+1 {{expected a permutation of the 2 dimensions, got: [0, 0]}}
  %0 = "weft.transpose"(%x) <{permutation = array<i64: 0, 0>}> : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @unknownWeight() {
  // C1 of weft.load
  // expected-error @+1 {{expected a weft.weight, got: @absent}}
  %0 = weft.load @absent : tensor<4xf32>
  return
}

// -----

// C1 of weft.weight
// expected-error @+1 {{expected storage of 16 bytes, got: 12}}
weft.weight @short : tensor<4xf32> = #weft.external<"w", 0, 12>

// -----

func.func @softmaxAxis(%x: tensor<4x8xf32>) {
  // C1 of weft.softmax
  // expected-error @+1 {{expected axis within [0, 2), got: 2}}
  %0 = weft.softmax %x axis 2 : tensor<4x8xf32>
  return
}

// -----

func.func @dotSizes(%x: tensor<4x8xf32>, %y: tensor<7x3xf32>) {
  // C1 of weft.dot_general
  // expected-error @+1 {{expected contracted dimensions of equal sizes, got: [1] of [4, 8] and [0] of [7, 3]}}
  %0 = weft.dot_general %x, %y batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<7x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @normScale(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // C2 of weft.rms_norm
  // expected-error @+1 {{expected scale of shape [8], got: [4]}}
  %0 = weft.rms_norm %x scale %s : tensor<4xf32> axis 1 epsilon 1.0e-06 : tensor<4x8xf32>
  return
}

// -----

func.func @rotaryTable(%x: tensor<2x4x3x8xf32>, %c: tensor<1x3x5xf32>) {
  // C2 of weft.rotary
  // expected-error @+1 {{expected twice the last dimension of cos within 8, got: 10}}
  %0 = weft.rotary %x, %c, %c : tensor<2x4x3x8xf32>, tensor<1x3x5xf32>, tensor<1x3x5xf32>
  return
}

// -----

func.func @broadcastDims(%x: tensor<4x8xf32>) {
  // C1 of weft.broadcast
  // expected-error @+1 {{expected dims strictly increasing within [0, 3), got: [2, 1]}}
  %0 = weft.broadcast %x dims [2, 1] : tensor<4x8xf32> to tensor<2x8x4xf32>
  return
}

// -----

func.func @sortAxis(%x: tensor<4x8xf32>) {
  // C1 of weft.sort
  // expected-error @+1 {{expected axis within [0, 2), got: 2}}
  %0, %1 = "weft.sort"(%x) <{axis = 2 : i64, count = 2 : i64}> : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
  return
}

// -----

func.func @sortCount(%x: tensor<4x8xf32>) {
  // C2 of weft.sort
  // expected-error @+1 {{expected count within [0, 9), got: 9}}
  %0, %1 = weft.sort %x axis 1 count 9 : tensor<4x8xf32> -> tensor<4x9xf32>, tensor<4x9xi64>
  return
}

// -----

func.func @sortLength(%x: tensor<4294967296xi8>) {
  // C2 of weft.sort
  // expected-error @+1 {{expected fewer than 4294967296 elements along the axis, got: 4294967296}}
  %0, %1 = weft.sort %x axis 0 count 1 : tensor<4294967296xi8> -> tensor<1xi8>, tensor<1xi64>
  return
}

// -----

func.func @windowStrides(%x: tensor<4x8xf32>) {
  // C1 of weft.reduce_window
  // expected-error @+1 {{expected dilations within [1, 2147483648), got: 0}}
  %0 = weft.reduce_window max %x window [1, 2] strides [1, 1] dilations [1, 0] low [0, 0] high [0, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @convPadding(%x: tensor<4x2x8xf32>, %k: tensor<6x2x3xf32>) {
  // C2 of weft.conv
  // expected-error @+1 {{expected result of shape [4, 6, 13], got: [4, 6, 6]}}
  %0 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] input_dilations [2] groups 1 : (tensor<4x2x8xf32>, tensor<6x2x3xf32>) -> tensor<4x6x6xf32>
  return
}

// -----

func.func @scatterExtent(%x: tensor<4x8xf32>, %i: tensor<2x1xi64>, %u: tensor<2x8xf32>) {
  // C3 of weft.scatter_nd
  // expected-error @+1 {{expected offset and extent to come together, got: extent alone}}
  %0 = weft.scatter_nd set %x, %i, %u extent 8 : (tensor<4x8xf32>, tensor<2x1xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scatterShardTuple(%x: tensor<4x8xf32>, %i: tensor<2x0xi64>, %u: tensor<2x4x8xf32>, %o: tensor<i64>) {
  // C3 of weft.scatter_nd
  // expected-error @+1 {{expected tuples of one index or more with offset, got: 0}}
  %0 = weft.scatter_nd add %x, %i, %u offset %o : tensor<i64> extent 8 : (tensor<4x8xf32>, tensor<2x0xi64>, tensor<2x4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @keyword(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{custom op 'weft.gelu' expected one of erf, tanh}}
  %0 = weft.gelu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @keyword(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected one of erf, tanh, got: exact}}
  %0 = weft.gelu exact %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @keyword(%x: tensor<4xf32>) -> tensor<4xi1> {
  // expected-error @+1 {{expected one of eq, ne, lt, le, gt, ge, got: bigger}}
  %0 = weft.compare bigger %x, %x : tensor<4xf32>
  return %0 : tensor<4xi1>
}

// -----

func.func @keyword(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @+1 {{expected one of sum, max, min, prod}}
  %0 = weft.reduce %x dims [0] : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @keyword(%x: tensor<4xf32>, %i: tensor<1x1xi64>, %u: tensor<1xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected one of set, add, mul, max, min, got: put}}
  %0 = weft.scatter_nd put %x, %i, %u : (tensor<4xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @keyword(%q: tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> {
  // expected-error @+1 {{expected one of uniform, zero, nan, got: none}}
  %0 = weft.attention %q, %q, %q scale 1.0 masked_rows none : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32>
  return %0 : tensor<1x1x2x4xf32>
}

// -----

// expected-error @+1 {{expected one of constant, parameter, state, trained, got: buffer}}
weft.weight kind(buffer) @w : tensor<f32> = dense<0.0> : tensor<f32>

// -----

// expected-note @+1 {{the weight is here}}
weft.weight @w : tensor<4xf32> = dense<0.0> : tensor<4xf32>
func.func @storeParameter(%x: tensor<4xf32>) {
  // C1 of weft.store
  // expected-error @+1 {{expected a weft.weight of kind state or trained, got: parameter}}
  weft.store @w, %x : tensor<4xf32>
  return
}

// -----

weft.weight kind(state) @w : tensor<4xf32> = dense<0.0> : tensor<4xf32>
weft.weight kind(state) @v : tensor<4xf32> = dense<0.0> : tensor<4xf32>
func.func @storeTwice(%x: tensor<4xf32>) {
  weft.store @v, %x : tensor<4xf32>
  // expected-note @+1 {{the first one is here}}
  weft.store @w, %x : tensor<4xf32>
  // C2 of weft.store
  // expected-error @+1 {{expected at most one store of @w}}
  weft.store @w, %x : tensor<4xf32>
  return
}

// -----

func.func @attentionRank(%q: tensor<4x3x8xf32>) {
  // C1 of weft.attention
  // expected-error @+1 {{expected query of rank 4, got: 3}}
  %0 = weft.attention %q, %q, %q scale 1.0 masked_rows nan : (tensor<4x3x8xf32>, tensor<4x3x8xf32>, tensor<4x3x8xf32>) -> tensor<4x3x8xf32>
  return
}

// -----

func.func @attentionKey(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x7xf32>, %v: tensor<2x4x5x8xf32>) {
  // C1 of weft.attention
  // expected-error @+1 {{expected key of shape [2, 4, 5, 8], got: [2, 4, 5, 7]}}
  %0 = weft.attention %q, %k, %v scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x5x7xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @attentionMask(%q: tensor<2x4x3x8xf32>, %m: tensor<2x1x3x4xi1>) {
  // C2 of weft.attention
  // expected-error @+1 {{expected each dimension of mask to be 1 or that of [2, 4, 3, 3], got: [2, 1, 3, 4]}}
  %0 = weft.attention %q, %q, %q mask %m scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x1x3x4xi1>) -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @attentionBias(%q: tensor<2x4x3x8xf32>, %b: tensor<3x3xf32>) {
  // C2 of weft.attention
  // expected-error @+1 {{expected bias of rank 4, got: 2}}
  %0 = weft.attention %q, %q, %q bias %b scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<3x3xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @attentionResult(%q: tensor<2x4x3x8xf32>) {
  // C3 of weft.attention
  // expected-error @+1 {{expected result of shape [2, 4, 3, 8], got: [2, 4, 3, 4]}}
  %0 = weft.attention %q, %q, %q scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x4xf32>
  return
}

// -----

func.func @attentionLse(%q: tensor<2x4x3x8xf32>) {
  // C3 of weft.attention
  // expected-error @+1 {{expected lse of shape [2, 4, 3], got: [2, 4, 8]}}
  %0:2 = weft.attention %q, %q, %q scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attentionBackwardLse(%q: tensor<2x4x3x8xf32>, %l: tensor<2x4x8xf32>, %g: tensor<2x4x3x8xf32>) {
  // C1 of weft.attention_backward
  // expected-error @+1 {{expected lse of shape [2, 4, 3], got: [2, 4, 8]}}
  %0:3 = weft.attention_backward %q, %q, %q result %q lse %l gradient %g scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x8xf32>, tensor<2x4x3x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>)
  return
}

// -----

func.func @attentionBackwardGradient(%q: tensor<2x4x3x8xf32>, %l: tensor<2x4x3xf32>, %g: tensor<2x4x3x4xf32>) {
  // C1 of weft.attention_backward
  // expected-error @+1 {{expected gradient of shape [2, 4, 3, 8], got: [2, 4, 3, 4]}}
  %0:3 = weft.attention_backward %q, %q, %q result %q lse %l gradient %g scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3x4xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>)
  return
}

// -----

func.func @attentionBackwardResult(%q: tensor<2x4x3x8xf32>, %l: tensor<2x4x3xf32>, %g: tensor<2x4x3x8xf32>) {
  // C2 of weft.attention_backward
  // expected-error @+1 {{expected query_gradient of shape [2, 4, 3, 8], got: [2, 4, 3, 4]}}
  %0:3 = weft.attention_backward %q, %q, %q result %q lse %l gradient %g scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3xf32>, tensor<2x4x3x8xf32>) -> (tensor<2x4x3x4xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>)
  return
}

// -----

func.func @attentionWindow(%q: tensor<2x4x3x8xf32>) {
  // C4 of weft.attention
  // expected-error @+1 {{expected window >= 1, got: 0}}
  %0 = weft.attention %q, %q, %q scale 1.0 window 0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @attentionSoftcap(%q: tensor<2x4x3x8xf32>) {
  // C4 of weft.attention
  // expected-error @+1 {{expected softcap > 0, got: -1}}
  %0 = weft.attention %q, %q, %q scale 1.0 softcap -1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @attentionScale(%q: tensor<2x4x3x8xf32>) {
  // C4 of weft.attention
  // expected-error @+1 {{expected a finite scale, got:}}
  %0 = weft.attention %q, %q, %q scale 0x7FF0000000000000 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @broadcastCount(%x: tensor<4x8xf32>) {
  // C1 of weft.broadcast
  // expected-error @+1 {{expected 2 entries in dims, got: 1}}
  %0 = weft.broadcast %x dims [1] : tensor<4x8xf32> to tensor<2x4x8xf32>
  return
}

// -----

func.func @broadcastSize(%x: tensor<4x8xf32>) {
  // C2 of weft.broadcast
  // expected-error @+1 {{expected dimension 0 to be 1 or that of result dimension 1, got: 4 != 5}}
  %0 = weft.broadcast %x dims [1, 2] : tensor<4x8xf32> to tensor<2x5x8xf32>
  return
}

// -----

func.func @broadcastElement(%x: tensor<4x8xf32>) {
  // C3 of weft.broadcast
  // expected-error @+1 {{expected result of element type 'f32', got: 'f16'}}
  %0 = weft.broadcast %x dims [1, 2] : tensor<4x8xf32> to tensor<2x4x8xf16>
  return
}

// -----

func.func @concatNothing() {
  // C1 of weft.concat
  // expected-error @+1 {{expected at least one input, got: 0}}
  %0 = "weft.concat"() <{axis = 0 : i64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @concatElement(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // C1 of weft.concat
  // expected-error @+1 {{expected input 1 of element type 'f32', got: 'f16'}}
  %0 = weft.concat %x, %y axis 0 : (tensor<4xf32>, tensor<4xf16>) -> tensor<8xf32>
  return
}

// -----

func.func @concatAxis(%x: tensor<4xf32>) {
  // C2 of weft.concat
  // expected-error @+1 {{expected axis within [0, 1), got: 1}}
  %0 = "weft.concat"(%x, %x) <{axis = 1 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concatShape(%x: tensor<4x8xf32>, %y: tensor<5x8xf32>) {
  // C2 of weft.concat
  // expected-error @+1 {{expected input 1 of shape [4, 8], got: [5, 8]}}
  %0 = weft.concat %x, %y axis 1 : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @constantSize() {
  // C1 of weft.constant
  // expected-error @+1 {{expected a splat or at most 1024 elements (larger constants are weights), got: 1025}}
  %0 = weft.constant dense_resource<large> : tensor<1025xi8>
  return
}

// -----

func.func @convRank(%x: tensor<4x2xf32>, %k: tensor<6x2xf32>) {
  // C1 of weft.conv
  // expected-error @+1 {{expected input and kernel of one rank >= 3, got: 2, 2}}
  %0 = weft.conv %x, %k strides [] low [] high [] dilations [] groups 1 : (tensor<4x2xf32>, tensor<6x2xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @convLists(%x: tensor<4x2x8xf32>, %k: tensor<6x2x3xf32>) {
  // C1 of weft.conv
  // expected-error @+1 {{expected 1 entries in high, got: 2}}
  %0 = weft.conv %x, %k strides [1] low [0] high [0, 0] dilations [1] groups 1 : (tensor<4x2x8xf32>, tensor<6x2x3xf32>) -> tensor<4x6x6xf32>
  return
}

// -----

func.func @convGroups(%x: tensor<4x2x8xf32>, %k: tensor<6x2x3xf32>) {
  // C2 of weft.conv
  // expected-error @+1 {{expected channels and outputs to be multiples of groups, got: 2, 6, 3}}
  %0 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 3 : (tensor<4x2x8xf32>, tensor<6x2x3xf32>) -> tensor<4x6x6xf32>
  return
}

// -----

func.func @convElement(%x: tensor<4x2x8xf32>, %k: tensor<6x2x3xf16>) {
  // C2 of weft.conv
  // expected-error @+1 {{expected kernel of element type 'f32', got: 'f16'}}
  %0 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 1 : (tensor<4x2x8xf32>, tensor<6x2x3xf16>) -> tensor<4x6x6xf32>
  return
}

// -----

func.func @convKernelGradientGroups(%x: tensor<4x2x8xf32>, %g: tensor<4x6x6xf32>) {
  // C1 of weft.conv_kernel_gradient
  // expected-error @+1 {{expected channels and outputs to be multiples of groups, got: 2, 6, 3}}
  %0 = weft.conv_kernel_gradient %x, %g strides [1] low [0] high [0] dilations [1] groups 3 : (tensor<4x2x8xf32>, tensor<4x6x6xf32>) -> tensor<6x2x3xf32>
  return
}

// -----

func.func @convKernelGradientShape(%x: tensor<4x2x8xf32>, %g: tensor<4x6x5xf32>) {
  // C1 of weft.conv_kernel_gradient
  // expected-error @+1 {{expected gradient of shape [4, 6, 6], got: [4, 6, 5]}}
  %0 = weft.conv_kernel_gradient %x, %g strides [1] low [0] high [0] dilations [1] groups 1 : (tensor<4x2x8xf32>, tensor<4x6x5xf32>) -> tensor<6x2x3xf32>
  return
}

// -----

func.func @cumsumAxis(%x: tensor<4x8xf32>) {
  // C1 of weft.cumsum
  // expected-error @+1 {{expected axis within [0, 2), got: -1}}
  %0 = weft.cumsum %x axis -1 : tensor<4x8xf32>
  return
}

// -----

func.func @dotDims(%x: tensor<4x8xf32>, %y: tensor<8x3xf32>) {
  // C1 of weft.dot_general
  // expected-error @+1 {{expected distinct left dimensions within rank 2, got: [], [1, 1]}}
  %0 = "weft.dot_general"(%x, %y) <{lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1, 1>, rhs_contract = array<i64: 0, 0>}> : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dotElement(%x: tensor<4x8xf32>, %y: tensor<8x3xf16>) {
  // C2 of weft.dot_general
  // expected-error @+1 {{expected right operand of element type 'f32', got: 'f16'}}
  %0 = weft.dot_general %x, %y batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf16>) -> tensor<4x3xf32>
  return
}

// -----

// C1 of weft.external
// expected-error @+1 {{expected offset and length not below 0, got: -4, 16}}
weft.weight @w : tensor<4xf32> = #weft.external<"w", -4, 16>

// -----

func.func @gatherAxis(%x: tensor<4x8xf32>, %i: tensor<2xi64>) {
  // C1 of weft.gather
  // expected-error @+1 {{expected axis within [0, 2), got: 2}}
  %0 = "weft.gather"(%x, %i) <{axis = 2 : i64}> : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @gatherExtent(%x: tensor<4x8xf32>, %i: tensor<2xi64>, %o: tensor<i64>) {
  // C2 of weft.gather
  // expected-error @+1 {{expected offset and extent to come together, got: offset alone}}
  %0 = weft.gather %x, %i offset %o : tensor<i64> axis 0 : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @gatherElementsRank(%x: tensor<4x8xf32>, %i: tensor<2xi64>) {
  // C1 of weft.gather_elements
  // expected-error @+1 {{expected input and indices of one rank, got: 2 != 1}}
  %0 = weft.gather_elements %x, %i axis 0 : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gatherElementsSize(%x: tensor<4x8xf32>, %i: tensor<5x2xi64>) {
  // C1 of weft.gather_elements
  // expected-error @+1 {{expected dimension 0 of the indices not to exceed the input's, got: 5 > 4}}
  %0 = weft.gather_elements %x, %i axis 1 : (tensor<4x8xf32>, tensor<5x2xi64>) -> tensor<5x2xf32>
  return
}

// -----

func.func @gatherNdBatch(%x: tensor<4x8xf32>, %i: tensor<5x1xi64>) {
  // C1 of weft.gather_nd
  // expected-error @+1 {{expected equal batch dimensions, got: [4] != [5]}}
  %0 = weft.gather_nd %x, %i batch_dims 1 : (tensor<4x8xf32>, tensor<5x1xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @gatherNdTuple(%x: tensor<4x8xf32>, %i: tensor<5x3xi64>) {
  // C2 of weft.gather_nd
  // expected-error @+1 {{expected batch_dims + tuple length within the input's rank, got: 0 + 3 > 2}}
  %0 = "weft.gather_nd"(%x, %i) : (tensor<4x8xf32>, tensor<5x3xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @iotaDim() {
  // C1 of weft.iota
  // expected-error @+1 {{expected dim within [0, 2), got: 2}}
  %0 = weft.iota 2 : tensor<4x8xi64>
  return
}

// -----

func.func @layerNormAxis(%x: tensor<4x8xf32>) {
  // C1 of weft.layer_norm
  // expected-error @+1 {{expected axis within [0, 2), got: 2}}
  %0 = weft.layer_norm %x axis 2 epsilon 1.0e-06 : tensor<4x8xf32>
  return
}

// -----

func.func @mapNothing(%x: tensor<4xf32>) {
  // C1 of weft.map
  // expected-error @+1 {{expected a result}}
  weft.map @f(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @mapOperandShape(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  // C1 of weft.map
  // expected-error @+1 {{expected operand 1 of shape [4], got: [1]}}
  %0 = weft.map @f(%x, %y) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @mapResultShape(%x: tensor<4xf32>) {
  // C1 of weft.map
  // expected-error @+1 {{expected result 1 of shape [4], got: []}}
  %0:2 = weft.map @f(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @mapNoFunction(%x: tensor<4xf32>) {
  // C2 of weft.map
  // expected-error @+1 {{@f is no private function}}
  %0 = weft.map @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @mapPublicFunction(%x: tensor<4xf32>) {
  // C2 of weft.map
  // expected-error @+1 {{@f is no private function}}
  %0 = weft.map @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @mapOtherElements(%x: tensor<4xf64>) {
  // C2 of weft.map
  // expected-error @+1 {{expected @f to take and return scalars of the operands' and results' element types, got: '(tensor<f32>) -> tensor<f32>'}}
  %0 = weft.map @f(%x) : (tensor<4xf64>) -> tensor<4xf64>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-note @+1 {{this one is none}}
  %0 = weft.reshape %x : tensor<f32> to tensor<1xf32>
  %1 = weft.reshape %0 : tensor<1xf32> to tensor<f32>
  return %1 : tensor<f32>
}
func.func @mapReshapes(%x: tensor<4xf32>) {
  // C3 of weft.map
  // expected-error @+1 {{expected elementwise operations in @f}}
  %0 = weft.map @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @layerNormBias(%x: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // C2 of weft.layer_norm
  // expected-error @+1 {{expected bias of shape [8], got: [4]}}
  %0 = weft.layer_norm %x bias %b : tensor<4xf32> axis 1 epsilon 1.0e-06 : tensor<4x8xf32>
  return
}

// -----

// expected-note @+1 {{the weight is here}}
weft.weight @w : tensor<4xf32> = dense<0.0> : tensor<4xf32>
func.func @loadType() {
  // C1 of weft.load
  // expected-error @+1 {{expected the weight's type 'tensor<4xf32>', got: 'tensor<2x2xf32>'}}
  %0 = weft.load @w : tensor<2x2xf32>
  return
}

// -----

func.func @padCount(%x: tensor<4x8xf32>, %v: tensor<f32>) {
  // C1 of weft.pad
  // expected-error @+1 {{expected 2 entries in low, got: 1}}
  %0 = "weft.pad"(%x, %v) <{low = array<i64: 0>, high = array<i64: 0, 0>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @padNegative(%x: tensor<4x8xf32>, %v: tensor<f32>) {
  // C1 of weft.pad
  // expected-error @+1 {{expected low and high not below 0, got: -1}}
  %0 = weft.pad %x, %v low [0, -1] high [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @padValue(%x: tensor<4x8xf32>, %v: tensor<1xf32>) {
  // C2 of weft.pad
  // expected-error @+1 {{expected value of shape [], got: [1]}}
  %0 = weft.pad %x, %v low [0, 0] high [0, 1] : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @reduceDims(%x: tensor<4x8xf32>) {
  // C1 of weft.reduce
  // expected-error @+1 {{expected dims strictly increasing within [0, 2), got: [1, 0]}}
  %0 = weft.reduce sum %x dims [1, 0] : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----

func.func @windowLists(%x: tensor<4x8xf32>) {
  // C1 of weft.reduce_window
  // expected-error @+1 {{expected 2 entries in low, got: 1}}
  %0 = "weft.reduce_window"(%x) <{kind = #weft<reduce_kind max>, window = array<i64: 1, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0>, high = array<i64: 0, 0>}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @reshapeElement(%x: tensor<4x8xf32>) {
  // C1 of weft.reshape
  // expected-error @+1 {{expected result of element type 'f32', got: 'f16'}}
  %0 = weft.reshape %x : tensor<4x8xf32> to tensor<32xf16>
  return
}

// -----

func.func @reverseDims(%x: tensor<4x8xf32>) {
  // C1 of weft.reverse
  // expected-error @+1 {{expected dims strictly increasing within [0, 2), got: [1, 1]}}
  %0 = weft.reverse %x dims [1, 1] : tensor<4x8xf32>
  return
}

// -----

func.func @rmsNormAxis(%x: tensor<4x8xf32>) {
  // C1 of weft.rms_norm
  // expected-error @+1 {{expected axis within [0, 2), got: -1}}
  %0 = weft.rms_norm %x axis -1 epsilon 1.0e-06 : tensor<4x8xf32>
  return
}

// -----

func.func @rotaryRank(%x: tensor<2x3x8xf32>, %c: tensor<1x3x4xf32>) {
  // C1 of weft.rotary
  // expected-error @+1 {{expected input of rank 4, got: 3}}
  %0 = weft.rotary %x, %c, %c : tensor<2x3x8xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>
  return
}

// -----

func.func @rotaryRows(%x: tensor<2x4x3x8xf32>, %c: tensor<1x5x4xf32>) {
  // C1 of weft.rotary
  // expected-error @+1 {{expected cos of shape [1 or 2, 3, r/2], got: [1, 5, 4]}}
  %0 = weft.rotary %x, %c, %c : tensor<2x4x3x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  return
}

// -----

func.func @rotarySin(%x: tensor<2x4x3x8xf32>, %c: tensor<1x3x4xf32>, %s: tensor<2x3x4xf32>) {
  // C1 of weft.rotary
  // expected-error @+1 {{expected cos and sin of one type, got: 'tensor<1x3x4xf32>' != 'tensor<2x3x4xf32>'}}
  %0 = weft.rotary %x, %c, %s : tensor<2x4x3x8xf32>, tensor<1x3x4xf32>, tensor<2x3x4xf32>
  return
}

// -----

func.func @scatterElementsUpdates(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>, %u: tensor<4x3xf32>) {
  // C1 of weft.scatter_elements
  // expected-error @+1 {{expected updates of shape [4, 2], got: [4, 3]}}
  %0 = weft.scatter_elements set %x, %i, %u axis 1 : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scatterElementsResult(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>) {
  // C1 of weft.scatter_elements
  // expected-error @+1 {{expected the result to have the input's type, got: 'tensor<4x9xf32>' != 'tensor<4x8xf32>'}}
  %0 = weft.scatter_elements set %x, %i, %u axis 1 : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @scatterElementsAxis(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>) {
  // C2 of weft.scatter_elements
  // expected-error @+1 {{expected axis within [0, 2), got: 2}}
  %0 = weft.scatter_elements set %x, %i, %u axis 2 : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scatterElementsExtent(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>) {
  // C3 of weft.scatter_elements
  // expected-error @+1 {{expected offset and extent to come together, got: extent alone}}
  %0 = weft.scatter_elements set %x, %i, %u axis 1 extent 8 : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scatterTuple(%x: tensor<4x8xf32>, %i: tensor<2x3xi64>, %u: tensor<2xf32>) {
  // C1 of weft.scatter_nd
  // expected-error @+1 {{expected indices whose last dimension is within the input's rank 2, got: [2, 3]}}
  %0 = weft.scatter_nd set %x, %i, %u : (tensor<4x8xf32>, tensor<2x3xi64>, tensor<2xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scatterUpdates(%x: tensor<4x8xf32>, %i: tensor<2x1xi64>, %u: tensor<2x7xf32>) {
  // C2 of weft.scatter_nd
  // expected-error @+1 {{expected updates of shape [2, 8], got: [2, 7]}}
  %0 = weft.scatter_nd set %x, %i, %u : (tensor<4x8xf32>, tensor<2x1xi64>, tensor<2x7xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @sliceStride(%x: tensor<4x8xf32>) {
  // C1 of weft.slice
  // expected-error @+1 {{expected start >= 0 and stride >= 1 in dimension 1, got: 0, 0}}
  %0 = weft.slice %x starts [0, 0] strides [1, 0] : tensor<4x8xf32> to tensor<4x8xf32>
  return
}

// -----

func.func @sliceCount(%x: tensor<4x8xf32>) {
  // C1 of weft.slice
  // expected-error @+1 {{expected 2 entries in starts, got: 1}}
  %0 = weft.slice %x starts [0] strides [1, 1] : tensor<4x8xf32> to tensor<4x8xf32>
  return
}

// -----

func.func @sortResult(%x: tensor<4x8xf32>) {
  // C3 of weft.sort
  // expected-error @+2 {{'weft.sort' op failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4x2xf32>', 'tensor<4x2xi64>' are incompatible with return type(s) of operation 'tensor<4x2xf32>', 'tensor<4x3xi64>'}}
  %0, %1 = "weft.sort"(%x) <{axis = 1 : i64, count = 2 : i64}> : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x3xi64>)
  return
}

// -----

// C2 of weft.weight
// expected-error @+1 {{expected storage to be #weft.external, dense_resource or a splat, got: dense<[1, 2]>}}
weft.weight @w : tensor<2xi8> = dense<[1, 2]> : tensor<2xi8>

// -----

// C2 of weft.weight
// expected-error @+1 {{expected storage of type 'tensor<4xf32>', got: 'tensor<2xf32>'}}
weft.weight @w : tensor<4xf32> = dense<0.0> : tensor<2xf32>

// -----

// C3 of weft.weight
// expected-error @+1 {{expected a state in the host's memory, got a weight of kind trained}}
weft.weight kind(trained) @w : tensor<4xf32> = dense<0.0> : tensor<4xf32> in host
