#include "tools/weft-lsp-server/ReadableText.h"

#include "tools/weft-lsp-server/Parse.h"
#include "tools/weft-lsp-server/Statements.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>

using namespace weft::lsp;
using llvm::StringRef;

/// As many bytes are parsed at most for one text, the first pass and the last not counted, so that
/// a large file with many errors does not keep its reader waiting.
static constexpr size_t maxBytes = size_t{8} << 20;

/// The text with its replacements, but those that reach into bytes `keptBegin` to `keptEnd`.
static std::string replace(StringRef text, llvm::ArrayRef<Replacement> replacements,
                           size_t keptBegin = StringRef::npos, size_t keptEnd = 0) {
  std::string result;
  size_t at = 0;
  for (const Replacement &replacement : replacements) {
    if (replacement.begin <= keptEnd && keptBegin <= replacement.end)
      continue;
    result += text.slice(at, replacement.begin);
    result += replacement.text;
    at = replacement.end;
  }
  return result += text.drop_front(at);
}

std::string ReadableText::text() const { return replace(original, replacements); }

std::string ReadableText::textBut(unsigned line) const {
  auto endOfLine = [&](size_t at) { return std::min(original.find('\n', at), original.size()); };
  size_t begin = 0;
  for (; line > 0 && begin < original.size(); --line)
    begin = endOfLine(begin) + 1;
  return replace(original, replacements, begin, endOfLine(begin));
}

namespace {
/// Makes one part of a file readable.
class Reader {
public:
  Reader(StringRef text, Parser &parser) : text(text), statements(text), parser(parser) {}

  /// Whether the rest of the part can be read.
  bool run();

  std::vector<Problem> problems;
  std::vector<Replacement> replacements() const;

private:
  using Masks = std::map<unsigned, Replacement>; ///< by statement

  /// What was tried against one failure of the parser: one candidate after the other.
  struct Attempt {
    size_t offset;
    std::vector<unsigned> candidates;
    size_t next = 0;
    Masks before;
  };

  bool handle(const ParseResult &result);
  void giveUpFrom(const Failure &failure);
  bool handleSyntax(const Failure &failure);
  bool handleMeaning(const Failure &failure);
  std::vector<unsigned> candidatesOf(const Failure &failure) const;
  bool isConsequence(size_t offset) const;
  void report(const Failure &failure);
  bool isMasked(unsigned statement) const;
  void mask(unsigned statement);
  void put(unsigned statement, const std::vector<std::string> &types);
  void maskUsers(unsigned statement);
  void note(unsigned statement);

  StringRef text;
  Statements statements;
  Parser &parser;
  Masks masks;
  llvm::StringSet<> gone; ///< names that masked statements define: `@x`, or `%x` behind its root
  std::optional<Attempt> attempt;
};
} // namespace

