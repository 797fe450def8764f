#include "compiler/Search/PriceProgram.h"

#include "compiler/Search/ProgramWork.h"
#include "compiler/Search/WorkPrices.h"
#include "compiler/Sharding/FunctionGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;

/// The kind of a collective; none of other operations.
static std::optional<ReshardKind> getKind(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::optional<ReshardKind>>(&op)
      .Case([](dist::AllGatherOp) { return ReshardKind::AllGather; })
      .Case([](dist::AllReduceOp) { return ReshardKind::AllReduce; })
      .Case([](dist::AllToAllOp) { return ReshardKind::AllToAll; })
      .Case([](dist::PermuteOp) { return ReshardKind::Permute; })
      .Case([](dist::ReduceScatterOp) { return ReshardKind::ReduceScatter; })
      .Case([](dist::SliceOp) { return ReshardKind::Slice; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Bytes by which a collective is priced: its whole buffer, of a cut what stays.
static double getBytes(Operation &op, ReshardKind kind) {
  Value whole = kind == ReshardKind::ReduceScatter ? op.getOperand(0) : op.getResult(0);
  return static_cast<double>(countBytes(whole.getType()));
}

ProgramPrice weft::priceProgram(func::FuncOp partitioned, MeshPrices &prices) {
  ProgramPrice price;
  FunctionGraph function(partitioned);
  std::vector<NodeWork> works = listWork(partitioned, function);
  for (auto [op, node, work] : llvm::zip_equal(function.operations, function.graph.nodes, works))
    if (!getKind(*op))
      price.compute +=
          static_cast<double>(work.times) *
          getShardSeconds(function.graph, node, work, FactorAxes(node.rule.factors.size()),
                          prices.getDevice(), prices.getConstants());
  MicrobatchCounts counts(partitioned);
  for (Operation &op : partitioned.getBody().front()) {
    std::optional<ReshardKind> kind = getKind(op);
    if (!kind)
      continue;
    AxisList axes = fromAxesAttr(op.getAttrOfType<ArrayAttr>("axes"), prices.getMesh());
    price.collectives += static_cast<double>(counts.of(op)) *
                         prices.getCollectiveSeconds(*kind, axes, getBytes(op, *kind));
    price.numCollectives += *kind != ReshardKind::Slice;
  }
  return price;
}
