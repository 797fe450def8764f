//===- ImportError.h - what is wrong with a model ---------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_IMPORTERROR_H
#define WEFT_FRONTENDS_COMMON_IMPORTERROR_H

#include <stdexcept>

namespace weft::frontend {

/// What is wrong with a model, or with one node of it: thrown by importers, caught where nodes are
/// walked. The text is in lowercase and names no node; whoever catches it does.
struct ImportError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown by lookups of a value whose maker has failed, which was reported.
struct FailedValue {};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_IMPORTERROR_H
