//===- Passes.td - a model becomes a training step ------------------------===//
//
// Order: weft-add-loss, weft-select-parameters, weft-differentiate, weft-add-optimizer, canonicalize, cse,
// weft-drop-unused-weights, weft-recompute.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_PASSES_TD
#define WEFT_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

class TrainingPass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let options = [Option<"training", "training", "std::string", "",
                        "what to train and how: the text form of plan.Training (compiler/Plan/plan.proto)">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def AddLoss : TrainingPass<"weft-add-loss"> {
  let summary = "makes a loss of a value of the model";
  let description = [{
    Appends to @main the loss that the request names, a result with `weft.name = "loss"` and `weft.role = "loss"`, one
    f32: an output as it is, or what compiler/Training/Losses.h builds of a value and of labels, which become the last
    argument. Cross-entropy is the mean over the labels that are not ignored; the others mean all elements. A scale of the
    loss becomes a weight `optimizer.scale`, a state where it is dynamic.

    Precondition: one block. Postcondition: one result is the loss.

    With `training={loss { kind: MSE value: "y" labels: "labels" }}`,

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32> {weft.name = "y"}) {
      %0 = weft.tanh %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%x: tensor<8xf32>, %labels: tensor<8xf32> {weft.name = "labels"}) -> (tensor<8xf32> {weft.name = "y"}, tensor<f32> {weft.name = "loss", weft.role = "loss"}) {
      %0 = weft.tanh %x : tensor<8xf32>
      %1 = weft.sub %0, %labels : tensor<8xf32>
      %2 = weft.mul %1, %1 : tensor<8xf32>
      %3 = weft.reduce sum %2 dims [0] : tensor<8xf32> -> tensor<f32>
      %eighth = weft.constant dense<0.125> : tensor<f32>
      %4 = weft.mul %3, %eighth : tensor<f32>
      return %0, %4 : tensor<8xf32>, tensor<f32>
    }
    ```
  }];
}

def AddOptimizer : TrainingPass<"weft-add-optimizer"> {
  let summary = "updates the trained weights by their gradients";
  let description = [{
    Appends to @main what the optimizer does with each result of `weft.role = "gradient"` (compiler/Training/UpdateRule.h):
    the weight of that name is stored, and what the optimizer keeps for it between steps becomes a state, zero at first:
    `optimizer.m:NAME` and so on, and for all of them the number of steps done, `optimizer.step`. Gradients are those of
    the loss itself, without its scale, and are clipped together. Of weights narrower than f32 gradients are widened, and a
    state `optimizer.master:NAME` of f32 is what is updated; the weight is rounded from it. A step whose gradients are not
    finite changes nothing but the scale, where that is dynamic. The module is given the attribute `weft.training`.

    Of a step that takes several batches of the model loss and gradients are summed up over them first (`dist.accumulate`),
    and the states that the model changes itself are marked `weft.each_microbatch`.

    Precondition: weft-differentiate has run. Postcondition: every weight that has a gradient is stored.

    With `training={optimizer { kind: SGD learning_rate: 0.5 }}`,

    ```mlir
    weft.weight kind(trained) @w : tensor<8xf32> = dense<1.0> : tensor<8xf32>
    func.func @main(%x: tensor<8xf32>) -> (…, tensor<8xf32> {weft.name = "grad:w", weft.role = "gradient"}) {
      …
      return %loss, %x : tensor<f32>, tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    weft.weight kind(trained) @w : tensor<8xf32> = dense<1.0> : tensor<8xf32>
    weft.weight kind(state) @optimizer.step : tensor<i64> = dense<0> : tensor<i64>
    func.func @main(%x: tensor<8xf32>) -> (…, tensor<8xf32> {weft.name = "grad:w", weft.role = "gradient"}) {
      …
      %done = weft.load @optimizer.step : tensor<i64>
      %one = weft.constant dense<1> : tensor<i64>
      %step = weft.add %done, %one : tensor<i64>
      weft.store @optimizer.step, %step : tensor<i64>
      %half = weft.constant dense<0.5> : tensor<8xf32>
      %w = weft.load @w : tensor<8xf32>
      %moved = weft.mul %x, %half : tensor<8xf32>
      %new = weft.sub %w, %moved : tensor<8xf32>
      weft.store @w, %new : tensor<8xf32>
      return %loss, %x : tensor<f32>, tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::dist::DistDialect"];
}

def Differentiate : Pass<"weft-differentiate", "::mlir::ModuleOp"> {
  let summary = "adds the gradients of the trained weights to @main";
  let description = [{
    Differentiates the result of @main that has `weft.role = "loss"`, a scalar of floats, by all weights of kind
    `trained` (compiler/Training/Differentiate.h). @main then returns that loss, and for each of them, in their order,
    its gradient: a result with `weft.name = "grad:NAME"` and `weft.role = "gradient"`. Other results are dropped. A
    weight on which the loss does not depend becomes a `parameter` again, with a warning. Where the module has a weight
    `optimizer.scale` (loss scaling), gradients are those of the loss times its value.

    With `function=NAME`, a block or a stage, that function is differentiated instead, by what `wrt` lists: arguments by
    their numbers, weights by their names. A function `grad:NAME` is added, of NAME's arguments and the gradients of its
    results; it returns NAME's results and the gradients of what is listed.

    Precondition: one block; every operation between a trained weight and the loss has a gradient. Postcondition: what
    stands behind the loss is the backward pass.

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
  let options = [
    Option<"function", "function", "std::string", "", "the function to differentiate; none: @main's loss">,
    ListOption<"wrt", "wrt", "std::string", "arguments (numbers) and weights (names) to differentiate the function by">
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def Recompute : Pass<"weft-recompute", "::mlir::ModuleOp"> {
  let summary = "keeps for the backward pass what is worth it, and computes the rest again";
  let description = [{
    What stands behind the loss in @main is the backward pass. Values of the forward pass that it reads are kept, and
    read through `weft.barrier`, or computed again from kept ones where they are read first
    (compiler/Training/Recompute.h). `mode` says what may be computed again: `none` (what is cheap), `selective`
    (activations, too), `full` (blocks, from what goes into them), `auto` (the first of these that keeps at most
    `limit` bytes; `none` if there is no limit).

    Precondition: a result of @main has `weft.role = "loss"`. Postcondition: what stands behind the loss reads weights,
    arguments, barriers, and what itself computes.

    ```mlir
    func.func @main(%x: tensor<8x4xf32>) -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<8x4xf32> {weft.name = "grad:w", weft.role = "gradient"}) {
      %0 = weft.dot_general %x, %w …
      %1 = weft.max %0, %zero : tensor<8x4xf32>
      %loss = …
      %2 = weft.mul %1, %g : tensor<8x4xf32>
    ```
    becomes
    ```mlir
      %0 = weft.dot_general %x, %w …
      %1 = weft.max %0, %zero : tensor<8x4xf32>
      %loss = …
      %kept = weft.barrier %0 : tensor<8x4xf32>
      %again = weft.max %kept, %zero : tensor<8x4xf32>
      %2 = weft.mul %again, %g : tensor<8x4xf32>
    ```
    where %0 is kept for another reason.
  }];
  let options = [
    Option<"mode", "mode", "std::string", "\"none\"", "what is computed again: none, selective, full, auto">,
    Option<"limit", "limit", "int64_t", "0", "bytes that auto may keep (0: any)">
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def SelectParameters : TrainingPass<"weft-select-parameters"> {
  let summary = "says which weights are trained";
  let description = [{
    Weights of kind `parameter` and of floats become `trained`: those that the request names, those in whose names its
    pattern is found, or all that are not marked `weft.frozen` (where all are, every one, with a warning). Parameters that
    lie at one place of a file (tied weights) become one, the first.

    Precondition: none. Postcondition: at least one weight is trained; no two parameters share their bytes.

    With `training={parameter_pattern: "up"}`,

    ```mlir
    weft.weight @h.up : tensor<8xf32> = #weft.external<"w.bin", 0, 32>
    weft.weight @h.down : tensor<8xf32> = #weft.external<"w.bin", 32, 32>
    ```
    becomes
    ```mlir
    weft.weight kind(trained) @h.up : tensor<8xf32> = #weft.external<"w.bin", 0, 32>
    weft.weight @h.down : tensor<8xf32> = #weft.external<"w.bin", 32, 32>
    ```
  }];
}

#endif // WEFT_TRAINING_PASSES_TD
