#include "frontends/torch_export/Node.h"

#include "frontends/common/Dims.h"
#include "frontends/common/ImportError.h"
#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/Layout.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

std::string weft::frontend::aten::nameOf(ScalarType type) {
  static const std::map<ScalarType, const char *> names = {
      {ScalarType::Byte, "uint8"},
      {ScalarType::Char, "int8"},
      {ScalarType::Short, "int16"},
      {ScalarType::Int, "int32"},
      {ScalarType::Long, "int64"},
      {ScalarType::Half, "float16"},
      {ScalarType::Float, "float32"},
      {ScalarType::Double, "float64"},
      {ScalarType::ComplexHalf, "complex32"},
      {ScalarType::ComplexFloat, "complex64"},
      {ScalarType::ComplexDouble, "complex128"},
      {ScalarType::Bool, "bool"},
      {ScalarType::BFloat16, "bfloat16"},
      {ScalarType::UInt16, "uint16"},
      {ScalarType::Float8E4M3FN, "float8_e4m3fn"},
      {ScalarType::Float8E5M2, "float8_e5m2"},
      {ScalarType::Float8E4M3FNUZ, "float8_e4m3fnuz"},
      {ScalarType::Float8E5M2FNUZ, "float8_e5m2fnuz"},
      {ScalarType::Float8E8M0FNU, "float8_e8m0fnu"},
      {ScalarType::UInt32, "uint32"},
      {ScalarType::UInt64, "uint64"},
  };
  auto found = names.find(type);
  return found == names.end() ? "scalar type " + std::to_string(int64_t(type))
                              : std::string("torch.") + found->second;
}

std::optional<ScalarType> weft::frontend::aten::partOfComplex(ScalarType type) {
  if (type == ScalarType::ComplexFloat)
    return ScalarType::Float;
  if (type == ScalarType::ComplexDouble)
    return ScalarType::Double;
  return std::nullopt;
}

