#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Import/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace weft {
#define GEN_PASS_DEF_DROPUNUSEDWEIGHTS
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct DropUnusedWeights : weft::impl::DropUnusedWeightsBase<DropUnusedWeights> {
  void runOnOperation() override {
    llvm::DenseSet<StringAttr> used;
    getOperation().walk([&](Operation *op) {
      for (NamedAttribute attribute : op->getAttrs())
        if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
          used.insert(symbol.getAttr());
    });
    for (WeightOp weight : llvm::make_early_inc_range(getOperation().getOps<WeightOp>()))
      if (!used.contains(weight.getSymNameAttr()))
        weight.erase();
  }
};
} // namespace
