//===- ExecBase.td - the exec dialect, its enums and attributes -----------===//

#ifndef EXEC_BASE_TD
#define EXEC_BASE_TD

include "dialects/Exec/IR/ExecEnums.td"
include "dialects/Support/MaskedRows.td"
include "dialects/Support/ReduceKind.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::weft::exec";
  let summary = "what one rank executes: instructions over strided blocks of arenas";
  let description = [{
    The last floor, in one-to-one correspondence with runtime/Program/executable.proto. There are no SSA values and no
    tensors: an instruction reads and writes operands, each a strided block in an arena. One `exec.program` serves a
    whole class of ranks: nothing in it is a rank number; what differs between ranks is affine in the coordinates of
    the mesh, and collectives are named by mesh axes.

    A program has two forms, of the same instructions. *Over buffers*, as --weft-select-instructions writes it and
    --weft-schedule-instructions orders it, it has an `exec.buffer` for each number that operands carry as their
    `value`, and their offsets count from that buffer's start. *Placed*, as --weft-place-buffers leaves it, it has
    arenas, and offsets count from the start of the arena's frame.
  }];
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Exec_EnumAttr<I32EnumAttr enum, string mnemonic> : KeywordEnumAttr<Exec_Dialect, enum, mnemonic>;

def Exec_ArenaKindAttr : Exec_EnumAttr<Exec_ArenaKind, "arena_kind">;
def Exec_LifetimeAttr : Exec_EnumAttr<Exec_Lifetime, "lifetime">;
def Exec_CollectiveKindAttr : Exec_EnumAttr<Exec_CollectiveKind, "collective_kind">;
def Exec_ReduceKindAttr : Exec_EnumAttr<ReduceKind, "reduction">;
def Exec_MaskedRowsAttr : Exec_EnumAttr<MaskedRows, "masked_rows">;
def Exec_DirectionAttr : Exec_EnumAttr<Exec_Direction, "direction">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Exec_Attr<string name, string attrMnemonic> : AttrDef<Exec_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Exec_MeshAxisAttr : Exec_Attr<"MeshAxis", "axis"> {
  let summary = "an axis of a mesh: name and size, `\"data\"=2`";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let hasCustomAssemblyFormat = 1;
}

def Exec_AxisAttr : Exec_Attr<"Axis", "axis_ref"> {
  let summary = "an axis, or a sub-axis `\"x\":(pre)size`";
  let description = [{
    Size 0 stands for the whole axis. Of an axis of size N, the sub-axis (pre)size has coordinate
    (c / (N / (pre·size))) mod size.

    Example: `"model"`, `"model":(1)2`
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$pre, "int64_t":$size);
  let hasCustomAssemblyFormat = 1;
}

def Exec_TermAttr : Exec_Attr<"Term", "term"> {
  let summary = "coefficient · (coordinate along axes, first major)";
  let description = "Example: `64 * [\"data\", \"model\"]`";
  let parameters = (ins "int64_t":$coefficient, ArrayRefParameter<"AxisAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
}

def Exec_AffineAttr : Exec_Attr<"Affine", "affine"> {
  let summary = "a constant plus terms in the coordinates of the mesh";
  let description = [{
    How a number depends on the rank. Terms of equal axes are joined, and terms of coefficient 0 dropped.

    Example: `#exec.affine<128 + 64 * ["model"]>`
  }];
  let parameters = (ins "int64_t":$constant, OptionalArrayRefParameter<"TermAttr">:$terms);
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins CArg<"int64_t", "0">:$constant), [{
    return $_get($_ctxt, constant, ::llvm::ArrayRef<TermAttr>());
  }]>];
  let extraClassDeclaration = [{
    bool isConstant() const { return getTerms().empty(); }
    /// The sum of two, terms of equal axes joined.
    AffineAttr plus(AffineAttr other) const;
    AffineAttr plus(int64_t constant) const;
    /// Every number multiplied by `factor`.
    AffineAttr times(int64_t factor) const;
  }];
}

