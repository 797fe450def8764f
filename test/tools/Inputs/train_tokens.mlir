// Sums over a step's tokens and labels, weighted by their places, and a count of steps: what a run read can be told from them.
weft.weight kind(state) @count : tensor<i64> = dense<0> : tensor<i64>
func.func @main(%ids: tensor<4x8xi32> {weft.name = "input_ids"}, %labels: tensor<4x8xi64> {weft.name = "labels"})
    -> (tensor<f64> {weft.name = "tokens"}, tensor<f64> {weft.name = "targets"}, tensor<f64> {weft.name = "product"}) {
  %0 = weft.cast %ids : tensor<4x8xi32> to tensor<4x8xf64>
  %1 = weft.cast %labels : tensor<4x8xi64> to tensor<4x8xf64>
  %tokens = weft.reduce sum %0 dims [0, 1] : tensor<4x8xf64> -> tensor<f64>
  %targets = weft.reduce sum %1 dims [0, 1] : tensor<4x8xf64> -> tensor<f64>
  %row = weft.iota 0 : tensor<4x8xf64>
  %column = weft.iota 1 : tensor<4x8xf64>
  %hundred = weft.constant dense<100.0> : tensor<4x8xf64>
  %2 = weft.mul %row, %hundred : tensor<4x8xf64>
  %place = weft.add %2, %column : tensor<4x8xf64>
  %3 = weft.mul %0, %1 : tensor<4x8xf64>
  %4 = weft.mul %3, %place : tensor<4x8xf64>
  %product = weft.reduce sum %4 dims [0, 1] : tensor<4x8xf64> -> tensor<f64>
  %old = weft.load @count : tensor<i64>
  %one = weft.constant dense<1> : tensor<i64>
  %new = weft.add %old, %one : tensor<i64>
  weft.store @count, %new : tensor<i64>
  return %tokens, %targets, %product : tensor<f64>, tensor<f64>, tensor<f64>
}
