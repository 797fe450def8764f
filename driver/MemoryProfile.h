//===- MemoryProfile.h - the memory of a deep program from short ones -----===//
//
// What a rank of a deep program allocates, told by programs with fewer layers (ShortSteps.h). The
// most that is live does not grow by as much with each layer: in a short program that may be where
// the loss is, in a deep one where all layers have left what the backward pass reads. What is live
// at one place, the first or the last of those that look alike, does:
//
//   live at the loss          7 layers 6.4 GiB    8 layers 6.5    so of 96 layers 15.3
//   live in the last layer    7 layers 3.1        8 layers 3.5    so of 96 layers 38.3
//
// The most over all places, by kind of arena, is what the deep program has live. It is counted
// before instructions are scheduled, which needs no more (compiler/Lowering/Schedule.h) but mixes
// layers. What placing wastes grows with what is live; what scheduling saves, in one layer, does
// not.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_MEMORYPROFILE_H
#define WEFT_DRIVER_MEMORYPROFILE_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "driver/Phases.h"
#include "runtime/Program/executable.pb.h"

#include <array>
#include <map>
#include <vector>

namespace weft {

/// What a rank holds over its instructions: of the program that allocates most.
class MemoryProfile : public PhaseObserver {
public:
  /// B by exec::ArenaKind.
  using KindBytes = std::array<double, exec::getMaxEnumValForArenaKind() + 1>;

  void begin(llvm::StringRef) override {}
  /// Looks at the instructions once they are selected.
  void end(llvm::StringRef phase, mlir::ModuleOp module) override;
  /// Notes what is allocated in the end.
  void note(const program::Executable &executable);

  KindBytes allocated{}, peak{}; ///< in arenas; live, at most
  /// What is live at the first and at the last of the instructions around which the same is done.
  std::map<uint64_t, std::pair<KindBytes, KindBytes>> places;
};

/// B that a rank of the program allocates whose numbers are the sum of those of the profiles, each
/// as often as its share. What is allocated need be known of the first of them alone.
double extendAllocated(llvm::ArrayRef<MemoryProfile> profiles, llvm::ArrayRef<double> shares);

} // namespace weft

#endif // WEFT_DRIVER_MEMORYPROFILE_H
