#include "driver/Diagnostics.h"

#include "mlir/IR/MLIRContext.h"

#include <utility>

using namespace mlir;
using namespace weft;

/// Handlers run on the thread that says something.
static thread_local bool isHeldByItself = false;

QuietDiagnostics::QuietDiagnostics(MLIRContext *context)
    : ScopedDiagnosticHandler(context, [](Diagnostic &) { return success(!isHeldByItself); }) {}

HeldDiagnostics::HeldDiagnostics(MLIRContext &context, Of whose) : context(context), whose(whose) {
  isHeldByItself |= whose == Of::ThisThread;
  handler.emplace(&context, [this, whose](Diagnostic &said) {
    if (isHeldByItself != (whose == Of::ThisThread))
      return failure(); // another one's
    all.push_back(std::move(said));
    return success();
  });
}

void HeldDiagnostics::stop() {
  if (handler && whose == Of::ThisThread)
    isHeldByItself = false;
  handler.reset();
}

void HeldDiagnostics::emit() {
  stop();
  for (Diagnostic &said : std::exchange(all, {}))
    context.getDiagEngine().emit(std::move(said));
}