/// How a value's name is known apart from those of other functions.
static std::string keyOf(unsigned root, StringRef value) {
  return (llvm::Twine(root) + value).str();
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

bool Reader::isMasked(unsigned statement) const {
  for (; statement != Statement::none; statement = statements[statement].parent)
    if (masks.count(statement))
      return true;
  return false;
}

/// Replaces a statement by one with results of these types, if any.
void Reader::put(unsigned index, const std::vector<std::string> &types) {
  const Statement &statement = statements[index];
  StringRef code = text.slice(statement.begin, statement.end);
  std::string line = "\"lsp.unreadable\"() : () -> (" + llvm::join(types, ", ") + ")";
  if (!types.empty())
    line = code.take_front(code.find('=') + 1).str() + " " + line;
  std::replace(line.begin(), line.end(), '\n', ' ');
  line.append(code.count('\n'), '\n');
  masks[index] = {statement.begin, statement.end, std::move(line)};
  note(index);
}

/// Notes what a masked statement defines.
void Reader::note(unsigned index) {
  std::string code = statements.textOf(index);
  std::vector<ResultName> results = resultsOf(code);
  for (const ResultName &result : results)
    gone.insert(keyOf(statements.rootOf(index), result.text));
  if (!results.empty())
    return;
  for (const Name &name : namesIn(code))
    if (name.text.starts_with("@")) {
      gone.insert(name.text);
      return; // the first is its own
    }
}

void Reader::mask(unsigned index) {
  std::string code = statements.textOf(index);
  unsigned count = 0;
  for (const ResultName &result : resultsOf(code))
    count += result.count;
  std::vector<std::string> types;
  if (count > 0)
    types = parser.trailingTypes(code, count);
  put(index, types);
  if (types.size() != count)
    maskUsers(index);
}

/// Masks what uses the results of a statement whose types are not known, and what uses their
/// results, as far as those have no known types.
void Reader::maskUsers(unsigned index) {
  llvm::StringSet<> lost;
  auto lose = [&](unsigned from) {
    for (const ResultName &result : resultsOf(statements.textOf(from)))
      lost.insert(result.text);
  };
  lose(index);
  size_t begin = statements[index].end, end = statements[statements.rootOf(index)].end;
  for (const Name &name : namesIn(text.slice(begin, end))) {
    unsigned user = statements.find(begin + name.offset);
    if (!lost.contains(name.text) || user == Statement::none || isMasked(user))
      continue;
    put(user, {});
    lose(user);
  }
}

std::vector<Replacement> Reader::replacements() const {
  std::vector<Replacement> result;
  for (const auto &[statement, replacement] : masks)
    if (unsigned parent = statements[statement].parent;
        parent == Statement::none || !isMasked(parent))
      result.push_back(replacement);
  return result;
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// Whether the statement at a byte mentions what a masked one defines: its failure may come of
/// that.
bool Reader::isConsequence(size_t offset) const {
  unsigned at = statements.find(offset);
  if (at == Statement::none)
    return false;
  std::string code = statements.textOf(at);
  return llvm::any_of(namesIn(code), [&](const Name &name) {
    return gone.contains(name.text.starts_with("@") ? name.text.str()
                                                    : keyOf(statements.rootOf(at), name.text));
  });
}

/// The length of a line's beginning in units of UTF-16.
static unsigned utf16Length(StringRef beginning) {
  unsigned units = 0;
  for (char c : beginning) {
    auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xC0) == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

void Reader::report(const Failure &failure) {
  if (isConsequence(failure.offset))
    return;
  unsigned line = statements.lineOf(failure.offset);
  StringRef word = text.drop_front(failure.offset).take_until([](char c) {
    return StringRef(" \t\r\n,:()[]{}<>=").contains(c);
  });
  unsigned character = utf16Length(text.slice(statements.lineBegin(line), failure.offset));
  problems.push_back(
      {line, character, character + std::max(utf16Length(word), 1u), failure.message});
}

/// The statements that may be the cause of a failure of the parser, likeliest first.
std::vector<unsigned> Reader::candidatesOf(const Failure &failure) const {
  std::vector<unsigned> result;
  unsigned at = statements.find(failure.offset);
  if (text.drop_front(failure.offset).trim().empty()) // the end: is something not closed?
    for (unsigned index = 0; index < statements.size(); ++index)
      if (statements[index].opens && !statements[index].closes)
        result.push_back(index);
  if (at == Statement::none)
    return result;
  // At its first word, or at a bracket that closes it: the text before may be cut short.
  size_t lineBegin = statements.lineBegin(statements.lineOf(failure.offset));
  if (text.slice(lineBegin, failure.offset).trim().empty()) {
    bool atFirst = failure.offset == statements[at].begin;
    unsigned parent = statements[at].parent;
    if (!atFirst && !statements[at].children.empty())
      result.push_back(statements[at].children.back());
    else if (atFirst && parent != Statement::none && statements[parent].children.front() != at)
      result.push_back(*std::prev(llvm::find(statements[parent].children, at)));
    else if (atFirst && parent == Statement::none && at > 0)
      result.push_back(statements.rootOf(at - 1));
  }
  for (unsigned around = at; around != Statement::none; around = statements[around].parent)
    result.push_back(around);
  // At its last byte: what follows may be no statement at all.
  if (failure.offset == statements[at].end && statements.after(at) < statements.size())
    result.insert(llvm::find(result, at) + 1, statements.after(at));
  return result;
}

/// The parser reports one failure at a time. If a candidate's mask did not help, the next is tried.
bool Reader::handleSyntax(const Failure &failure) {
  auto isSame = [&](const Attempt &last) {
    const Statement &masked = statements[last.candidates[last.next - 1]];
    return failure.offset == last.offset ||
           (masked.begin <= failure.offset && failure.offset <= masked.end);
  };
  if (attempt && isSame(*attempt)) {
    masks = attempt->before;
    gone.clear();
    for (const auto &[statement, replacement] : masks)
      note(statement);
  } else {
    report(failure);
    attempt = Attempt{failure.offset, candidatesOf(failure), 0, masks};
  }
  while (attempt->next < attempt->candidates.size()) {
    unsigned candidate = attempt->candidates[attempt->next++];
    if (isMasked(candidate))
      continue;
    mask(candidate);
    return true;
  }
  return false;
}

/// What parses but is not valid has a statement of its own.
bool Reader::handleMeaning(const Failure &failure) {
  attempt.reset();
  unsigned at = statements.find(failure.offset);
  if (at == Statement::none)
    return false;
  if (!isMasked(at))
    report(failure);
  while (at != Statement::none && isMasked(at))
    at = statements[at].parent;
  if (at == Statement::none)
    return false;
  mask(at);
  return true;
}

bool Reader::handle(const ParseResult &result) {
  bool progress = false;
  for (const Failure &failure : result.failures)
    progress |= result.parsed ? handleMeaning(failure) : handleSyntax(failure);
  return progress;
}

/// Masks all that begins with, or behind, the outermost statement of the first failure.
void Reader::giveUpFrom(const Failure &failure) {
  unsigned first = statements.find(failure.offset);
  report(failure);
  for (unsigned index = first == Statement::none ? 0 : statements.rootOf(first);
       index < statements.size(); ++index)
    if (statements[index].parent == Statement::none)
      put(index, {});
}

bool Reader::run() {
  static constexpr unsigned maxGiveUps = 3;
  size_t parsed = 0;
  for (unsigned giveUps = 0; giveUps < maxGiveUps;) {
    ParseResult result = parser.parse(replace(text, replacements()), text);
    if (result.failures.empty())
      return true;
    // A parse that failed took as long as what is before the failure.
    parsed += result.parsed ? text.size() : result.failures.front().offset;
    if (parsed > maxBytes + text.size()) {
      giveUpFrom(result.failures.front());
      ++giveUps;
    } else if (!handle(result)) {
      return false;
    }
  }
  return false;
}

ReadableText weft::lsp::makeReadable(std::string text, const mlir::DialectRegistry &registry) {
  static constexpr StringRef divider = "// -----";
  ReadableText result{std::move(text), {}, {}};
  Parser parser(registry);
  StringRef all = result.original;
  unsigned firstLine = 0;
  for (size_t begin = 0; begin <= all.size();) {
    size_t end = std::min(all.find(divider, begin), all.size());
    StringRef part = all.slice(begin, end);
    Reader reader(part, parser);
    if (reader.run()) {
      for (Problem problem : reader.problems) {
        problem.line += firstLine;
        result.problems.push_back(problem);
      }
      for (Replacement replacement : reader.replacements())
        result.replacements.push_back(
            {begin + replacement.begin, begin + replacement.end, replacement.text});
    }
    firstLine += part.count('\n');
    begin = end + divider.size();
  }
  return result;
}
