// Functions that gradient_cases.cpp differentiates, by operation, alphabetical.

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

func.func @attention(%q: tensor<1x2x3x4xf64>, %k: tensor<1x2x5x4xf64>, %v: tensor<1x2x5x2xf64>) -> tensor<1x2x3x2xf64> {
  %0 = weft.attention %q, %k, %v scale 0.5 masked_rows nan : (tensor<1x2x3x4xf64>, tensor<1x2x5x4xf64>, tensor<1x2x5x2xf64>) -> tensor<1x2x3x2xf64>
  return %0 : tensor<1x2x3x2xf64>
}

// Heads share keys and values; scores are capped; its log-sum-exp is there already.
func.func @attention_groups(%q: tensor<2x4x3x4xf64>, %k: tensor<2x2x3x4xf64>, %v: tensor<2x2x3x2xf64>) -> tensor<2x4x3x2xf64> {
  %0, %1 = weft.attention %q, %k, %v scale 0.7 causal softcap 0.8 masked_rows zero : (tensor<2x4x3x4xf64>, tensor<2x2x3x4xf64>, tensor<2x2x3x2xf64>) -> (tensor<2x4x3x2xf64>, tensor<2x4x3xf64>)
  return %0 : tensor<2x4x3x2xf64>
}

// The log-sum-exp has a gradient, too.
func.func @attention_lse(%q: tensor<1x1x3x4xf64>, %k: tensor<1x1x3x4xf64>, %v: tensor<1x1x3x2xf64>) -> (tensor<1x1x3x2xf64>, tensor<1x1x3xf64>) {
  %0, %1 = weft.attention %q, %k, %v scale 0.7 causal masked_rows zero : (tensor<1x1x3x4xf64>, tensor<1x1x3x4xf64>, tensor<1x1x3x2xf64>) -> (tensor<1x1x3x2xf64>, tensor<1x1x3xf64>)
  return %0, %1 : tensor<1x1x3x2xf64>, tensor<1x1x3xf64>
}

// One tensor is query, key and value.
func.func @attention_self(%q: tensor<1x2x3x4xf64>) -> tensor<1x2x3x4xf64> {
  %0 = weft.attention %q, %q, %q scale 0.5 causal window 2 masked_rows nan : (tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>) -> tensor<1x2x3x4xf64>
  return %0 : tensor<1x2x3x4xf64>
}

func.func @attention_bias(%q: tensor<2x2x3x4xf64>, %k: tensor<2x2x5x4xf64>, %v: tensor<2x2x5x2xf64>, %bias: tensor<1x2x3x5xf64>) -> tensor<2x2x3x2xf64> {
  %0 = weft.attention %q, %k, %v bias %bias scale 0.5 masked_rows nan : (tensor<2x2x3x4xf64>, tensor<2x2x5x4xf64>, tensor<2x2x5x2xf64>, tensor<1x2x3x5xf64>) -> tensor<2x2x3x2xf64>
  return %0 : tensor<2x2x3x2xf64>
}

// The second query sees no key, by the mask; the first of those with an offset below none, by causality.
func.func @attention_masked_zero(%q: tensor<1x1x3x4xf64>, %k: tensor<1x1x2x4xf64>, %v: tensor<1x1x2x2xf64>,
    %mask: tensor<1x1x3x2xi1> {test.values = dense<[[[[true, false], [false, false], [true, true]]]]> : tensor<1x1x3x2xi1>}) -> tensor<1x1x3x2xf64> {
  %0 = weft.attention %q, %k, %v mask %mask scale 0.5 masked_rows zero : (tensor<1x1x3x4xf64>, tensor<1x1x2x4xf64>, tensor<1x1x2x2xf64>, tensor<1x1x3x2xi1>) -> tensor<1x1x3x2xf64>
  return %0 : tensor<1x1x3x2xf64>
}

func.func @attention_masked_zero_bias(%q: tensor<1x1x3x4xf64>, %k: tensor<1x1x2x4xf64>, %v: tensor<1x1x2x2xf64>, %bias: tensor<1x1x3x2xf64>,
    %mask: tensor<1x1x3x2xi1> {test.values = dense<[[[[true, false], [false, false], [true, true]]]]> : tensor<1x1x3x2xi1>}) -> tensor<1x1x3x2xf64> {
  %0 = weft.attention %q, %k, %v mask %mask bias %bias scale 0.5 masked_rows zero : (tensor<1x1x3x4xf64>, tensor<1x1x2x4xf64>, tensor<1x1x2x2xf64>, tensor<1x1x3x2xi1>, tensor<1x1x3x2xf64>) -> tensor<1x1x3x2xf64>
  return %0 : tensor<1x1x3x2xf64>
}

