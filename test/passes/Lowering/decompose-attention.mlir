// RUN: weft-opt %s --weft-decompose-attention=target=generic | FileCheck %s
// RUN: weft-opt %s --weft-decompose-attention=target=cuda | FileCheck %s
// RUN: weft-opt %s "--weft-decompose-attention=target=generic score-bytes=256" | FileCheck %s --check-prefix=PARTS
// RUN: weft-opt %s "--weft-decompose-attention=target=generic score-bytes=120" | FileCheck %s --check-prefix=HEADS
// RUN: weft-opt %s --weft-decompose-attention | FileCheck %s --check-prefix=LIBRARY
// RUN: not weft-opt %s --weft-decompose-attention=target=none 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: expected target to be one of cpu, cuda, generic, got: none

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
  // CHECK: %[[TOP:.*]] = weft.reduce max %[[MASKED]] dims [3]
  // CHECK: %[[LEAST:.*]] = weft.constant dense<0xFF800000> : tensor<1x2x4xf32>
  // CHECK: %[[EMPTY:.*]] = weft.compare eq %[[TOP]], %[[LEAST]]
  // CHECK: %[[ROWS:.*]] = weft.broadcast %[[EMPTY]]
  // CHECK: %[[ZERO:.*]] = weft.constant dense<0.0
  // CHECK: %[[NUMBERS:.*]] = weft.select %[[ROWS]], %[[ZERO]], %[[MASKED]]
  // CHECK: %[[WEIGHTS:.*]] = weft.softmax %[[NUMBERS]]
  // CHECK: weft.select %{{.*}}, %{{.*}}, %[[WEIGHTS]]
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

