// A step of training, written out: a perceptron, its mean squared error, gradients, and momentum. Weights are given beside it.
weft.weight kind(trained) @w1 : tensor<16x32xf32> = #weft.external<"weights.bin", 0, 2048>
weft.weight kind(trained) @b1 : tensor<32xf32> = #weft.external<"weights.bin", 2048, 128>
weft.weight kind(trained) @w2 : tensor<32x16xf32> = #weft.external<"weights.bin", 2176, 2048>
weft.weight kind(state) @"optimizer.m:w1" : tensor<16x32xf32> = dense<0.0> : tensor<16x32xf32>
weft.weight kind(state) @"optimizer.m:b1" : tensor<32xf32> = dense<0.0> : tensor<32xf32>
weft.weight kind(state) @"optimizer.m:w2" : tensor<32x16xf32> = dense<0.0> : tensor<32x16xf32>
func.func @main(%x: tensor<12x16xf32> {weft.name = "x"}, %t: tensor<12x16xf32> {weft.name = "t"})
    -> (tensor<f32> {weft.name = "loss", weft.role = "loss"},
        tensor<16x32xf32> {weft.name = "grad:w1", weft.role = "gradient"},
        tensor<32xf32> {weft.name = "grad:b1", weft.role = "gradient"},
        tensor<32x16xf32> {weft.name = "grad:w2", weft.role = "gradient"}) {
  %w1 = weft.load @w1 : tensor<16x32xf32>
  %b1 = weft.load @b1 : tensor<32xf32>
  %w2 = weft.load @w2 : tensor<32x16xf32>
  %h0 = weft.dot_general %x, %w1 batch [] x [] contract [1] x [0] : (tensor<12x16xf32>, tensor<16x32xf32>) -> tensor<12x32xf32> loc("up")
  %bb = weft.broadcast %b1 dims [1] : tensor<32xf32> to tensor<12x32xf32>
  %h1 = weft.add %h0, %bb : tensor<12x32xf32>
  %h = weft.tanh %h1 : tensor<12x32xf32> loc("h")
  %y = weft.dot_general %h, %w2 batch [] x [] contract [1] x [0] : (tensor<12x32xf32>, tensor<32x16xf32>) -> tensor<12x16xf32> loc("y")
  %d = weft.sub %y, %t : tensor<12x16xf32>
  %sq = weft.mul %d, %d : tensor<12x16xf32>
  %s = weft.reduce sum %sq dims [0, 1] : tensor<12x16xf32> -> tensor<f32>
  %n = weft.constant dense<0.0052083333> : tensor<f32>
  %loss = weft.mul %s, %n : tensor<f32> loc("loss")
  %c2 = weft.constant dense<0.010416667> : tensor<12x16xf32>
  %dy = weft.mul %d, %c2 : tensor<12x16xf32> loc("grad:y")
  %gw2 = weft.dot_general %h, %dy batch [] x [] contract [0] x [0] : (tensor<12x32xf32>, tensor<12x16xf32>) -> tensor<32x16xf32> loc("grad:w2")
  %dh = weft.dot_general %dy, %w2 batch [] x [] contract [1] x [1] : (tensor<12x16xf32>, tensor<32x16xf32>) -> tensor<12x32xf32> loc("grad:h")
  %hh = weft.mul %h, %h : tensor<12x32xf32>
  %one = weft.constant dense<1.0> : tensor<12x32xf32>
  %omh = weft.sub %one, %hh : tensor<12x32xf32>
  %dh1 = weft.mul %dh, %omh : tensor<12x32xf32>
  %gb1 = weft.reduce sum %dh1 dims [0] : tensor<12x32xf32> -> tensor<32xf32> loc("grad:b1")
  %gw1 = weft.dot_general %x, %dh1 batch [] x [] contract [0] x [0] : (tensor<12x16xf32>, tensor<12x32xf32>) -> tensor<16x32xf32> loc("grad:w1")
  %c = weft.constant dense<0.9> : tensor<f32>
  %lr = weft.constant dense<0.1> : tensor<f32>
  %m1 = weft.load @"optimizer.m:w1" : tensor<16x32xf32>
  %cw1 = weft.broadcast %c dims [] : tensor<f32> to tensor<16x32xf32>
  %m1a = weft.mul %m1, %cw1 : tensor<16x32xf32>
  %m1b = weft.add %m1a, %gw1 : tensor<16x32xf32>
  weft.store @"optimizer.m:w1", %m1b : tensor<16x32xf32>
  %lw1 = weft.broadcast %lr dims [] : tensor<f32> to tensor<16x32xf32>
  %u1 = weft.mul %m1b, %lw1 : tensor<16x32xf32>
  %nw1 = weft.sub %w1, %u1 : tensor<16x32xf32>
  weft.store @w1, %nw1 : tensor<16x32xf32>
  %mb = weft.load @"optimizer.m:b1" : tensor<32xf32>
  %cb = weft.broadcast %c dims [] : tensor<f32> to tensor<32xf32>
  %mba = weft.mul %mb, %cb : tensor<32xf32>
  %mbb = weft.add %mba, %gb1 : tensor<32xf32>
  weft.store @"optimizer.m:b1", %mbb : tensor<32xf32>
  %lb = weft.broadcast %lr dims [] : tensor<f32> to tensor<32xf32>
  %ub = weft.mul %mbb, %lb : tensor<32xf32>
  %nb1 = weft.sub %b1, %ub : tensor<32xf32>
  weft.store @b1, %nb1 : tensor<32xf32>
  %m2 = weft.load @"optimizer.m:w2" : tensor<32x16xf32>
  %c22 = weft.broadcast %c dims [] : tensor<f32> to tensor<32x16xf32>
  %m2a = weft.mul %m2, %c22 : tensor<32x16xf32>
  %m2b = weft.add %m2a, %gw2 : tensor<32x16xf32>
  weft.store @"optimizer.m:w2", %m2b : tensor<32x16xf32>
  %l2 = weft.broadcast %lr dims [] : tensor<f32> to tensor<32x16xf32>
  %u2 = weft.mul %m2b, %l2 : tensor<32x16xf32>
  %nw2 = weft.sub %w2, %u2 : tensor<32x16xf32>
  weft.store @w2, %nw2 : tensor<32x16xf32>
  return %loss, %gw1, %gb1, %gw2 : tensor<f32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32x16xf32>
}
