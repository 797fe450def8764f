// RUN: weft-opt %s --split-input-file --weft-propagate-shardings --verify-diagnostics

// What cannot be done is refused where it stands.

dist.mesh @mesh <["x"=2]>
// expected-error @+1 {{argument 1: expected dimension 0 to be padded by blocks of its unit, which divides it, got: 7 in units of 2 over 2}}
func.func @main(%x: tensor<8xf32>, %y: tensor<7xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"} unit 2]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected an axis of mesh @mesh, got: y}}
  %0 = weft.exp %x {dist.sharding = #dist.sharding<@mesh, [{"y"}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected the name of a dist.mesh, got: @grid}}
  %0 = weft.exp %x {dist.sharding = #dist.sharding<@grid, [{"x"}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected each axis at most once, got twice: x}}
  %0 = weft.exp %x {dist.sharding = #dist.sharding<@mesh, [{"x"}, {"x"}]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected one sharding entry per dimension, got: 1 != 2}}
  %0 = weft.exp %x {dist.sharding = #dist.sharding<@mesh, [{"x"}]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected dist.sharding or dist.shardings or dist.pinned, got: "dist.shading"}}
  %0 = weft.exp %x {dist.shading = #dist.sharding<@mesh, [{"x"}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
// expected-error @+1 {{argument 0: expected dist.sharding or dist.pinned, got: "dist.shardings"}}
func.func @main(%x: tensor<8xf32> {dist.shardings = [#dist.sharding<@mesh, [{"x"}]>]}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected one of dist.sharding and dist.shardings, got both}}
  %0 = weft.exp %x {dist.sharding = #dist.sharding<@mesh, [{"x"}]>, dist.shardings = [#dist.sharding<@mesh, [{}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected a dist.sharding beside dist.pinned}}
  %0 = weft.exp %x {dist.pinned} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
// expected-error @+1 {{expected a sharding of 'x' that is not partial, since no operation reduces it}}
func.func @main(%x: tensor<8xf32> {dist.sharding = #dist.sharding<@mesh, [{}], partial = sum{"x"}>, weft.name = "x"}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
// expected-error @+1 {{expected a sharding of @w that is not partial}}
weft.weight @w : tensor<8xf32> = #weft.external<"w", 0, 32> {dist.sharding = #dist.sharding<@mesh, [{}], partial = sum{"x"}>}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %w = weft.load @w : tensor<8xf32>
  return %w : tensor<8xf32>
}

// -----

dist.mesh @mesh <["x"=2]>
// expected-error @+1 {{expected a sharding of result 0 that is not partial}}
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32> {dist.sharding = #dist.sharding<@mesh, [{}], partial = sum{"x"}>}) {
  %0 = weft.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A partitioned module has nothing left to propagate.
dist.mesh @mesh <["x"=2]>
// expected-error @+1 {{expected tensors that are whole, got the program of one device}}
func.func @main(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"}]>, weft.global_type = tensor<8xf32>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
