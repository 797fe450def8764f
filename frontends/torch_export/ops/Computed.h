//===- Computed.h - numbers that only running tells -------------*- C++ -*-===//
//
// `position.item()` makes a number of a tensor's element. Programs use it to say where a slice
// begins; its length must be known. Sums, differences and products of such numbers are followed;
// comparisons only serve assertions, which are not checked.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_OPS_COMPUTED_H
#define WEFT_FRONTENDS_TORCH_EXPORT_OPS_COMPUTED_H

#include "frontends/torch_export/Node.h"

namespace weft::frontend::aten {

/// The computed number that an argument is, an i64 scalar; null where it is none. Throws
/// ImportError for a truth value.
mlir::Value findComputed(const Node &node, llvm::StringRef name);

/// Imports an operator of Python or an assertion, if an operand is a computed number.
bool importComputed(Node &node);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_OPS_COMPUTED_H
