// RUN: weft-opt --weft-choose-shardings --weft-propagate-shardings --split-input-file %s | FileCheck %s

// Without a cluster it is the reference cluster that prices. An MLP behind a normalisation, added to its input: columns, then
// rows; the batch takes the data axis alone. What is left is split too, since joining the sum twice costs more.
// CHECK: weft.weight @up {{.*}} {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
// CHECK: weft.weight @down {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
// CHECK: func.func @main({{.*}}dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}, {}]>
// CHECK: weft.dot_general {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"data"}, {}, {"model"}]>, dist.split = {b = #dist.dim<{"data"}>, n = #dist.dim<{"model"}>}}
// CHECK: weft.dot_general {{.*}} dist.split = {b = #dist.dim<{"data"}>, k = #dist.dim<{"model"}>}}
// CHECK: weft.add {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"}, {}]>
module {
  dist.mesh @mesh <["data"=2, "model"=2]>
  weft.weight @up : tensor<8x16xf32> = #weft.external<"w", 0, 512>
  weft.weight @down : tensor<16x8xf32> = #weft.external<"w", 1024, 512>
  func.func @main(%x: tensor<4x2x8xf32>) -> tensor<4x2x8xf32> {
    %n = weft.layer_norm %x axis 2 epsilon 1.0e-5 : tensor<4x2x8xf32>
    %up = weft.load @up : tensor<8x16xf32>
    %0 = weft.dot_general %n, %up batch [] x [] contract [2] x [0] : (tensor<4x2x8xf32>, tensor<8x16xf32>) -> tensor<4x2x16xf32>
    %1 = weft.gelu erf %0 : tensor<4x2x16xf32>
    %down = weft.load @down : tensor<16x8xf32>
    %2 = weft.dot_general %1, %down batch [] x [] contract [2] x [0] : (tensor<4x2x16xf32>, tensor<16x8xf32>) -> tensor<4x2x8xf32>
    %3 = weft.add %x, %2 : tensor<4x2x8xf32>
    %4 = weft.layer_norm %3 axis 2 epsilon 1.0e-5 : tensor<4x2x8xf32>
    return %4 : tensor<4x2x8xf32>
  }
}

// -----

// Attention splits by heads on four devices though there are two groups of keys: each is held by two.
// CHECK: weft.weight @q {{.*}} {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
// CHECK: weft.attention {{.*}}dist.split = {g = #dist.dim<{"model":(1)2}>, r = #dist.dim<{"model":(2)2}>}
// CHECK: weft.dot_general {{.*}}dist.split = {k = #dist.dim<{"model":(1)2}>, n = #dist.dim<{"model":(2)2}>}
module {
  dist.mesh @mesh <["model"=4]>
  weft.weight @q : tensor<32x32xf32> = #weft.external<"w", 0, 4096>
  weft.weight @k : tensor<32x16xf32> = #weft.external<"w", 4096, 2048>
  weft.weight @o : tensor<32x32xf32> = #weft.external<"w", 8192, 4096>
  func.func @main(%x: tensor<2x4x32xf32>) -> tensor<2x4x32xf32> {
    %wq = weft.load @q : tensor<32x32xf32>
    %q0 = weft.dot_general %x, %wq batch [] x [] contract [2] x [0] : (tensor<2x4x32xf32>, tensor<32x32xf32>) -> tensor<2x4x32xf32>
    %q1 = weft.reshape %q0 : tensor<2x4x32xf32> to tensor<2x4x4x8xf32>
    %q = weft.transpose %q1 [0, 2, 1, 3] : tensor<2x4x4x8xf32> -> tensor<2x4x4x8xf32>
    %wk = weft.load @k : tensor<32x16xf32>
    %k0 = weft.dot_general %x, %wk batch [] x [] contract [2] x [0] : (tensor<2x4x32xf32>, tensor<32x16xf32>) -> tensor<2x4x16xf32>
    %k1 = weft.reshape %k0 : tensor<2x4x16xf32> to tensor<2x4x2x8xf32>
    %k = weft.transpose %k1 [0, 2, 1, 3] : tensor<2x4x2x8xf32> -> tensor<2x2x4x8xf32>
    %a = weft.attention %q, %k, %k scale 0.25 causal masked_rows nan : (tensor<2x4x4x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>) -> tensor<2x4x4x8xf32>
    %a1 = weft.transpose %a [0, 2, 1, 3] : tensor<2x4x4x8xf32> -> tensor<2x4x4x8xf32>
    %a2 = weft.reshape %a1 : tensor<2x4x4x8xf32> to tensor<2x4x32xf32>
    %wo = weft.load @o : tensor<32x32xf32>
    %y = weft.dot_general %a2, %wo batch [] x [] contract [2] x [0] : (tensor<2x4x32xf32>, tensor<32x32xf32>) -> tensor<2x4x32xf32>
    return %y : tensor<2x4x32xf32>
  }
}

// -----

