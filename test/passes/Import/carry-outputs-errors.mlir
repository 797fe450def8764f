// RUN: not weft-opt %s --weft-carry-outputs='pairs=z=x' 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: cannot carry outputs: the model has no output 'z'
// RUN: not weft-opt %s --weft-carry-outputs='pairs=y=z' 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: cannot carry outputs: the model has no input 'z'
// RUN: not weft-opt %s --weft-carry-outputs='pairs=y=x' 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: cannot carry outputs: output 'y' is 'tensor<2xf32>', but input 'x' is 'tensor<4xf32>'
// RUN: not weft-opt %s --weft-carry-outputs='pairs=w=x,w=x' 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: cannot carry outputs: input 'x' is given twice
// RUN: not weft-opt %s --weft-carry-outputs='pairs=w=x,w=other' 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: cannot carry outputs: input 'other' is given twice
// RUN: not weft-opt %s --weft-carry-outputs='pairs=q*=x*' 2>&1 | FileCheck %s --check-prefix=PREFIX
// PREFIX: cannot carry outputs: the model has no output whose name begins with 'q'
// RUN: not weft-opt %s --weft-carry-outputs='pairs=w*=x' 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: cannot carry outputs: expected OUTPUT=INPUT, or a prefix of each with a trailing *, got: w*=x

func.func @main(%x: tensor<4xf32> {weft.name = "x"} loc(fused["x", "other"])) -> (tensor<2xf32> {weft.name = "y"}, tensor<4xf32> {weft.name = "w"}) {
  %0 = weft.slice %x starts [0] strides [1] : tensor<4xf32> to tensor<2xf32>
  return %0, %x : tensor<2xf32>, tensor<4xf32>
}
