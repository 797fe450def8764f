#include "test/cuda/PtxLexer.h"

#include <bit>
#include <cctype>
#include <cstdlib>

namespace weft::test::ptx {

namespace {

bool isNameBegin(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
bool isNamePart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

class Lexer {
public:
  explicit Lexer(const std::string &text) : text(text) {}

  std::vector<Token> read() {
    while (true) {
      bool touches = !skip();
      if (at >= text.size())
        break;
      Token token = readOne();
      token.touches = touches;
      tokens.push_back(std::move(token));
    }
    tokens.push_back({Token::Kind::End, "the end", 0, line, false});
    return std::move(tokens);
  }

private:
  bool startsWith(const char *what) const {
    return text.compare(at, std::string_view(what).size(), what) == 0;
  }

  /// Whether there was anything to skip.
  bool skip() {
    size_t begin = at;
    while (at < text.size()) {
      if (startsWith("//")) {
        while (at < text.size() && text[at] != '\n')
          ++at;
      } else if (startsWith("/*")) {
        size_t end = text.find("*/", at + 2);
        end = end == std::string::npos ? text.size() : end + 2;
        for (; at < end; ++at)
          line += text[at] == '\n';
      } else if (std::isspace(static_cast<unsigned char>(text[at])) || text[at] == 0) {
        line += text[at++] == '\n';
      } else {
        break;
      }
    }
    return at != begin;
  }

  Token readOne() {
    char c = text[at];
    if (isNameBegin(c))
      return take(Token::Kind::Name, nameLength(at + 1) + 1);
    if (c == '.' && at + 1 < text.size() && isNamePart(text[at + 1])) {
      ++at;
      return take(Token::Kind::Dotted, dottedLength());
    }
    if (std::isdigit(static_cast<unsigned char>(c)))
      return readNumber();
    if (c == '"') {
      size_t end = text.find('"', at + 1);
      if (end == std::string::npos)
        throw PtxError(line, "a string that does not end");
      return take(Token::Kind::String, end + 1 - at);
    }
    return take(Token::Kind::Mark, 1);
  }

  Token take(Token::Kind kind, size_t length) {
    Token token{kind, text.substr(at, length), 0, line, false};
    at += length;
    return token;
  }

  size_t nameLength(size_t from) const {
    size_t end = from;
    while (end < text.size() && isNamePart(text[end]))
      ++end;
    return end - from;
  }

  /// With `::` within, as in L2::128B.
  size_t dottedLength() const {
    size_t length = nameLength(at);
    while (text.compare(at + length, 2, "::") == 0)
      length += 2 + nameLength(at + length + 2);
    return length;
  }

  Token readNumber() {
    if (startsWith("0f") || startsWith("0F"))
      return readBits(Token::Kind::Float32, 8);
    if (startsWith("0d") || startsWith("0D"))
      return readBits(Token::Kind::Float64, 16);
    size_t length = nameLength(at);
    if (at + length + 1 < text.size() && text[at + length] == '.' &&
        std::isdigit(static_cast<unsigned char>(text[at + length + 1])))
      return readDecimal();
    Token token = take(Token::Kind::Integer, length);
    std::string digits = token.text;
    if (digits.back() == 'U' || digits.back() == 'u')
      digits.pop_back();
    bool binary = digits.size() > 2 && (digits[1] == 'b' || digits[1] == 'B');
    char *end;
    token.value = std::strtoull(digits.c_str() + (binary ? 2 : 0), &end, binary ? 2 : 0);
    if (*end)
      throw PtxError(line, "expected a number, got: " + token.text);
    return token;
  }

  Token readBits(Token::Kind kind, size_t digits) {
    Token token = take(kind, 2 + nameLength(at + 2));
    char *end;
    token.value = std::strtoull(token.text.c_str() + 2, &end, 16);
    if (*end || token.text.size() != 2 + digits)
      throw PtxError(line, "expected the hexadecimal digits of a number, got: " + token.text);
    return token;
  }

  Token readDecimal() {
    char *end;
    double value = std::strtod(text.c_str() + at, &end);
    Token token = take(Token::Kind::Float64, end - (text.c_str() + at));
    token.value = std::bit_cast<uint64_t>(value);
    return token;
  }

  const std::string &text;
  size_t at = 0;
  int line = 1;
  std::vector<Token> tokens;
};

} // namespace

std::vector<Token> readTokens(const std::string &text) { return Lexer(text).read(); }

} // namespace weft::test::ptx
