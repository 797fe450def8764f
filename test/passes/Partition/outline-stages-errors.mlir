// RUN: weft-opt %s --weft-outline-microbatches --verify-diagnostics

// Rows of a microbatch are no result of a step, in stages as on one mesh.
dist.mesh @mesh0 <["data"=1]>
dist.mesh @mesh1 <["data"=1], first_device = 1>
func.func @part0(%x: tensor<4x8xf32> {weft.microbatch_dim = 0}) -> tensor<4x8xf32> attributes {dist.mesh = @mesh0, weft.microbatches = 2} {
  %0 = weft.exp %x : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @part1(%x: tensor<4x8xf32> {weft.handed = "each"}) -> tensor<4x8xf32> attributes {dist.mesh = @mesh1, weft.microbatches = 2} {
  %0 = weft.tanh %x : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// expected-error @+1 {{expected results that are sums over the batch, got rows of it as result 0: a step without microbatches (--accumulate) gives them}}
func.func @main(%x: tensor<4x8xf32> {weft.microbatch_dim = 0}) -> (tensor<4x8xf32> {weft.microbatch_dim = 0}) attributes {weft.microbatches = 2} {
  %0 = call @part0(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = dist.transfer %0 from <@mesh0, [{}, {}]> to <@mesh1, [{}, {}]> : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = call @part1(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