def Exec_OperandAttr : Exec_Attr<"Operand", "operand"> {
  let summary = "a strided block of an arena";
  let description = [{
    Arena, offset in bytes within the frame, element type, extents, and strides in elements; strides are left out
    where they are row-major. A stride of 0 repeats. `value` numbers what the bytes hold: a read must find there what
    a write of the same value has left. It lets a verifier tell a value that was overwritten too early. In a program
    over buffers it is the buffer's number, and the offset counts from the buffer's start.

    **Constraints**
    - C1: one stride per extent; extents and strides are not negative.
    - C2: the element type is an integer of 1, 8, 16, 32 or 64 bits, or f16, bf16, f32, f64.

    Example: `#exec.operand<activations, 4096 + 128 * ["model"], f32 [4, 32] strides [64, 1] value 7>`
  }];
  let parameters = (ins "ArenaKind":$arena, "AffineAttr":$offset, "::mlir::Type":$dtype,
                        OptionalArrayRefParameter<"int64_t">:$shape, OptionalArrayRefParameter<"int64_t">:$strides,
                        "int64_t":$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Product of the extents.
    int64_t getNumElements() const;
    /// Bytes of the elements, each counted once a position (repeats included).
    int64_t getBytes() const;
    /// Whether elements follow one another in row-major order.
    bool isContiguous() const;
  }];
}

def Exec_ExternalAttr : Exec_Attr<"External", "external"> {
  let summary = "bytes of a file";
  let description = "Example: `#exec.external<\"gpt2.onnx.data\", 1024, 9437184>`";
  let parameters = (ins StringRefParameter<"path">:$path, "int64_t":$offset, "int64_t":$length);
  let assemblyFormat = "`<` $path `,` $offset `,` $length `>`";
}

def Exec_PriceAttr : Exec_Attr<"Price", "price"> {
  let summary = "what caused an instruction, and what it costs";
  let description = [{
    The source name of the operation that caused it, floating-point operations, bytes read and written, and the class
    of shapes by which cost models look it up.

    Example: `#exec.price<"h.0.mlp", 8192 flops, 4096 read, 2048 written, "gemm m=32 n=16 k=8 f32">`
  }];
  let parameters = (ins StringRefParameter<>:$source, "int64_t":$flops, "int64_t":$bytesRead, "int64_t":$bytesWritten,
                        StringRefParameter<>:$shapeClass);
  let assemblyFormat = "`<` $source `,` $flops `flops` `,` $bytesRead `read` `,` $bytesWritten `written` `,` $shapeClass `>`";
}

def Exec_CheckAttr : Exec_Attr<"Check", "check"> {
  let summary = "a check that a kernel makes: legal values are [low, high)";
  let description = "Example: `#exec.check<\"index out of range\", -503, 503, \"wte.gather\">`";
  let parameters = (ins StringRefParameter<>:$message, "int64_t":$low, "int64_t":$high, StringRefParameter<>:$source);
  let assemblyFormat = "`<` $message `,` $low `,` $high `,` $source `>`";
}

def Exec_EpilogueAttr : Exec_Attr<"Epilogue", "epilogue"> {
  let summary = "a kernel that makes the elements of a library call's result anew where they lie"
                ", piece by piece as they are there";
  let description = [{
    `kernel` is the kernel's content key, `inputs` and `params` are what it is given, as by an `exec.launch`; among the
    inputs is the call's output, which its result takes the place of. An element of its result needs of that input only
    the element in its own place. A tile covers `tile` elements of the output's memory, the last one in each `row`
    elements as many as are left.

    Example: `#exec.epilogue<"k4f1d", inputs [#exec.operand<activations, 1024, f32 [1, 4, 4, 4]>], params [], tiles 4, tile 16, row 16>`
  }];
  let parameters = (ins StringRefParameter<>:$kernel, "::mlir::ArrayAttr":$inputs, "::mlir::ArrayAttr":$params,
                        "int64_t":$tiles, "int64_t":$tile, "int64_t":$row);
  let assemblyFormat = [{
    `<` $kernel `,` `inputs` $inputs `,` `params` $params `,` `tiles` $tiles `,` `tile` $tile `,` `row` $row `>`
  }];
}

