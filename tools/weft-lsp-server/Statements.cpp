#include "tools/weft-lsp-server/Statements.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace weft::lsp;
using llvm::StringRef;

StringRef weft::lsp::codeOf(StringRef line) {
  bool quoted = false;
  for (size_t at = 0; at < line.size(); ++at) {
    if (quoted && line[at] == '\\')
      ++at;
    else if (line[at] == '"')
      quoted = !quoted;
    else if (!quoted && line.substr(at).starts_with("//"))
      return line.take_front(at).trim();
  }
  return line.trim();
}

static bool isNameCharacter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-';
}

std::vector<Name> weft::lsp::namesIn(StringRef text) {
  std::vector<Name> names;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '"')
      quoted = !quoted;
    else if (c == '\\' && quoted)
      ++at;
    if (quoted || (c != '%' && c != '@'))
      continue;
    size_t length = text.drop_front(at + 1).take_while(isNameCharacter).size();
    if (length > 0)
      names.push_back({text.substr(at, length + 1), at});
    at += length;
  }
  return names;
}

std::vector<ResultName> weft::lsp::resultsOf(StringRef statement) {
  std::vector<ResultName> results;
  StringRef rest = statement.ltrim();
  while (rest.starts_with("%")) {
    size_t length = 1 + rest.drop_front().take_while(isNameCharacter).size();
    ResultName result{rest.take_front(length), 1};
    rest = rest.drop_front(length);
    if (rest.consume_front(":") && rest.consumeInteger(10, result.count))
      return {};
    results.push_back(result);
    rest = rest.ltrim();
    if (rest.starts_with("=") && !rest.starts_with("=="))
      return results;
    if (!rest.consume_front(","))
      return {};
    rest = rest.ltrim();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The outline
//===----------------------------------------------------------------------===//

Statements::Statements(StringRef text) : text(text) {
  lines.push_back(0);
  for (size_t at = 0; at < text.size(); ++at)
    if (text[at] == '\n')
      lines.push_back(at + 1);
  owners.assign(lines.size(), Statement::none);
  llvm::SmallVector<unsigned> open;
  bool inBody = false;
  for (unsigned line = 0; line < lines.size(); ++line)
    addLine(line, open, inBody);
}

/// `open` are the statements that the line may belong to, outermost first; `inBody` tells whether
/// what is indented more than the last of them is of its region.
void Statements::addLine(unsigned line, llvm::SmallVectorImpl<unsigned> &open, bool &inBody) {
  size_t begin = lines[line];
  size_t end = line + 1 < lines.size() ? lines[line + 1] - 1 : text.size();
  StringRef whole = text.slice(begin, end), code = codeOf(whole);
  if (code.empty())
    return;
  size_t column = whole.find_first_not_of(" \t");
  while (!open.empty() && all[open.back()].column > column) {
    open.pop_back();
    inBody = true;
  }
  auto continues = [&](const Statement &last) {
    if (last.column < column)
      return !inBody;
    return StringRef("}^").contains(code.front())
               ? last.opens && !last.closes
               : !last.closes && StringRef(")]>").contains(code.front());
  };
  bool belongs = !open.empty() && continues(all[open.back()]);
  if (!belongs) {
    if (!open.empty() && all[open.back()].column == column)
      open.pop_back();
    unsigned parent = open.empty() ? Statement::none : open.back();
    if (parent != Statement::none)
      all[parent].children.push_back(all.size());
    open.push_back(all.size());
    all.push_back({begin + column, end, column, parent, {}, false, false});
  }
  Statement &owner = all[open.back()];
  owners[line] = open.back();
  inBody = code.ends_with("{") || (code.starts_with("^") && code.ends_with(":"));
  owner.opens |= inBody;
  owner.closes = !inBody && (owner.closes || (belongs && code.starts_with("}")));
  extend(open.back(), end);
}

void Statements::extend(unsigned index, size_t end) {
  for (; index != Statement::none; index = all[index].parent)
    all[index].end = end;
}

unsigned Statements::lineOf(size_t offset) const {
  return std::prev(llvm::upper_bound(lines, offset)) - lines.begin();
}

unsigned Statements::find(size_t offset) const { return owners[lineOf(offset)]; }

unsigned Statements::after(unsigned index) const {
  auto begins = [](size_t offset, const Statement &statement) { return offset < statement.begin; };
  return llvm::upper_bound(all, all[index].end, begins) - all.begin();
}

unsigned Statements::rootOf(unsigned index) const {
  while (all[index].parent != Statement::none)
    index = all[index].parent;
  return index;
}

std::string Statements::textOf(unsigned index) const {
  std::string result;
  llvm::SmallVector<StringRef> parts;
  text.slice(all[index].begin, all[index].end).split(parts, '\n');
  for (StringRef part : parts)
    (result += codeOf(part)) += ' ';
  return result;
}
