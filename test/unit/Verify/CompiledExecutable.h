//===- CompiledExecutable.h - what the tests of the verifier change *- C++ -*-===//

#ifndef WEFT_TEST_UNIT_VERIFY_COMPILEDEXECUTABLE_H
#define WEFT_TEST_UNIT_VERIFY_COMPILEDEXECUTABLE_H

#include "runtime/Program/Executable.h"

#include <functional>
#include <string>
#include <vector>

namespace weft::test {

/// The folder of an executable on the mesh {data=2, model=2} that `weft compile` wrote: the
/// environment variable WEFT_TEST_EXECUTABLE (verify.test).
std::string getCompiledFolder();

/// That executable, loaded.
const runtime::Executable &getCompiled();

/// One of two parts, on {data=2} and {data=2}, which Inputs/parts.mlir describes: the environment
/// variable WEFT_TEST_PARTS.
const runtime::Executable &getCompiledParts();

/// A convolution with an epilogue, which Inputs/convolution.mlir describes: the environment
/// variable WEFT_TEST_CONVOLUTION.
const runtime::Executable &getCompiledConvolution();

/// Attention with all that it may have, which Inputs/attention.mlir describes: the environment
/// variable WEFT_TEST_ATTENTION.
const runtime::Executable &getCompiledAttention();

/// What the verifier finds, one reason a line; "" for nothing.
std::string joinReasons(const program::Executable &executable);

/// One change of an executable, and what must be said of it.
struct Mutation {
  const char *what;
  std::function<void(program::Executable &)> apply;
  const char *reason;
};

/// Checks that the verifier rejects each mutation of an executable for its reason.
void checkRejected(const runtime::Executable &executable, const std::vector<Mutation> &mutations);

} // namespace weft::test

#endif // WEFT_TEST_UNIT_VERIFY_COMPILEDEXECUTABLE_H
