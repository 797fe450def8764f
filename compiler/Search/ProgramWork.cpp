#include "compiler/Search/ProgramWork.h"

using namespace mlir;
using namespace weft;

MicrobatchCounts::MicrobatchCounts(func::FuncOp function) : phases(function) {
  auto attr = function->getAttrOfType<IntegerAttr>(dist::kMicrobatchesAttr);
  count = attr ? attr.getInt() : 1;
}

/// The name by which rates of devices go.
static std::string getTypeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(type);
  return name;
}

std::vector<NodeWork> weft::listWork(func::FuncOp main, const FunctionGraph &function) {
  std::vector<NodeWork> works;
  works.reserve(function.operations.size());
  MicrobatchCounts counts(main);
  for (Operation *op : function.operations)
    works.push_back({static_cast<double>(countFlops(op)),
                     op->getNumOperands() > 0 ? getTypeName(op->getOperand(0).getType()) : "f32",
                     counts.of(*op), isa<AttentionBackwardOp>(op), isa<MapOp>(op)});
  return works;
}
