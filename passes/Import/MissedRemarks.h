//===- MissedRemarks.h - why an operation was not raised --------*- C++ -*-===//
//
// A raising pattern that gives up behind the core of what it looks for notes the reason. A pass
// keeps the notes while it rewrites, as the driver's listener: an operation that is rewritten after
// all is forgotten. What is left becomes remarks (mlir/IR/Remarks.h), which tools print on demand.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_IMPORT_MISSEDREMARKS_H
#define WEFT_PASSES_IMPORT_MISSEDREMARKS_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "passes/Import/Constants.h"
#include <map>

namespace weft {

class MissedRemarks : public mlir::RewriterBase::Listener {
public:
  /// Notes why `root` is not raised to a `what`, instead of what was noted before; fails.
  llvm::LogicalResult note(mlir::Operation *root, llvm::StringRef what, const llvm::Twine &reason);

  /// Emits a remark of category `pass` for each operation within `top` that has a note, in their
  /// order.
  void emit(mlir::Operation *top, llvm::StringRef pass) const;

private:
  void notifyOperationErased(mlir::Operation *op) override { notes.erase(op); }
  void notifyOperationModified(mlir::Operation *op) override { notes.erase(op); }

  llvm::DenseMap<mlir::Operation *, std::map<std::string, std::string>> notes; ///< by what
};

/// What raising patterns have at hand.
struct RaisingContext {
  explicit RaisingContext(mlir::Operation *module) : constants(module) {}
  Constants constants;
  MissedRemarks missedRemarks;
};

/// Rewrites greedily what lies within a pass's operation, and emits what the patterns noted.
llvm::LogicalResult rewriteAndReport(mlir::Pass &pass, mlir::Operation *top,
                                     mlir::RewritePatternSet &&patterns,
                                     MissedRemarks &missedRemarks);

/// For reasons: `weft.exp 'name'`, `input 'name'`, `dimension 1` or `dimensions 1, 2`, `0.125`.
std::string describe(mlir::Operation *op);
std::string describe(mlir::Value value);
std::string describeDims(llvm::ArrayRef<int64_t> dims);
std::string describeNumber(double number);

} // namespace weft

#endif // WEFT_PASSES_IMPORT_MISSEDREMARKS_H
