#include "test/cuda/PtxBody.h"

#include <algorithm>
#include <bit>

namespace weft::test::ptx {

namespace {

struct SpecialRegister {
  std::string_view name, text;
};

constexpr SpecialRegister specialRegisters[] = {
    {"%tid.x", "t.tid[0]"},
    {"%tid.y", "t.tid[1]"},
    {"%tid.z", "t.tid[2]"},
    {"%ntid.x", "t.block->ntid[0]"},
    {"%ntid.y", "t.block->ntid[1]"},
    {"%ntid.z", "t.block->ntid[2]"},
    {"%ctaid.x", "t.block->ctaid[0]"},
    {"%ctaid.y", "t.block->ctaid[1]"},
    {"%ctaid.z", "t.block->ctaid[2]"},
    {"%nctaid.x", "t.block->nctaid[0]"},
    {"%nctaid.y", "t.block->nctaid[1]"},
    {"%nctaid.z", "t.block->nctaid[2]"},
    {"%laneid", "t.lane"},
    {"%warpid", "t.warp"},
    {"%nwarpid", "((t.block->ntid[0] * t.block->ntid[1] * t.block->ntid[2] + 31) / 32)"},
    {"%smid", "0u"},
    {"%nsmid", "1u"},
    {"%gridid", "t.block->gridNumber"},
    {"%lanemask_eq", "(1u << t.lane)"},
    {"%lanemask_lt", "((1u << t.lane) - 1)"},
    {"%lanemask_le", "((2u << t.lane) - 1)"},
    {"%lanemask_gt", "~((2u << t.lane) - 1)"},
    {"%lanemask_ge", "~((1u << t.lane) - 1)"},
    {"%clock", "__builtin_readcyclecounter()"},
    {"%clock64", "__builtin_readcyclecounter()"},
    {"%globaltimer", "__builtin_readcyclecounter()"},
    {"%dynamic_smem_size", "(t.block->sharedBytes - t.block->dynamicShared)"},
    {"%total_smem_size", "t.block->sharedBytes"},
    {"WARP_SZ", "32u"},
};

const HandlerTable &getHandlers() {
  static const HandlerTable table = [] {
    HandlerTable made;
    addControl(made);
    addFloats(made);
    addIntegers(made);
    addTransfers(made);
    return made;
  }();
  return table;
}

std::string asType(const Type &type, const std::string &text) {
  return "as<" + std::string(type.text) + ">(" + text + ")";
}

} // namespace

std::string mangle(const std::string &name) {
  std::string result;
  for (char c : name)
    result += c == '%' ? "R_" : std::string(1, c);
  return result;
}

uint64_t getBytes(const Variable &variable) {
  const Type *type = findType(variable.type);
  if (!type || !type->bytes)
    throw PtxError(variable.line, "unknown type of a variable: ." + variable.type);
  return variable.count < 0 ? 0 : type->bytes * variable.count;
}

uint64_t getAlign(const Variable &variable) {
  return std::max(variable.align, findType(variable.type)->bytes);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

bool Body::take(std::string_view word) {
  for (size_t i = 1; i < taken.size(); ++i)
    if (!taken[i] && instruction->words[i] == word)
      return taken[i] = true;
  return false;
}

std::string Body::takeOneOf(std::initializer_list<std::string_view> words) {
  for (std::string_view word : words)
    if (take(word))
      return std::string(word);
  return "";
}

std::string Body::takeSomeOf(std::initializer_list<std::string_view> words, const char *what) {
  std::string word = takeOneOf(words);
  if (word.empty())
    fail(std::string("expected ") + what + " of " + getOpcode());
  return word;
}

bool Body::hasType() const {
  for (size_t i = 1; i < taken.size(); ++i)
    if (!taken[i] && findType(instruction->words[i]))
      return true;
  return false;
}

const Type &Body::takeType() {
  for (size_t i = 1; i < taken.size(); ++i)
    if (const Type *type = taken[i] ? nullptr : findType(instruction->words[i])) {
      taken[i] = true;
      return *type;
    }
  fail("expected a type of " + getOpcode());
}

std::string Body::takeRound(const char *otherwise) {
  static constexpr std::pair<const char *, const char *> rounds[] = {
      {"rn", "RN"}, {"rna", "RNA"}, {"rz", "RZ"}, {"rm", "RM"}, {"rp", "RP"}};
  for (auto &[word, text] : rounds)
    if (take(word))
      return text;
  return otherwise;
}

std::string Body::getQualifiers() const {
  uint32_t hash = 2166136261; // FNV-1a
  for (const std::string &word : instruction->words)
    for (char c : word + ".")
      hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return std::to_string(hash) + "u";
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void Body::expectCount(size_t least, size_t most) {
  if (getCount() < least || getCount() > most)
    fail("expected " + std::to_string(least) + " operands of " + getOpcode() +
         ", got: " + std::to_string(getCount()));
}

const Symbol *Body::find(const std::string &name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->find(name); found != scope->end())
      return &found->second;
  return nullptr;
}

std::string Body::readConstant(const Operand &operand, const Type &type) {
  uint64_t bits = operand.value;
  if (operand.kind != Operand::Kind::Integer) {
    bool isSingle = operand.kind == Operand::Kind::Float32;
    double wide =
        isSingle ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
    if (type.bytes == 4 && !isSingle)
      bits = std::bit_cast<uint32_t>(static_cast<float>(wide));
    else if (type.bytes == 8 && isSingle)
      bits = std::bit_cast<uint64_t>(wide);
    else if (type.bytes != 4 && type.bytes != 8)
      fail("a floating-point constant of type ." + std::string(type.name));
  }
  return asType(type, std::to_string(bits) + "ull");
}

std::string Body::readName(const Operand &operand, const Type &type, bool wider) {
  if (!operand.second.empty())
    fail("unexpected | in a source");
  if (const Symbol *symbol = find(operand.name)) {
    if (symbol->kind != Symbol::Kind::Register) {
      std::string address =
          symbol->kind == Symbol::Kind::Param ? "u64(" + symbol->text + ")" : symbol->text;
      return asType(type, address + " + " + std::to_string(operand.value) + "ull");
    }
    bool fits = symbol->type->bytes == type.bytes || (wider && symbol->type->bytes > type.bytes);
    if (!fits || symbol->type->isPredicate() != type.isPredicate() || operand.value)
      fail("a register of another size than ." + std::string(type.name) + ": " + operand.name);
    return asType(type, (operand.negated ? "!" : "") + symbol->text);
  }
  for (const SpecialRegister &special : specialRegisters)
    if (special.name == operand.name)
      return asType(type, std::string(special.text));
  fail("unknown name: " + operand.name);
}

std::string Body::read(const Operand &operand, const Type &type, bool wider) {
  if (operand.negated && !type.isPredicate())
    fail("! of what is no predicate");
  switch (operand.kind) {
  case Operand::Kind::Name:
    return readName(operand, type, wider);
  case Operand::Kind::Integer:
  case Operand::Kind::Float32:
  case Operand::Kind::Float64:
    return readConstant(operand, type);
  default:
    fail("expected a register or constant of " + getOpcode());
  }
}

void Body::write(const Operand &operand, const Type &type, const std::string &value, bool wider) {
  if (operand.kind != Operand::Kind::Name || operand.negated || !operand.second.empty())
    fail("expected a register for the result of " + getOpcode());
  if (operand.name == "_")
    return emit("(void)(" + value + ");");
  const Symbol *symbol = find(operand.name);
  if (!symbol || symbol->kind != Symbol::Kind::Register)
    fail("unknown register: " + operand.name);
  bool fits = symbol->type->bytes == type.bytes || (wider && symbol->type->bytes > type.bytes);
  if (!fits || symbol->type->isPredicate() != type.isPredicate())
    fail("a register of another size than ." + std::string(type.name) + ": " + operand.name);
  emit("set<" + std::string(type.text) + ">(" + symbol->text + ", " + value + ");");
}

void Body::writePredicate(const std::string &name, const std::string &value) {
  Operand operand;
  operand.name = name;
  write(operand, *findType("pred"), value);
}

void Body::writeEach(const Type &type, size_t inputs,
                     const std::function<std::string(const Texts &)> &make) {
  Texts values;
  for (size_t i = 1; i <= inputs; ++i)
    values.push_back(read(i, type));
  if (!type.isPacked())
    return write(0, type, make(values));
  std::string element(type.element), list;
  for (const std::string &value : values)
    list += ", " + value;
  Texts names = {"a", "b", "c"};
  names.resize(inputs);
  write(0, type,
        "halves<" + element + ">([&](" + element + " a, " + element + " b, " + element +
            " c) { return " + make(names) + "; }" + list + ")");
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

std::string Body::getAddress(const Operand &operand) {
  if (operand.kind != Operand::Kind::Address)
    fail("expected an address of " + getOpcode());
  std::string offset = std::to_string(operand.value) + "ull";
  if (operand.name.empty())
    return offset;
  const Symbol *symbol = find(operand.name);
  if (!symbol)
    fail("unknown name: " + operand.name);
  if (symbol->kind == Symbol::Kind::Register && symbol->type->bytes != 4 &&
      symbol->type->bytes != 8)
    fail("expected an address of 32 or 64 bits: " + operand.name);
  return "u64(" + symbol->text + ") + " + offset;
}

const Symbol &Body::getParam(const Operand &operand, uint64_t bytes) {
  const Symbol *symbol = find(operand.name);
  if (!symbol || symbol->kind != Symbol::Kind::Param)
    fail("expected a parameter: " + operand.name);
  if (operand.value > symbol->bytes || bytes > symbol->bytes - operand.value)
    fail("an access beyond the end of " + operand.name);
  return *symbol;
}

std::string Body::getPlace(const std::string &space, const Operand &operand, uint64_t bytes) {
  std::string address = getAddress(operand), size = std::to_string(bytes);
  const Symbol *symbol = find(operand.name);
  bool named = symbol && symbol->kind != Symbol::Kind::Register;
  if (space == "param" && named)
    return "(" + getParam(operand, bytes).text + " + " + std::to_string(operand.value) + ")";
  if (space == "shared")
    return "atShared(t, " + address + ", " + size + ")";
  const char *kind = space == "local"   ? "Local"
                     : space == "param" ? "Param"
                     : space.empty()    ? "Generic"
                                        : "Global";
  return "at<Space::" + std::string(kind) + ">(t, " + address + ", " + size + ")";
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Body::declareRegister(const Variable &variable) {
  const Type *type = findType(variable.type);
  if (!type || type->bytes == 1)
    fail("unknown type of a register: ." + variable.type);
  const Type &bits = type->isPredicate() ? *type : getBits(type->bytes);
  std::string names;
  for (int64_t i = 0; i < std::max<int64_t>(variable.count, 1); ++i) {
    std::string name = variable.name + (variable.count < 0 ? "" : std::to_string(i));
    names += (i ? ", " : "") + mangle(name);
    scopes.back()[name] = {Symbol::Kind::Register, &bits, mangle(name)};
  }
  emit(std::string(bits.text) + " " + names + ";");
}

void Body::declareVariable(const Variable &variable) {
  const Symbol *placed = find(variable.name);
  if (variable.space == "shared" && placed && placed->kind == Symbol::Kind::Shared)
    return;
  uint64_t bytes = getBytes(variable);
  if ((variable.space != "local" && variable.space != "param") || !variable.values.empty() ||
      !bytes)
    fail("a variable of space ." + variable.space + " within a function: " + variable.name);
  std::string name = "V_" + mangle(variable.name);
  emit("alignas(" + std::to_string(std::max<uint64_t>(getAlign(variable), 8)) + ") u8 " + name +
       "[" + std::to_string(bytes) + "];");
  bool isLocal = variable.space == "local";
  localBytes += isLocal ? bytes : 0;
  scopes.back()[variable.name] = {isLocal ? Symbol::Kind::Local : Symbol::Kind::Param, nullptr,
                                  isLocal ? "u64(" + name + ")" : name, bytes};
}

const std::vector<std::string> &Body::getTargets(const std::string &label) {
  for (const Statement &statement : function.body)
    if (statement.kind == Statement::Kind::Targets && statement.label == label)
      return statement.targets;
  fail("unknown .branchtargets: " + label);
}

void Body::translateInstruction(const Statement &statement) {
  instruction = &statement.instruction;
  auto handler = getHandlers().find(getOpcode());
  if (handler == getHandlers().end())
    fail("unknown instruction: " + getOpcode());
  taken.assign(instruction->words.size(), false);
  if (!instruction->guard.empty()) {
    Operand guard;
    guard.name = instruction->guard;
    guard.negated = instruction->guardNegated;
    emit("if (" + read(guard, *findType("pred")) + ") {");
  } else {
    emit("{");
  }
  handler->second(*this);
  emit("}");
  for (size_t i = 1; i < taken.size(); ++i)
    if (!taken[i])
      fail("unknown of " + getOpcode() + ": ." + instruction->words[i]);
}

void Body::translate(const Statement &statement) {
  line = statement.line;
  switch (statement.kind) {
  case Statement::Kind::Instruction:
    return translateInstruction(statement);
  case Statement::Kind::Label:
    return emit(getLabel(statement.label) + ":;");
  case Statement::Kind::Open:
    scopes.emplace_back();
    return emit("{");
  case Statement::Kind::Close:
    scopes.pop_back();
    return emit("}");
  case Statement::Kind::Register:
    return declareRegister(statement.variable);
  case Statement::Kind::Variable:
    return declareVariable(statement.variable);
  case Statement::Kind::Targets:
    return;
  }
}

std::string Body::translate() {
  for (const Statement &statement : function.body)
    translate(statement);
  return std::move(text);
}

} // namespace weft::test::ptx
