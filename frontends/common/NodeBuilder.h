//===- NodeBuilder.h - what dialects build in a frontend --------*- C++ -*-===//
//
// Some of what frontends need is built of values alone (compiler/Training). Here that is given the
// place where an Emitter builds, and names.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_NODEBUILDER_H
#define WEFT_FRONTENDS_COMMON_NODEBUILDER_H

#include "dialects/Weft/IR/TensorBuilder.h"
#include "frontends/common/Emitter.h"

namespace weft::frontend {

/// Builds on the way to the source value that `emit` builds for: what is built is called
/// `NAME/what`.
class NodeBuilder {
public:
  NodeBuilder(Emitter &emit, llvm::StringRef what)
      : located(mlir::NameLoc::get(emit.builder.getStringAttr(emit.name() + "/" + what)),
                emit.builder),
        b(located) {}

  mlir::ImplicitLocOpBuilder located;
  TensorBuilder b;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_NODEBUILDER_H
