// Changes tokens of a text of MLIR.

#include "frontends/stablehlo/Import.h"
#include "test/fuzz/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace weft::fuzz;
using llvm::StringRef;

namespace {

enum class Kind { Space, Word, Number, String, Mark };

struct Token {
  Kind kind;
  std::string text;
};

Kind kindOf(char c) {
  if (llvm::isSpace(c))
    return Kind::Space;
  if (llvm::isDigit(c))
    return Kind::Number;
  if (llvm::isAlpha(c) || StringRef("_%@#!^.").contains(c))
    return Kind::Word;
  return c == '"' ? Kind::String : Kind::Mark;
}

/// Words hold digits (`%12`, `f32`), and so do numbers letters (`1e9`, `4x8xf32` is four tokens).
std::vector<Token> tokenize(StringRef text) {
  std::vector<Token> tokens;
  while (!text.empty()) {
    Kind kind = kindOf(text.front());
    size_t length = 1;
    if (kind == Kind::String)
      length = std::min(text.find('"', 1), text.size() - 1) + 1;
    else if (kind == Kind::Word)
      length =
          text.take_while([](char c) { return kindOf(c) <= Kind::Number && !llvm::isSpace(c); })
              .size();
    else if (kind != Kind::Mark)
      length = text.take_while([&](char c) { return kindOf(c) == kind; }).size();
    tokens.push_back({kind, text.take_front(length).str()});
    text = text.drop_front(length);
  }
  return tokens;
}

class TextMutator {
public:
  TextMutator(std::vector<Token> &tokens, Random &random) : tokens(tokens), random(random) {}

  void mutate() {
    size_t at = findToken();
    switch (below(random, 8)) {
    case 0:
      tokens.erase(tokens.begin() + at);
      break;
    case 1:
      tokens.insert(tokens.begin() + at, Token(tokens[findToken()]));
      break;
    case 2:
      std::swap(tokens[at], tokens[findToken()]);
      break;
    case 3:
      mutateLine(at);
      break;
    default:
      replace(tokens[at]);
    }
  }

private:
  /// Any but space.
  size_t findToken() {
    size_t at = below(random, tokens.size());
    for (int tries = 0; tokens[at].kind == Kind::Space && tries < 8; ++tries)
      at = below(random, tokens.size());
    return at;
  }

  /// By another token of its kind.
  void replace(Token &token) {
    if (token.kind == Kind::Number && below(random, 2)) {
      token.text = std::to_string(pickNumber(random));
      return;
    }
    for (int tries = 0; tries < 64; ++tries) {
      const Token &other = pick(random, tokens);
      if (other.kind == token.kind && other.text != token.text) {
        token.text = std::string(other.text);
        return;
      }
    }
  }

  bool endsLine(size_t at) const { return StringRef(tokens[at].text).contains('\n'); }

  /// Drops or repeats the line around a token.
  void mutateLine(size_t at) {
    size_t begin = at, end = at;
    while (begin > 0 && !endsLine(begin - 1))
      --begin;
    while (end < tokens.size() && !endsLine(end))
      ++end;
    end = std::min(end + 1, tokens.size());
    std::vector<Token> line(tokens.begin() + begin, tokens.begin() + end);
    if (below(random, 2) && line.size() < tokens.size())
      tokens.erase(tokens.begin() + begin, tokens.begin() + end);
    else
      tokens.insert(tokens.begin() + end, line.begin(), line.end());
  }

  std::vector<Token> &tokens;
  Random &random;
};

mlir::OwningOpRef<mlir::ModuleOp> import(mlir::MLIRContext &context, StringRef path) {
  return weft::importStableHlo(context, path, {});
}

std::string mutate(StringRef bytes, Random &random) {
  std::vector<Token> tokens = tokenize(bytes);
  for (size_t count = 1 + below(random, 3); count-- > 0 && !tokens.empty();)
    TextMutator(tokens, random).mutate();
  std::string text;
  for (const Token &token : tokens)
    text += token.text;
  return text;
}

} // namespace

const Format weft::fuzz::stableHloFormat{"stablehlo", ".mlir", import, mutate};
