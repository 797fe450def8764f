//===- Communicate.h - collectives over contiguous blocks -------*- C++ -*-===//
//
// exec.collective moves contiguous blocks, one a rank of the group, in order of their coordinates.
// A collective along dimension d of a tensor [p…, n, q…] is that directly where the dimensions p
// are of extent 1; else blocks are packed before, or unpacked behind, by a copy that sees the
// tensor as [p…, ranks, n/ranks, q…] with the ranks moved to the front.
//
// Worked example (test/passes/Lowering/select-instructions.mlir): two ranks gather f32[2, 6].
//
//   along 0 to [4, 6]     all_gather to [2, 2, 6], which is the result
//   along 1 to [2, 12]    all_gather to [2, 2, 6], then a copy of these to [2, 2, 6] with strides
//                         [6, 12, 1] of the result: rank r's block begins at column 6·r
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_COMMUNICATE_H
#define WEFT_COMPILER_LOWERING_COMMUNICATE_H

#include "compiler/Lowering/SegmentBuilder.h"

namespace weft {

/// The ranks that take part in a collective.
struct RankGroup {
  mlir::FlatSymbolRefAttr mesh;
  mlir::ArrayAttr axes; ///< of exec::AxisAttr
  int64_t ranks = 1;
};

View addAllReduce(SegmentBuilder &segment, mlir::Location loc, View input, const RankGroup &group,
                  ReduceKind reduction);
/// `into`: a contiguous place for the result, if there is one.
View addAllGather(SegmentBuilder &segment, mlir::Location loc, View input, int64_t dim,
                  const RankGroup &group, const std::optional<View> &into = std::nullopt);
View addReduceScatter(SegmentBuilder &segment, mlir::Location loc, View input, int64_t dim,
                      const RankGroup &group, ReduceKind reduction);
View addAllToAll(SegmentBuilder &segment, mlir::Location loc, View input, int64_t splitDim,
                 int64_t concatDim, const RankGroup &group);
View addPermute(SegmentBuilder &segment, mlir::Location loc, View input, const RankGroup &group,
                mlir::ArrayAttr toAxes);

/// A collective that goes together with others: an all-reduce, or a reduce-scatter or all-gather
/// along a dimension.
struct BucketMember {
  View input;
  std::optional<int64_t> dim;
};
/// Reductions of one kind over one group by one instruction, and what each gives. Members are
/// copied to one buffer, those of reduce-scatters block by block.
llvm::SmallVector<View> addReductions(SegmentBuilder &segment, mlir::Location loc,
                                      llvm::ArrayRef<BucketMember> members, const RankGroup &group,
                                      ReduceKind reduction);
/// The same of all-gathers.
llvm::SmallVector<View> addGathers(SegmentBuilder &segment, mlir::Location loc,
                                   llvm::ArrayRef<BucketMember> members, const RankGroup &group);

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_COMMUNICATE_H
