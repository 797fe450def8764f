// RUN: %unit/KernelCases %s
// Gathers, scatters, scans and the checks of their indices.

func.func @gather_rows(%t: tensor<50x24xf32>, %i: tensor<4x7xi64> {test.range = array<i64: -50, 50>}) -> tensor<4x7x24xf32> {
  %0 = weft.gather %t, %i axis 0 : (tensor<50x24xf32>, tensor<4x7xi64>) -> tensor<4x7x24xf32>
  return %0 : tensor<4x7x24xf32>
}

func.func @gather_columns(%t: tensor<5x9x4xf32>, %i: tensor<3xi32> {test.range = array<i64: 0, 9>}) -> tensor<5x3x4xf32> {
  %0 = weft.gather %t, %i axis 1 : (tensor<5x9x4xf32>, tensor<3xi32>) -> tensor<5x3x4xf32>
  return %0 : tensor<5x3x4xf32>
}

func.func @gather_last(%t: tensor<5x9xf32>, %i: tensor<6xi32> {test.range = array<i64: 0, 9>}) -> tensor<5x6xf32> {
  %0 = weft.gather %t, %i axis 1 : (tensor<5x9xf32>, tensor<6xi32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

func.func @gather_shard(%t: tensor<10x24xf32>, %i: tensor<40xi64> {test.range = array<i64: -40, 40>},
                        %o: tensor<i64> {exec.param, test.range = array<i64: 20, 21>}) -> tensor<40x24xf32> {
  %0 = weft.gather %t, %i offset %o : tensor<i64> axis 0 extent 40 : (tensor<10x24xf32>, tensor<40xi64>) -> tensor<40x24xf32>
  return %0 : tensor<40x24xf32>
}

func.func @gather_out_of_range(%t: tensor<10x8xf32>, %i: tensor<4xi64> {test.values = array<f64: 3.0, 9.0, 10.0, -11.0>}) -> tensor<4x8xf32>
    attributes {test.error = array<i64: 0, 10, 2>} {
  %0 = weft.gather %t, %i axis 0 : (tensor<10x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

func.func @embedding_norm(%t: tensor<50x32xf32>, %i: tensor<2x5xi64> {test.range = array<i64: 0, 50>}, %p: tensor<20x32xf32>) -> (tensor<2x5x32xf32>, tensor<2x5x32xf32>) {
  %0 = weft.gather %t, %i axis 0 : (tensor<50x32xf32>, tensor<2x5xi64>) -> tensor<2x5x32xf32>
  %1 = weft.slice %p starts [3, 0] strides [1, 1] : tensor<20x32xf32> to tensor<5x32xf32>
  %2 = weft.broadcast %1 dims [1, 2] : tensor<5x32xf32> to tensor<2x5x32xf32>
  %3 = weft.add %0, %2 : tensor<2x5x32xf32>
  %4 = weft.layer_norm %3 axis 2 epsilon 1.0e-05 : tensor<2x5x32xf32>
  return %3, %4 : tensor<2x5x32xf32>, tensor<2x5x32xf32>
}

func.func @gather_elements(%t: tensor<5x9xf32>, %i: tensor<5x4xi64> {test.range = array<i64: -9, 9>}) -> tensor<5x4xf32> {
  %0 = weft.gather_elements %t, %i axis 1 : (tensor<5x9xf32>, tensor<5x4xi64>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

func.func @gather_elements_rows(%t: tensor<9x5xf32>, %i: tensor<4x5xi32> {test.range = array<i64: -9, 9>}) -> tensor<4x5xf32> {
  %0 = weft.gather_elements %t, %i axis 0 : (tensor<9x5xf32>, tensor<4x5xi32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

func.func @gather_elements_out_of_range(%t: tensor<2x3xf32>, %i: tensor<2x2xi64> {test.values = array<f64: 0.0, 2.0, 1.0, 3.0>}) -> tensor<2x2xf32>
    attributes {test.error = array<i64: 0, 3, 3>} {
  %0 = weft.gather_elements %t, %i axis 1 : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

func.func @gather_nd(%t: tensor<4x4x6xf32>, %i: tensor<7x2xi64> {test.range = array<i64: -4, 4>}) -> tensor<7x6xf32> {
  %0 = weft.gather_nd %t, %i batch_dims 0 : (tensor<4x4x6xf32>, tensor<7x2xi64>) -> tensor<7x6xf32>
  return %0 : tensor<7x6xf32>
}

func.func @gather_nd_batch(%t: tensor<3x4x6xf32>, %i: tensor<3x5x1xi64> {test.range = array<i64: -4, 4>}) -> tensor<3x5x6xf32> {
  %0 = weft.gather_nd %t, %i batch_dims 1 : (tensor<3x4x6xf32>, tensor<3x5x1xi64>) -> tensor<3x5x6xf32>
  return %0 : tensor<3x5x6xf32>
}

func.func @scatter_elements_add(%x: tensor<5x9xf32>, %i: tensor<5x4xi64> {test.range = array<i64: -9, 9>}, %u: tensor<5x4xf32>) -> tensor<5x9xf32> {
  %0 = weft.scatter_elements add %x, %i, %u axis 1 : (tensor<5x9xf32>, tensor<5x4xi64>, tensor<5x4xf32>) -> tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}

func.func @scatter_elements_rows(%x: tensor<9x5xf32>, %i: tensor<2x4xi64> {test.values = array<f64: 0.0, 2.0, 4.0, 6.0, -1.0, 1.0, 3.0, 5.0>}, %u: tensor<2x4xf32>) -> tensor<9x5xf32> {
  %0 = weft.scatter_elements set %x, %i, %u axis 0 : (tensor<9x5xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<9x5xf32>
  return %0 : tensor<9x5xf32>
}

func.func @scatter_nd_add(%x: tensor<6x20xf32>, %i: tensor<4x1xi64> {test.range = array<i64: -6, 6>}, %u: tensor<4x20xf32>) -> tensor<6x20xf32> {
  %0 = weft.scatter_nd add %x, %i, %u : (tensor<6x20xf32>, tensor<4x1xi64>, tensor<4x20xf32>) -> tensor<6x20xf32>
  return %0 : tensor<6x20xf32>
}

func.func @scatter_nd_max(%x: tensor<3x4xi32>, %i: tensor<2x3x2xi64> {test.range = array<i64: -3, 3>}, %u: tensor<2x3xi32>) -> tensor<3x4xi32> {
  %0 = weft.scatter_nd max %x, %i, %u : (tensor<3x4xi32>, tensor<2x3x2xi64>, tensor<2x3xi32>) -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}

func.func @scatter_out_of_range(%x: tensor<4x3xf32>, %i: tensor<2x1xi64> {test.values = array<f64: 0.0, 4.0>}, %u: tensor<2x3xf32>) -> tensor<4x3xf32>
    attributes {test.error = array<i64: 0, 4, 1>} {
  %0 = weft.scatter_nd set %x, %i, %u : (tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

func.func @cumsum(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %0 = weft.cumsum %x axis 1 : tensor<6x40xf32>
  return %0 : tensor<6x40xf32>
}

// So long that a GPU's threads share a row.
func.func @cumsum_long(%x: tensor<3x1000xf32>) -> tensor<3x1000xf32> {
  %0 = weft.cumsum %x axis 1 : tensor<3x1000xf32>
  return %0 : tensor<3x1000xf32>
}

func.func @cumsum_long_exclusive_reverse(%x: tensor<700x5xi32>) -> tensor<700x5xi32> {
  %0 = weft.cumsum %x axis 0 exclusive reverse : tensor<700x5xi32>
  return %0 : tensor<700x5xi32>
}

func.func @cumsum_exclusive_reverse(%x: tensor<6x5x4xi64>) -> tensor<6x5x4xi64> {
  %0 = weft.cumsum %x axis 1 exclusive reverse : tensor<6x5x4xi64>
  return %0 : tensor<6x5x4xi64>
}

func.func @scatter_nd_drop(%x: tensor<6x20xf32>, %i: tensor<9x1xi64> {test.range = array<i64: -3, 9>}, %u: tensor<9x20xf32>) -> tensor<6x20xf32> {
  %0 = weft.scatter_nd add %x, %i, %u drop : (tensor<6x20xf32>, tensor<9x1xi64>, tensor<9x20xf32>) -> tensor<6x20xf32>
  return %0 : tensor<6x20xf32>
}

func.func @scatter_nd_shard(%x: tensor<6x3x20xf32>, %i: tensor<9x2xi64> {test.range = array<i64: -3, 3>}, %u: tensor<9x20xf32>,
                            %o: tensor<i64> {exec.param, test.range = array<i64: 12, 13>}) -> tensor<6x3x20xf32> {
  %0 = weft.scatter_nd mul %x, %i, %u offset %o : tensor<i64> extent 18
      : (tensor<6x3x20xf32>, tensor<9x2xi64>, tensor<9x20xf32>) -> tensor<6x3x20xf32>
  return %0 : tensor<6x3x20xf32>
}

func.func @scatter_elements_shard(%x: tensor<5x9xi32>, %i: tensor<5x4xi64> {test.range = array<i64: -2, 24>}, %u: tensor<5x4xi32>,
                                  %o: tensor<i64> {exec.param, test.range = array<i64: 9, 10>}) -> tensor<5x9xi32> {
  %0 = weft.scatter_elements max %x, %i, %u offset %o : tensor<i64> axis 1 drop extent 18
      : (tensor<5x9xi32>, tensor<5x4xi64>, tensor<5x4xi32>) -> tensor<5x9xi32>
  return %0 : tensor<5x9xi32>
}
