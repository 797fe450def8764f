#include "test/cuda/PtxTranslate.h"

#include "test/cuda/PtxBody.h"

#include <algorithm>
#include <bit>

namespace weft::test::ptx {

namespace {

uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

void collectNames(const Operand &operand, std::set<std::string> &names) {
  if (!operand.name.empty())
    names.insert(operand.name);
  for (const Operand &item : operand.items)
    collectNames(item, names);
}

std::set<std::string> collectNames(const FunctionText &function) {
  std::set<std::string> names;
  for (const Statement &statement : function.body)
    for (const Operand &operand : statement.instruction.operands)
      collectNames(operand, names);
  return names;
}

/// What is known of a function once it is translated.
struct Facts {
  std::set<std::string> calls;
  bool waits = false, callsUnknown = false;
  uint64_t localBytes = 0;
};

class Translator {
public:
  explicit Translator(const ModuleText &module) : module(module), scopes(1) {}

  Translation translate() {
    result.source = "#include \"test/cuda/PtxSupport.h\"\n\nusing namespace weft::test::ptx;\n\n";
    for (const Variable &variable : module.variables)
      if (variable.space == "global" || variable.space == "const")
        addVariable(variable);
      else if (variable.space != "shared")
        throw PtxError(variable.line, "a variable of space ." + variable.space);
    declareFunctions();
    shareOut();
    for (const FunctionText &function : module.functions)
      if (function.isDefined)
        addFunction(function);
    for (KernelInfo &kernel : result.kernels)
      closeOver(kernel);
    return std::move(result);
  }

private:
  //===--- Variables ------------------------------------------------------===//

  void addVariable(const Variable &variable) {
    if (variable.isExtern)
      throw PtxError(variable.line, "a variable that is defined elsewhere: " + variable.name);
    VariableInfo info;
    info.name = variable.name;
    info.bytes = getBytes(variable);
    info.align = getAlign(variable);
    uint64_t width = findType(variable.type)->bytes, offset = 0;
    for (const Initialiser &value : variable.values) {
      if (offset + width > info.bytes)
        throw PtxError(variable.line, "more values than elements: " + variable.name);
      if (!value.symbol.empty())
        info.relocations.push_back(relocate(value, offset, width));
      uint64_t bits = getBits(value, variable.type);
      for (uint64_t i = 0; i < width; ++i)
        info.values.push_back(i < 8 ? bits >> (8 * i) & 255 : 0);
      offset += width;
    }
    std::string index = std::to_string(result.variables.size());
    define(variable.line, variable.name,
           {Symbol::Kind::Global, nullptr, "t.block->variables[" + index + "]"});
    result.variables.push_back(std::move(info));
  }

  /// As ptxas does: a double is rounded for .f32 alone; else the low bits are taken.
  static uint64_t getBits(const Initialiser &value, const std::string &type) {
    if (!value.symbol.empty())
      return 0;
    if (value.isDouble && type == "f32")
      return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
    return value.bits;
  }

  static Relocation relocate(const Initialiser &value, uint64_t offset, uint64_t width) {
    Relocation relocation{offset, value.bits, value.symbol, width, 0};
    if (value.mask)
      relocation.shift = std::countr_zero(value.mask);
    return relocation;
  }

  void define(int line, const std::string &name, Symbol symbol) {
    auto [at, isNew] = scopes[0].emplace(name, symbol);
    if (!isNew && !(symbol.function && at->second.function))
      throw PtxError(line, "defined twice: " + name);
    if (!isNew && symbol.function->isDefined) // after its declaration
      at->second = std::move(symbol);
  }

  //===--- Shared memory --------------------------------------------------===//

  /// Variables that only kernels name lie where they fit into each; those of functions come first,
  /// at the same place for all.
  void shareOut() {
    std::set<std::string> common;
    for (const FunctionText &function : module.functions)
      if (!function.isKernel)
        common.merge(collectNames(function));
    for (const Variable &variable : module.variables)
      if (variable.space == "shared" && common.count(variable.name))
        place(variable, commonShared, scopes[0]);
    for (const FunctionText &function : module.functions)
      if (!function.isKernel)
        placeOwn(function, commonShared, ownShared[function.name]);
  }

  /// Variables of shared memory that are declared within a function.
  static void placeOwn(const FunctionText &function, uint64_t &end,
                       std::map<std::string, Symbol> &scope) {
    for (const Statement &statement : function.body)
      if (statement.kind == Statement::Kind::Variable && statement.variable.space == "shared") {
        if (scope.count(statement.variable.name))
          throw PtxError(statement.line, "defined twice: " + statement.variable.name);
        place(statement.variable, end, scope);
      }
  }

