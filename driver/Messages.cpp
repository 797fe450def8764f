#include "driver/Messages.h"

#include "dialects/Weft/IR/SourceName.h"
#include "driver/Outcome.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace weft;

std::string weft::describePlace(mlir::Location location) {
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>()) {
    std::string name = file.getFilename().str();
    if (file.getLine() > 0)
      name += ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
    return name;
  }
  llvm::StringRef source = getSourceName(location);
  return source.empty() ? "" : "'" + source.str() + "'";
}

static Message toMessage(const mlir::Diagnostic &diagnostic) {
  return {diagnostic.getSeverity(), describePlace(diagnostic.getLocation()), diagnostic.str()};
}

std::vector<Message> weft::toMessages(const mlir::Diagnostic &diagnostic) {
  std::vector<Message> messages{toMessage(diagnostic)};
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    messages.push_back(toMessage(note));
  return messages;
}

static const char *getName(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Error:
    return "error";
  case mlir::DiagnosticSeverity::Warning:
    return "warning";
  case mlir::DiagnosticSeverity::Remark:
    return "remark";
  case mlir::DiagnosticSeverity::Note:
    return "note";
  }
  return "";
}

std::string Message::str() const {
  std::string line = getName(severity);
  line += ": ";
  if (!place.empty())
    line += place + ": ";
  return line + text;
}

CollectMessages::CollectMessages(mlir::MLIRContext *context) : ScopedDiagnosticHandler(context) {
  setHandler([this](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark)
      return mlir::failure();
    for (Message &message : toMessages(diagnostic))
      messages.push_back(std::move(message));
    return mlir::success();
  });
}

std::string CollectMessages::str() const {
  std::string text;
  for (const Message &message : messages)
    text += message.str() + "\n";
  return text;
}

Outcome weft::fail(mlir::MLIRContext &context, ErrorKind kind, const llvm::Twine &message) {
  mlir::emitError(mlir::UnknownLoc::get(&context)) << message;
  return kind;
}
