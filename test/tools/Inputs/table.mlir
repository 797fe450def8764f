// One batch of tokens, looked up in a table that is smaller than what they make of it.
weft.weight @table : tensor<512x64xf32> = dense<0.5> : tensor<512x64xf32>
func.func @main(%ids: tensor<1x1024xi64> {weft.name = "ids"}) -> (tensor<1x1024x64xf32> {weft.name = "y"}) {
  %table = weft.load @table : tensor<512x64xf32>
  %rows = weft.gather %table, %ids axis 0 : (tensor<512x64xf32>, tensor<1x1024xi64>) -> tensor<1x1024x64xf32> loc("rows")
  %y = weft.rms_norm %rows axis 2 epsilon 1.0e-5 : tensor<1x1024x64xf32> loc("y")
  return %y : tensor<1x1024x64xf32>
}
