//===- Messages.h - diagnostics as people read them -------------*- C++ -*-===//

#ifndef WEFT_DRIVER_MESSAGES_H
#define WEFT_DRIVER_MESSAGES_H

#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace weft {

/// One line to be told.
struct Message {
  mlir::DiagnosticSeverity severity;
  std::string place; ///< as describePlace() gives it
  std::string text;

  /// "error: model.mlir:3:7: expected …"
  std::string str() const;
};

/// What a location is to people: a file, with line and column where they are known, or a value of
/// the model in quotes; "" for neither.
std::string describePlace(mlir::Location location);

/// A diagnostic, then its notes.
std::vector<Message> toMessages(const mlir::Diagnostic &diagnostic);

/// Keeps the errors and warnings of a context while it lives.
class CollectMessages : public mlir::ScopedDiagnosticHandler {
public:
  explicit CollectMessages(mlir::MLIRContext *context);

  const std::vector<Message> &get() const { return messages; }
  /// One a line.
  std::string str() const;

private:
  std::vector<Message> messages;
};

} // namespace weft

#endif // WEFT_DRIVER_MESSAGES_H