Type weft::frontend::aten::elementType(MLIRContext *context, ScalarType type) {
  Builder builder(context);
  auto integer = [&](unsigned width, bool isUnsigned = false) -> Type {
    return IntegerType::get(context, width,
                            isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  };
  switch (type) {
  case ScalarType::Byte:
    return integer(8, true);
  case ScalarType::Char:
    return integer(8);
  case ScalarType::Short:
    return integer(16);
  case ScalarType::Int:
    return integer(32);
  case ScalarType::Long:
    return integer(64);
  case ScalarType::Half:
    return builder.getF16Type();
  case ScalarType::Float:
    return builder.getF32Type();
  case ScalarType::Double:
    return builder.getF64Type();
  case ScalarType::Bool:
    return integer(1);
  case ScalarType::BFloat16:
    return builder.getBF16Type();
  case ScalarType::UInt16:
    return integer(16, true);
  case ScalarType::UInt32:
    return integer(32, true);
  case ScalarType::UInt64:
    return integer(64, true);
  default:
    throw ImportError("element type " + nameOf(type) + " is not supported");
  }
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The names of an output's tensors and numbers; empty for None and for what has none.
static void addResultNames(const Argument &output, std::vector<std::string> &names) {
  if (auto *tensors = output.as<std::vector<std::optional<TensorName>>>()) {
    for (const std::optional<TensorName> &tensor : *tensors)
      names.push_back(tensor ? tensor->name : "");
    return;
  }
  auto *tensor = output.as<TensorName>();
  auto *scalar = output.as<Scalar>();
  auto *symbol = scalar ? std::get_if<SymbolName>(scalar) : nullptr;
  names.push_back(tensor ? tensor->name : symbol ? symbol->name : "");
}

std::vector<std::string> weft::frontend::aten::resultNames(const GraphNode &node) {
  std::vector<std::string> names;
  for (const Argument &output : node.outputs)
    addResultNames(output, names);
  return names;
}

std::string weft::frontend::aten::operatorName(const GraphNode &node) {
  StringRef name = node.target;
  name.consume_front("torch.ops.");
  return name.str();
}

Node::Node(const GraphNode &call, GraphImporter &graph, Scope &scope)
    : call(call), graph(graph), scope(scope), emit(graph.emitter()), names(resultNames(call)),
      given(names.size()) {}

const Argument *Node::argument(StringRef name) const {
  known.push_back(name);
  for (const NamedArgument &input : call.inputs)
    if (input.name == name)
      return input.argument.as<None>() ? nullptr : &input.argument;
  return nullptr;
}

const Argument &Node::required(StringRef name) const {
  const Argument *found = argument(name);
  if (!found)
    throw ImportError("argument '" + name.str() + "' is missing");
  return *found;
}

[[noreturn]] static void wrongKind(StringRef name, const char *expected, const Argument &got) {
  throw ImportError("argument '" + name.str() + "' is " + got.member + ", expected " + expected);
}

void Node::checkArguments() const {
  static const llvm::StringLiteral harmless[] = {"device",       "layout",     "memory_format",
                                                 "non_blocking", "pin_memory", "requires_grad"};
  for (const NamedArgument &input : call.inputs) {
    if (auto *layout = input.argument.as<LayoutCode>(); layout && layout->code != stridedLayout)
      throw ImportError("layouts other than strided are not supported");
    if (!input.name.empty() && !input.argument.as<None>() &&
        !llvm::is_contained(known, input.name) && !llvm::is_contained(harmless, input.name))
      throw ImportError("argument '" + input.name + "' is not supported");
  }
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

bool Node::isTensor(StringRef name) const {
  const Argument *found = argument(name);
  return found && found->as<TensorName>();
}

Value Node::optionalTensor(StringRef name) const {
  const Argument *found = argument(name);
  if (!found)
    return {};
  auto *tensor = found->as<TensorName>();
  if (!tensor)
    wrongKind(name, "a tensor", *found);
  return graph.lookup(scope, tensor->name);
}

Value Node::tensor(StringRef name) const {
  required(name);
  return optionalTensor(name);
}

SmallVector<Value> Node::optionalTensors(StringRef name) const {
  const Argument &found = required(name);
  auto *tensors = found.as<std::vector<std::optional<TensorName>>>();
  if (!tensors)
    wrongKind(name, "a list of tensors", found);
  SmallVector<Value> values;
  for (const std::optional<TensorName> &tensor : *tensors)
    values.push_back(tensor ? graph.lookup(scope, tensor->name) : Value());
  return values;
}

SmallVector<Value> Node::tensors(StringRef name) const {
  SmallVector<Value> values = optionalTensors(name);
  if (values.empty())
    throw ImportError("argument '" + name.str() + "' is an empty list");
  if (llvm::is_contained(values, Value()))
    throw ImportError("argument '" + name.str() + "' holds None");
  return values;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Number Node::resolve(const Scalar &scalar) const {
  if (auto *symbol = std::get_if<SymbolName>(&scalar))
    return graph.lookupNumber(scope, symbol->name);
  if (auto *integer = std::get_if<int64_t>(&scalar))
    return *integer;
  if (auto *real = std::get_if<double>(&scalar))
    return *real;
  return std::get<bool>(scalar);
}

int64_t Node::toInteger(const Scalar &scalar, StringRef name) const {
  Number number = resolve(scalar);
  if (auto *integer = std::get_if<int64_t>(&number))
    return *integer;
  if (auto *truth = std::get_if<bool>(&number))
    return *truth;
  throw ImportError("argument '" + name.str() + "' is a float, expected an integer");
}

bool Node::isNumber(StringRef name) const {
  const Argument *found = argument(name);
  return found && found->as<Scalar>();
}

Number Node::number(StringRef name) const { return numberOf(required(name), name); }

int64_t Node::integer(StringRef name) const {
  const Argument &found = required(name);
  auto *scalar = found.as<Scalar>();
  if (!scalar)
    wrongKind(name, "an integer", found);
  return toInteger(*scalar, name);
}

int64_t Node::integer(StringRef name, int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}

double Node::real(StringRef name) const { return asDouble(number(name)); }

double Node::real(StringRef name, double otherwise) const {
  return has(name) ? real(name) : otherwise;
}

bool Node::flag(StringRef name, bool otherwise) const {
  return has(name) ? asDouble(number(name)) != 0 : otherwise;
}

Shape Node::integers(StringRef name) const {
  const Argument &found = required(name);
  if (found.as<Scalar>())
    return {integer(name)};
  auto *scalars = found.as<std::vector<Scalar>>();
  if (!scalars) {
    // A list of nothing has no kind.
    auto *tensors = found.as<std::vector<std::optional<TensorName>>>();
    if (tensors && tensors->empty())
      return {};
    wrongKind(name, "a list of integers", found);
  }
  Shape values;
  for (const Scalar &scalar : *scalars)
    values.push_back(toInteger(scalar, name));
  return values;
}

Shape Node::integers(StringRef name, Shape otherwise) const {
  return has(name) ? integers(name) : otherwise;
}

std::vector<double> Node::reals(StringRef name) const {
  const Argument &found = required(name);
  auto *scalars = found.as<std::vector<Scalar>>();
  if (!scalars)
    wrongKind(name, "a list of numbers", found);
  std::vector<double> values;
  for (const Scalar &scalar : *scalars)
    values.push_back(asDouble(resolve(scalar)));
  return values;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

bool Node::isText(StringRef name) const {
  const Argument *found = argument(name);
  return found && found->as<std::string>();
}

std::string Node::text(StringRef name, StringRef otherwise) const {
  const Argument *found = argument(name);
  if (!found)
    return otherwise.str();
  auto *text = found->as<std::string>();
  if (!text)
    wrongKind(name, "a string", *found);
  return *text;
}

Type Node::dtype(StringRef name, Type otherwise) const {
  const Argument *found = argument(name);
  if (!found)
    return otherwise;
  auto *type = found->as<ScalarType>();
  if (!type)
    wrongKind(name, "a dtype", *found);
  return elementType(emit.builder.getContext(), partType(scope, *type));
}

const Argument &Node::argumentAt(size_t index) const {
  if (index >= call.inputs.size())
    throw ImportError("argument " + std::to_string(index) + " is missing");
  known.push_back(call.inputs[index].name);
  return call.inputs[index].argument;
}

Number Node::numberOf(const Argument &argument, StringRef name) const {
  auto *scalar = argument.as<Scalar>();
  if (!scalar)
    wrongKind(name, "a number", argument);
  return resolve(*scalar);
}

Number Node::numberAt(size_t index) const {
  return numberOf(argumentAt(index), std::to_string(index));
}

int64_t Node::dim(int64_t given, int64_t rank) const {
  int64_t extent = std::max<int64_t>(rank, 1), result = given < 0 ? given + extent : given;
  if (result < 0 || result >= extent)
    throw ImportError("dimension " + std::to_string(given) + " is out of range for rank " +
                      std::to_string(rank));
  return result;
}

Shape Node::dims(ArrayRef<int64_t> given, int64_t rank) const {
  return sortedDims(given, [&](int64_t axis) { return dim(axis, rank); });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void Node::beginResult(size_t index) {
  if (wants(index))
    emit.setName(graph.sourceName(scope, call, names[index]));
}

void Node::result(size_t index, Value value) {
  if (!wants(index))
    return;
  given[index] = true;
  if (resultType)
    value = emit.cast(value, resultType);
  emit.nameResult(value, graph.sourceName(scope, call, names[index]));
  graph.bind(scope, names[index], value);
}

void Node::omitResult(size_t index) {
  if (!wants(index))
    return;
  given[index] = true;
  scope.omitted.insert(names[index]);
}

void Node::result(Number number) {
  if (!wants(0))
    return;
  given[0] = true;
  graph.bindNumber(scope, names[0], number);
}

void Node::compute(Value value) {
  if (!wants(0))
    return;
  given[0] = true;
  scope.computed[names[0]] = value;
}

void Node::checkResults() const {
  for (size_t i = 0; i < names.size(); ++i)
    if (wants(i) && !given[i])
      throw ImportError("result " + std::to_string(i) + " ('" + names[i] + "') is not supported");
}

bool Node::isRowMajor(StringRef name) const {
  auto *tensor = required(name).as<TensorName>();
  std::optional<Layout> layout;
  if (tensor)
    layout = layoutOf(scope.graph, graph.sizes(), tensor->name);
  return layout && layout->offset == 0 && layout->isRowMajor();
}
