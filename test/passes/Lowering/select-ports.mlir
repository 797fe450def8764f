// RUN: weft-opt %s --weft-form-kernels --weft-select-instructions | FileCheck %s

// Ports stand in the order of @main, whatever part reads them first.
dist.mesh @mesh <[]>
func.func @count(%labels: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @mesh} {
  %0 = weft.exp %labels : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @rest(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @mesh} {
  %0 = weft.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [{}]>, weft.global_type = tensor<4xf32>, weft.name = "x"},
                %labels: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [{}]>, weft.global_type = tensor<4xf32>, weft.name = "labels"})
    -> (tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [{}]>, weft.global_type = tensor<4xf32>, weft.name = "of the rest"},
        tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [{}]>, weft.global_type = tensor<4xf32>, weft.name = "of the count"}) {
  %0 = call @count(%labels) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @rest(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
// CHECK: port input "x"
// CHECK-NEXT: port input "labels"
// CHECK-NEXT: port output "of the rest"
// CHECK-NEXT: port output "of the count"
// CHECK: segment @count
// CHECK: segment @rest
