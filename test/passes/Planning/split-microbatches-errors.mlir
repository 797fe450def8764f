// RUN: weft-opt %s --weft-split-microbatches=microbatches=4 --split-input-file --verify-diagnostics

// A running sum over the batch: the capacity of experts is counted so.
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-error @unknown {{'router/cumsum', weft.cumsum, needs the whole batch, not a microbatch at a time: expected a step without microbatches (--accumulate), or one that takes several batches of the model (--accumulate-batches)}}
  %0 = weft.cumsum %x axis 0 : tensor<16x8xf32> loc("router/cumsum")
  return %0 : tensor<16x8xf32>
}

// -----

// Statistics of the batch that depend on weights.
func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %w = weft.load @w : tensor<16x8xf32>
  %t = weft.load @t : tensor<8x8xf32>
  %h = weft.dot_general %x, %t batch [] x [] contract [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %m = weft.reduce sum %h dims [0] : tensor<16x8xf32> -> tensor<8xf32> loc("norm/mean")
  %b = weft.broadcast %m dims [1] : tensor<8xf32> to tensor<16x8xf32>
  // expected-error @unknown {{'norm/mean' is a sum over the whole batch that is used with each row of it, by 'norm/centred': expected a step without microbatches (--accumulate), or one that takes several batches of the model (--accumulate-batches)}}
  %c = weft.sub %h, %b : tensor<16x8xf32> loc("norm/centred")
  return %c : tensor<16x8xf32>
}
weft.weight @w : tensor<16x8xf32> = dense<1.0> : tensor<16x8xf32>
weft.weight @t : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>

// -----

// expected-error @+1 {{expected a batch that 4 microbatches divide, got: 6}}
func.func @main(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = weft.exp %x : tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

func.func @main(%x: tensor<16x8xf32>) -> tensor<8xf32> {
  // expected-error @unknown {{'largest', weft.reduce, joins the batch otherwise than by a sum: expected a step without microbatches (--accumulate), or one that takes several batches of the model (--accumulate-batches)}}
  %0 = weft.reduce max %x dims [0] : tensor<16x8xf32> -> tensor<8xf32> loc("largest")
  return %0 : tensor<8xf32>
}

// -----

// Rows that stand in the whole batch.
func.func @main(%x: tensor<16x8xf32>, %i: tensor<16xi64>) -> tensor<16x8xf32> {
  // expected-error @unknown {{'picked', weft.gather, needs the whole batch, not a microbatch at a time: expected a step without microbatches (--accumulate), or one that takes several batches of the model (--accumulate-batches)}}
  %w = weft.load @w : tensor<16x8xf32>
  %t = weft.add %x, %w : tensor<16x8xf32>
  %p = weft.gather %t, %i axis 0 : (tensor<16x8xf32>, tensor<16xi64>) -> tensor<16x8xf32> loc("picked")
  %0 = weft.add %p, %x : tensor<16x8xf32> loc("shifted")
  return %0 : tensor<16x8xf32>
}
weft.weight @w : tensor<16x8xf32> = dense<1.0> : tensor<16x8xf32>
