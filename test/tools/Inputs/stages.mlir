// Two stages that read one weight, and what both say of its gradient.
module attributes {weft.source = "stages.mlir"} {
  dist.mesh @first <["data"=2]>
  dist.mesh @second <["model"=2], first_device = 2>
  weft.weight @table : tensor<16x16xf32> = dense<0.125> : tensor<16x16xf32>
  func.func @stage0(%x: tensor<8x16xf32> {dist.sharding = #dist.sharding<@first, [{"data"}, {}]>}) -> (tensor<8x16xf32>, tensor<16x16xf32>) attributes {dist.mesh = @first} {
    %w = weft.load @table : tensor<16x16xf32> loc("w0")
    %h = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc("h")
    %g = weft.dot_general %x, %x batch [] x [] contract [0] x [0] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    return %h, %g : tensor<8x16xf32>, tensor<16x16xf32>
  }
  func.func @stage1(%h: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<16x16xf32>) attributes {dist.mesh = @second} {
    %w = weft.load @table : tensor<16x16xf32> loc("w1")
    %y = weft.dot_general %h, %w batch [] x [] contract [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc("y")
    %g = weft.dot_general %h, %h batch [] x [] contract [0] x [0] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    return %y, %g : tensor<8x16xf32>, tensor<16x16xf32>
  }
  func.func @update(%g: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {dist.mesh = @first} {
    %n = weft.neg %g : tensor<16x16xf32>
    return %n : tensor<16x16xf32>
  }
  func.func @main(%x: tensor<8x16xf32> {weft.name = "x"}) -> (tensor<8x16xf32> {weft.name = "y"}, tensor<16x16xf32> {weft.name = "gradient"}) {
    %0:2 = call @stage0(%x) : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<16x16xf32>)
    %1:2 = call @stage1(%0#0) : (tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<16x16xf32>)
    %2:2 = dist.cross_mesh_all_reduce sum %0#1 on @first, %1#1 on @second : tensor<16x16xf32> loc("sum")
    %3 = call @update(%2#0) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    return %1#0, %3 : tensor<8x16xf32>, tensor<16x16xf32>
  }
}
