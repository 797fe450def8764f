//===- ReadableText.h - what can be read of a text of IR --------*- C++ -*-===//
//
// MLIR's parser ends at the first error, and a language server on it then knows nothing of the
// file. Here every statement with an error is replaced, at its place, by one that parses,
//
//   %0 = weft.expp %x : tensor<4xf32>     becomes     %0 = "lsp.unreadable"() : () -> tensor<4xf32>
//
// until the rest can be read and verified: the server sees the same lines and columns of everything
// else. Where the types of results cannot be told, what uses them goes too; where a statement alone
// is not the cause, the one before it or around it goes. The problems are those of the original.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_LSP_SERVER_READABLETEXT_H
#define WEFT_TOOLS_WEFT_LSP_SERVER_READABLETEXT_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>
#include <vector>

namespace weft::lsp {

/// Something that is wrong with a text. Lines and characters count from 0, these in units of
/// UTF-16, as the protocol does.
struct Problem {
  unsigned line = 0, character = 0, endCharacter = 0;
  std::string message;
};

/// A range of a text and what stands there instead, on as many lines.
struct Replacement {
  size_t begin, end;
  std::string text;
};

struct ReadableText {
  std::string original;
  std::vector<Problem> problems;
  std::vector<Replacement> replacements; ///< none where all can be read, ascending

  std::string text() const;
  /// The same, but what stands on one line of the original stays as it is: to complete it.
  std::string textBut(unsigned line) const;
};

/// Reads a file, in parts divided by `// -----` as MLIR's tools do. A part that cannot be made
/// readable is left as it is, without problems: whoever parses it will find one. Of a part with so
/// many errors that finding them all would take long, the rest is replaced as a whole.
ReadableText makeReadable(std::string text, const mlir::DialectRegistry &registry);

} // namespace weft::lsp

#endif // WEFT_TOOLS_WEFT_LSP_SERVER_READABLETEXT_H
