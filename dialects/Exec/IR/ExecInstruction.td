//===- ExecInstruction.td - what instructions have in common --------------===//

#ifndef EXEC_INSTRUCTION_TD
#define EXEC_INSTRUCTION_TD

include "dialects/Exec/IR/ExecBase.td"
include "mlir/IR/OpAsmInterface.td"

def Exec_InstructionOpInterface : OpInterface<"InstructionOpInterface"> {
  let cppNamespace = "::weft::exec";
  let description = "An instruction: what it reads, what it writes, and its price.";
  let methods = [
    InterfaceMethod<"Operands that are read.", "::llvm::SmallVector<::weft::exec::OperandAttr>", "getReads", (ins)>,
    InterfaceMethod<"Operands that are written.", "::llvm::SmallVector<::weft::exec::OperandAttr>", "getWrites", (ins)>,
    InterfaceMethod<"Replaces every operand, reads then writes, by what `map` makes of it.", "void", "mapOperands",
                    (ins "::llvm::function_ref<::weft::exec::OperandAttr(::weft::exec::OperandAttr)>":$map)>,
    InterfaceMethod<[{Whether the first write may take the place of the first read, byte for byte. Other writes overlap
                      nothing that the instruction reads.}], "bool", "mayWriteInPlace", (ins), "",
                    /*defaultImplementation=*/"return false;">,
    InterfaceMethod<[{Whether it exchanges data with other ranks. All ranks of a group begin such instructions in one
                      order.}], "bool", "isCommunication", (ins), "", /*defaultImplementation=*/"return false;">,
    InterfaceMethod<[{Whether it is one side of a message to or from another mesh. The other side stands in another
                      program, so that waiting for it in its place could be waiting for ever: a scheduler makes it
                      asynchronous.}], "bool", "isMessage", (ins), "", /*defaultImplementation=*/"return false;">,
    InterfaceMethod<[{Whether it moves data between the device's memory and its host's: no processor of the device has
                      a part in that, which may compute meanwhile.}], "bool", "isHostCopy", (ins), "",
                    /*defaultImplementation=*/"return false;">,
    InterfaceMethod<"Its stream and token where it is asynchronous; null where it is over when the next begins.",
                    "::weft::exec::AsyncAttr", "getAsyncAttr", (ins), "", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<"Cause and cost.", "::weft::exec::PriceAttr", "getPrice", (ins)>
  ];
}

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

class Exec_ProgramMember<string mnemonic, list<Trait> traits = []>
    : Exec_Op<mnemonic, !listconcat([HasParent<"ProgramOp">], traits)>;

/// An instruction of a segment. `reads` and `writes` name the arguments that are operands.
class Exec_Instruction<string mnemonic, list<string> reads, list<string> writes, list<Trait> traits = [],
                       list<string> declared = []>
    : Exec_Op<mnemonic, !listconcat([HasParent<"SegmentOp">, DeclareOpInterfaceMethods<Exec_InstructionOpInterface,
                                     !listconcat(["getReads", "getWrites", "mapOperands"], declared)>], traits)> {
  code getReads = "return {" # !interleave(!foreach(name, reads, "get" # name # "()"), ", ") # "};";
  code getWrites = "return {" # !interleave(!foreach(name, writes, "get" # name # "()"), ", ") # "};";
  code mapOperands = !interleave(!foreach(name, !listconcat(reads, writes),
                                          "set" # name # "Attr(map(get" # name # "()));"), " ");
  let extraClassDefinition = [{
    ::llvm::SmallVector<::weft::exec::OperandAttr> $cppClass::getReads() { }] # getReads # [{ }
    ::llvm::SmallVector<::weft::exec::OperandAttr> $cppClass::getWrites() { }] # getWrites # [{ }
    void $cppClass::mapOperands(::llvm::function_ref<OperandAttr(OperandAttr)> map) { }] # mapOperands # [{ }
  }];
  let hasVerifier = 1;
}

/// One side of a message between meshes.
class Exec_Message<string mnemonic, list<string> reads, list<string> writes>
    : Exec_Instruction<mnemonic, reads, writes, [], ["isCommunication", "isMessage"]>;

#endif // EXEC_INSTRUCTION_TD
