// RUN: weft-opt %s --split-input-file --weft-partition --verify-diagnostics

// expected-error @+1 {{expected a function @main with a body of one block}}
module {
}

// -----

module {
  dist.mesh @a <["x"=2]>
  dist.mesh @b <["x"=2]>
  func.func @main(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@a, [{"x"}]>, weft.name = "x"}) -> tensor<4xf32> {
    // expected-error @unknown {{expected 'y' to lie on @a as @main does (only dist.transfer crosses meshes), got: @b}}
    %0 = weft.exp %x {dist.sharding = #dist.sharding<@b, [{"x"}]>} : tensor<4xf32> loc("y")
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{expected shardings that say on which mesh @main runs, got 2 meshes and no sharding}}
module {
  dist.mesh @a <["x"=2]>
  dist.mesh @b <["x"=2]>
  func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// What a pin cannot have is said.
module {
  dist.mesh @mesh <["x"=2]>
  func.func @main(%x: tensor<4x6xf32> {weft.name = "x"}) -> tensor<4x6xf32> {
    // expected-remark @unknown {{'sums' is pinned to [{}, {"x"}], but weft.cumsum cannot be split so: it is computed whole on every device, then split}}
    %0 = weft.cumsum %x axis 1 {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>} : tensor<4x6xf32> loc("sums")
    return %0 : tensor<4x6xf32>
  }
}

// -----

// So is a decision about what is made where it is used, if the use is split otherwise.
module {
  dist.mesh @mesh <["x"=2]>
  func.func @main(%x: tensor<4x6xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>, weft.name = "x"}) -> tensor<4x6xf32> {
    %c = weft.constant {dist.sharding = #dist.sharding<@mesh, [{"x"}, {}]>} dense<1.0> : tensor<4x6xf32> loc("ones")
    // expected-remark @+1 {{'ones' is pinned to [{"x"}, {}], but weft.add is split otherwise and takes it as [{}, {"x"}]}}
    %0 = weft.add %x, %c {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>} : tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
}

// -----

// Nothing is partial that was not reduced in parts.
module {
  dist.mesh @mesh <["x"=2]>
  func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
    // expected-error @+1 {{expected a way to bring result 0 to [{}] partial = sum{"x"}, got none from [{}]}}
    %0 = weft.exp %x {dist.sharding = #dist.sharding<@mesh, [{}], partial = sum{"x"}>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module {
  dist.mesh @mesh <["x"=2]>
  // expected-error @+1 {{expected a sharding of result 0 that is not partial}}
  func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> (tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [{}], partial = sum{"x"}>}) {
    return %x : tensor<4xf32>
  }
}

// -----

// Parts that are none.
module {
  func.func @part0(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
    %0 = call @part0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{expected nothing but calls of parts beside calls of parts}}
    %1 = weft.exp %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

module {
  func.func @part0(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
    %0 = call @part0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{expected each part to be called once, got twice: @part0}}
    %1 = call @part0(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

module {
  // expected-error @+1 {{expected a part with a body of one block}}
  func.func private @part0(tensor<4xf32>) -> tensor<4xf32>
  func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
    %0 = call @part0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A state belongs to the part that stores it.
module {
  dist.mesh @a <[]>
  dist.mesh @b <[], first_device = 1>
  weft.weight kind(state) @s : tensor<4xf32> = dense<0.0> : tensor<4xf32>
  func.func @part0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @a} {
    weft.store @s, %x : tensor<4xf32>
    return %x : tensor<4xf32>
  }
  func.func @part1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @b} {
    // expected-error @+1 {{expected the part that stores a state to be all that loads it, got: @s is stored by @part0, which can hand on its value}}
    %s = weft.load @s : tensor<4xf32>
    return %s : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
    %0 = call @part0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @part1(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

module {
  dist.mesh @a <[]>
  dist.mesh @b <[], first_device = 1>
  weft.weight kind(state) @s : tensor<4xf32> = dense<0.0> : tensor<4xf32>
  func.func @part0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @a} {
    weft.store @s, %x : tensor<4xf32>
    return %x : tensor<4xf32>
  }
  func.func @part1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @b} {
    // expected-error @+1 {{expected one part to store a state, got @part0 and @part1 for @s}}
    weft.store @s, %x : tensor<4xf32>
    return %x : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
    %0 = call @part0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @part1(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

module {
  func.func @part0(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  // expected-error @+1 {{expected results that parts make, got an input as result 1}}
  func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = call @part0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %x : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module {
  dist.mesh @a <[]>
  dist.mesh @b <[], first_device = 1>
  func.func @part0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @a} {
    return %x : tensor<4xf32>
  }
  func.func @part1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @b} {
    return %x : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> tensor<4xf32> {
    %0 = call @part0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @part1(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{expected reductions over meshes to be parts (--weft-expand-cross-mesh-reductions)}}
    %2:2 = dist.cross_mesh_all_reduce sum %0 on @a, %1 on @b : tensor<4xf32>
    return %2#0 : tensor<4xf32>
  }
}

// -----

// An operation that cannot be split along a dimension has it joined, and that is said; one that can be takes it as it lies.
module {
  dist.mesh @mesh <["x"=2]>
  func.func @main(%x: tensor<4x7xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>, weft.name = "x"}) -> tensor<4x7xf32> {
    %0 = weft.exp %x {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>} : tensor<4x7xf32> loc("grown")
    // expected-remark @+1 {{'grown' is split along dimension 1 by {"x"}, but weft.cumsum cannot be: it reads it whole there}}
    %1 = weft.cumsum %0 axis 1 : tensor<4x7xf32>
    return %1 : tensor<4x7xf32>
  }
}

// -----

// So it is where blocks of a merged dimension would end within a row.
module {
  dist.mesh @mesh <["x"=2]>
  func.func @main(%x: tensor<3x7xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>, weft.name = "x"}) -> tensor<21xf32> {
    // expected-remark @+1 {{'x' is split along dimension 1 by {"x"}, but weft.reshape cannot be: it reads it whole there}}
    %0 = weft.reshape %x : tensor<3x7xf32> to tensor<21xf32>
    return %0 : tensor<21xf32>
  }
}
