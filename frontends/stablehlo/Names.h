//===- Names.h - names of arguments and values ------------------*- C++ -*-===//
//
// A value is called what JAX calls the operation that makes it: the name of its location,
// `jit(f)/attention/dot_general`. Values of an inlined function are called after the call and their
// own location, `jit(f)/jit(silu)/neg`; those of the third round of a loop `jit(f)/while[2]/…`;
// where a name is taken, `name~2`.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_STABLEHLO_NAMES_H
#define WEFT_FRONTENDS_STABLEHLO_NAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace weft::frontend::stablehlo {

/// Other names of an argument that is called by a path into a nested structure, best first:
/// `P['h0.qkv']` is `h0.qkv` and `P.h0.qkv`, `p['layers'][0].w` is `layers.0.w`, `layers/0/w` and
/// `p.layers.0.w`. Empty where the name is no such path.
std::vector<std::string> argumentAliases(llvm::StringRef name);

/// What an operation's location calls it, or `file:line/op`, or its own name.
std::string operationName(mlir::Operation *op);

/// Gives each value a name of its own, within the calls and loops that are being walked.
class Names {
public:
  /// The name of an operation of the source here and now; not yet unique.
  std::string pathOf(mlir::Operation *op) const;
  /// `name`, numbered where it was given before.
  std::string unique(std::string name);

  /// While it lives, names belong inside a call (or a round of a loop) of this name.
  class Inside {
  public:
    Inside(Names &names, std::string scope) : names(names), outer(std::move(names.scope)) {
      names.scope = std::move(scope);
    }
    ~Inside() { names.scope = std::move(outer); }
    Inside(const Inside &) = delete;

  private:
    Names &names;
    std::string outer;
  };

private:
  std::string scope;
  llvm::StringMap<unsigned> given;
};

} // namespace weft::frontend::stablehlo

#endif // WEFT_FRONTENDS_STABLEHLO_NAMES_H