// The weights are computed again; their gradients are sums over what they multiply. Gradients of keys and values sum over
// the queries of all heads that share them.
// CHECK-LABEL: func.func @backward
// CHECK-SAME: (%[[Q:.*]]: tensor<3x4x3x8xf32>, %[[K:.*]]: tensor<3x2x5x8xf32>, %[[V:.*]]: tensor<3x2x5x6xf32>, %[[O:.*]]: tensor<3x4x3x6xf32>, %[[L:.*]]: tensor<3x4x3xf32>, %[[G:.*]]: tensor<3x4x3x6xf32>)
// At most 120 bytes of scores: two of six key heads need more, so each is computed for itself.
// HEADS-LABEL: func.func @backward
func.func @backward(%q: tensor<3x4x3x8xf32>, %k: tensor<3x2x5x8xf32>, %v: tensor<3x2x5x6xf32>, %o: tensor<3x4x3x6xf32>, %l: tensor<3x4x3xf32>, %g: tensor<3x4x3x6xf32>)
    -> (tensor<3x4x3x8xf32>, tensor<3x2x5x8xf32>, tensor<3x2x5x6xf32>) {
  // CHECK: %[[S:.*]] = weft.reshape %{{.*}} : tensor<3x2x2x3x5xf32> to tensor<3x4x3x5xf32>
  // CHECK: %[[SCALED:.*]] = weft.mul %[[S]],
  // CHECK: %[[SHIFT:.*]] = weft.broadcast %[[L]] dims [0, 1, 2]
  // CHECK: %[[LOG:.*]] = weft.sub %[[SCALED]], %[[SHIFT]]
  // CHECK: %[[P:.*]] = weft.exp %[[LOG]]
  // CHECK: weft.dot_general %{{.*}}, %[[V]] batch [0, 1] x [0, 1] contract [4] x [3]
  // CHECK: %[[DP:.*]] = weft.reshape %{{.*}} : tensor<3x2x2x3x5xf32> to tensor<3x4x3x5xf32>
  // CHECK: %[[GO:.*]] = weft.mul %[[G]], %[[O]]
  // CHECK: %[[ROWS:.*]] = weft.reduce sum %[[GO]] dims [3]
  // CHECK: %[[LESS:.*]] = weft.sub %[[DP]],
  // CHECK: %[[DS:.*]] = weft.mul %[[P]], %[[LESS]]
  // CHECK: %[[DZ:.*]] = weft.mul %[[DS]],
  // CHECK: %[[DZG:.*]] = weft.reshape %[[DZ]]
  // CHECK: %[[DQG:.*]] = weft.dot_general %[[DZG]], %[[K]] batch [0, 1] x [0, 1] contract [4] x [2]
  // CHECK: %[[DQ:.*]] = weft.reshape %[[DQG]]
  // CHECK: %[[DK:.*]] = weft.dot_general %{{.*}}, %{{.*}} batch [0, 1] x [0, 1] contract [2, 3] x [2, 3] {{.*}} -> tensor<3x2x5x8xf32>
  // CHECK: %[[DV:.*]] = weft.dot_general %{{.*}}, %{{.*}} batch [0, 1] x [0, 1] contract [2, 3] x [2, 3] {{.*}} -> tensor<3x2x5x6xf32>
  // CHECK: return %[[DQ]], %[[DK]], %[[DV]]
  // Scores made in parts are not those of the attention: cse would hold all of them in between.
  // HEADS: %[[AGAIN:.*]] = weft.barrier %{{.*}} : tensor<3x4x3x8xf32>
  // HEADS: weft.slice %[[AGAIN]] starts [0, 0, 0, 0] {{.*}} to tensor<1x2x3x8xf32>
  // HEADS: weft.slice %{{.*}} starts [0, 0, 0] {{.*}} to tensor<1x2x3xf32>
  // HEADS-COUNT-6: weft.exp %{{.*}} : tensor<1x2x3x5xf32>
  // HEADS-NOT: weft.exp
  // HEADS: %[[DQ:.*]] = weft.concat {{.*}} axis 0 : {{.*}} -> tensor<12x3x8xf32>
  // HEADS: weft.reshape %[[DQ]] : tensor<12x3x8xf32> to tensor<3x4x3x8xf32>
  // HEADS: weft.concat {{.*}} axis 0 : {{.*}} -> tensor<6x5x8xf32>
  // HEADS: weft.concat {{.*}} axis 0 : {{.*}} -> tensor<6x5x6xf32>
  %dq, %dk, %dv = weft.attention_backward %q, %k, %v result %o lse %l gradient %g scale 0.5 masked_rows nan
      : (tensor<3x4x3x8xf32>, tensor<3x2x5x8xf32>, tensor<3x2x5x6xf32>, tensor<3x4x3x6xf32>, tensor<3x4x3xf32>, tensor<3x4x3x6xf32>)
      -> (tensor<3x4x3x8xf32>, tensor<3x2x5x8xf32>, tensor<3x2x5x6xf32>)
  return %dq, %dk, %dv : tensor<3x4x3x8xf32>, tensor<3x2x5x8xf32>, tensor<3x2x5x6xf32>
}

// Whole batches, where one has few enough; a mask that all batches share is not taken apart, a bias of several is.
// PARTS-LABEL: func.func @batches
// PARTS-SAME: %[[M:[a-z0-9]*]]: tensor<1x1x4x4xi1>
func.func @batches(%q: tensor<4x2x4x8xf32>, %m: tensor<1x1x4x4xi1>, %b: tensor<4x1x4x4xf32>) -> tensor<4x2x4x8xf32> {
  // PARTS: weft.slice %{{.*}} : tensor<4x2x4x8xf32> to tensor<2x2x4x8xf32>
  // PARTS: weft.slice %{{.*}} : tensor<4x1x4x4xf32> to tensor<2x1x4x4xf32>
  // PARTS: weft.broadcast %[[M]] {{.*}} to tensor<2x2x4x4xi1>
  // PARTS-COUNT-2: weft.softmax
  // PARTS: weft.concat {{.*}} axis 0 : (tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>) -> tensor<4x2x4x8xf32>
  %o = weft.attention %q, %q, %q mask %m bias %b scale 1.0 masked_rows nan
      : (tensor<4x2x4x8xf32>, tensor<4x2x4x8xf32>, tensor<4x2x4x8xf32>, tensor<1x1x4x4xi1>, tensor<4x1x4x4xf32>) -> tensor<4x2x4x8xf32>
  return %o : tensor<4x2x4x8xf32>
}

