//===- Compile.h - C++ to a shared object, kept -----------------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_COMPILE_H
#define WEFT_TEST_CUDA_COMPILE_H

#include <string>

namespace weft::test {

/// The path of a shared object of this source, compiled with the compiler that built the project.
/// It is kept by the content of source and headers in XDG_CACHE_HOME or the folder for temporary
/// files, so that a suite of tests compiles a module once. Throws std::runtime_error with what the
/// compiler said.
std::string compileShared(const std::string &source);

} // namespace weft::test

#endif // WEFT_TEST_CUDA_COMPILE_H
