//===- Statements.h - the outline of a text of IR ---------------*- C++ -*-===//
//
// Finds operations by their layout alone, so that it also works where the text does not parse: a
// line starts a statement; lines that are indented more belong to it, as its own text or, once a
// line has ended with `{`, as the statements of its region; so does what closes it, at its own
// indentation. Brackets are not counted, since those of a text that is being typed do not match.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_LSP_SERVER_STATEMENTS_H
#define WEFT_TOOLS_WEFT_LSP_SERVER_STATEMENTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <vector>

namespace weft::lsp {

struct Statement {
  static constexpr unsigned none = ~0u;

  size_t begin = 0, end = 0; ///< bytes: its first character, and behind its last line's last one
  size_t column = 0;         ///< its indentation, in bytes
  unsigned parent = none;
  llvm::SmallVector<unsigned, 4> children;
  bool opens = false, closes = false; ///< has a region; its last region is closed
};

class Statements {
public:
  /// The text must outlive the outline.
  explicit Statements(llvm::StringRef text);

  unsigned size() const { return all.size(); }
  const Statement &operator[](unsigned index) const { return all[index]; }
  /// The innermost statement on whose lines a byte is; none on blank lines and comments.
  unsigned find(size_t offset) const;
  /// The text of a statement, comments left out.
  std::string textOf(unsigned index) const;
  /// The first statement that begins behind one, or `size()`.
  unsigned after(unsigned index) const;
  /// The outermost statement around one.
  unsigned rootOf(unsigned index) const;
  unsigned lineOf(size_t offset) const;
  size_t lineBegin(unsigned line) const { return lines[line]; }
  unsigned lineCount() const { return lines.size(); }

private:
  void addLine(unsigned line, llvm::SmallVectorImpl<unsigned> &open, bool &inBody);
  void extend(unsigned index, size_t end);

  llvm::StringRef text;
  std::vector<size_t> lines;    ///< where each begins
  std::vector<unsigned> owners; ///< by line
  std::vector<Statement> all;   ///< in the order of the text
};

/// A line without its comment and the blanks around it.
llvm::StringRef codeOf(llvm::StringRef line);

/// A name in a text, `%x` or `@x`, without the number of a result.
struct Name {
  llvm::StringRef text;
  size_t offset;
};
/// All names in a text, those in strings left out.
std::vector<Name> namesIn(llvm::StringRef text);

/// The names that a statement gives to its results: `%x` and 1, `%y` and 2 of `%x, %y:2 = …`.
struct ResultName {
  llvm::StringRef text;
  unsigned count;
};
std::vector<ResultName> resultsOf(llvm::StringRef statement);

} // namespace weft::lsp

#endif // WEFT_TOOLS_WEFT_LSP_SERVER_STATEMENTS_H
