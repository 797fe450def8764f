//===- Passes.td - from per-device tensors to instructions ----------------===//
//
// Order: weft-decompose-attention, weft-decompose-padding, weft-decompose-windows, canonicalize, cse, weft-form-kernels, weft-select-instructions,
// weft-schedule-instructions, weft-place-buffers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LOWERING_PASSES_TD
#define WEFT_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposeAttention : Pass<"weft-decompose-attention", "::mlir::func::FuncOp"> {
  let summary = "writes attention, and its gradients, as products around a masked softmax";
  let description = [{
    Every `weft.attention` that no library of the target does becomes `dot_general`, the scores' arithmetic (scale,
    soft-cap, bias, mask), `softmax`, and `dot_general`. Causal masks, windows and query offsets are compared from iotas,
    which the kernel computes on the fly; no mask is stored. Groups of query heads that share a key head become a
    dimension of the products (`[b, g, r, s, d] x [b, g, t, d]`), so keys and values are never repeated. Fully masked rows
    follow `masked_rows`: `nan` masks with -inf, `uniform` with the least finite number, `zero` clears rows whose scores
    are all -inf.

    Every such `weft.attention_backward` becomes the same scores, their exponentials less `lse`, and four products. Where
    the scores of all heads would be more bytes than the target wants to hold at once, both are first split by key
    heads, into at most eight parts that are computed one after the other and joined.

    Precondition: types are those of one device. Postcondition: the only `weft.attention` and `weft.attention_backward` left
    in the function are those of the target's libraries.

    ```mlir
    %o = weft.attention %q, %k, %v scale 0.125 causal masked_rows nan
        : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
    ```
    becomes
    ```mlir
    %s = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3]
        : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
    %scale = weft.constant dense<1.250000e-01> : tensor<1x2x4x4xf32>
    %scaled = weft.mul %s, %scale : tensor<1x2x4x4xf32>
    %i = weft.iota 2 : tensor<1x2x4x4xi32>
    %j = weft.iota 3 : tensor<1x2x4x4xi32>
    %visible = weft.compare le %j, %i : tensor<1x2x4x4xi32>
    %least = weft.constant dense<0xFF800000> : tensor<1x2x4x4xf32>
    %masked = weft.select %visible, %scaled, %least : tensor<1x2x4x4xi1>, tensor<1x2x4x4xf32>
    %p = weft.softmax %masked axis 3 : tensor<1x2x4x4xf32>
    %o = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2]
        : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "for which device: cpu, cuda, generic">,
    Option<"scoreBytes", "score-bytes", "int64_t", "0", "bytes of scores held at once (0: what the target wants)">
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def DecomposePadding : Pass<"weft-decompose-padding", "::mlir::func::FuncOp"> {
  let summary = "writes masks of padding as a comparison and a selection";
  let description = [{
    Every `dist.mask_padding` becomes a `weft.select` of its operand where positions, which the kernel counts on the
    fly, are below what is left of the extent behind this device's block; nothing is stored.

    Precondition: types are those of one device. Postcondition: no `dist.mask_padding` is left in the function.

    ```mlir
    %1 = dist.mask_padding sum %0 dim 1 of 7 axes ["model"] on @mesh : tensor<8x4xf32>
    ```
    becomes
    ```mlir
    %start = dist.offset axes ["model"] block 4 on @mesh : tensor<i64>
    %extent = weft.constant dense<7> : tensor<i64>
    %left = weft.sub %extent, %start : tensor<i64>
    %limit = weft.broadcast %left dims [] : tensor<i64> to tensor<8x4xi64>
    %i = weft.iota 1 : tensor<8x4xi64>
    %inside = weft.compare lt %i, %limit : tensor<8x4xi64>
    %zero = weft.constant dense<0.0> : tensor<8x4xf32>
    %1 = weft.select %inside, %0, %zero : tensor<8x4xi1>, tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::dist::DistDialect"];
}

