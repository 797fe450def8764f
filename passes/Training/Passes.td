//===- Passes.td - a model becomes a training step ------------------------===//

#ifndef WEFT_TRAINING_PASSES_TD
#define WEFT_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"weft-differentiate", "::mlir::ModuleOp"> {
  let summary = "adds the gradients of the trained weights to @main";
  let description = [{
    Differentiates the result of @main that has `weft.role = "loss"`, a scalar of floats, by all weights of kind
    `trained` (compiler/Training/Differentiate.h). @main then returns that loss, and for each of them, in their order,
    its gradient: a result with `weft.name = "grad:NAME"` and `weft.role = "gradient"`. Other results are dropped. A
    weight on which the loss does not depend becomes a `parameter` again, with a warning.

    Precondition: one block; every operation between a trained weight and the loss has a gradient.

    ```mlir
    weft.weight kind(trained) @w : tensor<8xf32> = dense<1.0> : tensor<8xf32>
    func.func @main(%x: tensor<8xf32>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
      %w = weft.load @w : tensor<8xf32>
      %0 = weft.mul %x, %w : tensor<8xf32>
      %1 = weft.reduce sum %0 dims [0] : tensor<8xf32> -> tensor<f32>
      return %1 : tensor<f32>
    }
    ```
    becomes
    ```mlir
    weft.weight kind(trained) @w : tensor<8xf32> = dense<1.0> : tensor<8xf32>
    func.func @main(%x: tensor<8xf32>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<8xf32> {weft.name = "grad:w", weft.role = "gradient"}) {
      %w = weft.load @w : tensor<8xf32>
      %0 = weft.mul %x, %w : tensor<8xf32>
      %1 = weft.reduce sum %0 dims [0] : tensor<8xf32> -> tensor<f32>
      %one = weft.constant dense<1.0> : tensor<f32>
      %d0 = weft.broadcast %one dims [] : tensor<f32> to tensor<8xf32>
      %dw = weft.mul %d0, %x : tensor<8xf32>
      return %1, %dw : tensor<f32>, tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

#endif // WEFT_TRAINING_PASSES_TD
