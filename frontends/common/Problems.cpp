#include "frontends/common/Problems.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft::frontend;

/// More than this help nobody.
static constexpr size_t maxMessages = 50, maxNodeNames = 10;

void Problems::report(Location location) const {
  for (const auto &[dim, input] : unbound)
    emitError(location) << "dimension '" << dim << "' of input '" << input
                        << "' has no size: give --dim " << dim << "=N";
  for (const auto &[op, nodes] : unsupported) {
    InFlightDiagnostic error = emitError(location) << "operator " << op << " is not supported: ";
    if (nodes.size() == 1)
      error << "node '" << nodes.front() << "'";
    else
      error << nodes.size() << " nodes, '"
            << llvm::join(ArrayRef(nodes).take_front(maxNodeNames), "', '") << "'"
            << (nodes.size() > maxNodeNames ? " …" : "");
  }
  for (const std::string &message : ArrayRef(messages).take_front(maxMessages))
    emitError(location) << message;
  if (messages.size() > maxMessages)
    emitError(location) << "and " << messages.size() - maxMessages << " more";
}
