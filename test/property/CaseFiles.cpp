#include "test/property/CaseFiles.h"

#include "compiler/Plan/Fingerprint.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/PlanText.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <stdexcept>

using namespace mlir;
using namespace weft;
using namespace weft::property;
namespace json = llvm::json;

static void writeFile(const std::string &path, StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  os << bytes;
  os.close();
  if (error || os.has_error())
    throw std::runtime_error("cannot write " + path);
}

/// What a checked call returned.
template <typename Value> static Value get(llvm::Expected<Value> value) {
  if (!value)
    throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// numpy's name of an element type.
static StringRef numpyName(DType kind) {
  static constexpr StringLiteral names[] = {"bool",   "int8",    "int16",  "int32",  "int64",
                                            "uint8",  "uint16",  "uint32", "uint64", "float16",
                                            "bfloat", "float32", "float64"};
  return names[int(kind)];
}

static json::Value toJson(Attribute attribute) {
  return llvm::TypeSwitch<Attribute, json::Value>(attribute)
      .Case([](IntegerAttr number) { return number.getInt(); })
      .Case([](FloatAttr number) { return number.getValueAsDouble(); })
      .Case([](UnitAttr) { return true; })
      .Case([](DenseI32ArrayAttr list) { return json::Array(list.asArrayRef()); })
      .Case([](DenseI64ArrayAttr list) { return json::Array(list.asArrayRef()); })
      .Case([](CompareDirectionAttr word) { return stringifyEnum(word.getValue()); })
      .Case([](GeluFormAttr word) { return stringifyEnum(word.getValue()); })
      .Case([](MaskedRowsAttr word) { return stringifyEnum(word.getValue()); })
      .Case([](ReduceKindAttr word) { return stringifyEnum(word.getValue()); })
      .Case([](ScatterKindAttr word) { return stringifyEnum(word.getValue()); })
      .Default([](Attribute) { return nullptr; });
}

namespace {
/// Numbers values, and puts the elements of those that are not computed into one file.
class GraphWriter {
public:
  explicit GraphWriter(const Model &model) : model(model) {}

  json::Object write();
  std::string data;

private:
  json::Object describe(const Tensor &tensor);
  json::Object leaf(Value value, const Tensor &tensor);
  Tensor loaded(LoadOp load) const;
  json::Object node(Operation &op);
  json::Array numbersOf(ValueRange values) {
    json::Array result;
    for (Value value : values)
      result.push_back(numbers.try_emplace(value, numbers.size()).first->second);
    return result;
  }

  const Model &model;
  llvm::DenseMap<Value, int64_t> numbers;
};
} // namespace

json::Object GraphWriter::describe(const Tensor &tensor) {
  Tensor dense = tensor.dense();
  int64_t offset = data.size();
  data.append(dense.raw().begin(), dense.raw().end());
  data.resize((data.size() + 7) / 8 * 8);
  return json::Object{{"dtype", numpyName(tensor.kind())},
                      {"shape", json::Array(tensor.shape())},
                      {"offset", offset}};
}

json::Object GraphWriter::leaf(Value value, const Tensor &tensor) {
  json::Object result = describe(tensor);
  result["op"] = "leaf";
  result["results"] = numbersOf(value);
  return result;
}

Tensor GraphWriter::loaded(LoadOp load) const {
  auto found = model.weights.find(load.getWeight().str());
  if (found != model.weights.end())
    return found->second;
  return get(
      readStoredWeight(SymbolTable::lookupNearestSymbolFrom<WeightOp>(load, load.getWeightAttr())));
}

json::Object GraphWriter::node(Operation &op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return leaf(load.getResult(), loaded(load));
  if (auto constant = dyn_cast<ConstantOp>(op))
    return leaf(constant.getResult(), get(Tensor::fromElements(constant.getValue())));
  json::Object attributes;
  for (NamedAttribute named : op.getAttrDictionary())
    attributes[named.getName().strref()] = toJson(named.getValue());
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  json::Array types;
  for (Type each : op.getResultTypes())
    types.push_back(numpyName(*getDType(cast<RankedTensorType>(each).getElementType())));
  return json::Object{{"op", op.getName().stripDialect()},
                      {"operands", numbersOf(op.getOperands())},
                      {"results", numbersOf(op.getResults())},
                      {"dtype", numpyName(*getDType(type.getElementType()))},
                      {"dtypes", std::move(types)},
                      {"shape", json::Array(type.getShape())},
                      {"attributes", std::move(attributes)}};
}

json::Object GraphWriter::write() {
  auto main = model.module.get().lookupSymbol<func::FuncOp>("main");
  json::Array nodes, expected;
  for (auto [argument, input] : llvm::zip_equal(main.getArguments(), model.inputs))
    nodes.push_back(leaf(argument, input));
  for (Operation &op : main.front().without_terminator())
    nodes.push_back(node(op));
  for (const Tensor &output : model.outputs)
    expected.push_back(describe(output));
  return json::Object{{"nodes", std::move(nodes)},
                      {"inputs", numbersOf(main.getArguments())},
                      {"outputs", numbersOf(main.front().getTerminator()->getOperands())},
                      {"expected", std::move(expected)}};
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

static plan::Plan makePlan(const Case &test) {
  std::string problem;
  std::optional<plan::Plan> plan = startPlan(test.mesh, {}, test.pins, problem);
  if (!plan)
    throw std::runtime_error(problem);
  plan->mutable_model()->set_fingerprint(fingerprint(*test.model.module));
  return *plan;
}

void weft::property::writeCase(const Case &test, const std::string &folder) {
  std::string text;
  llvm::raw_string_ostream os(text);
  test.model.module.get()->print(os, OpPrintingFlags().enableDebugInfo()); // values' names
  writeFile(folder + "/model.mlir", text);
  writeFile(folder + "/weights.bin", {test.model.file.data(), test.model.file.size()});
  if (!test.chosen)
    writeFile(folder + "/plan.txtpb", printPlan(makePlan(test)));
  GraphWriter graph(test.model);
  json::Object object = graph.write();
  object["mesh"] = test.mesh;
  object["pins"] = json::Array(test.pins);
  object["chosen"] = test.chosen;
  writeFile(folder + "/case.json", llvm::formatv("{0}", json::Value(std::move(object))).str());
  writeFile(folder + "/data.bin", graph.data);
}
