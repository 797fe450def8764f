// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @addTypes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  "weft.add"(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @attentionGroups(%q: tensor<2x4x3x8xf32>, %k: tensor<2x3x3x8xf32>) {
  // expected-error @+1 {{expected query heads to be a multiple of key heads, got: 4, 3}}
  %0 = weft.attention %q, %k, %k scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x3x3x8xf32>, tensor<2x3x3x8xf32>) -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @reshapeCount(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected as many elements in the result as in the operand, got: 36 != 32}}
  %0 = weft.reshape %x : tensor<4x8xf32> to tensor<4x9xf32>
  return
}

// -----

func.func @sliceOut(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected the last element of dimension 1 within 8, got: 8}}
  %0 = weft.slice %x starts [0, 6] strides [1, 1] : tensor<4x8xf32> to tensor<4x3xf32>
  return
}

// -----

func.func @transposeTwice(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a permutation of the 2 dimensions, got: [0, 0]}}
  %0 = "weft.transpose"(%x) <{permutation = array<i64: 0, 0>}> : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @unknownWeight() {
  // expected-error @+1 {{expected a weft.weight, got: @absent}}
  %0 = weft.load @absent : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{expected storage of 16 bytes, got: 12}}
weft.weight @short : tensor<4xf32> = #weft.external<"w", 0, 12>

// -----

func.func @softmaxAxis(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected axis within [0, 2), got: 2}}
  %0 = weft.softmax %x axis 2 : tensor<4x8xf32>
  return
}

// -----

func.func @dotSizes(%x: tensor<4x8xf32>, %y: tensor<7x3xf32>) {
  // expected-error @+1 {{expected contracted dimensions of equal sizes, got: [1] of [4, 8] and [0] of [7, 3]}}
  %0 = weft.dot_general %x, %y batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<7x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @normScale(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected scale of shape [8], got: [4]}}
  %0 = weft.rms_norm %x scale %s : tensor<4xf32> axis 1 epsilon 1.0e-06 : tensor<4x8xf32>
  return
}

// -----

func.func @rotaryTable(%x: tensor<2x4x3x8xf32>, %c: tensor<1x3x5xf32>) {
  // expected-error @+1 {{expected twice the last dimension of cos within 8, got: 10}}
  %0 = weft.rotary %x, %c, %c : tensor<2x4x3x8xf32>, tensor<1x3x5xf32>, tensor<1x3x5xf32>
  return
}

// -----

func.func @broadcastDims(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected dims strictly increasing within [0, 3), got: [2, 1]}}
  %0 = weft.broadcast %x dims [2, 1] : tensor<4x8xf32> to tensor<2x8x4xf32>
  return
}

// -----

func.func @sortAxis(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected axis within [0, 2), got: 2}}
  %0, %1 = "weft.sort"(%x) <{axis = 2 : i64, count = 2 : i64}> : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
  return
}

// -----

func.func @sortCount(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected count within [0, 9), got: 9}}
  %0, %1 = weft.sort %x axis 1 count 9 : tensor<4x8xf32> -> tensor<4x9xf32>, tensor<4x9xi64>
  return
}

// -----

func.func @sortLength(%x: tensor<4294967296xi8>) {
  // expected-error @+1 {{expected fewer than 4294967296 elements along the axis, got: 4294967296}}
  %0, %1 = weft.sort %x axis 0 count 1 : tensor<4294967296xi8> -> tensor<1xi8>, tensor<1xi64>
  return
}

// -----

func.func @windowStrides(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected dilations within [1, 2147483648), got: 0}}
  %0 = weft.reduce_window max %x window [1, 2] strides [1, 1] dilations [1, 0] low [0, 0] high [0, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @convPadding(%x: tensor<4x2x8xf32>, %k: tensor<6x2x3xf32>) {
  // expected-error @+1 {{expected result of shape [4, 6, 13], got: [4, 6, 6]}}
  %0 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] input_dilations [2] groups 1 : (tensor<4x2x8xf32>, tensor<6x2x3xf32>) -> tensor<4x6x6xf32>
  return
}

// -----

func.func @scatterExtent(%x: tensor<4x8xf32>, %i: tensor<2x1xi64>, %u: tensor<2x8xf32>) {
  // expected-error @+1 {{expected offset and extent to come together, got: extent alone}}
  %0 = weft.scatter_nd set %x, %i, %u extent 8 : (tensor<4x8xf32>, tensor<2x1xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scatterShardTuple(%x: tensor<4x8xf32>, %i: tensor<2x0xi64>, %u: tensor<2x4x8xf32>, %o: tensor<i64>) {
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

// expected-error @+1 {{expected one of constant, parameter, state, got: buffer}}
weft.weight kind(buffer) @w : tensor<f32> = dense<0.0> : tensor<f32>

// -----

// expected-note @+1 {{the weight is here}}
weft.weight @w : tensor<4xf32> = dense<0.0> : tensor<4xf32>
func.func @storeParameter(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a weft.weight of kind state, got: parameter}}
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
  // expected-error @+1 {{expected at most one store of @w}}
  weft.store @w, %x : tensor<4xf32>
  return
}
