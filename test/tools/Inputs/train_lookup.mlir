// A table of which each step adds up some rows.
weft.weight @table : tensor<50x4xf32> = dense<0.5> : tensor<50x4xf32>
weft.weight kind(state) @sum : tensor<4xf32> = dense<0.0> : tensor<4xf32>
func.func @main(%ids: tensor<8xi64> {weft.name = "ids"}) -> (tensor<f32> {weft.name = "total"}) {
  %table = weft.load @table : tensor<50x4xf32>
  %old = weft.load @sum : tensor<4xf32>
  %rows = weft.gather %table, %ids axis 0 : (tensor<50x4xf32>, tensor<8xi64>) -> tensor<8x4xf32> loc("lookup")
  %0 = weft.reduce sum %rows dims [0] : tensor<8x4xf32> -> tensor<4xf32> loc("lookup")
  %new = weft.add %old, %0 : tensor<4xf32> loc("lookup")
  weft.store @sum, %new : tensor<4xf32>
  %total = weft.reduce sum %new dims [0] : tensor<4xf32> -> tensor<f32> loc("lookup")
  return %total : tensor<f32>
}
