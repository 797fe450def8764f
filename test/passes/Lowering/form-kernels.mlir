// RUN: weft-opt %s --split-input-file --weft-form-kernels | FileCheck %s

// What follows a product is one kernel, and the second layer's kernel is the first's.
weft.weight @w : tensor<8x8xf32> = #weft.external<"w.bin", 0, 256>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8xf32>)
func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[W:.*]] = weft.load @w
  // CHECK: %[[P:.*]] = weft.dot_general %[[X]], %[[W]]
  // CHECK: %[[A:.*]] = call @[[KERNEL:.*]](%[[P]], %[[B]])
  // CHECK: %[[Q:.*]] = weft.dot_general %[[A]], %[[W]]
  // CHECK: %[[R:.*]] = call @[[KERNEL]](%[[Q]], %[[B]])
  // CHECK: return %[[R]]
  %w = weft.load @w : tensor<8x8xf32>
  %0 = weft.broadcast %b dims [1] : tensor<8xf32> to tensor<4x8xf32>
  %p = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = weft.add %p, %0 : tensor<4x8xf32>
  %2 = weft.gelu tanh %1 : tensor<4x8xf32>
  %3 = weft.dot_general %2, %w batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %4 = weft.add %3, %0 : tensor<4x8xf32>
  %5 = weft.gelu tanh %4 : tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}
// CHECK: func.func private @[[KERNEL]](%[[P:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8xf32>) -> tensor<4x8xf32> attributes {exec.kernel}
// CHECK-NEXT: %[[WIDE:.*]] = weft.broadcast %[[B]]
// CHECK-NEXT: %[[SUM:.*]] = weft.add %[[P]], %[[WIDE]]
// CHECK-NEXT: %[[GELU:.*]] = weft.gelu tanh %[[SUM]]
// CHECK-NEXT: return %[[GELU]]
// CHECK-NOT: exec.kernel

// -----

// A kernel may compute row by row what needs the whole row, and have several results.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[BOTH:.*]]:2 = call @[[KERNEL:.*]](%{{.*}})
  // CHECK-NEXT: return %[[BOTH]]#0, %[[BOTH]]#1
  %s = weft.softmax %x axis 1 : tensor<4x6xf32>
  %a = weft.add %s, %x : tensor<4x6xf32>
  %m = weft.reduce max %a dims [1] : tensor<4x6xf32> -> tensor<4xf32>
  return %a, %m : tensor<4x6xf32>, tensor<4xf32>
}
// What consists of other operations is written out in it.
// CHECK: func.func private @[[KERNEL]](%[[X:.*]]: {{.*}}) -> (tensor<4x6xf32>, tensor<4xf32>) attributes {exec.kernel}
// CHECK-NEXT: %[[TOP:.*]] = weft.reduce max %[[X]] dims [1]
// CHECK-NEXT: %[[TOPS:.*]] = weft.broadcast %[[TOP]] dims [0]
// CHECK-NEXT: %[[SHIFTED:.*]] = weft.sub %[[X]], %[[TOPS]]
// CHECK-NEXT: %[[E:.*]] = weft.exp %[[SHIFTED]]
// CHECK-NEXT: %[[SUM:.*]] = weft.reduce sum %[[E]] dims [1]
// CHECK-NEXT: %[[INVERSE:.*]] = weft.reciprocal %[[SUM]]
// CHECK-NEXT: %[[INVERSES:.*]] = weft.broadcast %[[INVERSE]] dims [0]
// CHECK-NEXT: %[[SOFTMAX:.*]] = weft.mul %[[E]], %[[INVERSES]]
// CHECK-NEXT: %[[A:.*]] = weft.add %[[SOFTMAX]], %[[X]]
// CHECK-NEXT: %[[M:.*]] = weft.reduce max %[[A]] dims [1]
// CHECK-NEXT: return %[[A]], %[[M]]

// -----

// Narrow floats are normalised as f32.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xbf16>, %s: tensor<8xbf16>) -> tensor<4x8xbf16> {
  %y = weft.rms_norm %x scale %s : tensor<8xbf16> axis 1 epsilon 1.0e-06 : tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}
