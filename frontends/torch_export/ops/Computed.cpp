// Numbers that are computed from tensors.

#include "frontends/torch_export/ops/Computed.h"

#include "compiler/Interpret/Numbers.h"
#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// The name of a computed number that an argument is; "" where it is none.
static StringRef computedName(const Scope &scope, const Argument &argument) {
  auto *scalar = argument.as<Scalar>();
  auto *symbol = scalar ? std::get_if<SymbolName>(scalar) : nullptr;
  return symbol && scope.computed.contains(symbol->name) ? StringRef(symbol->name) : StringRef();
}

Value weft::frontend::aten::findComputed(const Node &node, StringRef name) {
  const Argument *argument = node.find(name);
  StringRef found = argument ? computedName(node.scope, *argument) : StringRef();
  if (found.empty())
    return {};
  Value value = node.scope.computed.lookup(found);
  if (!value)
    throw ImportError("number '" + found.str() +
                      "' depends on values in a way that is not supported");
  return value;
}

static void importItem(Node &node) {
  Emitter &emit = node.emit;
  Value self = emit.reshape(node.tensor("self"), {});
  if (const Tensor *known = emit.valueOf(self)) {
    if (isa<FloatType>(elementOf(self)))
      return node.result(Number(numbersOf<double>(*known).front()));
    return node.result(Number(numbersOf<int64_t>(*known).front()));
  }
  bool isInteger = isa<IntegerType>(elementOf(self)) && !elementOf(self).isInteger(1);
  node.compute(isInteger ? emit.cast(self, emit.builder.getI64Type()) : Value());
}

/// a ± b or a · b of Python.
static Value combine(Node &node, StringRef target) {
  Emitter &emit = node.emit;
  SmallVector<Value, 2> operands;
  for (size_t i = 0; i < 2; ++i) {
    StringRef name = computedName(node.scope, node.argumentAt(i));
    Value value = name.empty() ? Value() : node.scope.computed.lookup(name);
    if (name.empty()) {
      Number number = node.numberAt(i);
      if (auto *integer = std::get_if<int64_t>(&number))
        value = emit.reshape(emit.integers({*integer}), {});
    }
    if (!value)
      return {};
    operands.push_back(value);
  }
  if (target == "_operator.add")
    return emit.binary<AddOp>(operands[0], operands[1]);
  if (target == "_operator.sub")
    return emit.binary<SubOp>(operands[0], operands[1]);
  if (target == "_operator.mul")
    return emit.binary<MulOp>(operands[0], operands[1]);
  return {};
}

bool weft::frontend::aten::importComputed(Node &node) {
  std::string target = operatorName(node.call);
  bool isOperator = StringRef(target).starts_with("_operator."),
       isAssertion = StringRef(target).starts_with("aten._assert_scalar.") ||
                     StringRef(target).starts_with("aten.sym_constrain_range");
  if ((!isOperator && !isAssertion) ||
      llvm::none_of(node.call.inputs, [&](const NamedArgument &input) {
        return !computedName(node.scope, input.argument).empty();
      }))
    return false;
  if (isOperator)
    node.compute(combine(node, target));
  return true;
}

void weft::frontend::aten::addComputed(OpTable &table) { table["aten.item.default"] = importItem; }
