//===- Outcome.h - how a call of the library ended --------------*- C++ -*-===//
//
// What is wrong is told to the diagnostics of the MLIR context, all of it, before a call returns;
// the value says that something was, and of what kind. Nothing is printed: whoever wants the
// messages has a handler on the context, such as CollectMessages (Messages.h). No call throws.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_OUTCOME_H
#define WEFT_DRIVER_OUTCOME_H

#include "mlir/IR/MLIRContext.h"
#include "runtime/Support/Error.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <utility>

namespace weft {

using runtime::ErrorKind;

/// Whether a call did what it was asked to.
class [[nodiscard]] Outcome {
public:
  static Outcome success() { return Outcome(); }
  Outcome(ErrorKind error) : error(error) {}

  bool failed() const { return error.has_value(); }
  /// Of a call that failed.
  ErrorKind getError() const { return *error; }
  /// What the command ends with: 0, or the error's number.
  int getExitCode() const { return error ? static_cast<int>(*error) : 0; }

private:
  Outcome() = default;

  std::optional<ErrorKind> error;
};

/// What a call gives, or how it failed.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)), outcome(Outcome::success()) {}
  Result(Outcome failure) : outcome(failure) {}
  Result(ErrorKind error) : outcome(error) {}

  bool failed() const { return outcome.failed(); }
  Outcome getOutcome() const { return outcome; }
  int getExitCode() const { return outcome.getExitCode(); }

  T &operator*() { return *value; }
  T *operator->() { return &*value; }

private:
  std::optional<T> value;
  Outcome outcome;
};

/// Reports an error that is about no place in the module.
Outcome fail(mlir::MLIRContext &context, ErrorKind kind, const llvm::Twine &message);

} // namespace weft

#endif // WEFT_DRIVER_OUTCOME_H