// CHECK: func.func private @{{.*}}(%[[X:.*]]: tensor<4x8xbf16>, %[[S:.*]]: tensor<8xbf16>)
// CHECK: %[[WIDE:.*]] = weft.cast %[[X]] : tensor<4x8xbf16> to tensor<4x8xf32>
// CHECK-NEXT: %[[SQUARES:.*]] = weft.mul %[[WIDE]], %[[WIDE]]
// CHECK-NEXT: %[[SUM:.*]] = weft.reduce sum %[[SQUARES]] dims [1]
// CHECK-NEXT: %[[SHARE:.*]] = weft.constant dense<1.250000e-01> : tensor<4xf32>
// CHECK-NEXT: %[[MEAN:.*]] = weft.mul %[[SUM]], %[[SHARE]]
// CHECK: %[[SHIFTED:.*]] = weft.add %[[MEAN]],
// CHECK-NEXT: %[[FACTOR:.*]] = weft.rsqrt %[[SHIFTED]]
// CHECK-NEXT: %[[FACTORS:.*]] = weft.broadcast %[[FACTOR]] dims [0]
// CHECK-NEXT: %[[UNSCALED:.*]] = weft.mul %[[WIDE]], %[[FACTORS]]
// CHECK-NEXT: %[[WIDE_S:.*]] = weft.cast %[[S]]
// CHECK-NEXT: %[[SCALES:.*]] = weft.broadcast %[[WIDE_S]] dims [1]
// CHECK-NEXT: %[[Y:.*]] = weft.mul %[[UNSCALED]], %[[SCALES]]
// CHECK-NEXT: %[[NARROW:.*]] = weft.cast %[[Y]] : tensor<4x8xf32> to tensor<4x8xbf16>
// CHECK-NEXT: return %[[NARROW]]

// -----

// Pairs that lie side by side are rotated apart.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x2x3x6xf32>, %c: tensor<1x3x2xf32>, %s: tensor<1x3x2xf32>) -> tensor<1x2x3x6xf32> {
  %y = weft.rotary %x, %c, %s interleaved : tensor<1x2x3x6xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>
  return %y : tensor<1x2x3x6xf32>
}
// CHECK: func.func private @{{.*}}(%[[X:.*]]: tensor<1x2x3x6xf32>, %[[C:.*]]: {{.*}}, %[[S:.*]]: {{.*}})
// CHECK-DAG: %[[FIRST:.*]] = weft.slice %[[X]] starts [0, 0, 0, 0] strides [1, 1, 1, 2]
// CHECK-DAG: %[[SECOND:.*]] = weft.slice %[[X]] starts [0, 0, 0, 1] strides [1, 1, 1, 2]
// CHECK: %[[LOW:.*]] = weft.sub
// CHECK: %[[HIGH:.*]] = weft.add
// CHECK: weft.concat %{{.*}}, %{{.*}} axis 4
// CHECK-NEXT: %[[PAIRS:.*]] = weft.reshape
// CHECK-NEXT: %[[REST:.*]] = weft.slice %[[X]] starts [0, 0, 0, 4] strides [1, 1, 1, 1]
// CHECK-NEXT: %[[Y:.*]] = weft.concat %[[PAIRS]], %[[REST]] axis 3
// CHECK-NEXT: return %[[Y]]

// -----

