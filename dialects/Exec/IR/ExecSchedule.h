//===- ExecSchedule.h - parts of a program's verifier -----------*- C++ -*-===//

#ifndef WEFT_DIALECTS_EXEC_IR_EXECSCHEDULE_H
#define WEFT_DIALECTS_EXEC_IR_EXECSCHEDULE_H

#include "dialects/Exec/IR/ExecDialect.h"

namespace weft::exec {

/// C3 and C6 of exec.program: entries, repeats, frames.
mlir::LogicalResult verifySchedule(ProgramOp program);

/// C5 of exec.program: tokens and waits.
mlir::LogicalResult verifyTokens(ProgramOp program);

} // namespace weft::exec

#endif // WEFT_DIALECTS_EXEC_IR_EXECSCHEDULE_H
