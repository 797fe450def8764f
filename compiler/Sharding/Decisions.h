//===- Decisions.h - which shardings of a module were decided ---*- C++ -*-===//
//
// A sharding that stands in a module is a decision, whoever wrote it: a person in the file, a plan,
// the search. It is kept or refused, never changed. Only in a function that propagation went
// through (`dist.propagated`) are there others, which followed; there the decisions are marked
// `dist.pinned`. What followed is kept too when such a module is read again, so that propagation of
// its own output changes nothing, and edits of it are kept; it is only not called a decision.
//
// An operation of several results has one entry for each in `dist.shardings`; `dist.pinned` tells
// by one bool each which of them were decided.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_DECISIONS_H
#define WEFT_COMPILER_SHARDING_DECISIONS_H

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// Whether the sharding that a value has was decided, and not found by propagation.
bool isDecided(mlir::Value value);

/// The sharding that a value, or result `index` of a function, must keep: decided, or found by an
/// earlier propagation. Null where there is none.
dist::ShardingAttr getKeptSharding(mlir::Value value);
dist::ShardingAttr getKeptSharding(mlir::func::FuncOp function, unsigned index);

/// Decides the sharding of a value.
void pinSharding(mlir::Value value, dist::ShardingAttr sharding);

/// How messages name a value: 'NAME' in its source, else `result 0`, `argument 1`.
std::string describePlace(mlir::Value value);

/// Checks that the sharding fits the value and lies on `mesh`, and that it is not partial unless an
/// operation with operands, which alone can leave a value unreduced, makes the value. Errors are
/// reported at the value.
mlir::LogicalResult checkSharding(mlir::Value value, dist::ShardingAttr sharding,
                                  llvm::StringRef mesh);
/// The same for `what` there is at `place` besides values, a weight or a result of a function. It
/// cannot be partial.
mlir::LogicalResult checkSharding(mlir::Operation *place, const std::string &what,
                                  dist::ShardingAttr sharding, mlir::Type type,
                                  llvm::StringRef mesh);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_DECISIONS_H
