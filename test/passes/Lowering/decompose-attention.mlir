// RUN: weft-opt %s --weft-decompose-attention | FileCheck %s

// Causal: no mask is stored, rows and columns are compared.
// CHECK-LABEL: func.func @causal
// CHECK-SAME: (%[[Q:.*]]: tensor<1x2x4x8xf32>, %[[K:.*]]: tensor<1x2x4x8xf32>, %[[V:.*]]: tensor<1x2x4x8xf32>)
func.func @causal(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  // CHECK: %[[I:.*]] = weft.iota 2
  // CHECK: %[[J:.*]] = weft.iota 3
  // CHECK: %[[SEEN:.*]] = weft.compare le %[[J]], %[[I]]
  // CHECK: %[[S:.*]] = weft.dot_general %[[Q]], %[[K]] batch [0, 1] x [0, 1] contract [3] x [3]
  // CHECK: %[[SCALE:.*]] = weft.constant dense<1.250000e-01>
  // CHECK: %[[SCALED:.*]] = weft.mul %[[S]], %[[SCALE]]
  // CHECK: %[[LOW:.*]] = weft.constant dense<0xFF800000>
  // CHECK: %[[MASKED:.*]] = weft.select %[[SEEN]], %[[SCALED]], %[[LOW]]
  // CHECK: %[[P:.*]] = weft.softmax %[[MASKED]] axis 3
  // CHECK: %[[O:.*]] = weft.dot_general %[[P]], %[[V]] batch [0, 1] x [0, 1] contract [3] x [2]
  // CHECK: return %[[O]]
  %o = weft.attention %q, %k, %v scale 0.125 causal masked_rows nan
      : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// Query heads that share a key head are a dimension of the products: keys are not repeated.
// CHECK-LABEL: func.func @grouped
// CHECK-SAME: (%[[Q:.*]]: tensor<1x4x3x8xf32>, %[[K:.*]]: tensor<1x2x5x8xf32>, %[[V:.*]]: tensor<1x2x5x6xf32>)
func.func @grouped(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x6xf32>) -> tensor<1x4x3x6xf32> {
  // CHECK-NOT: weft.broadcast
  // CHECK: %[[QG:.*]] = weft.reshape %[[Q]] : tensor<1x4x3x8xf32> to tensor<1x2x2x3x8xf32>
  // CHECK: weft.dot_general %[[QG]], %[[K]] batch [0, 1] x [0, 1] contract [4] x [3] {{.*}} -> tensor<1x2x2x3x5xf32>
  // CHECK: weft.dot_general %{{.*}}, %[[V]] batch [0, 1] x [0, 1] contract [4] x [2] {{.*}} -> tensor<1x2x2x3x6xf32>
  %o = weft.attention %q, %k, %v scale 0.5 masked_rows nan
      : (tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x6xf32>) -> tensor<1x4x3x6xf32>
  return %o : tensor<1x4x3x6xf32>
}

// Everything at once; the order is cap, bias, mask. Rows whose scores are all -inf are cleared.
// CHECK-LABEL: func.func @terms
// CHECK-SAME: (%{{.*}}: {{.*}}, %[[M:.*]]: tensor<1x1x4x4xi1>, %[[B:.*]]: tensor<1x2x1x4xf32>)
func.func @terms(%q: tensor<1x2x4x8xf32>, %m: tensor<1x1x4x4xi1>, %b: tensor<1x2x1x4xf32>)
    -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>) {
  // CHECK: %[[MASK:.*]] = weft.broadcast %[[M]]
  // CHECK: %[[P:.*]] = weft.add %{{.*}}, %{{.*}} : tensor<1x2x4x4xi32>
  // CHECK: %[[CAUSAL:.*]] = weft.compare le %[[J:.*]], %[[P]]
  // CHECK: %[[BOTH:.*]] = weft.and %[[MASK]], %[[CAUSAL]]
  // CHECK: %[[WIDTH:.*]] = weft.constant dense<2>
  // CHECK: %[[BACK:.*]] = weft.sub %[[P]], %[[J]]
  // CHECK: %[[NEAR:.*]] = weft.compare lt %[[BACK]], %[[WIDTH]]
  // CHECK: %[[SEEN:.*]] = weft.and %[[BOTH]], %[[NEAR]]
  // CHECK: %[[TANH:.*]] = weft.tanh
  // CHECK: %[[CAPPED:.*]] = weft.mul %[[TANH]]
  // CHECK: %[[BIAS:.*]] = weft.broadcast %[[B]]
  // CHECK: %[[SCORE:.*]] = weft.add %[[CAPPED]], %[[BIAS]]
  // CHECK: %[[MASKED:.*]] = weft.select %[[SEEN]], %[[SCORE]]
  // CHECK: %[[WEIGHTS:.*]] = weft.softmax %[[MASKED]]
  // CHECK: %[[TOP:.*]] = weft.reduce max %[[MASKED]] dims [3]
  // CHECK: %[[LEAST:.*]] = weft.constant dense<0xFF800000> : tensor<1x2x4xf32>
  // CHECK: %[[EMPTY:.*]] = weft.compare eq %[[TOP]], %[[LEAST]]
  // CHECK: %[[ROWS:.*]] = weft.broadcast %[[EMPTY]]
  // CHECK: %[[ZERO:.*]] = weft.constant dense<0.0
  // CHECK: weft.select %[[ROWS]], %[[ZERO]], %[[WEIGHTS]]
  // The logarithm of the sum of exponentials, for whoever merges partial results.
  // CHECK: %[[LSE:.*]] = weft.add %{{.*}}, %{{.*}} : tensor<1x2x4xf32>
  // CHECK: return %{{.*}}, %[[LSE]]
  %o, %l = weft.attention %q, %q, %q mask %m bias %b scale 1.0 causal query_offset 3 window 2 softcap 30.0 masked_rows zero
      : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x1x4x4xi1>, tensor<1x2x1x4xf32>)
      -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>)
  return %o, %l : tensor<1x2x4x8xf32>, tensor<1x2x4xf32>
}

// A row without a visible key is the mean of the values: the least finite number cancels in the softmax.
// CHECK-LABEL: func.func @uniform
func.func @uniform(%q: tensor<1x2x4x8xf32>, %m: tensor<1x2x4x4xi1>) -> tensor<1x2x4x8xf32> {
  // CHECK: %[[LOW:.*]] = weft.constant dense<-3.40282347E+38>
  // CHECK: weft.select %{{.*}}, %{{.*}}, %[[LOW]]
  %o = weft.attention %q, %q, %q mask %m scale 1.0 masked_rows uniform
      : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x4xi1>) -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}