// The logarithms of sums of narrow floats are f32, and so is what is computed of them.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%q: tensor<1x1x4x8xbf16>) -> (tensor<1x1x4x8xbf16>, tensor<1x1x4xf32>) {
  // CHECK: %[[S:.*]] = weft.dot_general {{.*}} -> tensor<1x1x4x4xbf16>
  // CHECK: %[[WIDE:.*]] = weft.cast %[[S]] : tensor<1x1x4x4xbf16> to tensor<1x1x4x4xf32>
  // CHECK: weft.reduce max %[[WIDE]]
  %o, %l = weft.attention %q, %q, %q scale 1.0 masked_rows nan
      : (tensor<1x1x4x8xbf16>, tensor<1x1x4x8xbf16>, tensor<1x1x4x8xbf16>) -> (tensor<1x1x4x8xbf16>, tensor<1x1x4xf32>)
  return %o, %l : tensor<1x1x4x8xbf16>, tensor<1x1x4xf32>
}

// A target's library does attention of several queries; of one, products do as well.
// LIBRARY-LABEL: func.func @several_queries
// LIBRARY-NEXT: weft.attention
// LIBRARY-NEXT: return
func.func @several_queries(%q: tensor<1x2x2x8xf16>, %k: tensor<1x2x5x8xf16>) -> tensor<1x2x2x8xf16> {
  %0 = weft.attention %q, %k, %k scale 1.0 masked_rows nan
      : (tensor<1x2x2x8xf16>, tensor<1x2x5x8xf16>, tensor<1x2x5x8xf16>) -> tensor<1x2x2x8xf16>
  return %0 : tensor<1x2x2x8xf16>
}

// And its gradients.
// LIBRARY-LABEL: func.func @gradients_of_several
// LIBRARY-NEXT: weft.attention_backward
// LIBRARY-NEXT: return
func.func @gradients_of_several(%q: tensor<1x2x2x8xf16>, %k: tensor<1x2x5x8xf16>, %l: tensor<1x2x2xf32>) -> tensor<1x2x2x8xf16> {
  %0, %1, %2 = weft.attention_backward %q, %k, %k result %q lse %l gradient %q scale 1.0 masked_rows nan
      : (tensor<1x2x2x8xf16>, tensor<1x2x5x8xf16>, tensor<1x2x5x8xf16>, tensor<1x2x2x8xf16>, tensor<1x2x2xf32>, tensor<1x2x2x8xf16>)
      -> (tensor<1x2x2x8xf16>, tensor<1x2x5x8xf16>, tensor<1x2x5x8xf16>)
  return %0 : tensor<1x2x2x8xf16>
}

// LIBRARY-LABEL: func.func @one_query
// LIBRARY-NOT: weft.attention
func.func @one_query(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x2x1x8xf32> {
  %0 = weft.attention %q, %k, %k scale 1.0 masked_rows nan
      : (tensor<1x2x1x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x1x8xf32>
  return %0 : tensor<1x2x1x8xf32>
}

// LIBRARY-LABEL: func.func @double_precision
// LIBRARY-NOT: weft.attention
func.func @double_precision(%q: tensor<1x2x2x8xf64>, %k: tensor<1x2x5x8xf64>) -> tensor<1x2x2x8xf64> {
  %0 = weft.attention %q, %k, %k scale 1.0 masked_rows nan
      : (tensor<1x2x2x8xf64>, tensor<1x2x5x8xf64>, tensor<1x2x5x8xf64>) -> tensor<1x2x2x8xf64>
  return %0 : tensor<1x2x2x8xf64>
}

// Positions are of 32 bits: a window that is wider than all of them is cut to these.
// LIBRARY-LABEL: func.func @wide_window
// CHECK-LABEL: func.func @wide_window
// CHECK: weft.constant dense<12> : tensor<1x1x4x6xi32>
func.func @wide_window(%q: tensor<1x1x4x2xf32>, %k: tensor<1x1x6x2xf32>) -> tensor<1x1x4x2xf32> {
  %0 = weft.attention %q, %k, %k scale 1.0 query_offset 2 window 9223372036854775807 masked_rows nan
      : (tensor<1x1x4x2xf32>, tensor<1x1x6x2xf32>, tensor<1x1x6x2xf32>) -> tensor<1x1x4x2xf32>
  return %0 : tensor<1x1x4x2xf32>
}
