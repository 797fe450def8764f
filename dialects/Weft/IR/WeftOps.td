//===- WeftOps.td - operations of the weft dialect ------------------------===//

#ifndef WEFT_OPS_TD
#define WEFT_OPS_TD

include "dialects/Weft/IR/WeftBase.td"
include "dialects/Weft/IR/WeftElementwise.td"
include "dialects/Weft/IR/WeftSemantic.td"
include "dialects/Weft/IR/WeftStructural.td"
include "dialects/Weft/IR/WeftSymbols.td"

#endif // WEFT_OPS_TD
