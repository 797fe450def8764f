// RUN: weft-opt --weft-propagate-shardings --split-input-file %s | FileCheck %s

// A column-parallel product makes the next one row-parallel; weights and biases follow.
// CHECK: weft.weight @up : tensor<8x16xf32> = {{.*}} {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
// CHECK: weft.weight @bias {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"model"}]>}
// CHECK: weft.weight @down : tensor<16x8xf32> = {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
// CHECK: func.func @main({{.*}}) -> (tensor<4x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>})
// CHECK: weft.dot_general {{.*}}dist.pinned
// CHECK: weft.broadcast {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"}]>}
// CHECK: weft.gelu {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"}]>}
// CHECK: weft.dot_general {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>}
module {
  dist.mesh @mesh <["data"=2, "model"=2]>
  weft.weight @up : tensor<8x16xf32> = #weft.external<"w", 0, 512>
  weft.weight @bias : tensor<16xf32> = #weft.external<"w", 512, 64>
  weft.weight @down : tensor<16x8xf32> = #weft.external<"w", 1024, 512>
  func.func @main(%x: tensor<4x8xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>}) -> tensor<4x8xf32> {
    %up = weft.load @up : tensor<8x16xf32>
    %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"}]>} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %b = weft.load @bias : tensor<16xf32>
    %1 = weft.broadcast %b dims [1] : tensor<16xf32> to tensor<4x16xf32>
    %2 = weft.add %0, %1 : tensor<4x16xf32>
    %3 = weft.gelu erf %2 : tensor<4x16xf32>
    %down = weft.load @down : tensor<16x8xf32>
    %4 = weft.dot_general %3, %down batch [] x [] contract [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    return %4 : tensor<4x8xf32>
  }
}

// -----

// Heads split the weights of the projections through reshape and transpose; key heads take a sub-axis of their own.
// CHECK: weft.weight @q {{.*}} {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
// CHECK: weft.weight @k {{.*}} {dist.sharding = #dist.sharding<@mesh, [{}, {"model":(1)2}]>}
// CHECK: weft.weight @o {{.*}} {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
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
    %a = weft.attention %q, %k, %k scale 0.25 causal masked_rows nan {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}, {}, {}]>} : (tensor<2x4x4x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>) -> tensor<2x4x4x8xf32>
    %a1 = weft.transpose %a [0, 2, 1, 3] : tensor<2x4x4x8xf32> -> tensor<2x4x4x8xf32>
    %a2 = weft.reshape %a1 : tensor<2x4x4x8xf32> to tensor<2x4x32xf32>
    %wo = weft.load @o : tensor<32x32xf32>
    %y = weft.dot_general %a2, %wo batch [] x [] contract [2] x [0] : (tensor<2x4x32xf32>, tensor<32x32xf32>) -> tensor<2x4x32xf32>
    return %y : tensor<2x4x32xf32>
  }
}

// -----

// A pinned weight gives its sharding to its loads; the vocabulary-parallel table leaves the result whole.
// CHECK: weft.weight @table {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
// CHECK: weft.load @table {dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
// CHECK: weft.gather {{.*}} {dist.sharding = #dist.sharding<@mesh, [{}, {}, {}]>}
module {
  dist.mesh @mesh <["model"=2]>
  weft.weight @table : tensor<512x8xf32> = #weft.external<"w", 0, 16384> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"model"}, {} ]>}
  func.func @main(%ids: tensor<2x4xi64>) -> tensor<2x4x8xf32> {
    %t = weft.load @table : tensor<512x8xf32>
    %0 = weft.gather %t, %ids axis 0 : (tensor<512x8xf32>, tensor<2x4xi64>) -> tensor<2x4x8xf32>
    return %0 : tensor<2x4x8xf32>
  }
}
