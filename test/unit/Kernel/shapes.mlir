// RUN: %unit/KernelCases %s
// Values read at other indices: transposes, slices, concatenations, padding, rotary, strided arguments.

func.func @heads(%x: tensor<2x6x24xf32>, %b: tensor<24xf32>) -> tensor<2x3x6x8xf32> {
  %0 = weft.broadcast %b dims [2] : tensor<24xf32> to tensor<2x6x24xf32>
  %1 = weft.add %x, %0 : tensor<2x6x24xf32>
  %2 = weft.reshape %1 : tensor<2x6x24xf32> to tensor<2x6x3x8xf32>
  %3 = weft.transpose %2 [0, 2, 1, 3] : tensor<2x6x3x8xf32> -> tensor<2x3x6x8xf32>
  return %3 : tensor<2x3x6x8xf32>
}

func.func @inner_transpose(%x: tensor<3x40x50xf32>) -> tensor<3x50x40xf32> {
  %0 = weft.transpose %x [0, 2, 1] : tensor<3x40x50xf32> -> tensor<3x50x40xf32>
  return %0 : tensor<3x50x40xf32>
}

func.func @odd_reshape(%x: tensor<6x10xf32>) -> tensor<4x15xf32> {
  %0 = weft.transpose %x [1, 0] : tensor<6x10xf32> -> tensor<10x6xf32>
  %1 = weft.reshape %0 : tensor<10x6xf32> to tensor<4x15xf32>
  %2 = weft.neg %1 : tensor<4x15xf32>
  return %2 : tensor<4x15xf32>
}

func.func @slice_strided(%x: tensor<8x30xf32>) -> tensor<3x7xf32> {
  %0 = weft.slice %x starts [1, 2] strides [2, 4] : tensor<8x30xf32> to tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}

func.func @reverse(%x: tensor<4x30xf32>) -> tensor<4x30xf32> {
  %0 = weft.reverse %x dims [0, 1] : tensor<4x30xf32>
  return %0 : tensor<4x30xf32>
}

func.func @reversed_pairs(%x: tensor<2x3x2x1xf32>, %y: tensor<2x3x2x1xf32>) -> tensor<2x3x4xf32> {
  %0 = weft.concat %x, %y axis 3 : (tensor<2x3x2x1xf32>, tensor<2x3x2x1xf32>) -> tensor<2x3x2x2xf32>
  %1 = weft.reshape %0 : tensor<2x3x2x2xf32> to tensor<2x3x4xf32>
  %2 = weft.reverse %1 dims [2] : tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}

func.func @concat_last(%x: tensor<5x20xf32>, %y: tensor<5x3xf32>, %z: tensor<5x41xf32>) -> tensor<5x64xf32> {
  %0 = weft.exp %y : tensor<5x3xf32>
  %1 = weft.concat %x, %0, %z axis 1 : (tensor<5x20xf32>, tensor<5x3xf32>, tensor<5x41xf32>) -> tensor<5x64xf32>
  return %1 : tensor<5x64xf32>
}

func.func @concat_rows(%x: tensor<2x3x700xf32>, %y: tensor<2x1x700xf32>) -> tensor<2x4x700xf32> {
  %0 = weft.concat %x, %y axis 1 : (tensor<2x3x700xf32>, tensor<2x1x700xf32>) -> tensor<2x4x700xf32>
  return %0 : tensor<2x4x700xf32>
}

func.func @concat_long(%x: tensor<9000xf32>, %y: tensor<2000xf32>) -> tensor<11000xf32> {
  %0 = weft.concat %x, %y axis 0 : (tensor<9000xf32>, tensor<2000xf32>) -> tensor<11000xf32>
  return %0 : tensor<11000xf32>
}

func.func @concat_many(%x: tensor<4x1xf32>, %y: tensor<4x2xf32>) -> tensor<4x18xf32> {
  %0 = weft.concat %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y axis 1
      : (tensor<4x1xf32>, tensor<4x2xf32>, tensor<4x1xf32>, tensor<4x2xf32>, tensor<4x1xf32>, tensor<4x2xf32>,
         tensor<4x1xf32>, tensor<4x2xf32>, tensor<4x1xf32>, tensor<4x2xf32>, tensor<4x1xf32>, tensor<4x2xf32>) -> tensor<4x18xf32>
  return %0 : tensor<4x18xf32>
}

func.func @concat_then_norm(%x: tensor<4x10xf32>, %y: tensor<4x22xf32>) -> tensor<4x32xf32> {
  %0 = weft.concat %x, %y axis 1 : (tensor<4x10xf32>, tensor<4x22xf32>) -> tensor<4x32xf32>
  %1 = weft.layer_norm %0 axis 1 epsilon 1.0e-05 : tensor<4x32xf32>
  return %1 : tensor<4x32xf32>
}

