//===- Parse.h - everything that is wrong with a text of IR -----*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_LSP_SERVER_PARSE_H
#define WEFT_TOOLS_WEFT_LSP_SERVER_PARSE_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace weft::lsp {

/// An error, with its notes, and the byte of the text that it is about.
struct Failure {
  size_t offset;
  std::string message;
};

struct ParseResult {
  bool parsed = false;           ///< else the parser ended at the one failure
  std::vector<Failure> failures; ///< of operations that are not valid, where it parsed
};

/// Parses as MLIR's language server does: unregistered operations may stand anywhere.
class Parser {
public:
  explicit Parser(const mlir::DialectRegistry &registry);

  /// `text` has the lines of `original`; the bytes of failures are those of `original`, found by
  /// line and column.
  ParseResult parse(const std::string &text, llvm::StringRef original);

  /// The `count` types that a statement ends with (behind `->`, `:` or `to`), which are those of
  /// its results; empty where it does not.
  std::vector<std::string> trailingTypes(llvm::StringRef statement, size_t count);

private:
  std::vector<std::string> parseTypes(llvm::StringRef list);

  mlir::MLIRContext context;
};

} // namespace weft::lsp

#endif // WEFT_TOOLS_WEFT_LSP_SERVER_PARSE_H
