#include "tools/weft-lsp-server/Parse.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace weft::lsp;

/// What the buffer is called in locations.
static constexpr llvm::StringLiteral bufferName = "text";

namespace {
/// One parse: the buffer, what it gave, and what is said of it.
class Attempt {
public:
  Attempt(MLIRContext &context, const std::string &text, StringRef original)
      : context(context), original(original), lineBegins{0} {
    for (size_t at = 0; at < original.size(); ++at)
      if (original[at] == '\n')
        lineBegins.push_back(at + 1);
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, bufferName), SMLoc());
  }

  weft::lsp::ParseResult run();

private:
  size_t offsetAt(unsigned line, unsigned column) const;
  std::optional<size_t> offsetOf(Location location) const;
  std::optional<size_t> offsetOf(Operation *op) const;
  void verifyAll(ModuleOp top, weft::lsp::ParseResult &result);

  MLIRContext &context;
  StringRef original;
  std::vector<size_t> lineBegins;
  llvm::SourceMgr sources;
  AsmParserState state;
};
} // namespace

/// Lines and columns count from 1.
size_t Attempt::offsetAt(unsigned line, unsigned column) const {
  if (line == 0 || line > lineBegins.size())
    return original.size();
  size_t begin = lineBegins[line - 1];
  size_t end = line < lineBegins.size() ? lineBegins[line] - 1 : original.size();
  return std::min<size_t>(begin + std::max(column, 1u) - 1, end);
}

std::optional<size_t> Attempt::offsetOf(Location location) const {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file || file.getFilename() != bufferName)
    return std::nullopt;
  return offsetAt(file.getLine(), file.getColumn());
}

/// Where an operation's name stands, whatever location it was given in the text.
std::optional<size_t> Attempt::offsetOf(Operation *op) const {
  const AsmParserState::OperationDefinition *definition = state.getOpDef(op);
  if (!definition)
    return std::nullopt;
  auto [line, column] = sources.getLineAndColumn(definition->loc.Start);
  return offsetAt(line, column);
}

static std::string textOf(const Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  for (const Diagnostic &note : diagnostic.getNotes())
    text += "\nnote: " + note.str();
  return text;
}

/// Verifies each operation by itself, so that all that are not valid are found; then, if none is,
/// what only shows in the whole.
void Attempt::verifyAll(ModuleOp top, weft::lsp::ParseResult &result) {
  SymbolTableCollection symbols;
  auto verifyOne = [&](Operation *op) {
    bool reported = false;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error || reported)
        return success();
      std::optional<size_t> offset = op == top ? std::nullopt : offsetOf(op);
      if (!offset)
        offset = offsetOf(diagnostic.getLocation());
      result.failures.push_back({offset.value_or(0), textOf(diagnostic)});
      reported = true;
      return success();
    });
    auto user = dyn_cast<SymbolUserOpInterface>(op);
    bool isValid = succeeded(verify(op, /*verifyRecursively=*/op == top)) &&
                   (!user || succeeded(user.verifySymbolUses(symbols)));
    if (!isValid && !reported)
      result.failures.push_back({offsetOf(op).value_or(0), "not valid"});
  };
  top->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!op->hasTrait<OpTrait::SymbolTable>()) // which asks its users of symbols
      verifyOne(op);
  });
  if (result.failures.empty())
    verifyOne(top);
}

weft::lsp::ParseResult Attempt::run() {
  weft::lsp::ParseResult result;
  OwningOpRef<ModuleOp> top(ModuleOp::create(UnknownLoc::get(&context)));
  FallbackAsmResourceMap resources;
  ParserConfig config(&context, /*verifyAfterParse=*/false, &resources);
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && result.failures.empty())
        result.failures.push_back(
            {offsetOf(diagnostic.getLocation()).value_or(0), textOf(diagnostic)});
      return success();
    });
    result.parsed = succeeded(parseAsmSourceFile(sources, top->getBody(), config, &state));
  }
  if (!result.parsed) {
    if (result.failures.empty())
      result.failures.push_back({0, "the parser ended without a word"});
    return result;
  }
  result.failures.clear(); // an error that did not end the parser
  verifyAll(*top, result);
  return result;
}

Parser::Parser(const DialectRegistry &registry)
    : context(registry, MLIRContext::Threading::DISABLED) {
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false); // it stands in the editor
}

weft::lsp::ParseResult Parser::parse(const std::string &text, StringRef original) {
  return Attempt(context, text, original).run();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The types of a list, with or without parentheses around; empty if it is none.
std::vector<std::string> Parser::parseTypes(StringRef list) {
  list = list.trim();
  if (list.consume_front("(") && !list.consume_back(")"))
    return {};
  std::vector<std::string> types;
  do {
    list = list.ltrim();
    size_t read = 0;
    if (list.empty() || !parseType(list, &context, &read))
      return {};
    types.push_back(list.take_front(read).trim().str());
    list = list.drop_front(read).ltrim();
  } while (list.consume_front(","));
  return list.empty() ? types : std::vector<std::string>();
}

/// A statement without the location behind it.
static StringRef withoutLocation(StringRef statement) {
  size_t at = statement.rfind(" loc(");
  bool ends = at != StringRef::npos && statement.rtrim().ends_with(")");
  return ends ? statement.take_front(at) : statement;
}

std::vector<std::string> Parser::trailingTypes(StringRef statement, size_t count) {
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  statement = withoutLocation(statement.trim());
  for (size_t end = statement.size(); end > 0;) {
    size_t best = StringRef::npos, length = 0;
    for (StringRef mark : {"->", ":", " to "})
      if (size_t at = statement.take_front(end).rfind(mark);
          at != StringRef::npos && (best == StringRef::npos || at > best))
        best = at, length = mark.size();
    if (best == StringRef::npos)
      return {};
    std::vector<std::string> types = parseTypes(statement.drop_front(best + length));
    if (types.size() == count)
      return types;
    end = best;
  }
  return {};
}
