//===- PipelineSchedule.h - when segments are executed ----------*- C++ -*-===//
//
// The schedule of the program of one mesh: its parts one after another, but the phases of a stage
// that every microbatch goes through (OutlineStages.h) in the order that a pipeline's schedule
// (compiler/Schedule) gives them, which is written in repeats:
//
//   stage 0 of 2, 1F1B, 4 microbatches     F0 F1  B0 F2  B1 F3  B2 B3
//                                          2 times [Fi], 2 times [Bi, F2+i], 2 times [B2+i]
//
// Microbatches in flight lie in frames of their own, one after another.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_LOWERING_PIPELINESCHEDULE_H
#define WEFT_PASSES_LOWERING_PIPELINESCHEDULE_H

#include "compiler/Sharding/Parts.h"
#include "dialects/Exec/IR/ExecDialect.h"

namespace weft {

class PipelineSchedule {
public:
  explicit PipelineSchedule(const Parts &parts);

  /// Entries and repeats of the parts `own`, which one mesh runs.
  mlir::ArrayAttr make(llvm::ArrayRef<unsigned> own) const;

private:
  /// An execution of a part.
  struct Execution {
    unsigned part;
    int64_t microbatch;
  };
  mlir::Attribute makeEntry(unsigned part) const;
  mlir::Attribute makeEntry(const Execution &execution, bool isRepeated, int64_t frames) const;
  std::vector<Execution> order(llvm::ArrayRef<unsigned> phases) const;
  int64_t countInFlight(llvm::ArrayRef<Execution> list) const;
  void addPhases(llvm::ArrayRef<unsigned> phases,
                 llvm::SmallVectorImpl<mlir::Attribute> &items) const;
  std::optional<int64_t> getLevel(unsigned part) const;
  bool hasWeights(unsigned part) const;

  const Parts &parts;
  mlir::MLIRContext *context;
  int64_t microbatches = 1;
  std::string name = "1f1b"; ///< of the schedule (compiler/Schedule/Named.h)
  /// Whether every stage has no more than a forward and a backward phase, and one of weights.
  bool hasTwoPasses = true;
  llvm::SmallVector<mlir::Operation *> meshes; ///< of stages, in their order
};

} // namespace weft

#endif // WEFT_PASSES_LOWERING_PIPELINESCHEDULE_H