// Transposes before a product and reshapes behind it are views: no kernel copies anything.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x6xf32>, %y: tensor<6x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: weft.transpose
  // CHECK-NEXT: weft.dot_general
  // CHECK-NEXT: weft.dot_general
  // CHECK-NEXT: weft.reshape
  // CHECK-NEXT: return
  // CHECK-NOT: exec.kernel
  %t = weft.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %p = weft.dot_general %t, %x batch [] x [] contract [1] x [0] : (tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  %r = weft.dot_general %p, %y batch [] x [] contract [1] x [0] : (tensor<6x6xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %s = weft.reshape %r : tensor<6x4xf32> to tensor<2x3x4xf32>
  return %s : tensor<2x3x4xf32>
}

// -----

// The heads of an attention are joined by the order in which the product writes its result.
// CHECK-LABEL: func.func @main
func.func @main(%p: tensor<2x4x4xf32>, %v: tensor<2x4x6xf32>, %w: tensor<12x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: weft.dot_general {{.*}} {exec.strides = array<i64: 6, 12, 1>}
  // CHECK-NEXT: weft.transpose
  // CHECK-NEXT: weft.reshape
  // CHECK-NEXT: weft.dot_general
  // CHECK-NOT: exec.kernel
  %q = weft.dot_general %p, %v batch [0] x [0] contract [2] x [1] : (tensor<2x4x4xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %t = weft.transpose %q [1, 0, 2] : tensor<2x4x6xf32> -> tensor<4x2x6xf32>
  %r = weft.reshape %t : tensor<4x2x6xf32> to tensor<4x12xf32>
  %o = weft.dot_general %r, %w batch [] x [] contract [1] x [0] : (tensor<4x12xf32>, tensor<12x8xf32>) -> tensor<4x8xf32>
  return %o : tensor<4x8xf32>
}

// -----

// What reads a part of a value joins its kernel only if nothing else reads it, under another shape too.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x6x12xf32>, %at: tensor<8x6x1xi64>, %w: tensor<12x12xf32>) -> (tensor<26x12xf32>, tensor<48x12xf32>) {
  // CHECK-NEXT: %[[G:.*]]:2 = call @[[GATHER:.*]](%{{.*}}, %{{.*}}) : {{.*}} -> (tensor<8x6x12xf32>, tensor<48x12xf32>)
  // CHECK: weft.dot_general
  // CHECK-NEXT: call @{{.*}}(%[[G]]#1) : (tensor<48x12xf32>) -> tensor<26x12xf32>
  // CHECK: func.func private @[[GATHER]]
  // CHECK-NOT: weft.slice
  // CHECK: return
  %0 = weft.gather_nd %x, %at batch_dims 1 : (tensor<8x6x12xf32>, tensor<8x6x1xi64>) -> tensor<8x6x12xf32>
  %1 = weft.reshape %0 : tensor<8x6x12xf32> to tensor<48x12xf32>
  %2 = weft.dot_general %1, %w batch [] x [] contract [1] x [0] : (tensor<48x12xf32>, tensor<12x12xf32>) -> tensor<48x12xf32>
  %3 = weft.round %1 : tensor<48x12xf32>
  %4 = weft.slice %3 starts [4, 0] strides [1, 1] : tensor<48x12xf32> to tensor<26x12xf32>
  return %4, %2 : tensor<26x12xf32>, tensor<48x12xf32>
}

// -----

// What decays a state is computed with what is added to it, however much later: the state changes in place.
weft.weight kind(state) @v : tensor<8x4xf32> = dense<0.0> : tensor<8x4xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>) {
  // CHECK-NEXT: %[[V:.*]] = weft.load @v
  // CHECK-NEXT: %[[P:.*]] = weft.dot_general
  // CHECK-NEXT: %[[NEW:.*]] = call @[[KERNEL:.*]](%[[V]], %[[P]])
  // CHECK-NEXT: weft.store @v, %[[NEW]]
  // CHECK: func.func private @[[KERNEL]](%{{.*}}: tensor<8x4xf32> {exec.in_place = 0 : i64}, %{{.*}}: tensor<8x4xf32>)
  %v = weft.load @v : tensor<8x4xf32>
  %half = weft.constant dense<0.5> : tensor<8x4xf32>
  %decayed = weft.mul %v, %half : tensor<8x4xf32>
  %p = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %square = weft.mul %p, %p : tensor<8x4xf32>
  %new = weft.add %square, %decayed : tensor<8x4xf32>
  weft.store @v, %new : tensor<8x4xf32>
  return
}

// -----

