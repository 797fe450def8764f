//===- LoopPlan.h - how a kernel's loops run --------------------*- C++ -*-===//
//
// A kernel is a loop over rows (a tile is a row), and within a row a sequence of *stages*. A stage
// is one pass over the row's inner elements that computes reductions, outputs, and buffers:
//
//   softmax of rows of t:   stage 0   max over j of x[j]
//                           stage 1   sum over j of e[j] = exp(x[j] - max);  buffer e
//                           stage 2   output[j] = e[j] · (1 / sum)
//
// Values are computed where they are read (each is an expression of the indices), so every graph
// has a correct plan; the plan decides what is worth keeping: a reduction read at the row's own
// index is computed once a row, and an expensive value that several stages read is kept in a buffer
// of the row's length.
//
// Rows are the leading elements of the common shape where reductions join the last dimensions.
// Where they join others, and in products, a row is a block of *lanes*, neighbouring elements of
// the last kept dimension, and every row value an array of lanes. Elementwise kernels split long
// last dimensions into such blocks too.
//
// On a GPU a row is computed by a *team* of threads: one, a warp of 32, or a block of 256. What is
// elementwise has rows of one element and teams of one thread, so that neighbouring threads read
// neighbouring elements. Lanes are rows of their own (`laneWidth` is 1), or a block's threads are
// `laneWidth` lanes times the parts in which the row's inner elements are shared out.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_LOOPPLAN_H
#define WEFT_COMPILER_KERNEL_LOOPPLAN_H

#include "compiler/Kernel/Index.h"
#include "compiler/Kernel/KernelGraph.h"
#include "compiler/Kernel/Target.h"
#include <optional>
#include <set>

namespace weft::kernel {

/// Threads of a GPU that run in step, and those of the blocks that kernels run in.
inline constexpr unsigned warpThreads = 32, blockThreads = 256;

/// The index at which `node` reads its operand `number`, when it is read at `index`. Not for loops
/// (Reduce …).
Index getOperandIndex(const Graph &graph, Vars &vars, unsigned node, unsigned number,
                      const Index &index);

/// The loops of a reduction and the indices at which they read.
struct ReductionLoops {
  llvm::SmallVector<VarId, 3> vars;
  bool isInner = false; ///< the row's own inner loops
  llvm::SmallVector<Index, 2> operands;
};

/// A reduction whose value is kept for a row (for each lane).
struct Reduction {
  Element element;
  ReductionLoops loops;
  unsigned stage;
};

/// A value that a stage keeps for later ones: of each lane, or of each inner element.
struct Kept {
  Element element;
  unsigned stage;
};

struct Output {
  unsigned number; ///< which result
  Element element;
  Affine address; ///< in elements
  bool isRow;     ///< one element a row (a lane), rather than one for each inner element
  unsigned stage;
};

/// An index tensor's element that must be legal before the row is computed.
struct IndexCheck {
  unsigned check;
  Element element;
};

class LoopPlan {
public:
  /// Plans the loops. An error names what no plan exists for.
  static llvm::Expected<LoopPlan> make(const Graph &graph,
                                       KernelMachine machine = KernelMachine::Cores);

  Vars vars;
  llvm::SmallVector<VarId, 4> rows;  ///< row-major over the tiles
  llvm::SmallVector<VarId, 3> inner; ///< outermost first
  /// Of all lanes: block · laneWidth ≤ lane < min((block + 1) · laneWidth, laneTotal).
  std::optional<VarId> lane;
  VarId block = 0; ///< the last of `rows`, where there are lanes
  int64_t laneWidth = 1, laneTotal = 1;
  unsigned stages = 1;
  /// Threads of a GPU that compute a row together: 1, a warp or a block; 0: a core does.
  unsigned team = 0;
  bool nested = false; ///< some reduction is computed anew for each element that reads it

  std::vector<Reduction> reductions; ///< in order of dependence
  std::vector<Kept> laneValues, buffers;
  std::vector<Output> outputs;
  std::vector<IndexCheck> checks;

  int64_t getTiles() const;
  /// The first lane of the present block.
  Affine firstLane() const { return Affine::var(block) * laneWidth; }
  int64_t getExtent(VarId loop) const { return vars[loop].extent; }
  /// The loops of a reduction that is read at `index`.
  ReductionLoops getLoops(const Graph &graph, unsigned node, const Index &index);

private:
  friend class Planner;
  std::map<unsigned, llvm::SmallVector<VarId, 3>>
      ownLoops;                            ///< of reductions that do not run over `inner`
  llvm::SmallVector<int64_t, 4> innerDims; ///< with lanes: the extents that `inner` runs over
};

/// Rough arithmetic of one launch, in additions.
int64_t countFlops(const Graph &graph);

/// About how many elements of each input a launch reads, each once: of what indices choose from
/// only what they choose.
llvm::SmallVector<int64_t> countElementsRead(const Graph &graph);

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_LOOPPLAN_H
