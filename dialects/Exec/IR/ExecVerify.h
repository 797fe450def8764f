//===- ExecVerify.h - what verifiers have in common -------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_EXEC_IR_EXECVERIFY_H
#define WEFT_DIALECTS_EXEC_IR_EXECVERIFY_H

#include "dialects/Exec/IR/ExecDialect.h"

namespace weft::exec {

/// `dtype`s of all operands agree.
mlir::LogicalResult verifySameDtype(mlir::Operation *op, llvm::ArrayRef<OperandAttr> operands);

} // namespace weft::exec

#endif // WEFT_DIALECTS_EXEC_IR_EXECVERIFY_H
