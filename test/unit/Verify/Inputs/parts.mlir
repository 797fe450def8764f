// Cut behind "up", both `skip` and `up` go to the second part: two values of one size, in two messages each on {data=2}.
module attributes {weft.source = "parts.mlir"} {
  func.func @main(%x: tensor<4x8xf32> {weft.name = "x"}) -> (tensor<4x8xf32> {weft.name = "y"}) {
    %skip = weft.exp %x : tensor<4x8xf32> loc("skip")
    %two = weft.constant dense<2.0> : tensor<8x8xf32>
    %up = weft.dot_general %skip, %two batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("up")
    %y = weft.sub %skip, %up : tensor<4x8xf32> loc("y")
    return %y : tensor<4x8xf32>
  }
}
