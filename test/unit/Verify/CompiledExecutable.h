//===- CompiledExecutable.h - what the tests of the verifier change *- C++ -*-===//

#ifndef WEFT_TEST_UNIT_VERIFY_COMPILEDEXECUTABLE_H
#define WEFT_TEST_UNIT_VERIFY_COMPILEDEXECUTABLE_H

#include "runtime/Program/Executable.h"

namespace weft::test {

/// The folder of an executable on the mesh {data=2, model=2} that `weft compile` wrote: the
/// environment variable WEFT_TEST_EXECUTABLE (verify.test).
std::string getCompiledFolder();

/// That executable, loaded.
const runtime::Executable &getCompiled();

/// One of two parts, on {data=2} and {data=2}, which Inputs/parts.mlir describes: the environment
/// variable WEFT_TEST_PARTS.
const runtime::Executable &getCompiledParts();

} // namespace weft::test

#endif // WEFT_TEST_UNIT_VERIFY_COMPILEDEXECUTABLE_H
