//===- Complex.h - complex numbers as two tensors ---------------*- C++ -*-===//
//
// weft has no complex numbers. A tensor of them is two of real numbers, both in its shape: the
// names of a graph have a value for the real part and one for the imaginary. What makes complex
// numbers of real ones, or the reverse, and products of two know both parts; what moves elements,
// and what is linear, is imported for one part and then for the other. So rotary embeddings that
// are written as products of complex numbers become the same operations as those that are not.
// Stored ones are weights of pairs of real numbers, as they lie in the file.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_OPS_COMPLEX_H
#define WEFT_FRONTENDS_TORCH_EXPORT_OPS_COMPLEX_H

#include "frontends/torch_export/GraphImporter.h"

namespace weft::frontend::aten {

/// Whether a node has an operand of complex numbers, or makes such numbers of real ones.
bool concernsComplex(const Scope &scope, const GraphNode &call);
/// Imports such a node; `importer` is that of its operator for real numbers. Throws ImportError for
/// operators that have no rule here.
void importComplex(GraphImporter &graph, Scope &scope, const GraphNode &call, OpImporter importer);

/// Whether an argument of a node is complex, or an element type is.
bool isComplex(const Node &node, llvm::StringRef name);
bool isComplexType(const Argument &argument);
/// Gives a name complex numbers that lie as pairs along the last dimension.
void bindPairs(Scope &scope, llvm::StringRef name, Emitter &emit, mlir::Value pairs);
/// The real parts of pairs along the last dimension, or the imaginary ones.
mlir::Value partOfPairs(Emitter &emit, mlir::Value pairs, ComplexPart part);

/// The importer that an operator has for both parts at once; null where it has none, or these
/// operands are to be imported one part at a time.
OpImporter importerOfBoth(Node &node, llvm::StringRef target);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_OPS_COMPLEX_H