// So is a state that begins as a part of a weight: both are in memory anyway.
dist.mesh @mesh <["data"=2]>
weft.weight @w : tensor<8x4xbf16> = #weft.external<"w.bin", 0, 64>
weft.weight kind(state) @v : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[FIRST:[^ ]*]]: tensor<i1>
func.func @main(%x: tensor<4x6xf32>, %y: tensor<6x4xf32>, %first: tensor<i1>) {
  // CHECK-DAG: %[[W:.*]] = weft.load @w
  // CHECK-DAG: %[[PART:.*]] = dist.slice %[[W]]
  // CHECK-DAG: %[[V:.*]] = weft.load @v
  // CHECK-DAG: %[[P:.*]] = weft.dot_general
  // CHECK: %[[NEW:.*]] = call @[[KERNEL:.*]](%[[PART]], %[[FIRST]], %[[V]], %[[P]])
  // CHECK-NEXT: weft.store @v, %[[NEW]]
  // CHECK: func.func private @[[KERNEL]](%{{.*}}: tensor<4x4xbf16>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<4x4xf32> {exec.in_place = 0 : i64}, %{{.*}}: tensor<4x4xf32>)
  // CHECK-NOT: func.func
  %w = weft.load @w : tensor<8x4xbf16>
  %part = dist.slice %w dim 0 axes ["data"] on @mesh : tensor<8x4xbf16> -> tensor<4x4xbf16>
  %wide = weft.cast %part : tensor<4x4xbf16> to tensor<4x4xf32>
  %v = weft.load @v : tensor<4x4xf32>
  %is_first = weft.broadcast %first dims [] : tensor<i1> to tensor<4x4xi1>
  %old = weft.select %is_first, %wide, %v : tensor<4x4xi1>, tensor<4x4xf32>
  %half = weft.constant dense<0.5> : tensor<4x4xf32>
  %decayed = weft.mul %old, %half : tensor<4x4xf32>
  %p = weft.dot_general %x, %y batch [] x [] contract [1] x [0] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %new = weft.sub %decayed, %p : tensor<4x4xf32>
  weft.store @v, %new : tensor<4x4xf32>
  return
}

// -----

// What is cheap to compute joins the kernel of its one reader, also where another operand comes from a product: the
// mask is not written.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %[[P:.*]] = weft.dot_general
  // CHECK-NEXT: call @{{.*}}({{.*}}) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: return
  %p = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %zero = weft.constant dense<0.0> : tensor<8x4xf32>
  %c = weft.compare le %y, %zero : tensor<8x4xf32>
  %0 = weft.select %c, %zero, %p : tensor<8x4xi1>, tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// States change as soon as they can: a gradient is not kept while others are computed.
weft.weight kind(trained) @v : tensor<8x4xf32> = dense<0.0> : tensor<8x4xf32>
weft.weight kind(trained) @w : tensor<4x6xf32> = dense<0.0> : tensor<4x6xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<5x8xf32>, %g: tensor<5x6xf32>, %rate: tensor<f32>) {
  %v = weft.load @v : tensor<8x4xf32>
  %w = weft.load @w : tensor<4x6xf32>
  // CHECK: %[[H:.*]] = weft.dot_general
  // CHECK-NEXT: %[[DW:.*]] = weft.dot_general %[[H]]
  // CHECK-NEXT: %[[DH:.*]] = weft.dot_general {{.*}}, %[[W:.*]] batch
  // CHECK-NEXT: %[[RATE:.*]] = call @{{.*}}(%{{.*}}) : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: call @{{.*}}(%[[DW]], %[[RATE]], %[[W]])
  // CHECK-NEXT: %[[DV:.*]] = weft.dot_general {{.*}}, %[[DH]]
  // CHECK-NEXT: call @{{.*}}(%[[DV]], %[[RATE]], {{.*}})
  %h = weft.dot_general %x, %v batch [] x [] contract [1] x [0] : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  %dw = weft.dot_general %h, %g batch [] x [] contract [0] x [0] : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %dh = weft.dot_general %g, %w batch [] x [] contract [1] x [1] : (tensor<5x6xf32>, tensor<4x6xf32>) -> tensor<5x4xf32>
  %dv = weft.dot_general %x, %dh batch [] x [] contract [0] x [0] : (tensor<5x8xf32>, tensor<5x4xf32>) -> tensor<8x4xf32>
  %root = weft.sqrt %rate : tensor<f32>
  %r0 = weft.broadcast %root dims [] : tensor<f32> to tensor<4x6xf32>
  %s0 = weft.mul %dw, %r0 : tensor<4x6xf32>
  %n0 = weft.sub %w, %s0 : tensor<4x6xf32>
  weft.store @w, %n0 : tensor<4x6xf32>
  %r1 = weft.broadcast %root dims [] : tensor<f32> to tensor<8x4xf32>
  %s1 = weft.mul %dv, %r1 : tensor<8x4xf32>
  %n1 = weft.sub %v, %s1 : tensor<8x4xf32>
  weft.store @v, %n1 : tensor<8x4xf32>
  return
}

