// RUN: weft-opt %s --weft-propagate-shardings --weft-partition --weft-price-program=cluster=dgx-h100 2>&1 | FileCheck %s
// RUN: not weft-opt %s --weft-price-program=cluster=dgx-h10 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: remark: computes {{[0-9.e-]+}} s, communicates {{[0-9.e-]+}} s in 1 collectives
// UNKNOWN: error: {{.*}}dgx-h10{{.*}}did you mean 'dgx-h100'
dist.mesh @mesh <["model"=2]>
func.func @main(%x: tensor<64x1024xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}, %w: tensor<1024x512xf32>) -> tensor<64x512xf32> {
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<64x1024xf32>, tensor<1024x512xf32>) -> tensor<64x512xf32>
  return %0 : tensor<64x512xf32>
}