def Exec_AsyncAttr : Exec_Attr<"Async", "async"> {
  let summary = "that an instruction is begun here and waited for elsewhere";
  let description = [{
    The stream that works on it, beside computation, and a token by which an `exec.wait` names it. The instruction
    begins once everything before it on its own stream has begun and on the compute stream is over. Until the wait its
    operands must not change, and its results are not there.

    **Constraints**
    - C1: the stream is not `compute`; the token is at least 1.

    Example: `#exec.async<communication, 3>`
  }];
  let parameters = (ins EnumParameter<Exec_Stream>:$stream, "int64_t":$token);
  let assemblyFormat = "`<` $stream `,` $token `>`";
  let genVerifyDecl = 1;
}

def Exec_IndexAttr : Exec_Attr<"Index", "index"> {
  let summary = "a number that moves with the repeats around a schedule entry";
  let description = [{
    `first` + Σ step · (number of the iteration), one step for each repeat around the entry, the outermost first; steps
    that are left out are 0.

    Example: `#exec.index<0 step [4, 1]>`
  }];
  let parameters = (ins "int64_t":$first, OptionalArrayRefParameter<"int64_t">:$steps);
  let hasCustomAssemblyFormat = 1;
}

def Exec_FrameAttr : Exec_Attr<"Frame", "frame"> {
  let summary = "which of an arena's frames an entry's operands lie in: `begin` + index mod `count`";
  let description = [{
    Examples: `#exec.frame<activations 0 step [1] of 4>`; of the arena behind that one,
    `#exec.frame<activations 0 step [1] of 2 behind 4>`
  }];
  let parameters = (ins "ArenaKind":$arena, "IndexAttr":$index, "int64_t":$count, DefaultValuedParameter<"int64_t", "0">:$begin);
  let builders = [AttrBuilder<(ins "ArenaKind":$arena, "IndexAttr":$index, "int64_t":$count), [{
    return $_get($_ctxt, arena, index, count, 0);
  }]>];
  let extraClassDeclaration = [{
    /// Behind the last of them.
    int64_t getEnd() const { return getBegin() + getCount(); }
  }];
  let hasCustomAssemblyFormat = 1;
}

def Exec_ScheduleEntryAttr : Exec_Attr<"ScheduleEntry", "entry"> {
  let summary = "one execution of a segment";
  let description = [{
    Phase, microbatch, token slice, and the frame of each kind of arena that has several: copies of its bytes for work
    in flight. Values that are kept from a forward to its backward lie in activations, messages in communication, what
    the user gives and gets in ports; each counts its frames apart. Frame 0 of kinds that are not named.

    Example: `#exec.entry<@forward, forward, microbatch 0 step [1], slice 0, frames [activations 0 step [1] of 4]>`
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$segment, "Phase":$phase, "IndexAttr":$microbatch,
                        "IndexAttr":$tokenSlice, OptionalArrayRefParameter<"FrameAttr">:$frames);
  let hasCustomAssemblyFormat = 1;
}

def Exec_RepeatAttr : Exec_Attr<"Repeat", "repeat"> {
  let summary = "schedule entries and repeats that are executed several times";
  let description = [{
    Example: `#exec.repeat<8 times [#exec.entry<@forward, forward, microbatch 0 step [1]>]>`
  }];
  let parameters = (ins "int64_t":$times, "::mlir::ArrayAttr":$body);
  let assemblyFormat = "`<` $times `times` $body `>`";
}

def Exec_Axes : TypedArrayAttrBase<Exec_AxisAttr, "mesh axes, major to minor">;
def Exec_Affines : TypedArrayAttrBase<Exec_AffineAttr, "affine numbers">;
def Exec_Operands : TypedArrayAttrBase<Exec_OperandAttr, "operands">;
def Exec_Schedule : TypedArrayAttrBase<AnyAttrOf<[Exec_ScheduleEntryAttr, Exec_RepeatAttr]>, "schedule entries and repeats">;

#endif // EXEC_BASE_TD