func.func @attention_masked_uniform(%q: tensor<1x2x3x4xf64>, %k: tensor<1x1x2x4xf64>, %v: tensor<1x1x2x2xf64>) -> tensor<1x2x3x2xf64> {
  %0 = weft.attention %q, %k, %v scale 0.5 causal query_offset -1 masked_rows uniform : (tensor<1x2x3x4xf64>, tensor<1x1x2x4xf64>, tensor<1x1x2x2xf64>) -> tensor<1x2x3x2xf64>
  return %0 : tensor<1x2x3x2xf64>
}

// A bias of -inf, which is a constant.
func.func @attention_infinite_bias(%q: tensor<1x1x2x4xf64>, %k: tensor<1x1x2x4xf64>, %v: tensor<1x1x2x2xf64>) -> tensor<1x1x2x2xf64> {
  %bias = weft.constant dense<[[[[0xFFF0000000000000, 0xFFF0000000000000], [0.5, 0xFFF0000000000000]]]]> : tensor<1x1x2x2xf64>
  %0 = weft.attention %q, %k, %v bias %bias scale 0.5 masked_rows zero : (tensor<1x1x2x4xf64>, tensor<1x1x2x4xf64>, tensor<1x1x2x2xf64>, tensor<1x1x2x2xf64>) -> tensor<1x1x2x2xf64>
  return %0 : tensor<1x1x2x2xf64>
}

