//===- Diagnostics.h - what is said, and what is not ------------*- C++ -*-===//
//
// What is only tried says nothing, and what turns out to be so is said when that is known. Handlers
// are the context's, of all its threads: what one of them does that is kept by itself is not lost
// where others try something meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_DIAGNOSTICS_H
#define WEFT_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <optional>
#include <vector>

namespace weft {

/// Says nothing while it lives, but what a thread says that is held by itself.
class QuietDiagnostics : public mlir::ScopedDiagnosticHandler {
public:
  explicit QuietDiagnostics(mlir::MLIRContext *context);
};

/// Keeps what is said meanwhile, to say it when it is known that it is so, or else to forget it.
class HeldDiagnostics {
public:
  /// Whose: of all threads, or of the one that makes this and nothing else; that one calls stop().
  enum class Of { All, ThisThread };

  explicit HeldDiagnostics(mlir::MLIRContext &context, Of whose = Of::All);

  /// What is said from now on is not kept.
  void stop();
  /// Stops, and says what was kept.
  void emit();

private:
  mlir::MLIRContext &context;
  Of whose;
  std::vector<mlir::Diagnostic> all;
  std::optional<mlir::ScopedDiagnosticHandler> handler;
};

} // namespace weft

#endif // WEFT_DRIVER_DIAGNOSTICS_H
