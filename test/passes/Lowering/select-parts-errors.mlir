// RUN: weft-opt %s --weft-select-instructions --verify-diagnostics

// A transfer between shardings of which neither divides the other's blocks: --weft-partition writes none.
dist.mesh @a <["x"=2]>
dist.mesh @b <["x"=3], first_device = 2>
func.func @part0(%x: tensor<3xf32>) -> tensor<3xf32> attributes {dist.mesh = @a} {
  return %x : tensor<3xf32>
}
func.func @part1(%h: tensor<2xf32>) -> tensor<2xf32> attributes {dist.mesh = @b} {
  return %h : tensor<2xf32>
}
func.func @main(%x: tensor<3xf32> {weft.name = "x"}) -> tensor<2xf32> {
  %0 = call @part0(%x) : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error @+1 {{expected shardings of which one divides the other's blocks, got: #dist.sharding<@a, [{"x"}]> and #dist.sharding<@b, [{"x"}]>}}
  %1 = dist.transfer %0 from <@a, [{"x"}]> to <@b, [{"x"}]> : tensor<3xf32> -> tensor<2xf32>
  %2 = call @part1(%1) : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
