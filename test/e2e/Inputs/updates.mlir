// Two states that one kernel changes: the second by what the first becomes.
module {
  weft.weight kind(state) @acc : tensor<256x64xf32> = dense<0.5> : tensor<256x64xf32>
  weft.weight kind(state) @w : tensor<256x64xf32> = dense<0.25> : tensor<256x64xf32>
  func.func @main(%x: tensor<256x64xf32> {weft.name = "x"}) -> (tensor<256x64xf32> {weft.name = "y"}) {
    %a = weft.load @acc : tensor<256x64xf32>
    %w = weft.load @w : tensor<256x64xf32>
    %0 = weft.add %a, %x : tensor<256x64xf32>
    weft.store @acc, %0 : tensor<256x64xf32>
    %r = weft.constant dense<0.1> : tensor<256x64xf32>
    %6 = weft.mul %0, %r : tensor<256x64xf32>
    %7 = weft.sub %w, %6 : tensor<256x64xf32>
    weft.store @w, %7 : tensor<256x64xf32>
    %n = weft.neg %x : tensor<256x64xf32>
    return %n : tensor<256x64xf32>
  }
}
