// RUN: weft-opt %s --verify-diagnostics --weft-outline-microbatches

// A schedule that no program has.
module attributes {weft.training = {pipeline = "dualpipe"}} {
  dist.mesh @a <["x"=1]>
  dist.mesh @b <["x"=1], first_device = 1>
  func.func @part0(%x: tensor<2xf32>) -> tensor<2xf32> attributes {dist.mesh = @a, weft.microbatches = 2} {
    %0 = weft.exp %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @part1(%x: tensor<2xf32>) attributes {dist.mesh = @b, weft.microbatches = 2} {
    return
  }
  // expected-error @below {{weft.training: programs are made for 1f1b, gpipe, interleaved}}
  func.func @main(%x: tensor<2xf32>) attributes {weft.microbatches = 2} {
    %0 = call @part0(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = dist.transfer %0 from <@a, [{}]> to <@b, [{}]> : tensor<2xf32> -> tensor<2xf32>
    call @part1(%1) : (tensor<2xf32>) -> ()
    return
  }
}