func.func @pad(%x: tensor<4x8xf32>, %v: tensor<f32>) -> tensor<7x11xf32> {
  %0 = weft.pad %x, %v low [1, 1] high [2, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x11xf32>
  return %0 : tensor<7x11xf32>
}

func.func @pad_then_sum(%x: tensor<4x8xf32>) -> tensor<7xf32> {
  %v = weft.constant dense<2.0> : tensor<f32>
  %0 = weft.pad %x, %v low [1, 1] high [2, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x11xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<7x11xf32> -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

func.func @rotary(%x: tensor<2x3x8x16xf32>, %c: tensor<1x8x8xf32>, %s: tensor<1x8x8xf32>) -> tensor<2x3x8x16xf32> {
  %0 = weft.rotary %x, %c, %s : tensor<2x3x8x16xf32>, tensor<1x8x8xf32>, tensor<1x8x8xf32>
  return %0 : tensor<2x3x8x16xf32>
}

func.func @rotary_of_heads(%x: tensor<2x8x48xf32>, %c: tensor<1x8x8xf32>, %s: tensor<1x8x8xf32>) -> tensor<2x3x8x16xf32> {
  %0 = weft.reshape %x : tensor<2x8x48xf32> to tensor<2x8x3x16xf32>
  %1 = weft.transpose %0 [0, 2, 1, 3] : tensor<2x8x3x16xf32> -> tensor<2x3x8x16xf32>
  %2 = weft.rotary %1, %c, %s : tensor<2x3x8x16xf32>, tensor<1x8x8xf32>, tensor<1x8x8xf32>
  return %2 : tensor<2x3x8x16xf32>
}

func.func @rotary_partial(%x: tensor<2x3x8x16xf32>, %c: tensor<2x8x4xf32>, %s: tensor<2x8x4xf32>) -> tensor<2x3x8x16xf32> {
  %0 = weft.rotary %x, %c, %s : tensor<2x3x8x16xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %0 : tensor<2x3x8x16xf32>
}

func.func @rotary_interleaved(%x: tensor<2x3x8x16xf32>, %c: tensor<2x8x6xf32>, %s: tensor<2x8x6xf32>) -> tensor<2x3x8x16xf32> {
  %0 = weft.rotary %x, %c, %s interleaved : tensor<2x3x8x16xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32>
  return %0 : tensor<2x3x8x16xf32>
}

func.func @strided_argument(%x: tensor<4x3x5xf32> {exec.strides = array<i64: 5, 20, 1>}, %y: tensor<4x3x5xf32>) -> tensor<4x3x5xf32> {
  %0 = weft.mul %x, %y : tensor<4x3x5xf32>
  return %0 : tensor<4x3x5xf32>
}

func.func @param(%x: tensor<4x6xi64>, %o: tensor<i64> {exec.param}) -> tensor<4x6xi64> {
  %0 = weft.broadcast %o dims [] : tensor<i64> to tensor<4x6xi64>
  %1 = weft.add %x, %0 : tensor<4x6xi64>
  return %1 : tensor<4x6xi64>
}

func.func @constants(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = weft.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = weft.broadcast %0 dims [1] : tensor<4xf32> to tensor<3x4xf32>
  %2 = weft.mul %x, %1 : tensor<3x4xf32>
  %3 = weft.constant dense<[true, false, true]> : tensor<3xi1>
  %4 = weft.broadcast %3 dims [0] : tensor<3xi1> to tensor<3x4xi1>
  %5 = weft.select %4, %2, %x : tensor<3x4xi1>, tensor<3x4xf32>
  return %5 : tensor<3x4xf32>
}

func.func @iota_only() -> tensor<5x7xf32> {
  %0 = weft.iota 1 : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %0 = weft.exp %x : tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = weft.exp %x : tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

func.func @empty_part(%x: tensor<0x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = weft.concat %x, %y axis 0 : (tensor<0x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

func.func @sum_of_nothing(%x: tensor<3x0xf32>) -> tensor<3xf32> {
  %0 = weft.reduce sum %x dims [1] : tensor<3x0xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func @maximum_of_nothing(%x: tensor<3x0xi32>, %y: tensor<3x5xi32>) -> tensor<3x5xi32> {
  %0 = weft.reduce max %x dims [1] : tensor<3x0xi32> -> tensor<3xi32>
  %1 = weft.broadcast %0 dims [0] : tensor<3xi32> to tensor<3x5xi32>
  %2 = weft.reduce max %y dims [1] : tensor<3x5xi32> -> tensor<3xi32>
  %3 = weft.broadcast %2 dims [0] : tensor<3xi32> to tensor<3x5xi32>
  %4 = weft.max %1, %3 : tensor<3x5xi32>
  return %4 : tensor<3x5xi32>
}
