dist.mesh @grid <["data"=2, "model"=2]>
weft.weight @up : tensor<8x16xf32> = #weft.external<"written.bin", 0, 512>
weft.weight @down : tensor<16x8xf32> = #weft.external<"written.bin", 512, 512> {dist.sharding = #dist.sharding<@grid, [{"model"}, {}]>}
func.func @main(%x: tensor<4x8xf32> {dist.sharding = #dist.sharding<@grid, [{"data"}, {}]>, weft.name = "x"})
    -> (tensor<4x8xf32> {dist.sharding = #dist.sharding<@grid, [{}, {}]>, weft.name = "y"}) {
  %up = weft.load @up {dist.sharding = #dist.sharding<@grid, [{}, {"model"}]>} : tensor<8x16xf32> loc("up")
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32> loc("h")
  %down = weft.load @down : tensor<16x8xf32> loc("down")
  %1 = weft.dot_general %0, %down batch [] x [] contract [1] x [0] {dist.sharding = #dist.sharding<@grid, [{}, {"data"}]>} : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32> loc("y")
  return %1 : tensor<4x8xf32>
}