// Its own gradients are differentiated through what it consists of.
func.func @attention_backward(%q: tensor<1x1x3x4xf64>, %k: tensor<1x1x3x4xf64>, %v: tensor<1x1x3x2xf64>, %g: tensor<1x1x3x2xf64>) -> (tensor<1x1x3x4xf64>, tensor<1x1x3x4xf64>, tensor<1x1x3x2xf64>) {
  %0, %l = weft.attention %q, %k, %v scale 0.7 causal masked_rows zero : (tensor<1x1x3x4xf64>, tensor<1x1x3x4xf64>, tensor<1x1x3x2xf64>) -> (tensor<1x1x3x2xf64>, tensor<1x1x3xf64>)
  %1, %2, %3 = weft.attention_backward %q, %k, %v result %0 lse %l gradient %g scale 0.7 causal masked_rows zero : (tensor<1x1x3x4xf64>, tensor<1x1x3x4xf64>, tensor<1x1x3x2xf64>, tensor<1x1x3x2xf64>, tensor<1x1x3xf64>, tensor<1x1x3x2xf64>) -> (tensor<1x1x3x4xf64>, tensor<1x1x3x4xf64>, tensor<1x1x3x2xf64>)
  return %1, %2, %3 : tensor<1x1x3x4xf64>, tensor<1x1x3x4xf64>, tensor<1x1x3x2xf64>
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

func.func @broadcast(%x: tensor<3x1xf64>) -> tensor<2x3x4xf64> {
  %0 = weft.broadcast %x dims [1, 2] : tensor<3x1xf64> to tensor<2x3x4xf64>
  return %0 : tensor<2x3x4xf64>
}

func.func @broadcast_unit(%x: tensor<1x3xf64>) -> tensor<1x3xf64> {
  %0 = weft.broadcast %x dims [0, 1] : tensor<1x3xf64> to tensor<1x3xf64>
  return %0 : tensor<1x3xf64>
}

func.func @broadcast_empty(%x: tensor<1xf64>) -> tensor<0xf64> {
  %0 = weft.broadcast %x dims [0] : tensor<1xf64> to tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @concat(%x: tensor<2x3xf64>, %y: tensor<2x0xf64>, %z: tensor<2x1xf64>) -> tensor<2x7xf64> {
  %0 = weft.concat %x, %y, %z, %x axis 1 : (tensor<2x3xf64>, tensor<2x0xf64>, tensor<2x1xf64>, tensor<2x3xf64>) -> tensor<2x7xf64>
  return %0 : tensor<2x7xf64>
}

// A slice of a sequence: the keys and values of the tokens before it come in, those of all go out.
func.func @attention_prefix(%q: tensor<1x2x2x4xf64>, %k: tensor<1x1x2x4xf64>, %v: tensor<1x1x2x3xf64>, %before_k: tensor<1x1x3x4xf64>, %before_v: tensor<1x1x3x3xf64>)
    -> (tensor<1x2x2x3xf64>, tensor<1x1x5x4xf64>, tensor<1x1x5x3xf64>) {
  %0 = weft.concat %before_k, %k axis 2 : (tensor<1x1x3x4xf64>, tensor<1x1x2x4xf64>) -> tensor<1x1x5x4xf64>
  %1 = weft.concat %before_v, %v axis 2 : (tensor<1x1x3x3xf64>, tensor<1x1x2x3xf64>) -> tensor<1x1x5x3xf64>
  %2 = weft.attention %q, %0, %1 scale 0.5 causal query_offset 3 masked_rows nan : (tensor<1x2x2x4xf64>, tensor<1x1x5x4xf64>, tensor<1x1x5x3xf64>) -> tensor<1x2x2x3xf64>
  return %2, %0, %1 : tensor<1x2x2x3xf64>, tensor<1x1x5x4xf64>, tensor<1x1x5x3xf64>
}

func.func @cumsum(%x: tensor<2x4xf64>) -> (tensor<2x4xf64>, tensor<2x4xf64>) {
  %0 = weft.cumsum %x axis 1 : tensor<2x4xf64>
  %1 = weft.cumsum %x axis 0 exclusive reverse : tensor<2x4xf64>
  return %0, %1 : tensor<2x4xf64>, tensor<2x4xf64>
}

func.func @pad(%x: tensor<2x3xf64>, %value: tensor<f64>) -> tensor<5x4xf64> {
  %0 = weft.pad %x, %value low [1, 0] high [2, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<5x4xf64>
  return %0 : tensor<5x4xf64>
}

func.func @pad_empty(%x: tensor<0x3xf64>, %value: tensor<f64>) -> tensor<2x3xf64> {
  %0 = weft.pad %x, %value low [1, 0] high [1, 0] : (tensor<0x3xf64>, tensor<f64>) -> tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}

func.func @reshape(%x: tensor<2x6xf64>) -> tensor<3x4xf64> {
  %0 = weft.reshape %x : tensor<2x6xf64> to tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

func.func @reverse(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %0 = weft.reverse %x dims [0, 1] : tensor<2x3x2xf64>
  return %0 : tensor<2x3x2xf64>
}

func.func @slice(%x: tensor<5x6xf64>) -> tensor<2x3xf64> {
  %0 = weft.slice %x starts [1, 2] strides [1, 1] : tensor<5x6xf64> to tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}

func.func @slice_strided(%x: tensor<6x7x1xf64>) -> tensor<2x3x1xf64> {
  %0 = weft.slice %x starts [1, 0, 0] strides [3, 3, 5] : tensor<6x7x1xf64> to tensor<2x3x1xf64>
  return %0 : tensor<2x3x1xf64>
}

func.func @slice_empty(%x: tensor<4x3xf64>) -> tensor<0x2xf64> {
  %0 = weft.slice %x starts [1, 0] strides [2, 2] : tensor<4x3xf64> to tensor<0x2xf64>
  return %0 : tensor<0x2xf64>
}

func.func @transpose(%x: tensor<2x3x4xf64>) -> tensor<4x2x3xf64> {
  %0 = weft.transpose %x [2, 0, 1] : tensor<2x3x4xf64> -> tensor<4x2x3xf64>
  return %0 : tensor<4x2x3xf64>
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

// Twice the same row, and one counted from the end.
func.func @gather(%table: tensor<4x3xf64>, %i: tensor<2x2xi64> {test.values = dense<[[1, 3], [1, -1]]> : tensor<2x2xi64>}) -> tensor<2x2x3xf64> {
  %0 = weft.gather %table, %i axis 0 : (tensor<4x3xf64>, tensor<2x2xi64>) -> tensor<2x2x3xf64>
  return %0 : tensor<2x2x3xf64>
}

func.func @gather_axis(%table: tensor<2x3x4xf64>, %i: tensor<2x2xui8> {test.values = dense<[[1, 0], [1, 1]]> : tensor<2x2xui8>}) -> tensor<2x2x2x4xf64> {
  %0 = weft.gather %table, %i axis 1 : (tensor<2x3x4xf64>, tensor<2x2xui8>) -> tensor<2x2x2x4xf64>
  return %0 : tensor<2x2x2x4xf64>
}

func.func @gather_scalar(%table: tensor<2x3xf64>, %i: tensor<i64> {test.values = dense<2> : tensor<i64>}) -> tensor<2xf64> {
  %0 = weft.gather %table, %i axis 1 : (tensor<2x3xf64>, tensor<i64>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

func.func @gather_none(%table: tensor<2x3xf64>, %i: tensor<0xi64> {test.values = dense<0> : tensor<0xi64>}) -> tensor<0x3xf64> {
  %0 = weft.gather %table, %i axis 0 : (tensor<2x3xf64>, tensor<0xi64>) -> tensor<0x3xf64>
  return %0 : tensor<0x3xf64>
}

func.func @gather_elements(%x: tensor<3x4xf64>, %i: tensor<2x3xi32> {test.values = dense<[[0, 3, 0], [1, -1, 3]]> : tensor<2x3xi32>}) -> tensor<2x3xf64> {
  %0 = weft.gather_elements %x, %i axis 1 : (tensor<3x4xf64>, tensor<2x3xi32>) -> tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}

func.func @gather_nd(%x: tensor<3x4x2xf64>, %i: tensor<3x2xi64> {test.values = dense<[[0, 3], [2, -1], [0, 3]]> : tensor<3x2xi64>}) -> tensor<3x2xf64> {
  %0 = weft.gather_nd %x, %i batch_dims 0 : (tensor<3x4x2xf64>, tensor<3x2xi64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @gather_nd_batches(%x: tensor<2x3x2x2xf64>, %i: tensor<2x3x2x1xi8> {test.values = dense<[[[[0], [0]], [[1], [0]], [[1], [1]]], [[[-1], [1]], [[0], [-2]], [[1], [0]]]]> : tensor<2x3x2x1xi8>}) -> tensor<2x3x2x2xf64> {
  %0 = weft.gather_nd %x, %i batch_dims 2 : (tensor<2x3x2x2xf64>, tensor<2x3x2x1xi8>) -> tensor<2x3x2x2xf64>
  return %0 : tensor<2x3x2x2xf64>
}

// Of several updates of one place, the last stays.
func.func @scatter_elements_set(%x: tensor<2x4xf64>, %i: tensor<2x3xi64> {test.values = dense<[[0, 1, 0], [-1, 3, 1]]> : tensor<2x3xi64>}, %u: tensor<2x3xf64>) -> tensor<2x4xf64> {
  %0 = weft.scatter_elements set %x, %i, %u axis 1 : (tensor<2x4xf64>, tensor<2x3xi64>, tensor<2x3xf64>) -> tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}

func.func @scatter_elements_add(%x: tensor<3x2xf64>, %i: tensor<2x2xi64> {test.values = dense<[[0, 1], [0, -1]]> : tensor<2x2xi64>}, %u: tensor<2x2xf64>) -> tensor<3x2xf64> {
  %0 = weft.scatter_elements add %x, %i, %u axis 0 : (tensor<3x2xf64>, tensor<2x2xi64>, tensor<2x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @scatter_elements_mul(%x: tensor<6xf64>, %i: tensor<6xi64> {test.values = dense<[0, 0, 0, 2, 2, 5]> : tensor<6xi64>},
    %u: tensor<6xf64> {test.values = dense<[0.5, -2.0, 1.5, 0.0, 3.0, 0.0]> : tensor<6xf64>}) -> tensor<6xf64> {
  %0 = weft.scatter_elements mul %x, %i, %u axis 0 : (tensor<6xf64>, tensor<6xi64>, tensor<6xf64>) -> tensor<6xf64>
  return %0 : tensor<6xf64>
}

// Two zeros in one place leave no gradient but where both are others'.
func.func @scatter_elements_mul_zeros(%x: tensor<2xf64>, %i: tensor<3xi64> {test.values = dense<0> : tensor<3xi64>},
    %u: tensor<3xf64> {test.values = dense<[0.0, 0.0, 1.5]> : tensor<3xf64>}) -> tensor<2xf64> {
  %0 = weft.scatter_elements mul %x, %i, %u axis 0 : (tensor<2xf64>, tensor<3xi64>, tensor<3xf64>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

// Equal ones share: two of the updates, and an update with what was there.
func.func @scatter_elements_max(%x: tensor<4xf64> {test.values = dense<[0.5, 0.1, 0.2, 0.9]> : tensor<4xf64>},
    %i: tensor<5xi64> {test.values = dense<[0, 1, 1, 2, 3]> : tensor<5xi64>},
    %u: tensor<5xf64> {test.values = dense<[0.7, 0.6, 0.6, 0.2, 0.3]> : tensor<5xf64>}) -> tensor<4xf64> {
  %0 = weft.scatter_elements max %x, %i, %u axis 0 : (tensor<4xf64>, tensor<5xi64>, tensor<5xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @scatter_elements_drop(%x: tensor<2x3xf64>, %i: tensor<2x4xi64> {test.values = dense<[[0, 3, -1, 0], [7, 1, 2, -9]]> : tensor<2x4xi64>}, %u: tensor<2x4xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>) {
  %0 = weft.scatter_elements set %x, %i, %u axis 1 drop : (tensor<2x3xf64>, tensor<2x4xi64>, tensor<2x4xf64>) -> tensor<2x3xf64>
  %1 = weft.scatter_elements add %x, %i, %u axis 1 drop : (tensor<2x3xf64>, tensor<2x4xi64>, tensor<2x4xf64>) -> tensor<2x3xf64>
  %2 = weft.scatter_elements mul %x, %i, %u axis 1 drop : (tensor<2x3xf64>, tensor<2x4xi64>, tensor<2x4xf64>) -> tensor<2x3xf64>
  %3 = weft.scatter_elements min %x, %i, %u axis 1 drop : (tensor<2x3xf64>, tensor<2x4xi64>, tensor<2x4xf64>) -> tensor<2x3xf64>
  return %0, %1, %2, %3 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

func.func @scatter_nd(%x: tensor<3x2x2xf64>, %i: tensor<4x1xi64> {test.values = dense<[[0], [2], [0], [-1]]> : tensor<4x1xi64>}, %u: tensor<4x2x2xf64>) -> (tensor<3x2x2xf64>, tensor<3x2x2xf64>, tensor<3x2x2xf64>, tensor<3x2x2xf64>) {
  %0 = weft.scatter_nd set %x, %i, %u : (tensor<3x2x2xf64>, tensor<4x1xi64>, tensor<4x2x2xf64>) -> tensor<3x2x2xf64>
  %1 = weft.scatter_nd add %x, %i, %u : (tensor<3x2x2xf64>, tensor<4x1xi64>, tensor<4x2x2xf64>) -> tensor<3x2x2xf64>
  %2 = weft.scatter_nd mul %x, %i, %u : (tensor<3x2x2xf64>, tensor<4x1xi64>, tensor<4x2x2xf64>) -> tensor<3x2x2xf64>
  %3 = weft.scatter_nd min %x, %i, %u : (tensor<3x2x2xf64>, tensor<4x1xi64>, tensor<4x2x2xf64>) -> tensor<3x2x2xf64>
  return %0, %1, %2, %3 : tensor<3x2x2xf64>, tensor<3x2x2xf64>, tensor<3x2x2xf64>, tensor<3x2x2xf64>
}

func.func @scatter_nd_drop(%x: tensor<3x2x2xf64>, %i: tensor<2x2x2xi32> {test.values = dense<[[[0, 1], [2, 2]], [[0, 1], [-1, 0]]]> : tensor<2x2x2xi32>}, %u: tensor<2x2x2xf64>) -> (tensor<3x2x2xf64>, tensor<3x2x2xf64>) {
  %0 = weft.scatter_nd set %x, %i, %u drop : (tensor<3x2x2xf64>, tensor<2x2x2xi32>, tensor<2x2x2xf64>) -> tensor<3x2x2xf64>
  %1 = weft.scatter_nd max %x, %i, %u drop : (tensor<3x2x2xf64>, tensor<2x2x2xi32>, tensor<2x2x2xf64>) -> tensor<3x2x2xf64>
  return %0, %1 : tensor<3x2x2xf64>, tensor<3x2x2xf64>
}

// Tuples of no index take the whole.
func.func @scatter_nd_whole(%x: tensor<2xf64>, %i: tensor<2x0xi64> {test.values = dense<0> : tensor<2x0xi64>}, %u: tensor<2x2xf64>) -> tensor<2xf64> {
  %0 = weft.scatter_nd set %x, %i, %u : (tensor<2xf64>, tensor<2x0xi64>, tensor<2x2xf64>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

func.func @scatter_nd_empty(%x: tensor<0x2xf64>, %i: tensor<1x1xi64> {test.values = dense<3> : tensor<1x1xi64>}, %u: tensor<1x2xf64>) -> tensor<0x2xf64> {
  %0 = weft.scatter_nd add %x, %i, %u drop : (tensor<0x2xf64>, tensor<1x1xi64>, tensor<1x2xf64>) -> tensor<0x2xf64>
  return %0 : tensor<0x2xf64>
}

func.func @sort(%x: tensor<2x4xf64>) -> (tensor<2x4xf64>, tensor<2x2xf64>) {
  %0, %1 = weft.sort %x axis 1 count 4 : tensor<2x4xf64> -> tensor<2x4xf64>, tensor<2x4xi64>
  %2, %3 = weft.sort %x axis 1 count 2 descending : tensor<2x4xf64> -> tensor<2x2xf64>, tensor<2x2xi64>
  return %0, %2 : tensor<2x4xf64>, tensor<2x2xf64>
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

func.func @layer_norm(%x: tensor<3x5xf64>, %scale: tensor<5xf64>, %bias: tensor<5xf64>) -> tensor<3x5xf64> {
  %0 = weft.layer_norm %x scale %scale : tensor<5xf64> bias %bias : tensor<5xf64> axis 1 epsilon 1.0e-5 : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @layer_norm_bias(%x: tensor<2x3x2xf64>, %bias: tensor<3x2xf64>) -> tensor<2x3x2xf64> {
  %0 = weft.layer_norm %x bias %bias : tensor<3x2xf64> axis 1 epsilon 1.0e-2 : tensor<2x3x2xf64>
  return %0 : tensor<2x3x2xf64>
}

func.func @layer_norm_whole(%x: tensor<6xf64>, %scale: tensor<6xf64>) -> tensor<6xf64> {
  %0 = weft.layer_norm %x scale %scale : tensor<6xf64> axis 0 epsilon 1.0e-5 : tensor<6xf64>
  return %0 : tensor<6xf64>
}

func.func private @scaled_sum(%x: tensor<f64>, %y: tensor<f64>, %scale: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %0 = weft.mul %y, %scale : tensor<f64>
  %1 = weft.add %x, %0 : tensor<f64>
  %2 = weft.mul %1, %x : tensor<f64>
  return %1, %2 : tensor<f64>, tensor<f64>
}

func.func @map(%x: tensor<2x3xf64>, %y: tensor<2x3xf64>, %scale: tensor<f64>) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
  %0:2 = weft.map @scaled_sum(%x, %y, %scale) : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
  return %0#0, %0#1 : tensor<2x3xf64>, tensor<2x3xf64>
}

func.func @rms_norm(%x: tensor<3x5xf64>, %scale: tensor<5xf64>) -> (tensor<3x5xf64>, tensor<3x5xf64>) {
  %0 = weft.rms_norm %x scale %scale : tensor<5xf64> axis 1 epsilon 1.0e-5 : tensor<3x5xf64>
  %1 = weft.rms_norm %x axis 0 epsilon 1.0e-5 : tensor<3x5xf64>
  return %0, %1 : tensor<3x5xf64>, tensor<3x5xf64>
}

func.func @rotary(%x: tensor<2x2x3x6xf64>) -> (tensor<2x2x3x6xf64>, tensor<2x2x3x6xf64>) {
  %cos = weft.constant dense<0.6> : tensor<1x3x2xf64>
  %sin = weft.constant dense<0.8> : tensor<1x3x2xf64>
  %0 = weft.rotary %x, %cos, %sin : tensor<2x2x3x6xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>
  %1 = weft.rotary %x, %cos, %sin interleaved : tensor<2x2x3x6xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>
  return %0, %1 : tensor<2x2x3x6xf64>, tensor<2x2x3x6xf64>
}

// Angles that are trained.
func.func @rotary_angles(%x: tensor<2x2x3x6xf64>, %angle: tensor<1x3x3xf64>) -> (tensor<2x2x3x6xf64>, tensor<2x2x3x6xf64>) {
  %cos = weft.cos %angle : tensor<1x3x3xf64>
  %sin = weft.sin %angle : tensor<1x3x3xf64>
  %0 = weft.rotary %x, %cos, %sin : tensor<2x2x3x6xf64>, tensor<1x3x3xf64>, tensor<1x3x3xf64>
  %1 = weft.rotary %x, %cos, %sin interleaved : tensor<2x2x3x6xf64>, tensor<1x3x3xf64>, tensor<1x3x3xf64>
  return %0, %1 : tensor<2x2x3x6xf64>, tensor<2x2x3x6xf64>
}

func.func @softmax(%x: tensor<2x3x2xf64>) -> (tensor<2x3x2xf64>, tensor<2x3x2xf64>) {
  %0 = weft.softmax %x axis 1 : tensor<2x3x2xf64>
  %1 = weft.softmax %x axis 2 : tensor<2x3x2xf64>
  return %0, %1 : tensor<2x3x2xf64>, tensor<2x3x2xf64>
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

func.func @dot_general(%x: tensor<2x3x4xf64>, %w: tensor<4x5xf64>) -> tensor<2x3x5xf64> {
  %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<2x3x4xf64>, tensor<4x5xf64>) -> tensor<2x3x5xf64>
  return %0 : tensor<2x3x5xf64>
}

// Batch and contracted dimensions anywhere, two of each, crossed.
func.func @dot_general_mixed(%x: tensor<2x3x4x2x5xf64>, %w: tensor<4x3x2x6x2xf64>) -> tensor<3x2x5x6xf64> {
  %0 = weft.dot_general %x, %w batch [1, 3] x [1, 4] contract [0, 2] x [2, 0] : (tensor<2x3x4x2x5xf64>, tensor<4x3x2x6x2xf64>) -> tensor<3x2x5x6xf64>
  return %0 : tensor<3x2x5x6xf64>
}

func.func @dot_general_outer(%x: tensor<3xf64>, %w: tensor<4xf64>) -> (tensor<3x4xf64>, tensor<f64>) {
  %0 = weft.dot_general %x, %w batch [] x [] contract [] x [] : (tensor<3xf64>, tensor<4xf64>) -> tensor<3x4xf64>
  %1 = weft.dot_general %x, %x batch [] x [] contract [0] x [0] : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>
  return %0, %1 : tensor<3x4xf64>, tensor<f64>
}

func.func @dot_general_empty(%x: tensor<3x0xf64>, %w: tensor<0x4xf64>) -> tensor<3x4xf64> {
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<3x0xf64>, tensor<0x4xf64>) -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

func.func @reduce_sum(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %0 = weft.reduce sum %x dims [0, 2] : tensor<2x3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// Two equal ones share the gradient.
func.func @reduce_max(%x: tensor<2x4xf64> {test.values = dense<[[0.5, 2.0, 2.0, 1.0], [3.0, 1.0, -3.0, 3.0]]> : tensor<2x4xf64>}) -> (tensor<2xf64>, tensor<4xf64>) {
  %0 = weft.reduce max %x dims [1] : tensor<2x4xf64> -> tensor<2xf64>
  %1 = weft.reduce min %x dims [0] : tensor<2x4xf64> -> tensor<4xf64>
  return %0, %1 : tensor<2xf64>, tensor<4xf64>
}

func.func @reduce_prod(%x: tensor<3x4xf64> {test.values = dense<[[0.5, 2.0, -3.0, 1.0], [3.0, 0.0, -3.0, 3.0], [0.0, 2.0, 0.0, 5.0]]> : tensor<3x4xf64>}) -> tensor<3xf64> {
  %0 = weft.reduce prod %x dims [1] : tensor<3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_empty(%x: tensor<2x0xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %0 = weft.reduce sum %x dims [1] : tensor<2x0xf64> -> tensor<2xf64>
  %1 = weft.reduce prod %x dims [1] : tensor<2x0xf64> -> tensor<2xf64>
  return %0, %1 : tensor<2xf64>, tensor<2xf64>
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

func.func @conv(%x: tensor<2x3x5xf64>, %k: tensor<4x3x2xf64>) -> tensor<2x4x4xf64> {
  %0 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 1 : (tensor<2x3x5xf64>, tensor<4x3x2xf64>) -> tensor<2x4x4xf64>
  return %0 : tensor<2x4x4xf64>
}

// A stride that leaves the last elements out, dilation, groups, padding that is not symmetric.
func.func @conv_groups(%x: tensor<2x4x6x5xf64>, %k: tensor<6x2x2x3xf64>) -> tensor<2x6x3x2xf64> {
  %0 = weft.conv %x, %k strides [2, 3] low [1, 2] high [0, 1] dilations [2, 1] groups 2 : (tensor<2x4x6x5xf64>, tensor<6x2x2x3xf64>) -> tensor<2x6x3x2xf64>
  return %0 : tensor<2x6x3x2xf64>
}

func.func @conv_depthwise(%x: tensor<1x3x4xf64>, %k: tensor<6x1x3xf64>) -> tensor<1x6x4xf64> {
  %0 = weft.conv %x, %k strides [1] low [1] high [1] dilations [1] groups 3 : (tensor<1x3x4xf64>, tensor<6x1x3xf64>) -> tensor<1x6x4xf64>
  return %0 : tensor<1x6x4xf64>
}

// A transposed convolution, and elements taken away.
func.func @conv_transposed(%x: tensor<2x2x4xf64>, %k: tensor<3x2x3xf64>) -> tensor<2x3x7xf64> {
  %0 = weft.conv %x, %k strides [1] low [2] high [0] dilations [1] input_dilations [2] groups 1 : (tensor<2x2x4xf64>, tensor<3x2x3xf64>) -> tensor<2x3x7xf64>
  return %0 : tensor<2x3x7xf64>
}

func.func @conv_cropped(%x: tensor<1x2x8xf64>, %k: tensor<2x2x2xf64>) -> tensor<1x2x2xf64> {
  %0 = weft.conv %x, %k strides [2] low [-2] high [-1] dilations [2] groups 1 : (tensor<1x2x8xf64>, tensor<2x2x2xf64>) -> tensor<1x2x2xf64>
  return %0 : tensor<1x2x2xf64>
}

func.func @conv_empty(%x: tensor<0x2x4xf64>, %k: tensor<2x2x2xf64>) -> tensor<0x2x3xf64> {
  %0 = weft.conv %x, %k strides [1] low [0] high [0] dilations [1] groups 1 : (tensor<0x2x4xf64>, tensor<2x2x2xf64>) -> tensor<0x2x3xf64>
  return %0 : tensor<0x2x3xf64>
}

func.func @conv_kernel_gradient(%x: tensor<2x4x6x5xf64>, %g: tensor<2x6x3x2xf64>) -> tensor<6x2x2x3xf64> {
  %0 = weft.conv_kernel_gradient %x, %g strides [2, 3] low [1, 2] high [0, 1] dilations [2, 1] groups 2 : (tensor<2x4x6x5xf64>, tensor<2x6x3x2xf64>) -> tensor<6x2x2x3xf64>
  return %0 : tensor<6x2x2x3xf64>
}

func.func @reduce_window_sum(%x: tensor<2x7xf64>) -> tensor<2x4xf64> {
  %0 = weft.reduce_window sum %x window [1, 3] strides [1, 2] dilations [1, 2] low [0, 3] high [0, 1] : tensor<2x7xf64> -> tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}

func.func @reduce_window_sum_dilated(%x: tensor<3x4xf64>) -> tensor<3x5xf64> {
  %0 = weft.reduce_window sum %x window [2, 3] strides [2, 1] dilations [1, 1] low [1, -1] high [1, 1] input_dilations [2, 2] : tensor<3x4xf64> -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @reduce_window_max(%x: tensor<2x5x5xf64>) -> (tensor<2x3x3xf64>, tensor<2x3x3xf64>) {
  %0 = weft.reduce_window max %x window [1, 3, 3] strides [1, 2, 2] dilations [1, 1, 1] low [0, 1, 1] high [0, 1, 1] : tensor<2x5x5xf64> -> tensor<2x3x3xf64>
  %1 = weft.reduce_window min %x window [1, 3, 3] strides [1, 2, 2] dilations [1, 1, 1] low [0, 1, 1] high [0, 1, 1] : tensor<2x5x5xf64> -> tensor<2x3x3xf64>
  return %0, %1 : tensor<2x3x3xf64>, tensor<2x3x3xf64>
}

// Windows that see padding alone, and elements between those that are dilated.
func.func @reduce_window_max_dilated(%x: tensor<3x2xf64>) -> tensor<4x2xf64> {
  %0 = weft.reduce_window max %x window [2, 1] strides [2, 1] dilations [2, 1] low [3, 0] high [2, 0] input_dilations [2, 1] : tensor<3x2xf64> -> tensor<4x2xf64>
  return %0 : tensor<4x2xf64>
}

func.func @reduce_window_prod(%x: tensor<6xf64> {test.values = dense<[0.5, 0.0, -3.0, 2.0, 1.5, 0.7]> : tensor<6xf64>}) -> tensor<6xf64> {
  %0 = weft.reduce_window prod %x window [3] strides [1] dilations [1] low [1] high [1] : tensor<6xf64> -> tensor<6xf64>
  return %0 : tensor<6xf64>
}

//===----------------------------------------------------------------------===//
// Several operations
//===----------------------------------------------------------------------===//

// A value of several uses, one of them by an integer.
func.func @uses(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xi1>) {
  %0 = weft.mul %x, %x : tensor<2x3xf64>
  %1 = weft.add %0, %x : tensor<2x3xf64>
  %2 = weft.compare gt %1, %0 : tensor<2x3xf64>
  %3 = weft.select %2, %1, %0 : tensor<2x3xi1>, tensor<2x3xf64>
  return %3, %2 : tensor<2x3xf64>, tensor<2x3xi1>
}

// On nothing that is asked for.
func.func @unused(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  return %x : tensor<2xf64>
}
