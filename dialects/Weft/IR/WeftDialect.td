//===- WeftDialect.td - the weft dialect ----------------------------------===//

#ifndef WEFT_DIALECT_TD
#define WEFT_DIALECT_TD

include "mlir/IR/OpBase.td"

def Weft_Dialect : Dialect {
  let name = "weft";
  let cppNamespace = "::weft";
  let summary = "the model: operations on global tensors, weights by symbol";
  let description = [{
    The floor that frontends lower into. A module holds `weft.weight` symbols, which say where each weight lies on
    disk, and one public `func.func @main` whose arguments and results carry the attribute `weft.name`. Tensors are
    global and statically shaped; nothing here knows of meshes or devices. Elementwise operations take operands of
    one shape: broadcasting is explicit (`weft.broadcast`). Every operation states its factor rule (FactorRule.td),
    from which propagation, search and partitioning are derived.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // Of what elementwise operations, and functions of scalars, compute.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect"];
}

#endif // WEFT_DIALECT_TD
