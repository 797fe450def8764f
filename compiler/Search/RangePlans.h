//===- RangePlans.h - what ranges of blocks take on a mesh ------*- C++ -*-===//
//
// What parting a model into stages asks for, thousands of times: of blocks [begin, end), on a mesh
// of devices that may hold so much each, all ways to split them that are worth it. Ranges that are
// equal but for names are answered once.
//
//   RangePlanner planner(main, cluster);
//   planner.find(1, 3, {"mesh", {{"data", 2}, {"model", 4}}}, 16e9)    layers 0 and 1
//   planner.find(2, 4, {"mesh", {{"data", 2}, {"model", 4}}}, 16e9)    layers 1 and 2: is known
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_RANGEPLANS_H
#define WEFT_COMPILER_SEARCH_RANGEPLANS_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Graph/BlockRanges.h"
#include "compiler/Search/ParetoSearch.h"
#include "compiler/Sharding/PlannedModule.h"

#include <map>
#include <memory>

namespace weft {

struct RangeOptions {
  /// Whether ranges are differentiated: by all parameters of floats, and by what is handed to them
  /// by other blocks. Else only the forward pass is looked at.
  bool trains = true;
  EliminationLimits limits;
  SearchOptions search; ///< memory aside
};

class RangePlanner {
public:
  /// Of @main of a model, on one device type: the first group of the cluster. Both must outlive
  /// this; the function, of one block and with static shapes, stays as it is.
  RangePlanner(mlir::func::FuncOp main, const ClusterModel &cluster, RangeOptions options = {});

  size_t getNumBlocks() const { return ranges.size(); }
  const BlockRanges &getRanges() const { return ranges; }

  /// All splits, of which none is beaten by another, of one microbatch (the model's batch as it is)
  /// of blocks [begin, end) over a mesh whose devices may hold `memoryLimit` bytes each (0: any) of
  /// weights, gradients and values; what an optimizer keeps is not among it. Empty where nothing
  /// fits. The answer lives as long as this.
  ///
  /// Fails, after an error at the function, where begin < end ≤ getNumBlocks() does not hold, the
  /// mesh has more devices than the group, or a block cannot be differentiated.
  mlir::FailureOr<const StepSplits *> find(size_t begin, size_t end, const MeshShape &mesh,
                                           double memoryLimit = 0);

  /// Ranges that were searched; all others were known.
  size_t getNumSearched() const { return numSearched; }

private:
  /// A range as a program: what is handed to it and on, and its gradients.
  struct Program {
    ExtractedRange range;
    mlir::func::FuncOp function;
    llvm::DenseSet<mlir::Operation *> forward; ///< operations; empty: all
  };
  /// What is known of a mesh.
  struct MeshTables {
    explicit MeshTables(MeshShape mesh, const ClusterModel &cluster)
        : shape(std::move(mesh)), prices(shape, cluster) {}
    MeshShape shape;
    MeshPrices prices;
    FormTables tables;
  };

  mlir::FailureOr<Program *> getProgram(uint64_t kind, size_t begin, size_t end);
  mlir::LogicalResult differentiate(Program &program) const;
  mlir::FailureOr<StepSplits> search(Program &program, MeshTables &mesh, double memoryLimit);

  mlir::func::FuncOp main;
  const ClusterModel &cluster;
  RangeOptions options;
  BlockRanges ranges;
  llvm::DenseMap<mlir::Value, int64_t> batchDims; ///< of values; -1: none
  std::map<std::pair<size_t, size_t>, uint64_t> kinds;
  std::map<uint64_t, Program> programs; ///< by kind
  std::map<std::string, std::unique_ptr<MeshTables>> meshes;
  std::map<std::tuple<uint64_t, std::string, double>, StepSplits> known;
  size_t numSearched = 0;
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_RANGEPLANS_H
