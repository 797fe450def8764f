//===- Diagnostics.cpp - MLIR's diagnostics as messages -------------------===//

#include "tools/weft/Diagnostics.h"

#include "driver/Messages.h"
#include "mlir/IR/Remarks.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Messages.h"

using namespace weft;
using namespace weft::tool;

PrintDiagnostics::PrintDiagnostics(mlir::MLIRContext *context, bool isVerbose)
    : ScopedDiagnosticHandler(context) {
  setHandler([this, isVerbose](mlir::Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark &&
        (!isVerbose || !remarked.insert(toMessages(diagnostic).front().str()).second))
      return mlir::failure();
    if (!isError && isQuiet())
      return mlir::success();
    for (const Message &message : toMessages(diagnostic))
      runtime::printErrorText(message.str() + "\n");
    return mlir::success();
  });
}

namespace {
class MissedRemarkStreamer : public mlir::remark::detail::MLIRRemarkStreamerBase {
  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override {
    Message message{mlir::DiagnosticSeverity::Remark, describePlace(remark.getLocation()),
                    "not raised to " + remark.getRemarkName().str()};
    for (const auto &argument : remark.getArgs())
      message.text += ": " + argument.val;
    runtime::printErrorText(message.str() + "\n");
  }
};
} // namespace

void weft::tool::printMissedRemarks(mlir::MLIRContext &context) {
  if (isQuiet())
    return;
  mlir::remark::RemarkCategories categories;
  categories.missed = "weft-raise-.*";
  // It fails only where a file cannot be written.
  (void)mlir::remark::enableOptimizationRemarks(
      context, std::make_unique<MissedRemarkStreamer>(),
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
}