// -----

// A kernel comes where its first operation stands, not behind what stands before a load that it reads besides.
weft.weight @v : tensor<8x8xf32> = #weft.external<"v.bin", 0, 256>
weft.weight @w : tensor<8x8xf32> = #weft.external<"w.bin", 0, 256>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[Y:.*]]: tensor<8x8xf32>)
func.func @main(%y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[V:.*]] = weft.load @v
  // CHECK-NEXT: %[[W:.*]] = weft.load @w
  // CHECK-NEXT: %{{.*}}:2 = call @{{.*}}(%[[V]], %[[W]])
  // CHECK-NEXT: %[[P:.*]] = weft.dot_general %[[Y]], %[[Y]]
  // CHECK-NEXT: %[[Q:.*]] = weft.dot_general %[[P]], %[[Y]]
  %v = weft.load @v : tensor<8x8xf32>
  %s = weft.exp %v : tensor<8x8xf32>
  %p = weft.dot_general %y, %y batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = weft.dot_general %p, %y batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %w = weft.load @w : tensor<8x8xf32>
  %u = weft.mul %s, %w : tensor<8x8xf32>
  %r = weft.dot_general %s, %q batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r, %u : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// A mask that the first layer reads is not computed with what reads it, too, but waits for what is gathered at the end.
dist.mesh @mesh <["data"=2]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<8x8xf32>, %[[W:.*]]: tensor<8x4xf32>)
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x4xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[M:.*]] = call @{{.*}}(%[[X]])
  // CHECK-NEXT: %[[P:.*]] = weft.dot_general %[[M]], %[[X]]
  // CHECK-NEXT: %[[Q:.*]] = weft.dot_general %[[P]], %[[X]]
  // CHECK-NEXT: %[[G:.*]] = dist.all_gather %[[W]]
  // CHECK-NEXT: %[[R:.*]] = call @{{.*}}(%[[M]], %[[G]])
  // CHECK-NEXT: return %[[Q]], %[[R]]
  %m = weft.exp %x : tensor<8x8xf32>
  %p = weft.dot_general %m, %x batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = weft.dot_general %p, %x batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = dist.all_gather %w dim 1 axes ["data"] on @mesh : tensor<8x4xf32> -> tensor<8x8xf32>
  %r = weft.mul %m, %g : tensor<8x8xf32>
  return %q, %r : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// A device's part of a slice is read in place: no kernel copies it.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: weft.slice
