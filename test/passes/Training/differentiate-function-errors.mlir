// RUN: not weft-opt %s --weft-differentiate='function=blok wrt=0' 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: expected a function @blok with a body of one block
// RUN: not weft-opt %s --weft-differentiate='function=block wrt=2' 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: cannot be differentiated by argument 2: it has none
// RUN: not weft-opt %s --weft-differentiate='function=block wrt=1' 2>&1 | FileCheck %s --check-prefix=INTEGERS
// INTEGERS: cannot be differentiated by argument 1: its elements are no floats
// RUN: not weft-opt %s --weft-differentiate='function=block wrt=w' 2>&1 | FileCheck %s --check-prefix=WEIGHT
// WEIGHT: cannot be differentiated by weight 'w': it has none

func.func @block(%x: tensor<4xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
