//===- PtxParser.cpp - PTX's grammar --------------------------------------===//
//
// What the parser skips has no meaning for a run: debugging information, .pragma, and limits that
// only guide the allocation of registers. All else that it does not know is an error.
//
//===----------------------------------------------------------------------===//

#include "test/cuda/PtxLexer.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace weft::test::ptx {

namespace {

const std::set<std::string_view> spaces = {"global", "const", "shared", "local", "param", "reg"};
const std::set<std::string_view> linkages = {"visible", "extern", "weak", "common"};
/// Followed by numbers, which guide the compiler alone.
const std::set<std::string_view> limits = {"minnctapersm", "maxnreg", "maxnctapersm", "noreturn",
                                           "maxclusterrank"};

class Parser {
public:
  explicit Parser(const std::string &text) : tokens(readTokens(text)) {}

  ModuleText parse() {
    while (peek().kind != Token::Kind::End)
      parseTopLevel();
    return std::move(module);
  }

private:
  const Token &peek(int ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
  Token next() {
    Token token = peek();
    if (at + 1 < tokens.size())
      ++at;
    return token;
  }
  bool isMark(const char *mark, int ahead = 0) const {
    return peek(ahead).kind == Token::Kind::Mark && peek(ahead).text == mark;
  }
  bool isDotted(const char *word) const {
    return peek().kind == Token::Kind::Dotted && peek().text == word;
  }
  bool takeMark(const char *mark) { return isMark(mark) && (next(), true); }
  bool takeDotted(const char *word) { return isDotted(word) && (next(), true); }
  [[noreturn]] void fail(const std::string &expected) const {
    throw PtxError(peek().line, "expected " + expected + ", got: " + peek().text);
  }
  void expect(const char *mark) {
    if (!takeMark(mark))
      fail("'" + std::string(mark) + "'");
  }
  std::string expectName() {
    if (peek().kind != Token::Kind::Name)
      fail("a name");
    return next().text;
  }
  std::string expectDotted(const char *what) {
    if (peek().kind != Token::Kind::Dotted)
      fail(what);
    return next().text;
  }
  uint64_t expectInteger() {
    if (peek().kind != Token::Kind::Integer)
      fail("an integer");
    return next().value;
  }

  void skipLine() {
    for (int line = peek().line; peek().line == line && peek().kind != Token::Kind::End;)
      next();
  }
  void skipTo(const char *mark) {
    while (!isMark(mark))
      if (next().kind == Token::Kind::End)
        fail("'" + std::string(mark) + "'");
    next();
  }
  void skipSection() {
    next();
    next();
    expect("{");
    for (int depth = 1; depth;) {
      depth += isMark("{") - isMark("}");
      if (next().kind == Token::Kind::End)
        fail("'}'");
    }
  }

  /// Whether there was something that has no meaning for a run.
  bool skipNeedless() {
    if (isDotted("loc") || isDotted("file"))
      return skipLine(), true;
    if (isDotted("section"))
      return skipSection(), true;
    if (isDotted("pragma"))
      return skipTo(";"), true;
    return false;
  }

  void parseTopLevel() {
    if (skipNeedless() || takeMark(";"))
      return;
    if (isDotted("version") || isDotted("target") || isDotted("address_size"))
      return parseHead();
    bool isExtern = false;
    while (linkages.count(peek().text) && peek().kind == Token::Kind::Dotted)
      isExtern |= next().text == "extern";
    if (isDotted("func") || isDotted("entry"))
      return parseFunction();
    if (peek().kind != Token::Kind::Dotted || !spaces.count(peek().text))
      fail("a function or variable");
    parseVariables(module.variables, isExtern);
  }

  void parseHead() {
    if (next().text == "address_size" && peek().value != 64)
      fail("64");
    skipLine();
  }

  /// Space, alignment, type and vector form, before the name.
  Variable parseVariableHead() {
    Variable variable;
    variable.line = peek().line;
    variable.space = expectDotted("a state space");
    int64_t lanes = 1;
    while (peek().kind == Token::Kind::Dotted) {
      std::string word = next().text;
      if (word == "align")
        variable.align = expectInteger();
      else if (word == "v2" || word == "v4")
        lanes = word[1] - '0';
      else if (word == "ptr")
        skipPointer();
      else if (variable.type.empty() && word != "attribute")
        variable.type = word;
      else
        throw PtxError(variable.line, "unknown in a declaration: ." + word);
    }
    if (variable.type.empty())
      fail("a type");
    variable.count = lanes;
    variable.isArray = lanes > 1;
    return variable;
  }

  /// What a parameter points to: `.ptr .global .align 16`.
  void skipPointer() {
    if (peek().kind == Token::Kind::Dotted && spaces.count(peek().text))
      next();
    if (takeDotted("align"))
      expectInteger();
  }

  void parseName(Variable &variable) {
    variable.name = expectName();
    while (takeMark("[")) {
      variable.isArray = true;
      variable.count = isMark("]") ? -1 : variable.count * static_cast<int64_t>(expectInteger());
      expect("]");
    }
  }

  void parseVariables(std::vector<Variable> &into, bool isExtern) {
    Variable head = parseVariableHead();
    head.isExtern = isExtern;
    do {
      Variable variable = head;
      parseName(variable);
      if (takeMark("="))
        parseValues(variable.values);
      into.push_back(std::move(variable));
    } while (takeMark(","));
    expect(";");
  }

  void parseValues(std::vector<Initialiser> &into) {
    if (!takeMark("{")) {
      into.push_back(parseValue());
      return;
    }
    while (!takeMark("}")) {
      if (isMark("{"))
        parseValues(into);
      else
        into.push_back(parseValue());
      if (!isMark("}"))
        expect(",");
    }
  }

  Initialiser parseValue() {
    Initialiser value;
    if (peek().kind == Token::Kind::Integer && isMark("(", 1)) {
      value.mask = next().value;
      next();
      Initialiser inner = parseValue();
      expect(")");
      inner.mask = value.mask;
      return inner;
    }
    if (peek().kind == Token::Kind::Name) {
      value.symbol = next().text;
      if (value.symbol == "generic" && takeMark("(")) {
        value.isGeneric = true;
        value.symbol = expectName();
        value.bits = parseOffset();
        expect(")");
      }
      value.bits += parseOffset();
      return value;
    }
    Operand constant = parseConstant();
    value.bits = constant.value;
    value.isDouble = constant.kind == Operand::Kind::Float64;
    return value;
  }

  /// +8, -8, +-8 or nothing.
  uint64_t parseOffset() {
    if (!isMark("+") && !isMark("-"))
      return 0;
    bool negative = false;
    while (isMark("+") || isMark("-"))
      negative ^= next().text == "-";
    uint64_t value = expectInteger();
    return negative ? 0 - value : value;
  }

  Operand parseConstant() {
    Operand operand;
    bool negative = takeMark("-");
    operand.value = peek().value;
    switch (peek().kind) {
    case Token::Kind::Integer:
      operand.kind = Operand::Kind::Integer;
      operand.value = negative ? 0 - operand.value : operand.value;
      break;
    case Token::Kind::Float32:
      operand.kind = Operand::Kind::Float32;
      operand.value ^= negative ? 1ull << 31 : 0;
      break;
    case Token::Kind::Float64:
      operand.kind = Operand::Kind::Float64;
      operand.value ^= negative ? 1ull << 63 : 0;
      break;
    default:
      fail("a constant");
    }
    next();
    return operand;
  }

  void parseFunction() {
    FunctionText function;
    function.line = peek().line;
    function.isKernel = next().text == "entry";
    if (isMark("("))
      function.results = parseParams();
    function.name = expectName();
    if (isMark("("))
      function.params = parseParams();
    while (peek().kind == Token::Kind::Dotted)
      parseLimit(function);
    if (!takeMark(";")) {
      function.isDefined = true;
      parseBody(function.body);
    }
    module.functions.push_back(std::move(function));
  }

  void parseLimit(FunctionText &function) {
    if (skipNeedless())
      return;
    std::string word = next().text;
    bool threads = word == "maxntid" || word == "reqntid";
    if (!threads && !limits.count(word))
      throw PtxError(function.line, "unknown of a function: ." + word);
    uint64_t product = 1;
    while (peek().kind == Token::Kind::Integer) {
      product *= next().value;
      takeMark(",");
    }
    if (threads)
      function.maxThreads = product;
  }

  std::vector<Variable> parseParams() {
    std::vector<Variable> params;
    expect("(");
    while (!takeMark(")")) {
      params.push_back(parseVariableHead());
      parseName(params.back());
      if (!isMark(")"))
        expect(",");
    }
    return params;
  }

  void parseBody(std::vector<Statement> &body) {
    int depth = 0;
    do {
      if (skipNeedless() || takeMark(";"))
        continue;
      Statement statement;
      statement.line = peek().line;
      if (isMark("{") || isMark("}")) {
        bool opens = next().text == "{";
        depth += opens ? 1 : -1;
        statement.kind = opens ? Statement::Kind::Open : Statement::Kind::Close;
        body.push_back(statement);
      } else if (peek().kind == Token::Kind::Dotted) {
        parseDeclaration(body);
      } else if (peek().kind == Token::Kind::Name && isMark(":", 1)) {
        parseLabel(body, statement);
      } else {
        statement.instruction = parseInstruction();
        body.push_back(std::move(statement));
      }
    } while (depth);
  }

  void parseLabel(std::vector<Statement> &body, Statement statement) {
    statement.label = next().text;
    next();
    statement.kind = Statement::Kind::Label;
    if (takeDotted("callprototype"))
      return skipTo(";");
    if (takeDotted("branchtargets")) {
      statement.kind = Statement::Kind::Targets;
      do
        statement.targets.push_back(expectName());
      while (takeMark(","));
      expect(";");
    }
    body.push_back(std::move(statement));
  }

  void parseDeclaration(std::vector<Statement> &body) {
    if (!spaces.count(peek().text))
      fail("a declaration");
    Variable head = parseVariableHead();
    do {
      Statement statement;
      statement.line = head.line;
      statement.variable = head;
      bool isRegister = head.space == "reg";
      statement.kind = isRegister ? Statement::Kind::Register : Statement::Kind::Variable;
      if (isRegister && head.isArray)
        fail("registers that are no vectors");
      parseName(statement.variable);
      if (isRegister)
        statement.variable.count = takeMark("<") ? parseCount() : -1;
      body.push_back(std::move(statement));
    } while (takeMark(","));
    expect(";");
  }

  int64_t parseCount() {
    int64_t count = static_cast<int64_t>(expectInteger());
    expect(">");
    return count;
  }

  Instruction parseInstruction() {
    Instruction instruction;
    instruction.line = peek().line;
    if (takeMark("@")) {
      instruction.guardNegated = takeMark("!");
      instruction.guard = expectName();
    }
    instruction.words.push_back(expectName());
    while (peek().kind == Token::Kind::Dotted)
      instruction.words.push_back(next().text);
    if (takeMark(";"))
      return instruction;
    do
      instruction.operands.push_back(parseOperand());
    while (takeMark(","));
    expect(";");
    return instruction;
  }

  Operand parseItems(Operand::Kind kind, const char *end) {
    Operand operand;
    operand.kind = kind;
    next();
    while (!takeMark(end)) {
      operand.items.push_back(parseOperand());
      if (!isMark(end))
        expect(",");
    }
    return operand;
  }

  Operand parseOperand() {
    if (isMark("{"))
      return parseItems(Operand::Kind::Vector, "}");
    if (isMark("("))
      return parseItems(Operand::Kind::List, ")");
    if (takeMark("["))
      return parseAddress();
    Operand operand;
    if (peek().kind != Token::Kind::Name && !isMark("!"))
      return parseConstant();
    operand.negated = takeMark("!");
    operand.name = parseDottedName();
    if (takeMark("|"))
      operand.second = parseDottedName();
    operand.value = parseOffset();
    return operand;
  }

  /// With a component, as in %tid.x.
  std::string parseDottedName() {
    std::string name = expectName();
    if (peek().kind == Token::Kind::Dotted && peek().touches)
      name += "." + next().text;
    return name;
  }

  Operand parseAddress() {
    Operand operand;
    operand.kind = Operand::Kind::Address;
    if (peek().kind == Token::Kind::Name) {
      operand.name = next().text;
      operand.value = parseOffset();
    } else {
      operand.value = parseConstant().value;
    }
    expect("]");
    return operand;
  }

  std::vector<Token> tokens;
  size_t at = 0;
  ModuleText module;
};

} // namespace

ModuleText parsePtx(const std::string &text) { return Parser(text).parse(); }

} // namespace weft::test::ptx
