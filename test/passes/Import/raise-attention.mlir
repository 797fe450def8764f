// RUN: weft-opt %s --weft-raise-attention | FileCheck %s

// 1/√8, rounded, is meant exactly.
// CHECK-LABEL: func @scaled
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x3x8xf32>, %[[K:.*]]: tensor<2x4x3x8xf32>, %[[V:.*]]: tensor<2x4x3x8xf32>
func.func @scaled(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = weft.attention %[[Q]], %[[K]], %[[V]] scale 0.35355339059327373 masked_rows nan
  // CHECK-NEXT: return %[[R]]
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %c = weft.constant dense<0.353553385> : tensor<2x4x3x3xf32>
  %s = weft.mul %scores, %c : tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// The scale on queries and keys, keys transposed for a batched product.
// CHECK-LABEL: func @scaledOperands
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x3x8xf32>, %[[K:.*]]: tensor<2x4x3x8xf32>, %[[V:.*]]: tensor<2x4x3x8xf32>
func.func @scaledOperands(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK-NEXT: weft.attention %[[Q]], %[[K]], %[[V]] scale 2.500000e-01 masked_rows nan
  %c = weft.constant dense<0.5> : tensor<2x4x3x8xf32>
  %q2 = weft.mul %q, %c : tensor<2x4x3x8xf32>
  %k2 = weft.mul %k, %c : tensor<2x4x3x8xf32>
  %t = weft.transpose %k2 [0, 1, 3, 2] : tensor<2x4x3x8xf32> -> tensor<2x4x8x3xf32>
  %s = weft.dot_general %q2, %t batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x8xf32>, tensor<2x4x8x3xf32>) -> tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// A known mask of -inf above the diagonal tells positions.
// CHECK-LABEL: func @causal
func.func @causal(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention {{.*}} scale 1.000000e+00 causal masked_rows nan
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %m = weft.constant dense<[[0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %b = weft.broadcast %m dims [2, 3] : tensor<3x3xf32> to tensor<2x4x3x3xf32>
  %s = weft.add %scores, %b : tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// So does a band below it; the least finite number masks as well where no row is masked wholly.
// CHECK-LABEL: func @causalWindow
func.func @causalWindow(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention {{.*}} scale 1.000000e+00 causal window 2 masked_rows nan
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %m = weft.constant dense<[[true, false, false], [true, true, false], [false, true, true]]> : tensor<3x3xi1>
  %visible = weft.broadcast %m dims [2, 3] : tensor<3x3xi1> to tensor<2x4x3x3xi1>
  %least = weft.constant dense<-3.40282347E+38> : tensor<2x4x3x3xf32>
  %s = weft.select %visible, %scores, %least : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// A mask of another shape stays a mask.
// CHECK-LABEL: func @otherTable
func.func @otherTable(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK: %[[M:.*]] = weft.constant dense<{{.*}}> : tensor<1x1x3x3xi1>
  // CHECK: weft.attention {{.*}} mask %[[M]] scale 1.000000e+00 masked_rows nan
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %m = weft.constant dense<[[true, false, true], [true, true, false], [false, true, true]]> : tensor<3x3xi1>
  %visible = weft.broadcast %m dims [2, 3] : tensor<3x3xi1> to tensor<2x4x3x3xi1>
  %least = weft.constant dense<0xFF800000> : tensor<2x4x3x3xf32>
  %s = weft.select %visible, %scores, %least : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// A computed mask: (1 - m)·least. Rows that see nothing are uniform, as all their scores become one number.
// CHECK-LABEL: func @padding
func.func @padding(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %m: tensor<2x3xi64>) -> tensor<2x4x3x8xf32> {
  // CHECK: %[[BOOL:.*]] = weft.cast %{{.*}} : tensor<2x3xi64> to tensor<2x3xi1>
  // CHECK: %[[MASK:.*]] = weft.reshape %[[BOOL]] : tensor<2x3xi1> to tensor<2x1x1x3xi1>
  // CHECK: weft.attention {{.*}} mask %[[MASK]] scale 1.000000e+00 masked_rows uniform
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %bool = weft.cast %m : tensor<2x3xi64> to tensor<2x3xi1>
  %f = weft.cast %bool : tensor<2x3xi1> to tensor<2x3xf32>
  %one = weft.constant dense<1.0> : tensor<2x3xf32>
  %least = weft.constant dense<-3.40282347E+38> : tensor<2x3xf32>
  %i = weft.sub %one, %f : tensor<2x3xf32>
  %l = weft.mul %i, %least : tensor<2x3xf32>
  %b = weft.broadcast %l dims [0, 3] : tensor<2x3xf32> to tensor<2x4x3x3xf32>
  %s = weft.add %scores, %b : tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Rows that are not numbers are replaced by zeros.
// CHECK-LABEL: func @nanToZero
func.func @nanToZero(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %m: tensor<2x1x3x3xi1>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention {{.*}} mask %{{.*}} scale 1.000000e+00 masked_rows zero
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %r0 = weft.reshape %m : tensor<2x1x3x3xi1> to tensor<2x3x3xi1>
  %visible = weft.broadcast %r0 dims [0, 2, 3] : tensor<2x3x3xi1> to tensor<2x4x3x3xi1>
  %least = weft.constant dense<0xFF800000> : tensor<2x4x3x3xf32>
  %s = weft.select %visible, %scores, %least : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %p0 = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %bad = weft.is_nan %p0 : tensor<2x4x3x3xf32>
  %zero = weft.constant dense<0.0> : tensor<2x4x3x3xf32>
  %p = weft.select %bad, %zero, %p0 : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// A bias that hides keys may hide all of a row, so the rule stays when a bias is left or becomes a mask.
// CHECK-LABEL: func @nanToZeroOfBias
func.func @nanToZeroOfBias(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %bias: tensor<2x4x3x3xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention {{.*}} bias %{{.*}} scale 1.000000e+00 masked_rows zero
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %s = weft.add %scores, %bias : tensor<2x4x3x3xf32>
  %p0 = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %bad = weft.is_nan %p0 : tensor<2x4x3x3xf32>
  %zero = weft.constant dense<0.0> : tensor<2x4x3x3xf32>
  %p = weft.select %bad, %zero, %p0 : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// CHECK-LABEL: func @biasToMaskKeepsRule
func.func @biasToMaskKeepsRule(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %m: tensor<2x1x1x3xi1>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention {{.*}} mask %{{.*}} scale 1.000000e+00 masked_rows zero
  %zero = weft.constant dense<0.0> : tensor<2x1x1x3xf32>
  %least = weft.constant dense<0xFF800000> : tensor<2x1x1x3xf32>
  %bias = weft.select %m, %zero, %least : tensor<2x1x1x3xi1>, tensor<2x1x1x3xf32>
  %r = weft.attention %q, %k, %v bias %bias scale 1.0 masked_rows zero : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x1x1x3xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Two masks, one finite: their sums tell rows apart, so they are biases.
// CHECK-LABEL: func @twoMasks
func.func @twoMasks(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %m: tensor<2x4x3x3xi1>, %n: tensor<2x4x3x3xi1>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention {{.*}} bias %{{.*}} scale 1.000000e+00 masked_rows nan
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %zero = weft.constant dense<0.0> : tensor<2x4x3x3xf32>
  %least = weft.constant dense<-3.0e+38> : tensor<2x4x3x3xf32>
  %least2 = weft.constant dense<-2.0e+38> : tensor<2x4x3x3xf32>
  %b = weft.select %m, %zero, %least : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %c = weft.select %n, %zero, %least2 : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %s0 = weft.add %scores, %b : tensor<2x4x3x3xf32>
  %s = weft.add %s0, %c : tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Distances by head (ALiBi) beside a causal mask.
// CHECK-LABEL: func @biasAndMask
func.func @biasAndMask(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %slopes: tensor<4x3xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK: %[[B:.*]] = weft.reshape %{{.*}} : tensor<4x3xf32> to tensor<1x4x1x3xf32>
  // CHECK: weft.attention {{.*}} bias %[[B]] scale 2.500000e-01 causal masked_rows nan
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %c = weft.constant dense<0.25> : tensor<2x4x3x3xf32>
  %s0 = weft.mul %scores, %c : tensor<2x4x3x3xf32>
  %b = weft.broadcast %slopes dims [1, 3] : tensor<4x3xf32> to tensor<2x4x3x3xf32>
  %s1 = weft.add %s0, %b : tensor<2x4x3x3xf32>
  %m = weft.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %visible = weft.broadcast %m dims [2, 3] : tensor<3x3xi1> to tensor<2x4x3x3xi1>
  %least = weft.constant dense<0xFF800000> : tensor<2x4x3x3xf32>
  %s = weft.select %visible, %s1, %least : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// 30·tanh(s/30)
// CHECK-LABEL: func @softcap
func.func @softcap(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention {{.*}} scale 2.500000e-01 softcap 3.000000e+01 masked_rows nan
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %c = weft.constant dense<0.25> : tensor<2x4x3x3xf32>
  %s0 = weft.mul %scores, %c : tensor<2x4x3x3xf32>
  %cap = weft.constant dense<30.0> : tensor<2x4x3x3xf32>
  %s1 = weft.div %s0, %cap : tensor<2x4x3x3xf32>
  %s2 = weft.tanh %s1 : tensor<2x4x3x3xf32>
  %s = weft.mul %s2, %cap : tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Two heads of keys and values for four of queries.
// CHECK-LABEL: func @groups
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x3x8xf32>, %[[K:.*]]: tensor<2x2x3x8xf32>, %[[V:.*]]: tensor<2x2x3x8xf32>)
func.func @groups(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x3x8xf32>, %g: tensor<2x2x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK-NEXT: weft.attention %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 masked_rows nan
  %k1 = weft.broadcast %k dims [0, 1, 3, 4] : tensor<2x2x3x8xf32> to tensor<2x2x2x3x8xf32>
  %k2 = weft.reshape %k1 : tensor<2x2x2x3x8xf32> to tensor<2x4x3x8xf32>
  %v1 = weft.broadcast %g dims [0, 1, 3, 4] : tensor<2x2x3x8xf32> to tensor<2x2x2x3x8xf32>
  %v = weft.reshape %v1 : tensor<2x2x2x3x8xf32> to tensor<2x4x3x8xf32>
  %s = weft.dot_general %q, %k2 batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Heads 0 1 0 1 are not groups of neighbours.
// CHECK-LABEL: func @interleavedGroups
func.func @interleavedGroups(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x3x8xf32>, %g: tensor<2x2x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention %{{.*}} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>)
  %k1 = weft.broadcast %k dims [0, 2, 3, 4] : tensor<2x2x3x8xf32> to tensor<2x2x2x3x8xf32>
  %k2 = weft.reshape %k1 : tensor<2x2x2x3x8xf32> to tensor<2x4x3x8xf32>
  %v1 = weft.broadcast %g dims [0, 2, 3, 4] : tensor<2x2x3x8xf32> to tensor<2x2x2x3x8xf32>
  %v = weft.reshape %v1 : tensor<2x2x2x3x8xf32> to tensor<2x4x3x8xf32>
  %s = weft.dot_general %q, %k2 batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Normalised over queries.
// CHECK-LABEL: func @otherAxis
func.func @otherAxis(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK-NOT: weft.attention
  // CHECK: return
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %p = weft.softmax %scores axis 2 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// A product that is neither queries by keys nor masked by a number that loses scores.
// CHECK-LABEL: func @weakMask
func.func @weakMask(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %m: tensor<2x4x3x3xi1>) -> tensor<2x4x3x8xf32> {
  // CHECK-NOT: weft.attention
  // CHECK: return
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %least = weft.constant dense<-1.0e+04> : tensor<2x4x3x3xf32>
  %s = weft.select %m, %scores, %least : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Scores replaced by a number that no score comes near; the values before the probabilities, as JAX writes it.
// CHECK-LABEL: func @hiddenScores
func.func @hiddenScores(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %m: tensor<2x4x3x3xi1>) -> tensor<2x4x8x3xf32> {
  // CHECK: %[[R:.*]] = weft.attention %{{.*}} mask %{{.*}} masked_rows uniform
  // CHECK: weft.transpose %[[R]] [0, 1, 3, 2]
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %least = weft.constant dense<-1.0e+09> : tensor<2x4x3x3xf32>
  %s = weft.select %m, %scores, %least : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %v, %p batch [0, 1] x [0, 1] contract [2] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x8x3xf32>
  return %r : tensor<2x4x8x3xf32>
}

// Probabilities that something else reads (the backward pass) are computed once.
// CHECK-LABEL: func @sharedProbabilities
func.func @sharedProbabilities(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x3xf32>) {
  // CHECK-NOT: weft.attention
  // CHECK: return
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %p = weft.softmax %scores axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r, %p : tensor<2x4x3x8xf32>, tensor<2x4x3x3xf32>
}

// Added before the scale: the sum is scaled too.
// CHECK-LABEL: func @scaledBias
func.func @scaledBias(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %b: tensor<2x4x3x3xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK-NOT: weft.attention
  // CHECK: return
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %s0 = weft.add %scores, %b : tensor<2x4x3x3xf32>
  %c = weft.constant dense<0.25> : tensor<2x4x3x3xf32>
  %s = weft.mul %s0, %c : tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Scaled by what is no number.
// CHECK-LABEL: func @learnedScale
func.func @learnedScale(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %t: tensor<2x4x3x3xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK-NOT: weft.attention
  // CHECK: return
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %s = weft.mul %scores, %t : tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Tanh without the matching product is no soft-cap.
// CHECK-LABEL: func @noCap
func.func @noCap(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK-NOT: weft.attention
  // CHECK: return
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %s = weft.tanh %scores : tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Beside a finite mask, whose rows are means, an input as bias may mask rows with -inf: the zeros for those would be lost.
// CHECK-LABEL: func @unknownBias
func.func @unknownBias(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %b: tensor<2x4x3x3xf32>, %m: tensor<2x4x3x3xi1>) -> tensor<2x4x3x8xf32> {
  // CHECK-NOT: weft.attention
  // CHECK: return
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %least = weft.constant dense<-3.40282347E+38> : tensor<2x4x3x3xf32>
  %s0 = weft.select %m, %scores, %least : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %s = weft.add %s0, %b : tensor<2x4x3x3xf32>
  %p0 = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %bad = weft.is_nan %p0 : tensor<2x4x3x3xf32>
  %zero = weft.constant dense<0.0> : tensor<2x4x3x3xf32>
  %p = weft.select %bad, %zero, %p0 : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// A mask that is added before the scale still loses what it masks.
// CHECK-LABEL: func @scaledMask
func.func @scaledMask(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %m: tensor<2x4x3x3xi1>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention {{.*}} mask %{{.*}} scale 5.000000e-01 masked_rows uniform
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %least = weft.constant dense<-3.40282347E+38> : tensor<2x4x3x3xf32>
  %half = weft.constant dense<0.5> : tensor<2x4x3x3xf32>
  %s0 = weft.select %m, %scores, %least : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %s = weft.mul %s0, %half : tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// A mask that no memory could hold is looked at without being spread.
// CHECK-LABEL: func @hugeMask
func.func @hugeMask(%q: tensor<1x4x1048576x8xf32>, %k: tensor<1x4x1048576x8xf32>, %v: tensor<1x4x1048576x8xf32>) -> tensor<1x4x1048576x8xf32> {
  // CHECK: weft.attention {{.*}} mask {{.*}} masked_rows nan
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<1x4x1048576x8xf32>, tensor<1x4x1048576x8xf32>) -> tensor<1x4x1048576x1048576xf32>
  %m = weft.constant dense<false> : tensor<1x4x1048576x1048576xi1>
  %n = weft.constant dense<0xFF800000> : tensor<1x4x1048576x1048576xf32>
  %s = weft.select %m, %scores, %n : tensor<1x4x1048576x1048576xi1>, tensor<1x4x1048576x1048576xf32>
  %p = weft.softmax %s axis 3 : tensor<1x4x1048576x1048576xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<1x4x1048576x1048576xf32>, tensor<1x4x1048576x8xf32>) -> tensor<1x4x1048576x8xf32>
  return %r : tensor<1x4x1048576x8xf32>
}

// Masks of queries and of keys, each broadcast: joined over both, once.
// CHECK-LABEL: func @queriesAndKeys
// CHECK-SAME: %[[M:[^ ]+]]: tensor<2x3xi1>, %[[N:[^ ]+]]: tensor<2x3xi1>
func.func @queriesAndKeys(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %m: tensor<2x3xi1>, %n: tensor<2x3xi1>) -> tensor<2x4x3x8xf32> {
  // CHECK: %[[QUERIES:.*]] = weft.broadcast %[[M]] dims [0, 2] : tensor<2x3xi1> to tensor<2x1x3x3xi1>
  // CHECK: %[[KEYS:.*]] = weft.broadcast %[[N]] dims [0, 3] : tensor<2x3xi1> to tensor<2x1x3x3xi1>
  // CHECK: %[[BOTH:.*]] = weft.and %[[QUERIES]], %[[KEYS]]
  // CHECK: weft.attention {{.*}} mask %[[BOTH]]
  %mq = weft.broadcast %m dims [0, 2] : tensor<2x3xi1> to tensor<2x4x3x3xi1>
  %mk = weft.broadcast %n dims [0, 3] : tensor<2x3xi1> to tensor<2x4x3x3xi1>
  %both = weft.and %mq, %mk : tensor<2x4x3x3xi1>
  %twice = weft.and %both, %mq : tensor<2x4x3x3xi1>
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %low = weft.constant dense<-1.0e9> : tensor<2x4x3x3xf32>
  %s = weft.select %twice, %scores, %low : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// A bias is read where it is not repeated.
// CHECK-LABEL: func @repeatedBias
func.func @repeatedBias(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention {{.*}} bias {{.*}}tensor<1x4x3x3xf32>
  %all = weft.broadcast %b dims [1, 2, 3] : tensor<4x3x3xf32> to tensor<2x4x3x3xf32>
  %r = weft.attention %q, %k, %v bias %all scale 1.0 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// In f64 a scale that went through f32 is another number; what rounding of f64 explains is 1/√8.
// CHECK-LABEL: func @wideScale
func.func @wideScale(%q: tensor<2x4x3x8xf64>, %k: tensor<2x4x3x8xf64>, %v: tensor<2x4x3x8xf64>) -> (tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>) {
  // CHECK: weft.attention {{.*}} scale 0.35355338454246521 masked_rows nan
  %0 = weft.attention %q, %k, %v scale 0.35355338454246521 masked_rows nan : (tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>) -> tensor<2x4x3x8xf64>
  // CHECK: weft.attention {{.*}} scale 0.35355339059327373 masked_rows nan
  %1 = weft.attention %q, %v, %k scale 0.35355339059327384 masked_rows nan : (tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>) -> tensor<2x4x3x8xf64>
  return %0, %1 : tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>
}

// A scale is the usual one within the rounding of f32, not nearly.
// CHECK-LABEL: func @nearlyUsualScale
func.func @nearlyUsualScale(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK: weft.attention {{.*}} scale 0.35355350000000002 masked_rows nan
  %0 = weft.attention %q, %k, %v scale 3.535535e-01 masked_rows nan : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %0 : tensor<2x4x3x8xf32>
}

// Narrow types do not make the scale a coarser number.
// CHECK-LABEL: func @narrowScale
func.func @narrowScale(%q: tensor<2x4x3x16xbf16>, %k: tensor<2x4x3x16xbf16>, %v: tensor<2x4x3x16xbf16>) -> tensor<2x4x3x16xbf16> {
  // CHECK: weft.attention {{.*}} scale 2.510000e-01 masked_rows nan
  %0 = weft.attention %q, %k, %v scale 0.251 masked_rows nan : (tensor<2x4x3x16xbf16>, tensor<2x4x3x16xbf16>, tensor<2x4x3x16xbf16>) -> tensor<2x4x3x16xbf16>
  return %0 : tensor<2x4x3x16xbf16>
}

// Batch and heads that an exporter joined are apart again, in the bias too, which is computed of joined queries.
// CHECK-LABEL: func @joinedHeads
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x9x16xf32>, %[[K:.*]]: tensor<2x4x9x16xf32>, %[[V:.*]]: tensor<2x4x9x16xf32>, %[[P:.*]]: tensor
func.func @joinedHeads(%q: tensor<2x4x9x16xf32>, %k: tensor<2x4x9x16xf32>, %v: tensor<2x4x9x16xf32>, %p: tensor<3x3x16xf32>) -> tensor<2x4x9x16xf32> {
  // CHECK-DAG: %[[ROWS:.*]] = weft.reshape %[[Q]] : tensor<2x4x9x16xf32> to tensor<2x4x3x3x16xf32>
  // CHECK-DAG: %[[SCORES:.*]] = weft.dot_general %[[ROWS]], %[[P]] batch [2] x [0] contract [4] x [2]
  // CHECK-DAG: %[[ORDER:.*]] = weft.transpose %[[SCORES]] [1, 2, 0, 3, 4]
  // CHECK-DAG: %[[REPEATED:.*]] = weft.broadcast %[[ORDER]] dims [0, 1, 2, 3, 4] : tensor<2x4x3x3x3xf32> to tensor<2x4x3x3x3x3xf32>
  // CHECK-DAG: %[[BIAS:.*]] = weft.reshape %[[REPEATED]] : tensor<2x4x3x3x3x3xf32> to tensor<2x4x9x9xf32>
  // CHECK: %[[RESULT:.*]] = weft.attention %[[Q]], %[[K]], %[[V]] bias %[[BIAS]] scale 2.500000e-01
  // CHECK: return %[[RESULT]]
  %0 = weft.reshape %q : tensor<2x4x9x16xf32> to tensor<8x1x9x16xf32>
  %1 = weft.reshape %k : tensor<2x4x9x16xf32> to tensor<8x1x9x16xf32>
  %2 = weft.reshape %v : tensor<2x4x9x16xf32> to tensor<8x1x9x16xf32>
  %3 = weft.reshape %q : tensor<2x4x9x16xf32> to tensor<8x3x3x16xf32>
  %4 = weft.dot_general %3, %p batch [1] x [0] contract [3] x [2] : (tensor<8x3x3x16xf32>, tensor<3x3x16xf32>) -> tensor<3x8x3x3xf32>
  %5 = weft.transpose %4 [1, 0, 2, 3] : tensor<3x8x3x3xf32> -> tensor<8x3x3x3xf32>
  %6 = weft.broadcast %5 dims [0, 1, 2, 3] : tensor<8x3x3x3xf32> to tensor<8x3x3x3x3xf32>
  %7 = weft.reshape %6 : tensor<8x3x3x3x3xf32> to tensor<8x1x9x9xf32>
  %8 = weft.attention %0, %1, %2 bias %7 scale 0.25 masked_rows nan : (tensor<8x1x9x16xf32>, tensor<8x1x9x16xf32>, tensor<8x1x9x16xf32>, tensor<8x1x9x9xf32>) -> tensor<8x1x9x16xf32>
  %9 = weft.reshape %8 : tensor<8x1x9x16xf32> to tensor<2x4x9x16xf32>
  return %9 : tensor<2x4x9x16xf32>
}

// Keys that were not joined so keep the rest as it is.
// CHECK-LABEL: func @joinedOtherwise
func.func @joinedOtherwise(%q: tensor<2x4x9x16xf32>, %k: tensor<8x1x9x16xf32>) -> tensor<8x1x9x16xf32> {
  // CHECK: weft.attention {{.*}} -> tensor<8x1x9x16xf32>
  %0 = weft.reshape %q : tensor<2x4x9x16xf32> to tensor<8x1x9x16xf32>
  %1 = weft.attention %0, %k, %k scale 0.25 masked_rows nan : (tensor<8x1x9x16xf32>, tensor<8x1x9x16xf32>, tensor<8x1x9x16xf32>) -> tensor<8x1x9x16xf32>
  return %1 : tensor<8x1x9x16xf32>
}
