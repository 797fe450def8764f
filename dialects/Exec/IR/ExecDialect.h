//===- ExecDialect.h - the exec dialect -------------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_EXEC_IR_EXECDIALECT_H
#define WEFT_DIALECTS_EXEC_IR_EXECDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"

#include "dialects/Exec/IR/ExecDialect.h.inc"
#include "dialects/Exec/IR/ExecEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Exec/IR/ExecAttrs.h.inc"
#include "dialects/Exec/IR/ExecInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/Exec/IR/ExecOps.h.inc"

namespace weft::exec {

/// Bytes of one element in an arena or file (i1 takes one); 0 for a type that exec does not hold.
int64_t getElementBytes(mlir::Type type);

/// Strides, in elements, of a row-major block.
llvm::SmallVector<int64_t> getRowMajorStrides(llvm::ArrayRef<int64_t> shape);

} // namespace weft::exec

#endif // WEFT_DIALECTS_EXEC_IR_EXECDIALECT_H
