// What an operation cannot be split along is said where more is to be said.
// RUN: weft compile %s -v --no-codegen -o %t.weft 2>&1 | FileCheck %s
// RUN: weft compile %s --no-codegen -o %t.weft 2>&1 | FileCheck %s --check-prefix=QUIET

// CHECK-COUNT-1: remark: {{.*}}'grown' is split along dimension 1 by {"x"}, but weft.cumsum cannot be: it reads it whole there
// CHECK-NOT: remark:
// QUIET-NOT: remark:
module {
  dist.mesh @mesh <["x"=2]>
  func.func @main(%x: tensor<4x7xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>, weft.name = "x"}) -> (tensor<4x7xf32> {weft.name = "y"}) {
    %0 = weft.exp %x {dist.sharding = #dist.sharding<@mesh, [{}, {"x"}]>} : tensor<4x7xf32> loc("grown")
    %1 = weft.cumsum %0 axis 1 : tensor<4x7xf32>
    return %1 : tensor<4x7xf32>
  }
}
