#include "frontends/torch_export/Symbols.h"

#include "frontends/common/ImportError.h"
#include "frontends/torch_export/Expression.h"
#include "llvm/ADT/StringSet.h"

using namespace weft::frontend;
using namespace weft::frontend::aten;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The graph's name of an input; "" for what the graph does not compute with.
static std::string valueName(const Argument &argument) {
  if (auto *tensor = argument.as<TensorName>())
    return tensor->name;
  if (auto *scalar = argument.as<Scalar>())
    if (auto *symbol = std::get_if<SymbolName>(scalar))
      return symbol->name;
  return "";
}

std::vector<UserInput> weft::frontend::aten::userInputs(const Program &program) {
  std::vector<const InputSpec *> given;
  for (const InputSpec &spec : program.inputs)
    if (spec.kind == InputSpec::User || spec.kind == InputSpec::Constant)
      given.push_back(&spec);
  bool named = program.inputNames.size() == given.size();
  std::vector<UserInput> inputs;
  std::map<std::string, int> uses;
  for (size_t i = 0; i < given.size(); ++i) {
    std::string value = valueName(given[i]->argument);
    if (value.empty())
      continue;
    std::string name = named && !program.inputNames[i].empty() ? program.inputNames[i] : value;
    ++uses[name];
    inputs.push_back({name, value});
  }
  // A name that torch made for a part of a container may be another input's own.
  for (UserInput &input : inputs)
    if (uses[input.name] > 1)
      input.name = input.value;
  return inputs;
}

std::vector<OpenSize> weft::frontend::aten::openSizes(const Program &program) {
  std::vector<OpenSize> open;
  auto add = [&](const std::string &place, const SymInt &size) {
    if (auto *expression = std::get_if<std::string>(&size))
      open.push_back({place, *expression});
  };
  for (const UserInput &input : userInputs(program)) {
    if (auto symbol = program.graph.symInts.find(input.value);
        symbol != program.graph.symInts.end())
      add(input.name, symbol->second);
    auto tensor = program.graph.tensors.find(input.value);
    if (tensor == program.graph.tensors.end())
      continue;
    for (size_t dim = 0; dim < tensor->second.sizes.size(); ++dim)
      add(input.name + "." + std::to_string(dim), tensor->second.sizes[dim]);
  }
  return open;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<int64_t> Symbols::evaluate(const SymInt &size) const {
  if (auto *number = std::get_if<int64_t>(&size))
    return *number;
  const auto &expression = std::get<std::string>(size);
  return evaluateExpression(expression, [&](StringRef symbol) -> std::optional<int64_t> {
    auto found = values.find(symbol);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string Symbols::describeRange(StringRef symbol) const {
  auto found = program.ranges.find(symbol.str());
  if (found == program.ranges.end())
    return "";
  auto [least, most] = found->second;
  if (!most)
    return least ? std::to_string(*least) + " or more" : "";
  return std::to_string(least.value_or(0)) + " to " + std::to_string(*most);
}

void Symbols::checkRange(StringRef symbol, int64_t value, StringRef option) {
  auto found = program.ranges.find(symbol.str());
  if (found == program.ranges.end())
    return;
  auto [least, most] = found->second;
  if ((least && value < *least) || (most && value > *most))
    problems.add("--dim " + option + ": the program was exported for " + describeRange(symbol));
}

void Symbols::bind(StringRef symbol, int64_t value, StringRef option) {
  auto [known, inserted] = values.try_emplace(symbol, value);
  if (inserted)
    checkRange(symbol, value, option);
  else if (known->second != value)
    problems.add("--dim " + option + ": the size " + symbol + " is bound to " +
                 std::to_string(known->second) + " already");
}

void Symbols::solve(const OpenSize &size, int64_t value) {
  std::string option = size.place + "=" + std::to_string(value);
  std::vector<std::string> symbols = symbolsOf(size.expression);
  if (symbols.size() != 1) {
    std::string names;
    for (const std::string &symbol : symbols)
      names += (names.empty() ? "" : ", ") + symbol;
    return problems.add("--dim " + option + ": the size is " + size.expression + "; bind " + names +
                        " instead");
  }
  auto at = [&](int64_t candidate) {
    return evaluateExpression(size.expression, [&](StringRef) { return std::optional(candidate); });
  };
  // Sizes of inputs are a·s + b; what is found is checked in the expression itself.
  int64_t offset = at(0).value_or(0), slope = at(1).value_or(0) - offset;
  int64_t symbol = slope == 0 ? 0 : (value - offset) / slope;
  if (at(symbol) != value)
    return problems.add("--dim " + option + ": no value of " + symbols.front() +
                        " gives this size, which is " + size.expression);
  bind(symbols.front(), symbol, option);
}

Symbols::Symbols(const Program &program, const llvm::MapVector<StringRef, int64_t> &dims,
                 Problems &problems)
    : program(program), problems(problems) {
  std::vector<OpenSize> open = openSizes(program);
  for (const auto &[name, value] : dims) {
    StringRef known = name;
    auto place = llvm::find_if(open, [&](const OpenSize &size) { return size.place == known; });
    if (place != open.end())
      solve(*place, value);
    else
      bind(name, value, (name + "=" + llvm::Twine(value)).str());
  }
  llvm::StringSet<> reported;
  for (const OpenSize &size : open)
    for (const std::string &symbol : symbolsOf(size.expression)) {
      if (values.count(symbol) || !reported.insert(symbol).second)
        continue;
      std::string range = describeRange(symbol);
      problems.add("size '" + size.place + "' is not bound: give --dim " + size.place +
                   "=N or --dim " + symbol + "=N" +
                   (range.empty() ? "" : ", exported for " + range));
    }
}
