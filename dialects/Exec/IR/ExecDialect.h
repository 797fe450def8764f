//===- ExecDialect.h - the exec dialect -------------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_EXEC_IR_EXECDIALECT_H
#define WEFT_DIALECTS_EXEC_IR_EXECDIALECT_H

#include "dialects/Support/MaskedRows.h"
#include "dialects/Support/ReduceKind.h"
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

namespace weft::exec {
/// The assembly of lists of axes: `["data", "model":(1)2]`.
mlir::ParseResult parseAxes(mlir::OpAsmParser &parser, mlir::ArrayAttr &axes);
void printAxes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::ArrayAttr axes);
} // namespace weft::exec

#define GET_OP_CLASSES
#include "dialects/Exec/IR/ExecOps.h.inc"

namespace weft::exec {

/// Calls `visit` for every entry of a schedule, in order, once for each of the first `iterations`
/// iterations of the repeats around it.
void walkSchedule(mlir::ArrayAttr schedule, llvm::function_ref<void(ScheduleEntryAttr)> visit,
                  int64_t iterations = 1);

/// How many frames of a kind of arena the entries of a schedule name; 1 where none does.
int64_t getNumFrames(mlir::ArrayAttr schedule, ArenaKind kind);

/// Whether an arena of this kind keeps what it holds from one step to the next: it has one frame.
inline bool isKept(ArenaKind kind) {
  return kind == ArenaKind::Weights || kind == ArenaKind::State || kind == ArenaKind::Host;
}

/// Bytes of one element in an arena or file (i1 takes one); 0 for a type that exec does not hold.
int64_t getElementBytes(mlir::Type type);

/// Strides, in elements, of a row-major block.
llvm::SmallVector<int64_t> getRowMajorStrides(llvm::ArrayRef<int64_t> shape);

} // namespace weft::exec

#endif // WEFT_DIALECTS_EXEC_IR_EXECDIALECT_H
