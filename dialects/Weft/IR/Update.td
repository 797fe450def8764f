//===- Update.td - results that are mostly an operand's elements ----------===//

#ifndef WEFT_UPDATE_TD
#define WEFT_UPDATE_TD

include "mlir/IR/OpBase.td"

def UpdateOpInterface : OpInterface<"UpdateOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An operation of one result, which is one operand, the destination, with updates written into it where the other
    operands say. Where the destination is not read afterwards, it may write into the destination's own memory.
  }];
  let methods = [
    InterfaceMethod<"The operand of which the result keeps what is not written.",
      "::mlir::Value", "getDestination", (ins)>,
    InterfaceMethod<"The operand that holds the written elements.",
      "::mlir::Value", "getWritten", (ins)>
  ];
}

def JoinOpInterface : OpInterface<"JoinOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An operation of one result, which is its operands side by side along one dimension. Operands that lie in the
    result's memory, in their places, need not be copied.
  }];
  let methods = [
    InterfaceMethod<"The dimension along which operands follow each other.",
      "int64_t", "getJoinedDim", (ins)>,
    InterfaceMethod<"The operands in the order in which they lie in the result.",
      "::mlir::ValueRange", "getParts", (ins)>
  ];
}

#endif // WEFT_UPDATE_TD
