// RUN: weft-opt %s --weft-raise-gelu --remarks-filter-missed='weft-raise-.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: grep -v '^ *//' %s | weft-opt --weft-raise-gelu -o %t 2>&1 | count 0

// What has the core of gelu, but is not quite it, is told, with the reason.

func.func @otherScale(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = weft.constant dense<0.5> : tensor<4x8xf32>
  %one = weft.constant dense<1.0> : tensor<4x8xf32>
  %root = weft.constant dense<0.625> : tensor<4x8xf32>
  %0 = weft.mul %x, %root : tensor<4x8xf32>
  %1 = weft.erf %0 : tensor<4x8xf32> loc("curve")
  %2 = weft.add %1, %one : tensor<4x8xf32>
  %3 = weft.mul %x, %2 : tensor<4x8xf32>
  // expected-remark-re@+1 {{gelu{{.*}}weft.erf 'curve' is of 0.625·x, not of x/√2}}
  %4 = weft.mul %3, %half : tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

func.func @otherCube(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = weft.constant dense<0.5> : tensor<4x8xf32>
  %one = weft.constant dense<1.0> : tensor<4x8xf32>
  %c = weft.constant dense<0.0625> : tensor<4x8xf32>
  %square = weft.mul %x, %x : tensor<4x8xf32>
  %cube = weft.mul %square, %x : tensor<4x8xf32>
  %0 = weft.mul %cube, %c : tensor<4x8xf32>
  %1 = weft.add %x, %0 : tensor<4x8xf32>
  %2 = weft.tanh %1 : tensor<4x8xf32>
  %3 = weft.add %2, %one : tensor<4x8xf32>
  %4 = weft.mul %x, %half : tensor<4x8xf32>
  // expected-remark-re@+1 {{gelu{{.*}}weft.tanh is of 1·x + 0.0625·x³, not of √(2/π)·(x + 0.044715·x³)}}
  %5 = weft.mul %4, %3 : tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

func.func @twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = weft.constant dense<1.0> : tensor<4x8xf32>
  %rootHalf = weft.constant dense<0.707106769> : tensor<4x8xf32>
  %0 = weft.mul %x, %rootHalf : tensor<4x8xf32>
  %1 = weft.erf %0 : tensor<4x8xf32>
  %2 = weft.add %one, %1 : tensor<4x8xf32>
  // expected-remark@+1 {{x is multiplied by 1 + 1·weft.erf, not by halves}}
  %3 = weft.mul %2, %x : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

func.func @otherReader(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %half = weft.constant dense<0.5> : tensor<4x8xf32>
  %rootHalf = weft.constant dense<0.707106769> : tensor<4x8xf32>
  %0 = weft.mul %x, %rootHalf : tensor<4x8xf32>
  %1 = weft.erf %0 : tensor<4x8xf32>
  %2 = weft.mul %half, %1 : tensor<4x8xf32>
  %3 = weft.add %half, %2 : tensor<4x8xf32>
  // expected-remark@+1 {{weft.erf is read by others, too}}
  %4 = weft.mul %3, %x : tensor<4x8xf32>
  return %4, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A gate is not nearly gelu.
func.func @gate(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = weft.tanh %y : tensor<4x8xf32>
  %1 = weft.mul %x, %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