// A tied table is split by rows for the look-up and the output head alike, so that it is held once; one sum joins it with the
// table of positions.
// CHECK: weft.weight @table {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
// CHECK: weft.gather {{.*}}dist.split = {v = #dist.dim<{"model"}>}
// CHECK: weft.gather {{.*}}dist.split = {v = #dist.dim<{"model"}>}
// CHECK: weft.add {{.*}}dist.split = {carries = array<i64: 0, 1>, sum = #dist.dim<{"model"}>}
// CHECK: weft.rms_norm {{.*}}dist.split = {}
// CHECK: weft.transpose {{.*}}dist.split = {d = #dist.dim<{"model"}>}
// CHECK: weft.dot_general {{.*}}dist.split = {n = #dist.dim<{"model"}>}
module {
  dist.mesh @mesh <["model"=2]>
  weft.weight @table : tensor<512x8xf32> = #weft.external<"w", 0, 16384>
  weft.weight @positions : tensor<64x8xf32> = #weft.external<"w", 16384, 2048>
  func.func @main(%ids: tensor<2x4xi64>) -> tensor<2x4x512xf32> {
    %t = weft.load @table : tensor<512x8xf32>
    %0 = weft.gather %t, %ids axis 0 : (tensor<512x8xf32>, tensor<2x4xi64>) -> tensor<2x4x8xf32>
    %p = weft.load @positions : tensor<64x8xf32>
    %i = weft.iota 1 : tensor<2x4xi64>
    %1 = weft.gather %p, %i axis 0 : (tensor<64x8xf32>, tensor<2x4xi64>) -> tensor<2x4x8xf32>
    %2 = weft.add %0, %1 : tensor<2x4x8xf32>
    %3 = weft.rms_norm %2 axis 2 epsilon 1.0e-5 : tensor<2x4x8xf32>
    %t1 = weft.load @table : tensor<512x8xf32>
    %head = weft.transpose %t1 [1, 0] : tensor<512x8xf32> -> tensor<8x512xf32>
    %4 = weft.dot_general %3, %head batch [] x [] contract [2] x [0] : (tensor<2x4x8xf32>, tensor<8x512xf32>) -> tensor<2x4x512xf32>
    return %4 : tensor<2x4x512xf32>
  }
}

// -----

// A table that only a look-up reads is split by columns, and what it gives exchanged for rows of the batch's tokens: half of
// what joining sums would move. A convolution is split by output channels.
// CHECK: weft.weight @table {{.*}} {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
// CHECK: weft.weight @kernel {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}, {}, {}]>}
// CHECK: weft.gather {{.*}}dist.split = {d = #dist.dim<{"model"}>}
// CHECK: weft.rms_norm {{.*}}dist.split = {d1 = #dist.dim<{"model"}>}
// CHECK: weft.conv {{.*}}dist.split = {o = #dist.dim<{"model"}>}
module {
  dist.mesh @mesh <["model"=2]>
  weft.weight @table : tensor<503x8xf32> = #weft.external<"w", 0, 16096>
  weft.weight @kernel : tensor<8x3x4x4xf32> = #weft.external<"w", 16096, 1536>
  func.func @main(%ids: tensor<2x4xi64>, %x: tensor<2x3x8x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x8x2x2xf32>) {
    %t = weft.load @table : tensor<503x8xf32>
    %0 = weft.gather %t, %ids axis 0 : (tensor<503x8xf32>, tensor<2x4xi64>) -> tensor<2x4x8xf32>
    %1 = weft.rms_norm %0 axis 2 epsilon 1.0e-5 : tensor<2x4x8xf32>
    %k = weft.load @kernel : tensor<8x3x4x4xf32>
    %2 = weft.conv %x, %k strides [4, 4] low [0, 0] high [0, 0] dilations [1, 1] groups 1 : (tensor<2x3x8x8xf32>, tensor<8x3x4x4xf32>) -> tensor<2x8x2x2xf32>
    %3 = weft.softmax %2 axis 1 : tensor<2x8x2x2xf32>
    return %1, %3 : tensor<2x4x8xf32>, tensor<2x8x2x2xf32>
  }
}

// -----

// A tied table whose rows do not divide is padded for both of its uses, and so are the logits.
// CHECK: weft.weight @table {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
// CHECK: weft.gather {{.*}}dist.split = {v = #dist.dim<{"model"}>}
// CHECK: weft.dot_general {{.*}} {dist.sharding = #dist.sharding<@mesh, [{}, {}, {"model"}]>, dist.split = {n = #dist.dim<{"model"}>}}
module {
  dist.mesh @mesh <["model"=2]>
  weft.weight @table : tensor<503x64xf32> = #weft.external<"w", 0, 128768>
  func.func @main(%ids: tensor<1x4xi64>) -> tensor<1x4x503xf32> {
    %t = weft.load @table : tensor<503x64xf32>
    %0 = weft.gather %t, %ids axis 0 : (tensor<503x64xf32>, tensor<1x4xi64>) -> tensor<1x4x64xf32>
    %1 = weft.rms_norm %0 axis 2 epsilon 1.0e-5 : tensor<1x4x64xf32>
    %t1 = weft.load @table : tensor<503x64xf32>
    %2 = weft.dot_general %1, %t1 batch [] x [] contract [2] x [1] : (tensor<1x4x64xf32>, tensor<503x64xf32>) -> tensor<1x4x503xf32>
    return %2 : tensor<1x4x503xf32>
  }
}

// -----

// An axis of the batch takes the batch though it costs more: a product whose weight's gradient is larger than itself.
// CHECK: weft.dot_general {{.*}}dist.split = {k = #dist.dim<{"data"}>}
module {
  dist.mesh @mesh <["data"=2]>
  func.func @main(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<64x64xf32> {
    %0 = weft.dot_general %x, %y batch [] x [] contract [0] x [0] : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}
