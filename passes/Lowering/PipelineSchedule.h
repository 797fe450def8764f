//===- PipelineSchedule.h - when segments are executed ----------*- C++ -*-===//
//
// The schedule of the program of one mesh: its parts one after another, but the phases of stages
// that every microbatch goes through (OutlineStages.h) in the order that a pipeline's schedule
// (compiler/Schedule) gives them, which is written in repeats:
//
//   stage 0 of 2, 1F1B, 4 microbatches     F0 F1  B0 F2  B1 F3  B2 B3
//                                          2 times [Fi], 2 times [Bi, F2+i], 2 times [B2+i]
//
// Microbatches in flight lie in frames. What a stage keeps of them lies in activations, in frames
// of its own, which they take in turn; what it receives and sends, and hands to another stage of
// its mesh, in communication, in frames that the stages of a mesh share.
//
// What was sent last is waited for (@part0.sent) when its receiver asked for it, were all phases as
// long as each other: behind the one that this rank begins no later. Earlier it would wait for
// ranks that are at something else, and might do so in a circle; later its frame would be kept.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_LOWERING_PIPELINESCHEDULE_H
#define WEFT_PASSES_LOWERING_PIPELINESCHEDULE_H

#include "compiler/Schedule/Schedule.h"
#include "compiler/Sharding/Parts.h"
#include "dialects/Exec/IR/ExecDialect.h"

#include <map>
#include <set>

namespace weft {

class PipelineSchedule {
public:
  /// Of parts, which must outlive it. Fails, after an error, where the stages cannot have the
  /// schedule that the step names.
  static mlir::FailureOr<PipelineSchedule> get(const Parts &parts);

  /// Entries and repeats of the parts `own`, which one mesh runs.
  mlir::ArrayAttr make(llvm::ArrayRef<unsigned> own) const;

private:
  /// What a part is of a stage, with every microbatch.
  struct Role {
    enum Kind { Forward, Backward, Weights, Sent };
    int64_t stage;
    Kind kind;
    int64_t level;     ///< of passes
    int64_t slice = 0; ///< of the sequence

    auto operator<=>(const Role &) const = default;
  };
  /// An execution of a part.
  struct Execution {
    unsigned part;
    int64_t microbatch;
  };
  /// Frames that microbatches take in turn.
  struct Ring {
    int64_t count = 1, begin = 0;
  };
  struct Frames {
    std::map<int64_t, Ring> activations; ///< by stage
    int64_t numActivations = 0;          ///< of all
    int64_t numMessages = 1;
  };
  /// Executions that are done several times, each time of microbatches so far behind.
  struct Repeat {
    size_t length = 1, times = 1;
    int64_t step = 0;
  };

  explicit PipelineSchedule(const Parts &parts);
  std::optional<Role> readRole(unsigned part) const;
  mlir::LogicalResult findPipeline();
  mlir::LogicalResult checkPlacement() const;
  void findTimes();
  size_t getPlace(const Role &role, int64_t microbatch) const;
  void noteTimes(const schedule::Action &action, int32_t begin);
  int32_t findReceived(int64_t stage, int64_t microbatch) const;

  mlir::Attribute makeEntry(unsigned part) const;
  mlir::Attribute makeEntry(const Execution &execution, int64_t step, const Frames &frames) const;
  std::vector<Execution> order(llvm::ArrayRef<unsigned> phases) const;
  std::vector<Execution> listSent(llvm::ArrayRef<unsigned> phases) const;
  int64_t countInFlight(llvm::ArrayRef<Execution> list,
                        llvm::function_ref<bool(const Role &)> counts) const;
  Frames findFrames(llvm::ArrayRef<Execution> list) const;
  void addPhases(llvm::ArrayRef<unsigned> phases,
                 llvm::SmallVectorImpl<mlir::Attribute> &items) const;

  const Parts *parts;
  mlir::MLIRContext *context;
  int64_t microbatches = 1, slices = 1;
  std::vector<std::optional<Role>> roles;      ///< by part
  llvm::SmallVector<mlir::Operation *> meshes; ///< of stages, in the order of the first on each
  std::map<int64_t, mlir::Operation *> places; ///< by stage: its mesh
  std::map<int64_t, std::set<Role>> receivers; ///< by stage: of what it sends of a microbatch
  std::optional<schedule::Schedule> pipeline;  ///< none: one phase after the other
  std::vector<std::vector<int32_t>> begins;    ///< of its actions, by rank
  std::vector<int32_t> times;                  ///< of passes and weights, at getPlace()
};

} // namespace weft

#endif // WEFT_PASSES_LOWERING_PIPELINESCHEDULE_H
