// A sum that is kept, and two states that read what it becomes: one kernel changes all three where they lie.
weft.weight kind(state) @sum : tensor<256x64xf32> = dense<1.0> : tensor<256x64xf32>
weft.weight kind(state) @mean : tensor<256x64xf32> = dense<0.0> : tensor<256x64xf32>
weft.weight kind(state) @squares : tensor<256x64xf32> = dense<0.0> : tensor<256x64xf32>
func.func @main(%g: tensor<256x64xf32> {weft.name = "g"}) -> (tensor<f32> {weft.name = "one"}) {
  %a = weft.load @sum : tensor<256x64xf32>
  %m = weft.load @mean : tensor<256x64xf32>
  %v = weft.load @squares : tensor<256x64xf32>
  %0 = weft.add %a, %g : tensor<256x64xf32>
  %1 = weft.add %m, %0 : tensor<256x64xf32>
  %2 = weft.mul %0, %0 : tensor<256x64xf32>
  %3 = weft.add %v, %2 : tensor<256x64xf32>
  weft.store @sum, %0 : tensor<256x64xf32>
  weft.store @mean, %1 : tensor<256x64xf32>
  weft.store @squares, %3 : tensor<256x64xf32>
  %c = weft.constant dense<1.0> : tensor<f32>
  return %c : tensor<f32>
}
