//===- Diagnostics.cpp - MLIR's diagnostics as messages -------------------===//

#include "tools/weft/Diagnostics.h"

#include "dialects/Weft/IR/SourceName.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Remarks.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Messages.h"

using namespace weft;
using namespace weft::tool;

/// What an error is about: a file with a line, a file, or a value of the model.
static std::string placeOf(mlir::Location location) {
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>()) {
    std::string name = file.getFilename().str();
    if (file.getLine() > 0)
      name += ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
    return name + ": ";
  }
  llvm::StringRef source = getSourceName(location);
  return source.empty() ? "" : "'" + source.str() + "': ";
}

static void say(const char *kind, const mlir::Diagnostic &diagnostic) {
  runtime::printError("{}: {}{}\n", kind, placeOf(diagnostic.getLocation()), diagnostic.str());
}

PrintDiagnostics::PrintDiagnostics(mlir::MLIRContext *context) : ScopedDiagnosticHandler(context) {
  setHandler([](mlir::Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark)
      return mlir::failure();
    if (!isError && isQuiet())
      return mlir::success();
    say(isError ? "error" : "warning", diagnostic);
    for (const mlir::Diagnostic &note : diagnostic.getNotes())
      say("note", note);
    return mlir::success();
  });
}

namespace {
class MissStreamer : public mlir::remark::detail::MLIRRemarkStreamerBase {
  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override {
    std::string reasons;
    for (const auto &argument : remark.getArgs())
      reasons += ": " + argument.val;
    runtime::printError("remark: {}not raised to {}{}\n", placeOf(remark.getLocation()),
                        remark.getRemarkName().str(), reasons);
  }
};
} // namespace

void weft::tool::sayMisses(mlir::MLIRContext &context) {
  if (isQuiet())
    return;
  mlir::remark::RemarkCategories categories;
  categories.missed = "weft-raise-.*";
  // It fails only where a file cannot be written.
  (void)mlir::remark::enableOptimizationRemarks(
      context, std::make_unique<MissStreamer>(),
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
}
