//===- Changes.h - which of its inputs a program changes --------*- C++ -*-===//
//
// A buffer, a parameter or an input that a program changes is state: the next step starts from its
// new value. Default exports change it in place, wherever it is in use,
//
//   index_copy_ = aten.index_copy_.default(b_cache, 2, pos, x)
//
// decomposed ones return the new value, and say so in the program's signature.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_CHANGES_H
#define WEFT_FRONTENDS_TORCH_EXPORT_CHANGES_H

#include "frontends/torch_export/Program.h"
#include "llvm/ADT/StringSet.h"

namespace weft::frontend::aten {

/// The tensors that an operator changes in place, by the names of its arguments: `self` of
/// operators that end in `_`, the running statistics of normalisations in training mode.
llvm::SmallVector<llvm::StringRef, 2> changedArguments(const GraphNode &node);

/// The inputs of the program's graph, by their names there, that may have another value when it
/// ends: views of them count, whether or not torch makes a copy instead.
llvm::StringSet<> findChangedInputs(const Program &program);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_CHANGES_H
