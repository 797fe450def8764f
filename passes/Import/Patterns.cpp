#include "passes/Import/Patterns.h"

#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace weft;

void weft::populateCanonicalization(RewritePatternSet &patterns) {
  populateExporterForms(patterns);
  for (RegisteredOperationName op : patterns.getContext()->getRegisteredOperations())
    if (isa<WeftDialect>(&op.getDialect()))
      op.getCanonicalizationPatterns(patterns, patterns.getContext());
}

Location weft::fuseLocations(Operation *root, ArrayRef<Operation *> matched) {
  SmallVector<Location> locations = {root->getLoc()};
  for (Operation *op : matched)
    locations.push_back(op->getLoc());
  return FusedLoc::get(root->getContext(), locations);
}