def DecomposeWindows : Pass<"weft-decompose-windows", "::mlir::func::FuncOp"> {
  let summary = "writes input dilation and negative padding of windows out";
  let description = [{
    Where a `weft.conv` or `weft.reduce_window` has input dilations or negative padding, its input is dilated with the
    reduction's identity (a row of padding behind each element) and cropped first. Of a convolution whose window is one
    element it is the result that is dilated, cropped and padded: nothing is multiplied by the zeros.

    Precondition: types are those of one device. Postcondition: windows have no input dilations and no negative padding.

    ```mlir
    %y = weft.conv %x, %k strides [1] low [1] high [-1] dilations [1] input_dilations [2] groups 1
        : (tensor<1x2x4xf32>, tensor<3x2x2xf32>) -> tensor<1x3x6xf32>
    ```
    becomes
    ```mlir
    %zero = weft.constant dense<0.0> : tensor<f32>
    %rows = weft.reshape %x : tensor<1x2x4xf32> to tensor<1x2x4x1xf32>
    %padded = weft.pad %rows, %zero low [0, 0, 0, 0] high [0, 0, 0, 1] : (tensor<1x2x4x1xf32>, tensor<f32>) -> tensor<1x2x4x2xf32>
    %joined = weft.reshape %padded : tensor<1x2x4x2xf32> to tensor<1x2x8xf32>
    %input = weft.slice %joined starts [0, 0, 0] strides [1, 1, 1] : tensor<1x2x8xf32> to tensor<1x2x6xf32>
    %y = weft.conv %input, %k strides [1] low [1] high [0] dilations [1] groups 1
        : (tensor<1x2x6xf32>, tensor<3x2x2xf32>) -> tensor<1x3x6xf32>
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def MoveChannelsLast : Pass<"weft-move-channels-last", "::mlir::func::FuncOp"> {
  let summary = "has convolutions read and write images whose channels are last";
  let description = [{
    Kernels of convolutions read all channels of a point together: images lie as [n, s…, c] from convolution to
    convolution, instead of being reordered before and behind each. What is computed of a convolution's result is made
    again on such images: elementwise operations (broadcast and constant operands move for nothing), windows, sums that
    leave n and c, concatenation, and what ranks exchange of it. Where others read or make an image, it is transposed.

    Only where the target wants it for all convolutions of the function (compiler/Kernel/Target.h): one that does not
    would have its images transposed to and fro. Kernels' gradients read them as they were.

    Precondition: windows are plain. Postcondition: convolutions read and are read through transposes, of which the form
    of kernels makes views.

    ```mlir
    %1 = weft.conv %x, %k strides [1] low [1] high [1] dilations [1] groups 1
        : (tensor<2x16x8xf32>, tensor<32x16x3xf32>) -> tensor<2x32x8xf32>
    %2 = weft.tanh %1 : tensor<2x32x8xf32>
    ```
    becomes
    ```mlir
    %x1 = weft.transpose %x [0, 2, 1] : tensor<2x16x8xf32> -> tensor<2x8x16xf32>
    %x2 = weft.transpose %x1 [0, 2, 1] : tensor<2x8x16xf32> -> tensor<2x16x8xf32>
    %1 = weft.conv %x2, %k strides [1] low [1] high [1] dilations [1] groups 1
        : (tensor<2x16x8xf32>, tensor<32x16x3xf32>) -> tensor<2x32x8xf32>
    %r1 = weft.transpose %1 [0, 2, 1] : tensor<2x32x8xf32> -> tensor<2x8x32xf32>
    %r2 = weft.tanh %r1 : tensor<2x8x32xf32>
    %2 = weft.transpose %r2 [0, 2, 1] : tensor<2x8x32xf32> -> tensor<2x32x8xf32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "for which device: cpu, cuda, generic">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def FetchStates : Pass<"weft-fetch-states", "::mlir::ModuleOp"> {
  let summary = "brings states that lie in the host's memory to the device, and back";
  let description = [{
    Selection has instructions name states where they lie. Of those that lie in the host's memory a segment gets a buffer
    on the device for each that it names: a copy fetches the state before the first instruction that reads it, another
    writes it back behind the last where one has changed it. Of instructions that need such states one after another, each
    computes while what the next one needs is fetched, and what the last one changed is written back: there is memory for
    the states of three.

    Precondition: programs over buffers without asynchronous instructions. Postcondition: copies alone name the host's
    memory.

    ```mlir
    weight_block @"optimizer.m:w" start <0> strides [1] into <host, 0, f32 [64] value 1>
    segment @update {
      launch "k1" [<activations, 0, f32 [64] value 2>, <host, 0, f32 [64] value 1>] to [<host, 0, f32 [64] value 1>]
          params [] tiles 1 grain 1 checks [] priced <…>
    }
    ```
    becomes
    ```mlir
    weight_block @"optimizer.m:w" start <0> strides [1] into <host, 0, f32 [64] value 1>
    segment @update {
      copy <host, 0, f32 [64] value 1> to <activations, 0, f32 [64] value 3> priced <…>
      launch "k1" [<activations, 0, f32 [64] value 2>, <activations, 0, f32 [64] value 3>]
          to [<activations, 0, f32 [64] value 3>] params [] tiles 1 grain 1 checks [] priced <…>
      copy <activations, 0, f32 [64] value 3> to <host, 0, f32 [64] value 1> priced <…>
    }
    ```
  }];
  let dependentDialects = ["::weft::exec::ExecDialect"];
}

def FormKernels : Pass<"weft-form-kernels", "::mlir::ModuleOp"> {
  let summary = "outlines what is not a library call or a collective into fused kernels";
  let description = [{
    Partitions the weft operations of @main into groups that one loop over rows computes, and outlines each group as
    `func.func private @kernel_<n>` with the unit attribute `exec.kernel`. Operations that only move or make data
    (constant, iota, broadcast, transpose, reshape, slice) are copied into the groups that read them. Groups of the
    same structure share one function, so the number of kernels does not grow with depth. In kernels, operations that
    consist of others (softmax, normalisations, rotary embeddings) are written out in these (Decomposition.h).

    A kernel computes again what another would keep in memory for it where that takes few operations on no more bytes
    (compiler/Kernel/FusionRepeats.h): kernels that a collective parts cast, shift and mask each for itself.

    Boundaries: load, store, every operation of another dialect, and what the target calls a library for
    (compiler/Kernel/Target.h). `cpu` has one for products of f32 and for convolutions; `generic` has none, so that its
    products are kernels and it refuses convolutions.

    What remains in @main: boundaries, calls, and *views*: chains of transpose, reshape and slice between a boundary
    or kernel and a dot_general or conv, each of which is a strided view of its source's buffer; a reshape may also
    stand between any two (it moves nothing when its operand is contiguous). Everything else is contiguous in row-major
    order, but for these, marked by `exec.strides` (in elements):
    - on a dot_general or conv: the strides of the buffer into which it writes its result, a permuted contiguous block,
      chosen so that the transposes and reshapes behind it become a contiguous view of it;
    - on a kernel's argument: the strides with which the kernel reads it, where its operand is a `dist.slice` or such
      a result.

    A matrix [rows, columns…] that never changes, and that only products read, as right factor, is marked `exec.panels`
    where the target wants it stored in panels, one behind the other: the extent of its second dimension in each; `exec.by_columns` where it wants
    each column contiguous.

    A kernel that reads a convolution's result element by element, where nothing else does, may follow it piece by piece (compiler/Kernel/Epilogue.h), if
    the target can do that: its call carries `exec.epilogue`, the number of that operand, its argument `exec.in_place`, and the convolution stands right
    before the call.

    Units stand where their first operations do, but what makes a state's next value as early as it can: a gradient that is joined is gone once its part,
    through views and conversions too, has been added to the state, with a little sent behind it meanwhile.

    An argument that comes from `dist.offset` is marked `exec.param` and becomes an integer parameter.

    Precondition: no `weft.attention` and no gradients of it but those of the target's libraries. Postcondition: every weft operation left in @main is one of those above.

    ```mlir
    func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
      %0 = weft.broadcast %b dims [1] : tensor<8xf32> to tensor<4x8xf32>
      %1 = weft.add %x, %0 : tensor<4x8xf32>
      %2 = weft.gelu tanh %1 : tensor<4x8xf32>
      return %2 : tensor<4x8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
      %0 = call @kernel_0(%x, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    func.func private @kernel_0(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> attributes {exec.kernel} {
      %0 = weft.broadcast %b dims [1] : tensor<8xf32> to tensor<4x8xf32>
      %1 = weft.add %x, %0 : tensor<4x8xf32>
      %2 = weft.gelu tanh %1 : tensor<4x8xf32>
      return %2 : tensor<4x8xf32>
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "for which device: cpu, cuda, generic">];
  let dependentDialects = ["::weft::WeftDialect", "::mlir::func::FuncDialect"];
}

def PlaceBuffers : Pass<"weft-place-buffers", "::mlir::ModuleOp"> {
  let summary = "gives every buffer its place in an arena";
  let description = [{
    Buffers that are kept at the same time lie apart; where they are not, they share bytes: largest first, each into
    the smallest gap that fits (compiler/Lowering/Arena.h). A buffer is kept while instructions name it, and longer
    where it is an input, an output, or read by later executions of a segment (compiler/Lowering/Lifetimes.h). Where an
    instruction may write in place and its operand ends with it, the result takes the operand's place.

    Precondition: programs over buffers. Postcondition: placed programs: no `exec.buffer`, one `exec.arena` of each kind
    that is used. Instructions and their order stay.

    ```mlir
    exec.program @class0 ranks 0 to 1 schedule [#exec.entry<@forward, forward>] {
      buffer 1 activations 32 align 64 live step
      buffer 2 activations 32 align 64 live uses
      buffer 3 activations 32 align 64 live uses
      buffer 4 activations 32 align 64 live end
      port input "x" [8] split [[]] on @mesh at <activations, 0, f32 [8] value 1>
      segment @forward {
        copy <activations, 0, f32 [8] value 1> to <activations, 0, f32 [8] value 2> priced <…>
        copy <activations, 0, f32 [8] value 2> to <activations, 0, f32 [8] value 3> priced <…>
        copy <activations, 0, f32 [8] value 3> to <activations, 0, f32 [8] value 4> priced <…>
      }
    }
    ```
    becomes
    ```mlir
    exec.program @class0 ranks 0 to 1 schedule [#exec.entry<@forward, forward>] {
      arena activations 192 align 64
      port input "x" [8] split [[]] on @mesh at <activations, 0, f32 [8] value 1>
      segment @forward {
        copy <activations, 0, f32 [8] value 1> to <activations, 64, f32 [8] value 2> priced <…>
        copy <activations, 64, f32 [8] value 2> to <activations, 128, f32 [8] value 3> priced <…>
        copy <activations, 128, f32 [8] value 3> to <activations, 64, f32 [8] value 4> priced <…>
      }
    }
    ```
  }];
  let dependentDialects = ["::weft::exec::ExecDialect"];
}

def ScheduleInstructions : Pass<"weft-schedule-instructions", "::mlir::ModuleOp"> {
  let summary = "orders instructions so that communication, and copies from and to the host, run beside computation";
  let description = [{
    Within each segment, collectives and messages begin as soon as their operands are there, on the communication
    stream, and are waited for where their result is needed or their operands change; instructions that need the result
    are put off while there is other work (compiler/Lowering/Schedule.h). So do copies between the host's memory and a
    device that has another, on the copy stream; what they fetch comes only a little before it is needed. Which instructions must stay in order follows
    from the buffers that they name (compiler/Lowering/Dependences.h). Collectives may overtake one another, on all ranks
    alike. Messages keep their order, which no collective overtakes, and what needs one keeps its place behind those
    that stood before it: its sender may wait for them.

    Nothing changes where the clock sees nothing won, and where values would take more bytes at a time. Communication
    beside which there is less to do than handing it over costs stays synchronous. The clock is that of the cluster in the
    module's `weft.cluster`, which --weft-apply-plan leaves there, else the target's estimates.

    This pass may be left out or replaced: the form before and after it is the same. Results do not change in any bit.

    Precondition: programs over buffers without asynchronous instructions. Postcondition: the same instructions, and an
    `exec.wait` for each that is asynchronous.

    ```mlir
    segment @forward {
      gemm <…value 1>, <…value 2> to <activations, 0, f32 [512, 512] value 3> priced <…>
      collective all_reduce sum axes ["model"] on @mesh <…value 3> to <…value 4> priced <…>
      launch "k1" [<…value 4>] to [<…value 5>] params [] tiles 512 grain 1 checks [] priced <…>
      gemm <…value 1>, <…value 6> to <…value 7> priced <…>
    }
    ```
    becomes
    ```mlir
    segment @forward {
      gemm <…value 1>, <…value 2> to <activations, 0, f32 [512, 512] value 3> priced <…>
      collective all_reduce sum axes ["model"] on @mesh <…value 3> to <…value 4> priced <…> async <communication, 1>
      gemm <…value 1>, <…value 6> to <…value 7> priced <…>
      wait 1 priced <…>
      launch "k1" [<…value 4>] to [<…value 5>] params [] tiles 512 grain 1 checks [] priced <…>
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "whose times are estimated: cpu, cuda, generic">];
  let dependentDialects = ["::weft::exec::ExecDialect"];
}

def SelectInstructions : Pass<"weft-select-instructions", "::mlir::ModuleOp"> {
  let summary = "turns @main into instructions over buffers";
  let description = [{
    Every value becomes a strided view of a buffer. Transposes, reshapes, slices and `dist.slice` are views where strides
    express them, else copies; `weft.dot_general` becomes one strided `exec.gemm`, a call of a kernel `exec.launch`, a
    collective `exec.collective` over contiguous blocks (packed by a copy where its dimension is not outermost),
    `dist.load_shard` an `exec.weight_block`; blocks that several loads want are held once. Every instruction is priced.
    Nothing depends on a rank's number: offsets are affine in coordinates. Instructions stand in the order of @main;
    what must stay before what follows from the buffers that they name.

    Precondition: one mesh or none; only what --weft-form-kernels leaves is in @main. Postcondition: programs over buffers, no
    @main, meshes and weights are exec's; the kernels' functions remain, for the code generator.

    ```mlir
    weft.weight @w : tensor<8x4xf32> = #weft.external<"w.bin", 0, 128>
    func.func @main(%x: tensor<2x8xf32> {weft.name = "x"}) -> (tensor<2x4xf32> {weft.name = "y"}) {
      %w = weft.load @w : tensor<8x4xf32>
      %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0]
          : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    }
    ```
    becomes
    ```mlir
    exec.mesh @mesh []
    exec.weight @w f32 [8, 4] = #exec.external<"w.bin", 0, 128>
    exec.program @class0 ranks 0 to 1 schedule [#exec.entry<@forward, forward>] {
      buffer 1 activations 64 align 64 live step
      buffer 2 weights 128 align 64 live step
      buffer 3 activations 32 align 64 live end
      port input "x" [2, 8] split [[], []] on @mesh at <activations, 0, f32 [2, 8] value 1>
      port output "y" [2, 4] split [[], []] on @mesh at <activations, 0, f32 [2, 4] value 3>
      weight_block @w start <0> strides [1] into <weights, 0, f32 [32] value 2>
      segment @forward {
        gemm <activations, 0, f32 [2, 8] value 1>, <weights, 0, f32 [8, 4] value 2>
            to <activations, 0, f32 [2, 4] value 3>
            priced <"", 128 flops, 192 read, 32 written, "gemm b=1 m=2 n=4 k=8 f32">
      }
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "for which device: cpu, cuda, generic">];
  let dependentDialects = ["::weft::exec::ExecDialect"];
}

#endif // WEFT_LOWERING_PASSES_TD
