//===- Patterns.h - pattern sets of the import passes -----------*- C++ -*-===//

#ifndef WEFT_PASSES_IMPORT_PATTERNS_H
#define WEFT_PASSES_IMPORT_PATTERNS_H

#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace weft {

class Constants;

/// A rewriting of one operation with help that outlives the pattern: values that are known, missed
/// remarks that are noted.
template <typename Op, typename Help> class PatternWithContext : public mlir::OpRewritePattern<Op> {
public:
  using Rewrite = llvm::LogicalResult (*)(Op, Help &, mlir::PatternRewriter &);

  PatternWithContext(mlir::MLIRContext *context, Help &help, Rewrite rewrite)
      : mlir::OpRewritePattern<Op>(context), help(help), rewrite(rewrite) {}

  llvm::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    return rewrite(op, help, rewriter);
  }

private:
  Help &help;
  Rewrite rewrite;
};

template <typename Op, typename Help>
void addPattern(mlir::RewritePatternSet &patterns, Help &help,
                llvm::LogicalResult (*rewrite)(Op, Help &, mlir::PatternRewriter &)) {
  patterns.add<PatternWithContext<Op, Help>>(patterns.getContext(), help, rewrite);
}

/// The canonical forms of every loaded operation, and those of exporters.
void populateCanonicalization(mlir::RewritePatternSet &patterns);
/// One form of what exporters write in several ways.
void populateExporterForms(mlir::RewritePatternSet &patterns);

void populateSinkViews(mlir::RewritePatternSet &patterns);
void populateSinkViewsPastProducts(mlir::RewritePatternSet &patterns);
/// What weft-move-views-to-weights does, but for slices that take more than one of a dimension, or
/// parts of rows: those may belong together (rotations).
void populateMoveSelectionsToWeights(mlir::RewritePatternSet &patterns);
/// Makes a slice of what is computed of weights a slice of the weights, if no other view lies
/// between.
llvm::LogicalResult moveSliceToWeights(SliceOp op, mlir::PatternRewriter &rewriter);
/// The same of all slices that a value is cut up by, whatever views and concatenations lie between;
/// of each what can be moved.
llvm::LogicalResult moveSlicesToWeights(SliceOp op, mlir::PatternRewriter &rewriter);
/// Attention whose batch and heads were joined by reshapes has them apart.
llvm::LogicalResult splitJoinedHeads(AttentionOp op, mlir::PatternRewriter &rewriter);
void populateSimplifyAttention(mlir::RewritePatternSet &patterns, Constants &constants);

/// The location of an operation that stands for `root` and those matched with it: the root's name
/// first.
mlir::Location fuseLocations(mlir::Operation *root, llvm::ArrayRef<mlir::Operation *> matched);

} // namespace weft

#endif // WEFT_PASSES_IMPORT_PATTERNS_H
