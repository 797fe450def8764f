// RUN: weft-opt %s --weft-raise-norms --remarks-filter-missed='weft-raise-.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: grep -v '^ *//' %s | weft-opt --weft-raise-norms -o %t 2>&1 | count 0

// What has the core of a norm or softmax, but is not quite one, is told, with the reason.

func.func @unshifted(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = weft.exp %x : tensor<4x8xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = weft.broadcast %1 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  // expected-remark-re@+1 {{softmax{{.*}}no maximum is subtracted before the exponential}}
  %3 = weft.div %0, %2 : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

func.func @otherMaximum(%x: tensor<4x8xf32> {weft.name = "x"}, %y: tensor<4x8xf32> {weft.name = "y"}) -> tensor<4x8xf32> {
  %0 = weft.reduce max %y dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = weft.broadcast %0 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %2 = weft.sub %x, %1 : tensor<4x8xf32>
  %3 = weft.exp %2 : tensor<4x8xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  // expected-remark@+1 {{the maximum is that of input 'y', but is subtracted from input 'x'}}
  %6 = weft.div %3, %5 : tensor<4x8xf32>
  return %6 : tensor<4x8xf32>
}

func.func @otherDimension(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = weft.reduce max %x dims [0] : tensor<8x8xf32> -> tensor<8xf32>
  %1 = weft.broadcast %0 dims [1] : tensor<8xf32> to tensor<8x8xf32>
  %2 = weft.sub %x, %1 : tensor<8x8xf32>
  %3 = weft.exp %2 : tensor<8x8xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<8x8xf32> -> tensor<8xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<8xf32> to tensor<8x8xf32>
  // expected-remark@+1 {{the maximum is over dimension 0, the sum over dimension 1}}
  %6 = weft.div %3, %5 : tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}

func.func @otherReader(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %0 = weft.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = weft.broadcast %0 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %2 = weft.sub %x, %1 : tensor<4x8xf32>
  %3 = weft.exp %2 : tensor<4x8xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<4x8xf32> -> tensor<4xf32> loc("total")
  %5 = weft.broadcast %4 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  // expected-remark@+1 {{weft.reduce 'total' is read by others, too}}
  %6 = weft.div %3, %5 : tensor<4x8xf32>
  return %6, %4 : tensor<4x8xf32>, tensor<4xf32>
}

func.func @otherCount(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %seven = weft.constant dense<7.0> : tensor<4xf32>
  %epsilon = weft.constant dense<1.0e-06> : tensor<4xf32>
  %0 = weft.mul %x, %x : tensor<4x8xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = weft.div %1, %seven : tensor<4xf32>
  %3 = weft.add %2, %epsilon : tensor<4xf32>
  %4 = weft.rsqrt %3 : tensor<4xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  // expected-remark-re@+1 {{rms_norm{{.*}}the sum of 8 elements is divided by 7}}
  %6 = weft.mul %x, %5 : tensor<4x8xf32>
  return %6 : tensor<4x8xf32>
}

// A norm of channels.
func.func @channels(%x: tensor<2x8x5xf32>) -> tensor<2x8x5xf32> {
  %eight = weft.constant dense<8.0> : tensor<2x5xf32>
  %epsilon = weft.constant dense<1.0e-06> : tensor<2x5xf32>
  %0 = weft.mul %x, %x : tensor<2x8x5xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %2 = weft.div %1, %eight : tensor<2x5xf32>
  %3 = weft.add %2, %epsilon : tensor<2x5xf32>
  %4 = weft.sqrt %3 : tensor<2x5xf32>
  %5 = weft.broadcast %4 dims [0, 2] : tensor<2x5xf32> to tensor<2x8x5xf32>
  // expected-remark@+1 {{the mean is over dimension 1, not over the last ones}}
  %6 = weft.div %x, %5 : tensor<2x8x5xf32>
  return %6 : tensor<2x8x5xf32>
}

func.func @noEpsilon(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eight = weft.constant dense<8.0> : tensor<4xf32>
  %0 = weft.mul %x, %x : tensor<4x8xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = weft.div %1, %eight : tensor<4xf32>
  %3 = weft.rsqrt %2 : tensor<4xf32>
  %4 = weft.broadcast %3 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  // expected-remark@+1 {{no number is added to the mean of squares}}
  %5 = weft.mul %x, %4 : tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// Squares in a wider type than what is scaled.
func.func @widened(%x: tensor<4x8xbf16> {weft.name = "x"}) -> tensor<4x8xbf16> {
  %eight = weft.constant dense<8.0> : tensor<4xf32>
  %epsilon = weft.constant dense<1.0e-06> : tensor<4xf32>
  %wide = weft.cast %x : tensor<4x8xbf16> to tensor<4x8xf32> loc("wide")
  %0 = weft.mul %wide, %wide : tensor<4x8xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = weft.div %1, %eight : tensor<4xf32>
  %3 = weft.add %2, %epsilon : tensor<4xf32>
  %4 = weft.cast %3 : tensor<4xf32> to tensor<4xbf16>
  %5 = weft.rsqrt %4 : tensor<4xbf16>
  %6 = weft.broadcast %5 dims [0] : tensor<4xbf16> to tensor<4x8xbf16>
  // expected-remark@+1 {{the root is that of weft.cast, not of a mean of squares and a number}}
  %7 = weft.mul %x, %6 : tensor<4x8xbf16>
  return %7 : tensor<4x8xbf16>
}

// The variance as a difference of means.
func.func @fastVariance(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eight = weft.constant dense<8.0> : tensor<4xf32>
  %epsilon = weft.constant dense<1.0e-06> : tensor<4xf32>
  %0 = weft.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %mean = weft.div %0, %eight : tensor<4xf32>
  %1 = weft.mul %x, %x : tensor<4x8xf32>
  %2 = weft.reduce sum %1 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %3 = weft.div %2, %eight : tensor<4xf32>
  %4 = weft.mul %mean, %mean : tensor<4xf32>
  %5 = weft.sub %3, %4 : tensor<4xf32>
  %6 = weft.add %5, %epsilon : tensor<4xf32> loc("variance")
  %7 = weft.rsqrt %6 : tensor<4xf32>
  %8 = weft.broadcast %7 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %9 = weft.broadcast %mean dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %10 = weft.sub %x, %9 : tensor<4x8xf32>
  // expected-remark@+1 {{the root is that of weft.add 'variance', not of a mean of squares and a number}}
  %11 = weft.mul %10, %8 : tensor<4x8xf32>
  return %11 : tensor<4x8xf32>
}

// An rms_norm of what is centred otherwise.
func.func @otherMean(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %seven = weft.constant dense<7.0> : tensor<4xf32>
  %0 = weft.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = weft.div %0, %seven : tensor<4xf32>
  %2 = weft.broadcast %1 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %3 = weft.sub %x, %2 : tensor<4x8xf32>
  // expected-remark-re@+1 {{layer_norm{{.*}}the sum of 8 elements is divided by 7}}
  %4 = weft.rms_norm %3 axis 1 epsilon 1.0e-06 : tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

func.func @sharedMean(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %eight = weft.constant dense<8.0> : tensor<4xf32>
  %0 = weft.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = weft.div %0, %eight : tensor<4xf32>
  %2 = weft.broadcast %1 dims [0] : tensor<4xf32> to tensor<4x8xf32>
  %3 = weft.sub %x, %2 : tensor<4x8xf32>
  // expected-remark-re@+1 {{layer_norm{{.*}}weft.reduce is read by others, too}}
  %4 = weft.rms_norm %3 axis 1 epsilon 1.0e-06 : tensor<4x8xf32>
  return %4, %0 : tensor<4x8xf32>, tensor<4xf32>
}
