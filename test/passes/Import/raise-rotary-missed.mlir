// RUN: weft-opt %s --weft-raise-rotary --remarks-filter-missed='weft-raise-.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: grep -v '^ *//' %s | weft-opt --weft-raise-rotary -o %t 2>&1 | count 0

// What has the core of a rotation, but is not quite one, is told, with the reason.

func.func @unknownTables(%x: tensor<2x4x3x8xf32>, %c: tensor<3x8xf32>, %s: tensor<3x8xf32>) -> tensor<2x4x3x8xf32> {
  %cos = weft.broadcast %c dims [2, 3] : tensor<3x8xf32> to tensor<2x4x3x8xf32>
  %sin = weft.broadcast %s dims [2, 3] : tensor<3x8xf32> to tensor<2x4x3x8xf32>
  %0 = weft.mul %x, %cos : tensor<2x4x3x8xf32>
  %1 = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<2x4x3x8xf32> to tensor<2x4x3x4xf32>
  %2 = weft.slice %x starts [0, 0, 0, 4] strides [1, 1, 1, 1] : tensor<2x4x3x8xf32> to tensor<2x4x3x4xf32>
  %3 = weft.neg %2 : tensor<2x4x3x4xf32>
  %4 = weft.concat %3, %1 axis 3 : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x8xf32>
  %5 = weft.mul %4, %sin : tensor<2x4x3x8xf32>
  // expected-remark-re@+1 {{rotary{{.*}}elements of a pair may have different angles}}
  %6 = weft.add %0, %5 : tensor<2x4x3x8xf32>
  return %6 : tensor<2x4x3x8xf32>
}

func.func @perHead(%x: tensor<2x4x3x8xf32>, %c: tensor<4x3x8xf32>, %s: tensor<4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %cos = weft.broadcast %c dims [1, 2, 3] : tensor<4x3x8xf32> to tensor<2x4x3x8xf32>
  %sin = weft.broadcast %s dims [1, 2, 3] : tensor<4x3x8xf32> to tensor<2x4x3x8xf32>
  %0 = weft.mul %x, %cos : tensor<2x4x3x8xf32>
  %1 = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<2x4x3x8xf32> to tensor<2x4x3x4xf32>
  %2 = weft.slice %x starts [0, 0, 0, 4] strides [1, 1, 1, 1] : tensor<2x4x3x8xf32> to tensor<2x4x3x4xf32>
  %3 = weft.neg %2 : tensor<2x4x3x4xf32>
  %4 = weft.concat %3, %1 axis 3 : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x8xf32>
  %5 = weft.mul %4, %sin : tensor<2x4x3x8xf32>
  // expected-remark@+1 {{angles differ along dimensions 1, 2, not along positions, and the batch, alone}}
  %6 = weft.add %0, %5 : tensor<2x4x3x8xf32>
  return %6 : tensor<2x4x3x8xf32>
}

func.func @unlikeTables(%x: tensor<2x4x3x8xf32>, %c: tensor<3x8xf32>, %s: tensor<4x8xf32>) -> tensor<2x4x3x8xf32> {
  %cos = weft.broadcast %c dims [2, 3] : tensor<3x8xf32> to tensor<2x4x3x8xf32>
  %sin = weft.broadcast %s dims [1, 3] : tensor<4x8xf32> to tensor<2x4x3x8xf32>
  %0 = weft.mul %x, %cos : tensor<2x4x3x8xf32>
  %1 = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<2x4x3x8xf32> to tensor<2x4x3x4xf32>
  %2 = weft.slice %x starts [0, 0, 0, 4] strides [1, 1, 1, 1] : tensor<2x4x3x8xf32> to tensor<2x4x3x4xf32>
  %3 = weft.neg %2 : tensor<2x4x3x4xf32>
  %4 = weft.concat %3, %1 axis 3 : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x8xf32>
  %5 = weft.mul %4, %sin : tensor<2x4x3x8xf32>
  // expected-remark@+1 {{cosines differ along dimension 2, sines along dimension 1}}
  %6 = weft.add %0, %5 : tensor<2x4x3x8xf32>
  return %6 : tensor<2x4x3x8xf32>
}

func.func @rowsAlone(%x: tensor<3x8xf32>, %c: tensor<8xf32>, %s: tensor<8xf32>) -> tensor<3x8xf32> {
  %cos = weft.broadcast %c dims [1] : tensor<8xf32> to tensor<3x8xf32>
  %sin = weft.broadcast %s dims [1] : tensor<8xf32> to tensor<3x8xf32>
  %0 = weft.mul %x, %cos : tensor<3x8xf32>
  %1 = weft.slice %x starts [0, 0] strides [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %2 = weft.slice %x starts [0, 4] strides [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %3 = weft.neg %2 : tensor<3x4xf32>
  %4 = weft.concat %3, %1 axis 1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %5 = weft.mul %4, %sin : tensor<3x8xf32>
  // expected-remark@+1 {{rows stand along one dimension, not along the batch's and positions'}}
  %6 = weft.add %0, %5 : tensor<3x8xf32>
  return %6 : tensor<3x8xf32>
}

// First and second elements apart, of two values.
func.func @twoValues(%x: tensor<2x4x3x4xf32>, %y: tensor<2x4x3x4xf32>, %c: tensor<3x4xf32>, %s: tensor<3x4xf32>) -> tensor<2x4x3x8xf32> {
  %cos = weft.broadcast %c dims [2, 3] : tensor<3x4xf32> to tensor<2x4x3x4xf32>
  %sin = weft.broadcast %s dims [2, 3] : tensor<3x4xf32> to tensor<2x4x3x4xf32>
  %0 = weft.mul %x, %cos : tensor<2x4x3x4xf32>
  %1 = weft.mul %y, %sin : tensor<2x4x3x4xf32>
  %2 = weft.sub %0, %1 : tensor<2x4x3x4xf32>
  %3 = weft.mul %y, %cos : tensor<2x4x3x4xf32>
  %4 = weft.mul %x, %sin : tensor<2x4x3x4xf32>
  %5 = weft.add %3, %4 : tensor<2x4x3x4xf32>
  // expected-remark-re@+1 {{rotary{{.*}}first and second elements are not those of one value}}
  %6 = weft.concat %2, %5 axis 3 : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x8xf32>
  return %6 : tensor<2x4x3x8xf32>
}