  static void place(const Variable &variable, uint64_t &end, std::map<std::string, Symbol> &scope) {
    std::string text = "u64(t.block->dynamicShared)";
    if (!variable.isExtern) {
      end = roundUp(end, getAlign(variable));
      text = std::to_string(end) + "ull";
      end += getBytes(variable);
    }
    scope[variable.name] = {Symbol::Kind::Shared, nullptr, text};
  }

  uint64_t placeShared(const FunctionText &kernel, std::map<std::string, Symbol> &scope) {
    uint64_t end = commonShared;
    placeOwn(kernel, end, scope);
    std::set<std::string> names = collectNames(kernel);
    for (const Variable &variable : module.variables)
      if (variable.space == "shared" && names.count(variable.name) &&
          !scopes[0].count(variable.name) && !scope.count(variable.name))
        place(variable, end, scope);
    return end;
  }

  //===--- Functions ------------------------------------------------------===//

  void declareFunctions() {
    for (const FunctionText &function : module.functions) {
      std::string name = "F_" + mangle(function.name);
      define(function.line, function.name,
             {Symbol::Kind::Function, nullptr, "u64(&" + name + ")", 0, &function});
      if (!function.isKernel && function.isDefined)
        result.source +=
            "extern \"C\" void " + name + "(Thread &t, u8 *result, const u8 *const *arguments);\n";
    }
  }

  void addFunction(const FunctionText &function) {
    Scopes inner = scopes;
    inner.emplace_back();
    std::string head = function.isKernel ? openKernel(function, inner.back())
                                         : openFunction(function, inner.back());
    Body body(function, inner, sites);
    result.source += head + "\n  u32 carry = 0; (void)carry;\n" + body.translate() + "}\n";
    facts[function.name] = {body.calls, body.waits, body.callsUnknown, body.localBytes};
  }

  std::string openKernel(const FunctionText &function, std::map<std::string, Symbol> &scope) {
    KernelInfo kernel;
    kernel.name = function.name;
    kernel.symbol = "K_" + mangle(function.name);
    kernel.maxThreads = function.maxThreads;
    for (const Variable &param : function.params) {
      uint64_t bytes = getBytes(param);
      kernel.paramBytes = roundUp(kernel.paramBytes, getAlign(param));
      kernel.params.push_back({kernel.paramBytes, bytes});
      std::string text = "(params + " + std::to_string(kernel.paramBytes) + ")";
      scope[param.name] = {Symbol::Kind::Param, nullptr, text, bytes, nullptr, true};
      kernel.paramBytes += bytes;
    }
    kernel.sharedBytes = placeShared(function, scope);
    std::string head = "\nextern \"C\" void " + kernel.symbol + "(Thread &t, const u8 *params) {";
    result.kernels.push_back(std::move(kernel));
    return head;
  }

  std::string openFunction(const FunctionText &function, std::map<std::string, Symbol> &scope) {
    if (function.results.size() > 1)
      throw PtxError(function.line, "more than one result: " + function.name);
    size_t i = 0;
    for (const Variable &param : function.params) {
      std::string text = "arguments[" + std::to_string(i++) + "]";
      scope[param.name] = {Symbol::Kind::Param, nullptr, text, getBytes(param), nullptr, true};
    }
    scope.insert(ownShared[function.name].begin(), ownShared[function.name].end());
    for (const Variable &given : function.results)
      scope[given.name] = {Symbol::Kind::Param, nullptr, "result", getBytes(given)};
    return "\nextern \"C\" void F_" + mangle(function.name) +
           "(Thread &t, u8 *result, const u8 *const *arguments) {";
  }

  /// Adds what the functions need that the kernel may call.
  void closeOver(KernelInfo &kernel) {
    std::set<std::string> seen;
    std::vector<std::string> open = {kernel.name};
    while (!open.empty()) {
      std::string name = open.back();
      open.pop_back();
      if (!seen.insert(name).second)
        continue;
      const Facts &known = facts.at(name);
      kernel.waits |= known.waits;
      kernel.localBytes += known.localBytes;
      open.insert(open.end(), known.calls.begin(), known.calls.end());
      if (known.callsUnknown)
        for (const FunctionText &function : module.functions)
          if (!function.isKernel && function.isDefined)
            open.push_back(function.name);
    }
  }

  const ModuleText &module;
  Scopes scopes;
  uint64_t commonShared = 0;
  std::map<std::string, std::map<std::string, Symbol>> ownShared; ///< of functions
  unsigned sites = 0;
  std::map<std::string, Facts> facts;
  Translation result;
};

} // namespace

Translation translate(const ModuleText &module) { return Translator(module).translate(); }

} // namespace weft::test::ptx
