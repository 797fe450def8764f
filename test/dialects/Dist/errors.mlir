// RUN: weft-opt %s --split-input-file --verify-diagnostics

// C1 of dist.mesh
// expected-error @+1 {{expected axis names to be unique, got twice: x}}
dist.mesh @mesh <["x"=2, "x"=4]>

// -----
// C1 of dist.mesh
// expected-error @+1 {{expected axis sizes >= 1, got: x=0}}
dist.mesh @mesh <["x"=0]>

// -----
// C2 of dist.mesh
// expected-error @+1 {{expected device_order to list every device, got: 2 != 4}}
dist.mesh @mesh <["x"=4], device_order = [0, 1]>

// -----
// C2 of dist.mesh
// expected-error @+1 {{expected device_order to be a permutation of 0 to 3, got: 1}}
dist.mesh @mesh <["x"=4], device_order = [0, 1, 1, 3]>

// -----
dist.mesh @mesh <["x"=4]>
// expected-error @+1 {{expected a sub-axis with pre >= 1 and size >= 2, got: (1)1}}
func.func private @f(tensor<8xf32> {dist.sharding = #dist.sharding<@mesh, [{"x":(1)1}]>})

// -----
dist.mesh @mesh <["x"=4]>
// expected-error @+1 {{expected one of sum, max, min, prod, got: mean}}
func.func private @f(tensor<8xf32> {dist.sharding = #dist.sharding<@mesh, [{}], partial = mean{"x"}>})

// -----
// C1 of dist.sharding
// expected-error @+1 {{expected the name of a dist.mesh, got: @mesh}}
func.func private @f(tensor<8xf32> {dist.sharding = #dist.sharding<@mesh, [{}]>})

// -----
dist.mesh @mesh <["x"=4]>
// C1 of dist.sharding
// expected-error @+1 {{expected an axis of mesh @mesh, got: y}}
func.func private @f(tensor<8xf32> {dist.sharding = #dist.sharding<@mesh, [{"y"}]>})

// -----
dist.mesh @mesh <["x"=4]>
// C1 of dist.sharding
// expected-error @+1 {{expected a proper sub-axis of x=4, got: (1)3}}
func.func private @f(tensor<9xf32> {dist.sharding = #dist.sharding<@mesh, [{"x":(1)3}]>})

// -----
dist.mesh @mesh <["x"=4]>
// C2 of dist.sharding
// expected-error @+1 {{expected each axis at most once, got twice: x}}
func.func private @f(tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"}, {"x":(1)2}]>})

// -----
dist.mesh @mesh <["x"=12]>
// C2 of dist.sharding
// expected-error @+1 {{expected sub-axes of x that nest, got: (1)2 and (3)2}}
func.func private @f(tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"x":(1)2}, {"x":(3)2}]>})

// -----
dist.mesh @mesh <["x"=4]>
// C3 of dist.sharding
// expected-error @+1 {{expected one sharding entry per dimension, got: 1 != 2}}
func.func private @f(tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"}]>})

// -----
dist.mesh @mesh <["x"=4]>
// C4 of dist.sharding
// expected-error @+1 {{expected dimension 0 to be padded by blocks of its unit, which divides it, got: 6 in units of 4 over 4}}
func.func private @f(tensor<6xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"} unit 4]>})

// -----
dist.mesh @mesh <["x"=4]>
// C4 of dist.sharding
// expected-error @+1 {{expected dimension 0 to be padded by blocks of its unit, which divides it, got: 8 in units of 2 over 4}}
func.func private @f(tensor<8xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"} unit 2]>})

// -----
dist.mesh @mesh <["x"=4]>
// expected-error @+1 {{expected a unit >= 1, got: 0}}
func.func private @f(tensor<8xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"} unit 0]>})

// -----
dist.mesh @mesh <["x"=4]>
// expected-error @+1 {{expected argument 0 to have the local type of its sharding, got: 'tensor<4xf32>' != 'tensor<2xf32>'}}
func.func private @f(tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"}]>, weft.global_type = tensor<5xf32>})

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<2xf32>) {
  // C1 of dist.mask_padding
  // expected-error @+1 {{expected an extent that the blocks hold, got: 9 > 8}}
  %0 = dist.mask_padding sum %x dim 0 of 9 axes ["x"] on @mesh : tensor<2xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<2xf32>) {
  // C1 of dist.mask_padding
  // expected-error @+1 {{expected a dimension below the rank, got: 1 >= 1}}
  %0 = dist.mask_padding sum %x dim 1 of 5 axes ["x"] on @mesh : tensor<2xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
// C7 of dist
// expected-error @+1 {{expected argument 0 to have the local type of its sharding, got: 'tensor<8xf32>' != 'tensor<2xf32>'}}
func.func private @f(tensor<8xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"}]>, weft.global_type = tensor<8xf32>})

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C2 of dist
  // expected-error @+1 {{expected dist.shardings of one entry per result, got: [] on 1 results}}
  %0 = weft.exp %x {dist.shardings = []} : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist
  // expected-error @+1 {{expected a #dist.sharding, got: 1 : i64}}
  %0 = weft.exp %x {dist.sharding = 1} : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<2xf32>) {
  // C2 of dist.all_gather
  // expected-error @+1 {{expected the result's type to be 'tensor<8xf32>', got: 'tensor<4xf32>'}}
  %0 = dist.all_gather %x dim 0 axes ["x"] on @mesh : tensor<2xf32> -> tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<2xf32>) {
  // C2 of dist.all_gather
  // expected-error @+1 {{expected a dimension below the rank, got: 1 >= 1}}
  %0 = dist.all_gather %x dim 1 axes ["x"] on @mesh : tensor<2xf32> -> tensor<8xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<6xf32>) {
  // C2 of dist.slice
  // expected-error @+1 {{expected the group to divide dimension 0, got: 6 over 4}}
  %0 = dist.slice %x dim 0 axes ["x"] on @mesh : tensor<6xf32> -> tensor<2xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C2 of dist.reduce_scatter
  // expected-error @+1 {{expected operand and result of one element type and rank, got: 'tensor<8xf32>' and 'tensor<2xf16>'}}
  %0 = dist.reduce_scatter sum %x dim 0 axes ["x"] on @mesh : tensor<8xf32> -> tensor<2xf16>
  return
}

// -----
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist.all_reduce
  // expected-error @+1 {{expected the name of a dist.mesh, got: @mesh}}
  %0 = dist.all_reduce sum %x axes ["x"] on @mesh : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8x8xf32>) {
  // C2 of dist.all_to_all
  // expected-error @+1 {{expected two unlike dimensions >= 0, got: 1 and 1}}
  %0 = dist.all_to_all %x split 1 concat 1 axes ["x"] on @mesh : tensor<8x8xf32> -> tensor<8x8xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4, "y"=2]>
func.func @f(%x: tensor<8xf32>) {
  // C2 of dist.permute
  // expected-error @+1 {{expected the same axes in another order, got: [#dist.axis_ref<"x">] and [#dist.axis_ref<"y">]}}
  %0 = dist.permute %x from ["x"] to ["y"] on @mesh : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
func.func @f() {
  // C1 of dist.load_shard
  // expected-error @+1 {{expected the name of a weft.weight, got: @w}}
  %0 = dist.load_shard @w start 0 shape [8] strides [1] sharding <@mesh, [{"x"}]> : tensor<2xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
weft.weight @w : tensor<8xf32> = #weft.external<"w.data", 0, 32>
func.func @f() {
  // C2 of dist.load_shard
  // expected-error @+1 {{expected the view to lie within its weight's 8 elements, got: 1 to 8}}
  %0 = dist.load_shard @w start 1 shape [8] strides [1] sharding <@mesh, [{"x"}]> : tensor<2xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
weft.weight @w : tensor<8xf32> = #weft.external<"w.data", 0, 32>
func.func @f() {
  // C3 of dist.load_shard
  // expected-error @+1 {{expected the result's type to be 'tensor<2xf32>', got: 'tensor<4xf32>'}}
  %0 = dist.load_shard @w start 0 shape [8] strides [1] sharding <@mesh, [{"x"}]> : tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
weft.weight @w : tensor<8xf32> = #weft.external<"w.data", 0, 32>
func.func @f() {
  // C3 of dist.load_shard
  // expected-error @+1 {{expected a sharding that is not partial}}
  %0 = dist.load_shard @w start 0 shape [8] strides [1] sharding <@mesh, [{}], partial = sum{"x"}> : tensor<8xf32>
  return
}

// -----
dist.mesh @a <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist.transfer
  // expected-error @+1 {{expected two unlike meshes, got twice: @a}}
  %0 = dist.transfer %x from <@a, [{}]> to <@a, [{"x"}]> : tensor<8xf32> -> tensor<2xf32>
  return
}

// -----
dist.mesh @a <["x"=4]>
dist.mesh @b <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C2 of dist.transfer
  // expected-error @+1 {{expected both sides to hold one global tensor, got: 'tensor<8xf32>' != 'tensor<16xf32>'}}
  %0 = dist.transfer %x from <@a, [{}]> to <@b, [{"x"}]> : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C3 of dist
  // expected-error @+1 {{expected dist.pinned to be a unit or one bool per result, got: 3 : i64}}
  %0 = weft.exp %x {dist.pinned = 3, dist.sharding = #dist.sharding<@mesh, [{}]>} : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected one of sum, max, min, prod, got: mean}}
  %0 = dist.all_reduce mean %x axes ["x"] on @mesh : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----
dist.mesh @mesh <["x"=4]>
weft.weight @w : tensor<8xf32> = dense<0.0> : tensor<8xf32>
func.func @f(%x: tensor<2xf32>) {
  // C1 of dist.store_shard
  // expected-error @+1 {{expected the name of a weft.weight of kind state or trained, got: @w}}
  dist.store_shard @w, %x sharding <@mesh, [{"x"}]> : tensor<2xf32>
  return
}

// -----
// C3 of dist.mesh
// expected-error @+1 {{attribute 'first_device' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
dist.mesh @mesh <["x"=2], first_device = -2>

// -----
// expected-error @+1 {{expected device_order or first_device, got: devices}}
dist.mesh @mesh <["x"=2], devices = 2>

// -----
dist.mesh @mesh <["x"=2]>
// C2 of dist
// expected-error @+1 {{expected dist.shardings of two meshes or more, got: [#dist.sharding<@mesh, [{"x"}]>]}}
weft.weight @w : tensor<8xf32> = #weft.external<"w.data", 0, 32> {dist.shardings = [#dist.sharding<@mesh, [{"x"}]>]}

// -----
dist.mesh @mesh <["x"=2]>
// C2 of dist
// expected-error @+1 {{expected one sharding a mesh, got two on @mesh}}
weft.weight @w : tensor<8xf32> = #weft.external<"w.data", 0, 32> {dist.shardings = [#dist.sharding<@mesh, [{"x"}]>, #dist.sharding<@mesh, [{}]>]}

// -----
dist.mesh @mesh <["x"=2]>
// expected-error @+1 {{expected a #dist.sharding, got: 3 : i64}}
weft.weight @w : tensor<8xf32> = #weft.external<"w.data", 0, 32> {dist.shardings = [#dist.sharding<@mesh, [{"x"}]>, 3]}

// -----
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=2], first_device = 2>
// C3 of dist
// expected-error @+1 {{expected dist.pinned to be a unit or one bool per mesh, got: array<i1: true>}}
weft.weight @w : tensor<8xf32> = #weft.external<"w.data", 0, 32> {dist.pinned = array<i1: true>, dist.shardings = [#dist.sharding<@a, [{"x"}]>, #dist.sharding<@b, [{}]>]}

// -----
// C5 of dist
// expected-error @+1 {{expected the name of a dist.mesh, got: @mesh}}
func.func private @f() attributes {dist.mesh = @mesh}

// -----
// C5 of dist
// expected-error @+1 {{expected dist.mesh to name a mesh on a function, got: "mesh"}}
func.func private @f() attributes {dist.mesh = "mesh"}

// -----
dist.mesh @mesh <["x"=2]>
func.func @f(%x: tensor<8xf32>) {
  // C5 of dist
  // expected-error @+1 {{expected dist.mesh to name a mesh on a function, got: @mesh}}
  %0 = weft.exp %x {dist.mesh = @mesh} : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
weft.weight kind(state) @w : tensor<8xf32> = dense<0.0> : tensor<8xf32>
func.func @f(%x: tensor<4xf32>) {
  // C2 of dist.store_shard
  // expected-error @+1 {{expected the value's type to be 'tensor<2xf32>', got: 'tensor<4xf32>'}}
  dist.store_shard @w, %x sharding <@mesh, [{"x"}]> : tensor<4xf32>
  return
}

// -----
dist.mesh @mesh <["x"=4]>
weft.weight kind(state) @w : tensor<8x4xf32> = dense<0.0> : tensor<8x4xf32>
func.func @f() {
  // C4 of dist.load_shard
  // expected-error @+1 {{expected the whole of a state, got a view of @w}}
  %0 = dist.load_shard @w start 0 shape [4, 8] strides [1, 4] sharding <@mesh, [{}, {"x"}]> : tensor<4x2xf32>
  return
}

// -----

dist.mesh @mesh <["x"=2]>
// C6 of dist
// expected-error @+1 {{argument 0: expected a dist.sharding beside dist.arrival}}
func.func private @f(tensor<8xf32> {dist.arrival = #dist.sharding<@mesh, [{"x"}]>})

// -----
dist.mesh @mesh <["x"=2]>
// C6 of dist
// expected-error @+1 {{argument 0: expected an axis of mesh @mesh, got: y}}
func.func private @f(tensor<8xf32> {dist.arrival = #dist.sharding<@mesh, [{"y"}]>, dist.sharding = #dist.sharding<@mesh, [{}]>})

// -----
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=2], first_device = 2>
// C6 of dist
// expected-error @+1 {{argument 0: expected dist.arrival on the mesh of its sharding, @a, got: @b}}
func.func private @f(tensor<8xf32> {dist.arrival = #dist.sharding<@b, [{"x"}]>, dist.sharding = #dist.sharding<@a, [{}]>})

// -----
dist.mesh @mesh <["x"=2]>
// C8 of dist
// expected-error @+1 {{result 0: expected dist.sharding or dist.pinned, got: "dist.arrival"}}
func.func private @f() -> (tensor<8xf32> {dist.arrival = #dist.sharding<@mesh, [{"x"}]>, dist.sharding = #dist.sharding<@mesh, [{}]>})

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist.all_gather
  // expected-error @+1 {{expected the name of a dist.mesh, got: @none}}
  %0 = dist.all_gather %x dim 0 axes ["x"] on @none : tensor<8xf32> -> tensor<32xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist.all_reduce
  // expected-error @+1 {{expected each axis at most once, got twice: x}}
  %0 = dist.all_reduce sum %x axes ["x", "x"] on @mesh : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8x8xf32>) {
  // C1 of dist.all_to_all
  // expected-error @+1 {{expected an axis of mesh @mesh, got: y}}
  %0 = dist.all_to_all %x split 0 concat 1 axes ["y"] on @mesh : tensor<8x8xf32> -> tensor<2x32xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8x8xf32>) {
  // C2 of dist.all_to_all
  // expected-error @+1 {{expected the result's type to be 'tensor<2x32xf32>', got: 'tensor<2x16xf32>'}}
  %0 = dist.all_to_all %x split 0 concat 1 axes ["x"] on @mesh : tensor<8x8xf32> -> tensor<2x16xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8x8xf32>) {
  // C2 of dist.all_to_all
  // expected-error @+1 {{expected two unlike dimensions >= 0, got: 0 and -1}}
  %0 = dist.all_to_all %x split 0 concat -1 axes ["x"] on @mesh : tensor<8x8xf32> -> tensor<2x8xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist.offset
  // expected-error @+1 {{expected an axis of mesh @mesh, got: y}}
  %0 = dist.offset axes ["y"] block 2 on @mesh : tensor<i64>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist.permute
  // expected-error @+1 {{expected an axis of mesh @mesh, got: y}}
  %0 = dist.permute %x from ["y"] to ["y"] on @mesh : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist.reduce_scatter
  // expected-error @+1 {{expected the name of a dist.mesh, got: @none}}
  %0 = dist.reduce_scatter sum %x dim 0 axes ["x"] on @none : tensor<8xf32> -> tensor<2xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<6xf32>) {
  // C2 of dist.reduce_scatter
  // expected-error @+1 {{expected the group to divide dimension 0, got: 6 over 4}}
  %0 = dist.reduce_scatter sum %x dim 0 axes ["x"] on @mesh : tensor<6xf32> -> tensor<2xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist.slice
  // expected-error @+1 {{expected the name of a dist.mesh, got: @none}}
  %0 = dist.slice %x dim 0 axes ["x"] on @none : tensor<8xf32> -> tensor<2xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C2 of dist.slice
  // expected-error @+1 {{expected a dimension >= 0, got: -1}}
  %0 = dist.slice %x dim -1 axes ["x"] on @mesh : tensor<8xf32> -> tensor<2xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
weft.weight @w : tensor<8xf32> = #weft.external<"w.data", 0, 32>
func.func @f() {
  // C1 of dist.load_shard
  // expected-error @+1 {{expected the weight's element type 'f32', got: 'f16'}}
  %0 = dist.load_shard @w start 0 shape [8] strides [1] sharding <@mesh, [{"x"}]> : tensor<2xf16>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
weft.weight @w : tensor<8xf32> = #weft.external<"w.data", 0, 32>
func.func @f() {
  // C2 of dist.load_shard
  // expected-error @+1 {{expected one size and stride per dimension, got: 2 != 1}}
  %0 = dist.load_shard @w start 0 shape [2, 4] strides [4, 1] sharding <@mesh, [{"x"}]> : tensor<2xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
weft.weight @w : tensor<8xf32> = #weft.external<"w.data", 0, 32>
func.func @f() {
  // C2 of dist.load_shard
  // expected-error @+1 {{expected sizes >= 1 and strides >= 0, got: 8 and -1}}
  %0 = dist.load_shard @w start 7 shape [8] strides [-1] sharding <@mesh, [{"x"}]> : tensor<2xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
weft.weight kind(state) @w : tensor<8xf32> = dense<0.0> : tensor<8xf32>
func.func @f(%x: tensor<8xf32>) {
  // C2 of dist.store_shard
  // expected-error @+1 {{expected a sharding that is not partial}}
  dist.store_shard @w, %x sharding <@mesh, [{}], partial = sum{"x"}> : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist.transfer
  // expected-error @+1 {{expected the name of a dist.mesh, got: @none}}
  %0 = dist.transfer %x from <@mesh, [{}]> to <@none, [{}]> : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
dist.mesh @b <["x"=4], first_device = 4>
func.func @f(%x: tensor<8xf32>) {
  // C2 of dist.transfer
  // expected-error @+1 {{expected shardings that are not partial}}
  %0 = dist.transfer %x from <@mesh, [{}], partial = sum{"x"}> to <@b, [{}]> : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
weft.weight kind(state) @w : tensor<8xf32> = dense<0.0> : tensor<8xf32>
func.func @f(%x: tensor<8xf32>) {
  // C1 of dist
  // expected-error @+1 {{expected dist.sharding on an operation of one result, got: 0 results}}
  weft.store @w, %x {dist.sharding = #dist.sharding<@mesh, [{}]>} : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C2 of dist
  // expected-error @+1 {{expected one of dist.sharding and dist.shardings, got both}}
  %0 = weft.exp %x {dist.sharding = #dist.sharding<@mesh, [{}]>, dist.shardings = [#dist.sharding<@mesh, [{}]>]} : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C3 of dist
  // expected-error @+1 {{expected a dist.sharding beside dist.pinned}}
  %0 = weft.exp %x {dist.pinned} : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
// C3 of dist
// expected-error @+1 {{argument 0: expected dist.pinned to be a unit beside a dist.sharding, got: unit}}
func.func private @f(tensor<8xf32> {dist.pinned})

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C4 of dist
  // expected-error @+1 {{expected dist.propagated to be a unit on a function, got: unit}}
  %0 = weft.exp %x {dist.propagated} : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh <["x"=4]>
func.func @f(%x: tensor<8xf32>) {
  // C8 of dist
  // expected-error @+1 {{expected dist.sharding or dist.shardings or dist.pinned, got: "dist.shard"}}
  %0 = weft.exp %x {dist.shard} : tensor<8xf32>
  return
}

// -----
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=2], first_device = 2>
func.func private @on_a() -> tensor<8xf32> attributes {dist.mesh = @a}
func.func private @on_b() -> tensor<8xf32> attributes {dist.mesh = @b}
func.func private @reads_b(tensor<8xf32>) attributes {dist.mesh = @b}
func.func @f(%x: tensor<8xf32>) {
  %0 = call @on_a() : () -> tensor<8xf32>
  %1 = call @on_b() : () -> tensor<8xf32>
  // expected-error @+1 {{expected one of sum, max, min, prod, got: mean}}
  %2:2 = dist.cross_mesh_all_reduce mean %0 on @a, %1 on @b : tensor<8xf32>
  return
}

// -----
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=2], first_device = 2>
func.func private @on_a() -> tensor<8xf32> attributes {dist.mesh = @a}
func.func private @on_b() -> tensor<8xf32> attributes {dist.mesh = @b}
func.func private @reads_b(tensor<8xf32>) attributes {dist.mesh = @b}
func.func @f(%x: tensor<8xf32>) {
  %0 = call @on_a() : () -> tensor<8xf32>
  %1 = call @on_b() : () -> tensor<8xf32>
  // C1 of dist.cross_mesh_all_reduce
  // expected-error @+1 {{expected one operand and one result for each mesh, got: 2 and 2 for 1}}
  %2:2 = "dist.cross_mesh_all_reduce"(%0, %1) <{meshes = [@a], reduction = #dist<reduction sum>}> : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=2], first_device = 2>
func.func private @on_a() -> tensor<8xf32> attributes {dist.mesh = @a}
func.func private @on_b() -> tensor<8xf32> attributes {dist.mesh = @b}
func.func private @reads_b(tensor<8xf32>) attributes {dist.mesh = @b}
func.func @f(%x: tensor<8xf32>) {
  %0 = call @on_a() : () -> tensor<8xf32>
  %1 = call @on_b() : () -> tensor<8xf32>
  // C1 of dist.cross_mesh_all_reduce
  // expected-error @+1 {{expected one type, got: 'tensor<8xf32>' != 'tensor<4xf32>'}}
  %2:2 = "dist.cross_mesh_all_reduce"(%0, %1) <{meshes = [@a, @b], reduction = #dist<reduction sum>}> : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>)
  return
}

// -----
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=2], first_device = 2>
func.func private @on_a() -> tensor<8xf32> attributes {dist.mesh = @a}
func.func private @on_b() -> tensor<8xf32> attributes {dist.mesh = @b}
func.func private @reads_b(tensor<8xf32>) attributes {dist.mesh = @b}
func.func @f(%x: tensor<8xf32>) {
  %0 = call @on_a() : () -> tensor<8xf32>
  %1 = call @on_b() : () -> tensor<8xf32>
  // C2 of dist.cross_mesh_all_reduce
  // expected-error @+1 {{expected unlike meshes, got twice: @a}}
  %2:2 = dist.cross_mesh_all_reduce sum %0 on @a, %0 on @a : tensor<8xf32>
  return
}

// -----
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=2], first_device = 2>
func.func private @on_a() -> tensor<8xf32> attributes {dist.mesh = @a}
func.func private @on_b() -> tensor<8xf32> attributes {dist.mesh = @b}
func.func private @reads_b(tensor<8xf32>) attributes {dist.mesh = @b}
func.func @f(%x: tensor<8xf32>) {
  %0 = call @on_a() : () -> tensor<8xf32>
  %1 = call @on_b() : () -> tensor<8xf32>
  // C2 of dist.cross_mesh_all_reduce
  // expected-error @+1 {{expected the name of a dist.mesh, got: @c}}
  %2:2 = dist.cross_mesh_all_reduce sum %0 on @a, %1 on @c : tensor<8xf32>
  return
}

// -----
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=2], first_device = 2>
func.func private @on_a() -> tensor<8xf32> attributes {dist.mesh = @a}
func.func private @on_b() -> tensor<8xf32> attributes {dist.mesh = @b}
func.func private @reads_b(tensor<8xf32>) attributes {dist.mesh = @b}
func.func @f(%x: tensor<8xf32>) {
  %0 = call @on_a() : () -> tensor<8xf32>
  %1 = call @on_b() : () -> tensor<8xf32>
  // C3 of dist.cross_mesh_all_reduce
  // expected-error @+1 {{expected operand 1 to be made by a part on @b, got one on @a}}
  %2:2 = dist.cross_mesh_all_reduce sum %0 on @a, %0 on @b : tensor<8xf32>
  return
}

// -----
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=2], first_device = 2>
func.func private @on_a() -> tensor<8xf32> attributes {dist.mesh = @a}
func.func private @on_b() -> tensor<8xf32> attributes {dist.mesh = @b}
func.func private @reads_b(tensor<8xf32>) attributes {dist.mesh = @b}
func.func @f(%x: tensor<8xf32>) {
  %0 = call @on_a() : () -> tensor<8xf32>
  %1 = call @on_b() : () -> tensor<8xf32>
  // C3 of dist.cross_mesh_all_reduce
  // expected-error @+1 {{expected operand 1 to be made by a part on @b, got what no part makes}}
  %2:2 = dist.cross_mesh_all_reduce sum %0 on @a, %x on @b : tensor<8xf32>
  return
}

// -----
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=2], first_device = 2>
func.func private @on_a() -> tensor<8xf32> attributes {dist.mesh = @a}
func.func private @on_b() -> tensor<8xf32> attributes {dist.mesh = @b}
func.func private @reads_b(tensor<8xf32>) attributes {dist.mesh = @b}
func.func @f(%x: tensor<8xf32>) {
  %0 = call @on_a() : () -> tensor<8xf32>
  %1 = call @on_b() : () -> tensor<8xf32>
  // C3 of dist.cross_mesh_all_reduce
  // expected-error @+1 {{expected result 0 to be read on @a, got a part on @b}}
  %2:2 = dist.cross_mesh_all_reduce sum %0 on @a, %1 on @b : tensor<8xf32>
  call @reads_b(%2#0) : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xbf16> {
  // C1 of dist.accumulate
  // expected-error @+1 {{expected a sum of its operand's kind of type, no narrower (C1), got: 'bf16' of 'f32'}}
  %0 = dist.accumulate %x : tensor<8xf32> to tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // C2 of dist.accumulate
  // expected-error @+1 {{expected another sum of type 'tensor<8xf32>' to go onto (C2), got: <block argument>}}
  %0 = dist.accumulate %x : tensor<8xf32> to tensor<8xf32> onto %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>, %y: tensor<8xbf16>) -> tensor<8xf32> {
  %0 = dist.accumulate %y : tensor<8xbf16> to tensor<8xbf16>
  // C2 of dist.accumulate
  // expected-error @+1 {{expected another sum of type 'tensor<8xf32>' to go onto (C2)}}
  %1 = dist.accumulate %x : tensor<8xf32> to tensor<8xf32> onto %0 : tensor<8xbf16>
  return %1 : tensor<8xf32>
}

// -----
func.func @f() -> tensor<8xf32> {
  // C1 of dist.result_of
  // expected-error @+1 {{expected the name of a function, got: @part}}
  %0 = dist.result_of @part 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----
func.func private @part() -> tensor<8xf32>
func.func @f() -> tensor<8xf32> {
  // C1 of dist.result_of
  // expected-error @+1 {{expected one of the 1 results of @part, got number 1}}
  %0 = dist.result_of @part 1 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----
func.func private @part() -> tensor<8xf32>
func.func @f() -> tensor<4xf32> {
  // C1 of dist.result_of
  // expected-error @+1 {{expected the type of what it stands for, got: 'tensor<4xf32>' != 'tensor<8xf32>'}}
  %0 = dist.result_of @part 0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
