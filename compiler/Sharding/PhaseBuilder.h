//===- PhaseBuilder.h - one part for each phase of a step -------*- C++ -*-===//
//
// What the makers of phases share (OutlineMicrobatches.h, OutlineStages.h): functions that fill
// with operations of the program of one device, and the memory of what is kept from one microbatch
// to the next: sums, states that every microbatch changes, and the microbatch's number.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_PHASEBUILDER_H
#define WEFT_COMPILER_SHARDING_PHASEBUILDER_H

#include "compiler/Sharding/Microbatches.h"
#include "compiler/Sharding/Parts.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <memory>
#include <vector>

namespace weft {

using Ops = llvm::DenseSet<mlir::Operation *>;

/// A part while it is built.
struct PhaseFunction {
  std::string name;
  mlir::func::FuncOp function;
  mlir::IRMapping values;
  llvm::SmallVector<mlir::Value> arguments; ///< of the step: what @main hands to it
  int64_t first = 0, times = 1;             ///< microbatches
  bool isLast = false;                      ///< what follows the last microbatch is its own
  Ops added;                                ///< sums that it adds to
  std::optional<int64_t> counter;           ///< what keeps the microbatch's number
  llvm::DenseMap<int64_t, mlir::FlatSymbolRefAttr> symbols; ///< of what is kept
  mlir::func::CallOp call;
};

class PhaseBuilder {
public:
  /// Of a part that is the program of one device. What it keeps is numbered from `firstNumber` on.
  explicit PhaseBuilder(const Part &part, int64_t firstNumber = 0);

  /// Behind the numbers of all that is kept.
  int64_t getEnd() const { return firstNumber + static_cast<int64_t>(kept.size()); }

protected:
  /// What is kept from one microbatch to the next. It begins with zeros, or with a state's value.
  struct Kept {
    mlir::RankedTensorType type;
    mlir::Location loc;
    mlir::Operation *load = nullptr; ///< of that state
  };

  int64_t keep(mlir::Operation &op);
  /// Where the number of the microbatch is kept, if what it computes asks for it.
  std::optional<int64_t> keepCounter(const Ops &slice);
  bool isCarriedStore(mlir::Operation &op) const {
    return op.getNumResults() == 0 && states.contains(phases.getCarried(op));
  }
  /// What the roots' operands are computed from, up to sums.
  Ops sliceOf(llvm::ArrayRef<mlir::Operation *> roots) const;
  /// What the step needs at all: what is stored and returned, with all that it is computed from, up
  /// to sums of inputs alone and what `isThere` says is there before.
  Ops findNeeded(llvm::function_ref<bool(mlir::Value)> isThere) const;
  /// Finds what every microbatch needs alike, and that is worth to be kept.
  void findHoisted(const Ops &slice);
  bool isHoistable(mlir::Operation *op) const;

  /// Makes the phase's function, which is filled and finished next.
  void begin(PhaseFunction &phase);
  void cloneInto(PhaseFunction &phase, llvm::function_ref<bool(mlir::Operation *)> isMember);
  /// Operands that come from outside the part become arguments of it.
  void addArguments(PhaseFunction &phase, mlir::ValueRange operands);
  void finish(PhaseFunction &phase, mlir::ValueRange results);
  mlir::Value load(PhaseFunction &phase, int64_t number);
  void store(PhaseFunction &phase, int64_t number, mlir::Value value);
  /// Leaves the next microbatch its number.
  void countOn(PhaseFunction &phase);
  /// Sets what is kept to its first values.
  void fillBegin(PhaseFunction &phase);

  mlir::func::FuncOp main;
  dist::MeshOp mesh;
  mlir::Block &body;
  MicrobatchPhases phases;
  mlir::OpBuilder builder;
  int64_t count;                                    ///< of microbatches; 1: none
  llvm::DenseMap<mlir::StringAttr, int64_t> states; ///< that every microbatch changes: where kept
  llvm::SetVector<mlir::Value> hoisted;             ///< what every microbatch needs alike

private:
  bool cloneKept(PhaseFunction &phase, mlir::Operation &op);
  mlir::Value addTo(PhaseFunction &phase, dist::AccumulateOp sum);
  mlir::FlatSymbolRefAttr getSymbol(PhaseFunction &phase, int64_t number);
  const Kept &getKept(int64_t number) const { return kept[number - firstNumber]; }

  int64_t firstNumber;
  std::vector<Kept> kept;                             ///< from that number on
  llvm::DenseMap<mlir::Operation *, int64_t> numbers; ///< of sums, in what is kept
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_PHASEBUILDER_H
