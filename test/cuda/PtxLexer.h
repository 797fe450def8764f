//===- PtxLexer.h - PTX in words --------------------------------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_PTXLEXER_H
#define WEFT_TEST_CUDA_PTXLEXER_H

#include "test/cuda/PtxModule.h"

namespace weft::test::ptx {

struct Token {
  enum class Kind { Name, Dotted, Integer, Float32, Float64, String, Mark, End };

  Kind kind = Kind::End;
  std::string text;   ///< .word without its dot
  uint64_t value = 0; ///< of a number, as bits
  int line = 0;
  bool touches = false; ///< nothing lies between it and the token before
};

/// Comments are left out. The last token is the end. Throws PtxError.
std::vector<Token> readTokens(const std::string &text);

} // namespace weft::test::ptx

#endif // WEFT_TEST_CUDA_PTXLEXER_H
