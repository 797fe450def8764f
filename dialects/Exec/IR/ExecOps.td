//===- ExecOps.td - operations of the exec dialect ------------------------===//

#ifndef EXEC_OPS_TD
#define EXEC_OPS_TD

include "dialects/Exec/IR/ExecAttention.td"
include "dialects/Exec/IR/ExecInstruction.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

//===----------------------------------------------------------------------===//
// Module level, alphabetical
//===----------------------------------------------------------------------===//

def Exec_MeshOp : Exec_Op<"mesh", [Symbol]> {
  let summary = "a named grid of ranks";
  let description = [{
    A mesh of n ranks holds the ranks from `first_rank` on, row-major over the axes; `device_order`, where given, lists
    the rank of each position, counted from there.

    **Constraints**
    - C1: axis names are unique and sizes ≥ 1.
    - C2: `device_order` is a permutation of 0 … number of ranks - 1.
    - C3: `first_rank` ≥ 0.

    Example: `exec.mesh @mesh ["data"=2, "model"=4]`, behind it `exec.mesh @mesh1 ["data"=2] from 8`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypedArrayAttrBase<Exec_MeshAxisAttr, "mesh axes">:$axes,
                       OptionalAttr<DenseI64ArrayAttr>:$device_order,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$first_rank);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumRanks();
    /// Number of coordinates along `axes`; 0 where one is not an axis (or sub-axis) of this mesh.
    int64_t getExtent(::llvm::ArrayRef<AxisAttr> axes);
  }];
}