// CHECK-NEXT: dist.slice
// CHECK-NEXT: weft.dot_general
// CHECK-NOT: exec.kernel
dist.mesh @mesh <["model"=2]>
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x24xf32>) -> tensor<4x4xf32> {
  %0 = weft.slice %w starts [0, 8] strides [1, 1] : tensor<8x24xf32> to tensor<8x8xf32>
  %1 = dist.slice %0 dim 1 axes ["model"] on @mesh : tensor<8x8xf32> -> tensor<8x4xf32>
  %2 = weft.dot_general %x, %1 batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A part that a device keeps of a gradient is taken, and its state changed, once others were sent behind the gradient: that is not
// kept whole while others are computed, whether the part is of it or of what a kernel makes of it.
// CHECK-LABEL: func.func @main
module attributes {weft.training = {bucket_bytes = 16 : i64}} {
  dist.mesh @mesh <["data"=2]>
  weft.weight kind(state) @a : tensor<1x262144xf32> = dense<0.0> : tensor<1x262144xf32>
  weft.weight kind(state) @b : tensor<512x512xf32> = dense<0.0> : tensor<512x512xf32>
  func.func @main(%x: tensor<5x1024xf32>, %y: tensor<5x512xf32>) -> tensor<1024x512xf32> {
    // CHECK: %[[DA:.*]] = dist.all_reduce
    // CHECK-NEXT: weft.dot_general
    // CHECK-NEXT: %[[DB:.*]] = dist.all_reduce
    // CHECK-NEXT: %[[FLAT:.*]] = weft.reshape %[[DA]]
    // CHECK-NEXT: %[[PA:.*]] = dist.slice %[[FLAT]]
    // CHECK-NEXT: %[[A:.*]] = weft.load @a
    // CHECK-NEXT: call @{{.*}}(%[[A]], %[[PA]])
    // CHECK-NEXT: weft.dot_general
    // CHECK-NEXT: dist.all_reduce
    // CHECK-NEXT: %[[WIDE:.*]] = call @{{.*}}(%[[DB]])
    // CHECK-NEXT: %[[PB:.*]] = dist.slice %[[WIDE]]
    // CHECK-NEXT: %[[B:.*]] = weft.load @b
    // CHECK-NEXT: call @{{.*}}(%[[B]], %[[PB]])
    // CHECK-NEXT: weft.dot_general
    %p = weft.dot_general %x, %y batch [] x [] contract [0] x [0] : (tensor<5x1024xf32>, tensor<5x512xf32>) -> tensor<1024x512xf32>
    %da = dist.all_reduce sum %p axes ["data"] on @mesh : tensor<1024x512xf32>
    %q = weft.dot_general %x, %y batch [] x [] contract [0] x [0] : (tensor<5x1024xf32>, tensor<5x512xf32>) -> tensor<1024x512xf32>
    %db = dist.all_reduce sum %q axes ["data"] on @mesh : tensor<1024x512xf32>
    %r = weft.dot_general %x, %y batch [] x [] contract [0] x [0] : (tensor<5x1024xf32>, tensor<5x512xf32>) -> tensor<1024x512xf32>
    %dc = dist.all_reduce sum %r axes ["data"] on @mesh : tensor<1024x512xf32>
    %s = weft.dot_general %x, %y batch [] x [] contract [0] x [0] : (tensor<5x1024xf32>, tensor<5x512xf32>) -> tensor<1024x512xf32>
    %flat = weft.reshape %da : tensor<1024x512xf32> to tensor<2x262144xf32>
    %pa = dist.slice %flat dim 0 axes ["data"] on @mesh : tensor<2x262144xf32> -> tensor<1x262144xf32>
    %a = weft.load @a : tensor<1x262144xf32>
    %na = weft.add %a, %pa : tensor<1x262144xf32>
    weft.store @a, %na : tensor<1x262144xf32>
    %wide = weft.exp %db : tensor<1024x512xf32>
    %pb = dist.slice %wide dim 0 axes ["data"] on @mesh : tensor<1024x512xf32> -> tensor<512x512xf32>
    %b = weft.load @b : tensor<512x512xf32>
    %nb = weft.add %b, %pb : tensor<512x512xf32>
    weft.store @b, %nb : tensor<512x512xf32>
    %0 = weft.add %dc, %s : tensor<1024x512xf32>
    return %0 : tensor<1024x512xf32>
  }
}

// -----

// What is gathered of a state's next value is sent as soon as nothing reads the value that the state has, not at the step's end.
// CHECK-LABEL: func.func @main
module {
  dist.mesh @mesh <["data"=2]>
  weft.weight kind(state) @w : tensor<8x8xf32> = dense<0.0> : tensor<8x8xf32>
  weft.weight kind(state) @m : tensor<4x8xf32> = dense<0.0> : tensor<4x8xf32>
  func.func @main(%x: tensor<8x8xf32>, %g: tensor<4x8xf32>) -> tensor<8x8xf32> {
    // CHECK: %[[W:.*]] = weft.load @w
    // CHECK: %[[Z:.*]] = weft.dot_general %{{.*}}, %[[W]]
    // CHECK: %[[N:.*]] = dist.all_gather
    // CHECK-NEXT: %[[R:.*]] = weft.dot_general %[[Z]]
    // CHECK: weft.store @w, %[[N]]
    %w = weft.load @w : tensor<8x8xf32>
    %m = weft.load @m : tensor<4x8xf32>
    %u = weft.sub %m, %g : tensor<4x8xf32>
    %z = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = weft.dot_general %z, %x batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %s = weft.dot_general %r, %x batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %n = dist.all_gather %u dim 0 axes ["data"] on @mesh : tensor<4x8xf32> -> tensor<8x8xf32>
    weft.store @m, %u : tensor<4x8xf32>
    weft.store @w, %n : tensor<8x8xf32>
    return %s : tensor<8x8xf32>
  }
}

// -----

// So is what is moved in two steps.
// CHECK-LABEL: func.func @main
module {
  dist.mesh @mesh <["data"=2]>
  weft.weight kind(state) @w : tensor<8x8xf32> = dense<0.0> : tensor<8x8xf32>
  weft.weight kind(state) @m : tensor<4x8xf32> = dense<0.0> : tensor<4x8xf32>
  func.func @main(%x: tensor<8x8xf32>, %g: tensor<4x8xf32>) -> tensor<8x8xf32> {
    // CHECK: %[[U:.*]] = call @{{.*}}
    // CHECK-NEXT: %[[A:.*]] = dist.all_to_all %[[U]]
    // CHECK-NEXT: %[[Z:.*]] = weft.dot_general
    // CHECK-NEXT: %[[N:.*]] = dist.all_gather %[[A]]
    // CHECK-NEXT: weft.dot_general %[[Z]]
    // CHECK: weft.store @w, %[[N]]
    %w = weft.load @w : tensor<8x8xf32>
    %m = weft.load @m : tensor<4x8xf32>
    %u = weft.sub %m, %g : tensor<4x8xf32>
    %z = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = weft.dot_general %z, %x batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %a = dist.all_to_all %u split 1 concat 0 axes ["data"] on @mesh : tensor<4x8xf32> -> tensor<8x4xf32>
    %n = dist.all_gather %a dim 1 axes ["data"] on @mesh : tensor<8x4xf32> -> tensor<8x8xf32>
    weft.store @m, %u : tensor<4x8xf32>
    weft.store @w, %n : tensor<8x8xf32>
    return %r : tensor<8x8xf32>
  }
}

// -----

// A state whose next value is a constant has nothing else wait for its readers: not the gather, which comes first.
// CHECK-LABEL: func.func @main
module {
  dist.mesh @mesh <["data"=2]>
  weft.weight kind(state) @k : tensor<8x8xf32> = dense<0.0> : tensor<8x8xf32>
  func.func @main(%x: tensor<8x8xf32>, %g: tensor<4x8xf32>) -> tensor<8x8xf32> {
    // CHECK-NEXT: %[[N:.*]] = dist.all_gather
    // CHECK: weft.dot_general %{{.*}}, %[[N]]
    // CHECK: %[[K:.*]] = weft.load @k
    // CHECK: weft.dot_general %{{.*}}, %[[K]]
    %n = dist.all_gather %g dim 0 axes ["data"] on @mesh : tensor<4x8xf32> -> tensor<8x8xf32>
    %y = weft.dot_general %x, %n batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %k = weft.load @k : tensor<8x8xf32>
    %z = weft.dot_general %x, %k batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = weft.dot_general %y, %z batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %c = weft.constant dense<1.0> : tensor<8x8xf32>
    weft.store @k, %c : tensor<8x8xf32>
    return %r : tensor<8x8xf32>
  }
}
