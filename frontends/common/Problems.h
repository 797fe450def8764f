//===- Problems.h - everything that is wrong with a model -------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_PROBLEMS_H
#define WEFT_FRONTENDS_COMMON_PROBLEMS_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <string>
#include <vector>

namespace weft::frontend {

/// Collects errors, to report all of them at once.
class Problems {
public:
  void add(const llvm::Twine &message) { messages.push_back(message.str()); }
  /// Nodes of one unsupported operator become one message.
  void addUnsupported(llvm::StringRef op, llvm::StringRef node) {
    unsupported[op.str()].push_back(node.str());
  }
  /// A symbolic dimension without an extent; said once.
  void addUnbound(llvm::StringRef dim, llvm::StringRef input) {
    unbound.insert({dim.str(), input.str()});
  }

  bool any() const { return !messages.empty() || !unsupported.empty() || !unbound.empty(); }
  /// Reports them as errors at `location`, each kind in the order found; a kind's list is cut after
  /// some dozens.
  void report(mlir::Location location) const;

private:
  std::vector<std::string> messages;
  llvm::MapVector<std::string, std::vector<std::string>, std::map<std::string, unsigned>>
      unsupported;
  llvm::MapVector<std::string, std::string, std::map<std::string, unsigned>> unbound;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_PROBLEMS_H