def Exec_ProgramOp : Exec_Op<"program", [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, SingleBlock,
                                         RegionKindInterface, OpAsmOpInterface]> {
  let summary = "what every rank of a class executes";
  let description = [{
    Arenas or buffers, ports, weight blocks, segments, and a schedule that walks them.

    **Constraints**
    - C1: 0 ≤ `begin` < `end`; the ranks [begin, end) belong to this class.
    - C2: at most one arena of a kind, but of activations, which have frames of their own; every operand's arena is
      declared.
    - C3: the schedule names segments of the program; repeats are of at least one iteration, and indices have no more
      steps than there are repeats around them; an entry names each kind of arena once, none of weights, state or host.
    - C4: a program over buffers has no arenas; buffers' numbers are unique; every operand's value is the number of a
      buffer of the operand's kind of arena, within whose bytes an operand of constant offset lies.
    - C5: a token belongs to one asynchronous instruction, and some `exec.wait` names it; waits name no other.
    - C6: the frames that an entry names are those of an arena, the same in all entries of a segment; the first is one of
      them.
    - C7: of the instructions of a program with arenas copies alone name the host's memory.

    Example:
    ```mlir
    exec.program @class0 ranks 0 to 4 schedule [#exec.entry<@forward, forward>] {
      exec.arena activations 4096
      exec.segment @forward { … }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$begin, I64Attr:$end,
                       Exec_Schedule:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `ranks` $begin `to` $end `schedule` $schedule attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    static ::mlir::RegionKind getRegionKind(unsigned) { return ::mlir::RegionKind::Graph; }
    static ::llvm::StringRef getDefaultDialect() { return "exec"; }
  }];
}

def Exec_WeightOp : Exec_Op<"weight", [Symbol]> {
  let summary = "a whole tensor in a file, of which ranks read blocks";
  let description = [{
    Storage is `#exec.external`, a `dense_resource` (a computed constant, written into the executable) or a splat.

    **Constraints**
    - C1: the element type is one that operands may have; a file holds at least the bytes of the shape.
    - C2: storage is `#exec.external` or elements.

    Example: `exec.weight @h0.mlp.up f32 [768, 3072] = #exec.external<"gpt2.onnx.data", 1024, 9437184>`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$dtype, DenseI64ArrayAttr:$shape, AnyAttr:$storage,
                       UnitAttr:$constant);
  let assemblyFormat = "(`constant` $constant^)? $sym_name $dtype $shape `=` $storage attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Members of a program, alphabetical
//===----------------------------------------------------------------------===//

def Exec_ArenaOp : Exec_ProgramMember<"arena"> {
  let summary = "memory of one kind, in bytes a frame";
  let description = [{
    `frames` copies of `bytes` bytes lie one after the other. Work that goes through frames of its own may have an arena
    of its own for them: its frames are those of the kind behind `begin` others.

    **Constraints**
    - C1: `bytes` ≥ 0; `alignment` is a power of two; `frames` ≥ 1; `begin` ≥ 0.
    - C2: weights, state and what lies in the host's memory have one frame.

    Examples: `exec.arena activations 65536 align 64 frames 4`; one more,
    `exec.arena activations 4096 align 64 frames 2 behind 4`
  }];
  let arguments = (ins Exec_ArenaKindAttr:$kind, I64Attr:$bytes, I64Attr:$alignment,
                       DefaultValuedAttr<I64Attr, "1">:$frames, DefaultValuedAttr<I64Attr, "0">:$begin);
  let assemblyFormat = "$kind $bytes `align` $alignment (`frames` $frames^)? (`behind` $begin^)? attr-dict";
  let hasVerifier = 1;
}

def Exec_BufferOp : Exec_ProgramMember<"buffer"> {
  let summary = "bytes without a place yet, of one kind of arena";
  let description = [{
    `live`: how long the bytes are kept. `step`: all the time (inputs, weights, state); `end`: from the first write to
    the step's end (outputs); `uses`: from the first to the last instruction that names the buffer.

    **Constraints**
    - C1: `number` ≥ 1; `bytes` ≥ 0; `alignment` is a power of two.

    Example: `exec.buffer 3 activations 4096 align 64 live uses`
  }];
  let arguments = (ins I64Attr:$number, Exec_ArenaKindAttr:$kind, I64Attr:$bytes, I64Attr:$alignment,
                       Exec_LifetimeAttr:$live);
  let assemblyFormat = "$number $kind $bytes `align` $alignment `live` $live attr-dict";
  let hasVerifier = 1;
}

def Exec_PortOp : Exec_ProgramMember<"port"> {
  let summary = "a global tensor that the user gives or gets";
  let description = [{
    `local` holds this rank's block: dimension i of `shape` is split by `sharding[i]`, axes major to minor. Where blocks
    are padded, `valid` tells of each dimension how many of its elements are the tensor's: that number, but no less than
    0 and no more than the extent.

    An output holds its value at the step's end. A gradient holds it where an `exec.observe` of its name stands, and
    nowhere else: its bytes are not kept for those who do not look.

    **Constraints**
    - C1: the mesh exists and has the axes; one list of axes per dimension.
    - C2: `local`'s extents times the extents of their axes are `shape`, or more where `valid` is given. A port of several
      frames is cut into as many equal parts along the dimension `along` first, and frame i holds this rank's block of the
      i-th; extents and `valid` are those of one.
    - C3: an `exec.observe` names every gradient.

    Example: `exec.port input "x" [8, 16] split [["data"], []] on @mesh at <ports, 0, f32 [1, 16]> along 0`, and a block
    of 7 columns over 2 ranks:
    `exec.port input "y" [7] split [["model"]] on @mesh at <activations, 0, f32 [4]> valid [#exec.affine<7 + -4 * ["model"]>]`
  }];
  let arguments = (ins Exec_DirectionAttr:$direction, StrAttr:$name, DenseI64ArrayAttr:$shape,
                       TypedArrayAttrBase<Exec_Axes, "axes per dimension">:$sharding, FlatSymbolRefAttr:$mesh,
                       Exec_OperandAttr:$local, OptionalAttr<Exec_Affines>:$valid,
                       DefaultValuedAttr<I64Attr, "0">:$along);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Exec_SegmentOp : Exec_ProgramMember<"segment", [Symbol, NoTerminator, SingleBlock, OpAsmOpInterface]> {
  let summary = "instructions executed in order";
  let description = [{
    Example: `exec.segment @forward { … }`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "exec"; }
  }];
}

def Exec_WeightBlockOp : Exec_ProgramMember<"weight_block"> {
  let summary = "a block of a weight that lies in an arena before the first step";
  let description = [{
    `local` is filled, in row-major order of its extents, from the weight's elements at `start` + Σ index·strides. Of a
    padded block so many elements of each dimension are filled as `valid` tells, but no less than 0 and no more than the
    extent; the others are zero.

    **Constraints**
    - C1: the weight exists and has `local`'s element type; one stride, and one number of valid elements where those are
      given, per extent of `local`.

    Example: `exec.weight_block @w start <0 + 64 * ["model"]> strides [256, 1] into <weights, 0, f32 [128, 64]>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight, Exec_AffineAttr:$start, DenseI64ArrayAttr:$strides,
                       Exec_OperandAttr:$local, OptionalAttr<Exec_Affines>:$valid);
  let assemblyFormat = "$weight `start` $start `strides` $strides `into` $local (`valid` $valid^)? attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Instructions, alphabetical
//===----------------------------------------------------------------------===//

def Exec_CollectiveOp : Exec_Instruction<"collective", ["Input"], ["Output"], [],
                                          ["isCommunication", "mayWriteInPlace"]> {
  let summary = "communication within the groups of ranks that differ only along `axes`";
  let description = [{
    Blocks of a group lie one after the other in the order of coordinates along `axes`. `permute`: the rank of
    coordinate c along `axes` sends to the rank of that coordinate along `to_axes`.

    **Constraints**
    - C1: the mesh exists and has the axes; `to_axes` is given for `permute` alone, a permutation of `axes`.
    - C2: both operands are contiguous and of one element type.
    - C3: with a group of n ranks, elements of output = input · n (all_gather), input / n (reduce_scatter), input (others;
      a multiple of n for all_to_all).

    Example:
    ```mlir
    exec.collective all_reduce sum axes ["model"] on @mesh <communication, 0, f32 [64]> to <communication, 0, f32 [64]>
        priced <"mlp", 64 flops, 256 read, 256 written, "all_reduce n=2 bytes=256"> async <communication, 1>
    ```
  }];
  let arguments = (ins Exec_CollectiveKindAttr:$kind, Exec_ReduceKindAttr:$reduction, Exec_Axes:$axes,
                       OptionalAttr<Exec_Axes>:$to_axes, FlatSymbolRefAttr:$mesh, Exec_OperandAttr:$input,
                       Exec_OperandAttr:$output, Exec_PriceAttr:$price, OptionalAttr<Exec_AsyncAttr>:$async);
  let hasCustomAssemblyFormat = 1;
}

def Exec_ConvOp : Exec_Instruction<"conv", [], ["Output"]> {
  let summary = "convolution by a library";
  let description = [{
    Input [n, c, spatial…], kernel [o, c/groups, window…], output [n, o, spatial'…] with
    spatial' = (spatial + low + high - dilation·(window-1) - 1) / stride + 1. With `kernel_gradient` the second operand
    is the gradient of that output, and the output is the kernel's gradient. An `epilogue` follows the convolution
    itself: what is read of the output is what it leaves.

    **Constraints**
    - C1: ranks agree and are ≥ 3; one entry of each list per spatial dimension; element types agree.
    - C2: channels are multiples of `groups`, and extents are as above.
    - C3: an epilogue follows no gradient; one of its inputs is the output, whose elements fill a range of memory, and
      its tiles are those of that range.

    Example:
    ```mlir
    exec.conv <activations, 0, f32 [1, 3, 8, 8]>, <weights, 0, f32 [4, 3, 2, 2]> to <activations, 1024, f32 [1, 4, 4, 4]>
        strides [2, 2] low [0, 0] high [0, 0] dilations [1, 1] groups 1 priced <"conv", 1, 1, 1, "">
    ```
  }];
  let arguments = (ins Exec_OperandAttr:$input, Exec_OperandAttr:$kernel, Exec_OperandAttr:$output,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups, UnitAttr:$kernel_gradient,
                       OptionalAttr<Exec_EpilogueAttr>:$epilogue, Exec_PriceAttr:$price);
  let getReads = "return getConvReads(*this);";
  let mapOperands = "mapConvOperands(*this, map);";
  let assemblyFormat = [{
    $input `,` $kernel `to` $output `strides` $strides `low` $low `high` $high `dilations` $dilations `groups` $groups
    (`kernel_gradient` $kernel_gradient^)? (`epilogue` $epilogue^)? `priced` $price attr-dict
  }];
}

def Exec_CopyOp : Exec_Instruction<"copy", ["Input"], ["Output"], [], ["isHostCopy"]> {
  let summary = "strided copy";
  let description = [{
    One between the device's memory and the host's may be asynchronous, on the stream of copies.

    **Constraints**
    - C1: extents and element types agree; no output stride is 0 where the extent is more than 1.
    - C2: one that is asynchronous is on the stream of copies, from or to the host's memory.

    Examples: `exec.copy <activations, 0, f32 [4, 8] strides [1, 4]> to <workspace, 0, f32 [4, 8]> priced <…>`, and what
    an optimizer's state is fetched by:
    `exec.copy <host, 0, f32 [4, 8]> to <activations, 0, f32 [4, 8]> priced <…> async <copy, 1>`
  }];
  let arguments = (ins Exec_OperandAttr:$input, Exec_OperandAttr:$output, Exec_PriceAttr:$price,
                       OptionalAttr<Exec_AsyncAttr>:$async);
  let assemblyFormat = "$input `to` $output `priced` $price (`async` $async^)? attr-dict";
}

def Exec_FillOp : Exec_Instruction<"fill", [], ["Output"]> {
  let summary = "sets every element to one value";
  let description = [{
    **Constraints**
    - C1: the value is an integer or float of the element type (signless of the same width for unsigned ones).

    Example: `exec.fill 0.0 : f32 into <activations, 0, f32 [4, 8]> priced <…>`
  }];
  let arguments = (ins AnyAttr:$value, Exec_OperandAttr:$output,
                       Exec_PriceAttr:$price);
  let assemblyFormat = "$value `into` $output `priced` $price attr-dict";
}

def Exec_GemmOp : Exec_Instruction<"gemm", ["A", "B"], ["C"]> {
  let summary = "strided matrix product by a library";
  let description = [{
    c[batch…, m, n] = Σ_k a[batch…, m, k] · b[batch…, k, n]. Strides say how each operand lies; a stride of 0 in a
    batch dimension shares a matrix.

    **Constraints**
    - C1: ranks agree and are ≥ 2; batch extents, m, n and k agree; element types agree.

    Example:
    ```mlir
    exec.gemm <activations, 0, f32 [32, 64]>, <weights, 0, f32 [64, 16]> to <activations, 8192, f32 [32, 16]>
        priced <"mlp.up", 65536 flops, 12288 read, 2048 written, "gemm m=32 n=16 k=64 f32">
    ```
  }];
  let arguments = (ins Exec_OperandAttr:$a, Exec_OperandAttr:$b, Exec_OperandAttr:$c, Exec_PriceAttr:$price);
  let assemblyFormat = "$a `,` $b `to` $c `priced` $price attr-dict";
}

def Exec_LaunchOp : Exec_Instruction<"launch", [], []> {
  let summary = "a generated kernel over a range of tiles";
  let description = [{
    `kernel` is the kernel's content key: its symbol in the executable's shared object. Threads share the tiles
    [0, tiles), at least `grain` to each.

    **Constraints**
    - C1: `tiles` ≥ 1 and `grain` ≥ 1.

    Example:
    ```mlir
    exec.launch "k4f1d" (<activations, 0, f32 [4, 8]>) to (<activations, 128, f32 [4, 8]>) params [] tiles 4 grain 1
        checks [] priced <"gelu", 256 flops, 128 read, 128 written, "gelu 4x8">
    ```
  }];
  let arguments = (ins StrAttr:$kernel, Exec_Operands:$inputs, Exec_Operands:$outputs,
                       Exec_Affines:$params, I64Attr:$tiles, I64Attr:$grain,
                       TypedArrayAttrBase<Exec_CheckAttr, "checks">:$checks, Exec_PriceAttr:$price);
  let getReads = "return ::llvm::to_vector(getInputs().getAsRange<OperandAttr>());";
  let getWrites = "return ::llvm::to_vector(getOutputs().getAsRange<OperandAttr>());";
  let mapOperands = "setInputsAttr(mapArray(getInputs(), map)); setOutputsAttr(mapArray(getOutputs(), map));";
  let assemblyFormat = [{
    $kernel $inputs `to` $outputs `params` $params `tiles` $tiles `grain` $grain `checks` $checks `priced` $price
    attr-dict
  }];
}

def Exec_ObserveOp : Exec_Instruction<"observe", ["Input"], []> {
  let summary = "lets a gradient be looked at";
  let description = [{
    Reads what the gradient port of this name holds at this place. The runtime does nothing here unless it was asked to
    hand out gradients. It stands right behind what makes the value, so that no byte is kept longer for it.

    **Constraints**
    - C1: the program has a gradient port of the name, which is at the same operand.

    Example: `exec.observe "grad:w" <activations, 0, f32 [4, 8]> priced <"w", 0 flops, 0 read, 0 written, "observe">`
  }];
  let arguments = (ins StrAttr:$port, Exec_OperandAttr:$input, Exec_PriceAttr:$price);
  let assemblyFormat = "$port $input `priced` $price attr-dict";
}

def Exec_ReceiveOp : Exec_Message<"receive", [], ["Output"]> {
  let summary = "takes what ranks of another mesh send";
  let description = [{
    One message from each of a grid of ranks of `mesh`. The leading dimensions of the operand, as many as `steps` has
    entries, count the peers: what index i of them holds comes from position peer + Σ i·steps of `mesh`. `tag` tells
    messages between two ranks apart; the sender's is the same.

    **Constraints**
    - C1: the mesh exists and is another one than the program's; tag ≥ 1.
    - C2: the operand has at least as many dimensions as there are steps; those behind them are contiguous.

    Example, half a block from each of two ranks:
    ```mlir
    exec.receive tag 1 from @mesh0 peer <0 + 2 * ["model"]> steps [1] into <communication, 0, f32 [2, 4, 8]>
        priced <"h.3", 0 flops, 0 read, 256 written, "receive n=2 bytes=256">
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$tag, FlatSymbolRefAttr:$mesh, Exec_AffineAttr:$peer,
                       DenseI64ArrayAttr:$steps, Exec_OperandAttr:$output, Exec_PriceAttr:$price,
                       OptionalAttr<Exec_AsyncAttr>:$async);
  let assemblyFormat = [{
    `tag` $tag `from` $mesh `peer` $peer `steps` $steps `into` $output `priced` $price (`async` $async^)? attr-dict
  }];
}

def Exec_SendOp : Exec_Message<"send", ["Input"], []> {
  let summary = "sends to ranks of another mesh";
  let description = [{
    The other side of `exec.receive`: index i of the operand's leading dimensions goes to position peer + Σ i·steps of
    `mesh`. Of ranks that differ along `leaders` alone, and so hold the same, the first sends. Whoever receives may do
    so only behind what other segments of this program send: `until` names the segment behind which it may be waited
    for, where that is a later one.

    **Constraints**
    - C1: the mesh exists and is another one than the program's; tag ≥ 1.
    - C2: the operand has at least as many dimensions as there are steps; those behind them are contiguous.
    - C3: `until` is a segment of the program.

    Example:
    ```mlir
    exec.send tag 1 <communication, 0, f32 [4, 8]> to @mesh1 peer <0 + 1 * ["data"]> steps [] leaders ["model"]
        priced <"h.3", 0 flops, 128 read, 0 written, "send n=1 bytes=128">
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$tag, Exec_OperandAttr:$input, FlatSymbolRefAttr:$mesh,
                       Exec_AffineAttr:$peer, DenseI64ArrayAttr:$steps, Exec_Axes:$leaders,
                       OptionalAttr<FlatSymbolRefAttr>:$until, Exec_PriceAttr:$price,
                       OptionalAttr<Exec_AsyncAttr>:$async);
  let assemblyFormat = [{
    `tag` $tag $input `to` $mesh `peer` $peer `steps` $steps `leaders` custom<Axes>($leaders) (`until` $until^)?
    `priced` $price (`async` $async^)? attr-dict
  }];
}

def Exec_WaitOp : Exec_Instruction<"wait", [], []> {
  let summary = "waits for an asynchronous instruction";
  let description = [{
    What follows begins when the instruction that has this token is over.

    Example: `exec.wait 1 priced <"mlp", 0 flops, 0 read, 0 written, "wait">`
  }];
  let arguments = (ins I64Attr:$token, Exec_PriceAttr:$price);
  let assemblyFormat = "$token `priced` $price attr-dict";
  let hasVerifier = 0;
}

#endif // EXEC_OPS_TD
