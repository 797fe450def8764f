// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-slice-tokens

// What reads tokens behind its own is named.
module attributes {weft.training = {slices = 2}} {
  dist.mesh @a <["x"=1]>
  dist.mesh @b <["x"=1], first_device = 1>
  func.func @part0(%x: tensor<1x1x8x4xf32>, %g: tensor<1x1x8x4xf32> {weft.of_later_part}) -> (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) attributes {dist.mesh = @a} {
    %0 = weft.attention %x, %x, %x scale 1.0 causal masked_rows nan : (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
    // expected-error @below {{weft.attention reads tokens behind its own, so that sequences cannot go through stages in slices: expected attention that is causal, and all else token by token, or slices=1}}
    %1 = weft.attention %0, %0, %0 scale 1.0 masked_rows nan : (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
    %2 = weft.add %1, %g : tensor<1x1x8x4xf32>
    return %1, %2 : tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>
  }
  func.func @part1(%x: tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32> attributes {dist.mesh = @b} {
    %0 = weft.exp %x : tensor<1x1x8x4xf32>
    return %0 : tensor<1x1x8x4xf32>
  }
  func.func @main(%x: tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32> {
    %later = dist.result_of @part1 0 : tensor<1x1x8x4xf32>
    %0:2 = call @part0(%x, %later) : (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) -> (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>)
    %1 = call @part1(%0#0) : (tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
    return %0#1 : tensor<1x1x8x4xf32>
  }
}

// -----

// A sum along the sequence, too.
module attributes {weft.training = {slices = 2}} {
  dist.mesh @a <["x"=1]>
  dist.mesh @b <["x"=1], first_device = 1>
  func.func @part0(%x: tensor<1x1x8x4xf32>, %g: tensor<1x1x8x4xf32> {weft.of_later_part}) -> (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) attributes {dist.mesh = @a} {
    %0 = weft.attention %x, %x, %x scale 1.0 causal masked_rows nan : (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
    // expected-error @below {{weft.cumsum reads tokens behind its own}}
    %1 = weft.cumsum %0 axis 2 : tensor<1x1x8x4xf32>
    %2 = weft.add %1, %g : tensor<1x1x8x4xf32>
    return %1, %2 : tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>
  }
  func.func @part1(%x: tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32> attributes {dist.mesh = @b} {
    %0 = weft.exp %x : tensor<1x1x8x4xf32>
    return %0 : tensor<1x1x8x4xf32>
  }
  func.func @main(%x: tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32> {
    %later = dist.result_of @part1 0 : tensor<1x1x8x4xf32>
    %0:2 = call @part0(%x, %later) : (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) -> (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>)
    %1 = call @part1(%0#0) : (tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
    return %0#1 : tensor<1x1x8x4xf32>
  }
}

// -----

// No sequence is known without causal attention.
module attributes {weft.training = {slices = 2}} {
  dist.mesh @a <["x"=1]>
  dist.mesh @b <["x"=1], first_device = 1>
  func.func @part0(%x: tensor<8xf32>, %g: tensor<8xf32> {weft.of_later_part}) -> (tensor<8xf32>, tensor<8xf32>) attributes {dist.mesh = @a} {
    %0 = weft.exp %x : tensor<8xf32>
    %1 = weft.add %0, %g : tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  func.func @part1(%x: tensor<8xf32>) -> tensor<8xf32> attributes {dist.mesh = @b} {
    %0 = weft.exp %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  // expected-error @below {{expected causal attention, to go through sequences in slices: give slices=1}}
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %later = dist.result_of @part1 0 : tensor<8xf32>
    %0:2 = call @part0(%x, %later) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    %1 = call @part1(%0#0) : (tensor<8xf32>) -> tensor<8xf32>
    return %0#1 : tensor<8xf32>
  }
}

// -----

// expected-error @below {{expected 2 slices of 4 tokens, got: 5 in 2}}
module attributes {weft.training = {slices = 2, slice_lengths = array<i64: 2, 3>}} {
  dist.mesh @a <["x"=1]>
  dist.mesh @b <["x"=1], first_device = 1>
  func.func @part0(%x: tensor<1x1x4x4xf32>, %g: tensor<1x1x4x4xf32> {weft.of_later_part}) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) attributes {dist.mesh = @a} {
    %0 = weft.attention %x, %x, %x scale 1.0 causal masked_rows nan : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    %1 = weft.add %0, %g : tensor<1x1x4x4xf32>
    return %0, %1 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
  }
  func.func @part1(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> attributes {dist.mesh = @b} {
    %0 = weft.exp %x : tensor<1x1x4x4xf32>
    return %0 : tensor<1x1x4x4xf32>
  }
  func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
    %later = dist.result_of @part1 0 : tensor<1x1x4x4xf32>
    %0:2 = call @part0(%x, %later) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>)
    %1 = call @part1(%0#0) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    return %0#1 : tensor<1x1x4x4xf32>
  }
}

// -----

// expected-error @below {{expected slices of at least a token, got 5 slices of 4 tokens}}
module attributes {weft.training = {slices = 5}} {
  dist.mesh @a <["x"=1]>
  dist.mesh @b <["x"=1], first_device = 1>
  func.func @part0(%x: tensor<1x1x4x4xf32>, %g: tensor<1x1x4x4xf32> {weft.of_later_part}) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) attributes {dist.mesh = @a} {
    %0 = weft.attention %x, %x, %x scale 1.0 causal masked_rows nan : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    %1 = weft.add %0, %g : tensor<1x1x4x4xf32>
    return %0, %1 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
  }
  func.func @part1(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> attributes {dist.mesh = @b} {
    %0 = weft.exp %x : tensor<1x1x4x4xf32>
    return %0 : tensor<1x1x4x4xf32>
  }
  func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
    %later = dist.result_of @part1 0 : tensor<1x1x4x4xf32>
    %0:2 = call @part0(%x, %later) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>)
    %1 = call @part1(%0#0) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    return %0#1 : tensor<1x1x4x4xf32>
  }
}

// -----

// One part has no stages to go through.
module attributes {weft.training = {slices = 2}} {
  dist.mesh @a <["x"=1]>
  // expected-error @below {{expected stages, which slices of a sequence go through: give slices=1}}
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = weft.exp %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
