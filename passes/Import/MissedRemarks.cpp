#include "passes/Import/MissedRemarks.h"

#include "dialects/Weft/IR/SourceName.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace weft;

LogicalResult MissedRemarks::note(Operation *root, StringRef what, const Twine &reason) {
  if (root->getContext()->getRemarkEngine()) // else nobody asks
    notes[root][what.str()] = reason.str();
  return failure();
}

void MissedRemarks::emit(Operation *top, StringRef pass) const {
  if (notes.empty())
    return;
  top->walk([&](Operation *op) {
    auto found = notes.find(op);
    if (found == notes.end())
      return;
    for (const auto &[what, reason] : found->second)
      remark::missed(op->getLoc(), remark::RemarkOpts::name(what).category(pass))
          << remark::detail::Remark::Arg("Reason", reason);
  });
}

LogicalResult weft::rewriteAndReport(Pass &pass, Operation *top, RewritePatternSet &&patterns,
                                     MissedRemarks &missedRemarks) {
  GreedyRewriteConfig config;
  config.setListener(&missedRemarks);
  LogicalResult result = applyPatternsGreedily(top, std::move(patterns), config);
  missedRemarks.emit(top, pass.getArgument());
  return result;
}

std::string weft::describe(Operation *op) {
  StringRef name = getSourceName(op->getLoc());
  return op->getName().getStringRef().str() + (name.empty() ? "" : " '" + name.str() + "'");
}

std::string weft::describe(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? describe(op) : "input '" + getSourceName(value) + "'";
}

std::string weft::describeDims(ArrayRef<int64_t> dims) {
  std::string text = dims.size() == 1 ? "dimension " : "dimensions ";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(dims, stream);
  return text;
}

std::string weft::describeNumber(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}
