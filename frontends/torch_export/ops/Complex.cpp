#include "frontends/torch_export/ops/Complex.h"
#include "frontends/torch_export/Aliases.h"
#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/ops/OpTable.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

static bool isComplex(const Scope &scope, const Argument &argument) {
  if (auto *tensor = argument.as<TensorName>())
    return scope.imaginary.contains(tensor->name);
  if (auto *tensors = argument.as<std::vector<std::optional<TensorName>>>())
    return llvm::any_of(*tensors, [&](const std::optional<TensorName> &tensor) {
      return tensor && scope.imaginary.contains(tensor->name);
    });
  return false;
}

bool weft::frontend::aten::isComplex(const Node &node, StringRef name) {
  const Argument *found = node.find(name);
  return found && ::isComplex(node.scope, *found);
}

bool weft::frontend::aten::isComplexType(const Argument &argument) {
  auto *type = argument.as<ScalarType>();
  return type && partOfComplex(*type);
}

/// Whether all tensors of a list, or all of some arguments, are complex: real ones would be taken
/// for both parts.
static bool areComplex(const Node &node, ArrayRef<StringRef> names) {
  return llvm::all_of(names, [&](StringRef name) {
    const Argument *found = node.find(name);
    auto *tensors = found ? found->as<std::vector<std::optional<TensorName>>>() : nullptr;
    return tensors ? llvm::all_of(*tensors,
                                  [&](const std::optional<TensorName> &tensor) {
                                    return tensor && node.scope.imaginary.contains(tensor->name);
                                  })
                   : isComplex(node, name);
  });
}

/// Whether the parts of the result are those of the operands, each for itself.
static bool isPartwise(const Node &node, StringRef target) {
  static const llvm::StringSet<> moving = {"_assert_tensor_metadata",
                                           "alias_copy",
                                           "clone",
                                           "cumsum",
                                           "flip",
                                           "gather",
                                           "index",
                                           "index_select",
                                           "lift_fresh_copy",
                                           "mean",
                                           "neg",
                                           "repeat",
                                           "resolve_conj",
                                           "resolve_neg",
                                           "roll",
                                           "sum",
                                           "tile",
                                           "tril",
                                           "triu",
                                           "zeros",
                                           "zeros_like"};
  static const llvm::StringSet<> joining = {"cat", "concat", "concatenate", "stack"};
  StringRef name = target;
  name.consume_front("aten.");
  name = name.split('.').first;
  if (joining.contains(name))
    return areComplex(node, {"tensors"});
  if (name == "where")
    return areComplex(node, {"self", "other"});
  bool first = isComplex(node, "self"), second = isComplex(node, "other");
  if (target == "aten.mul.Tensor")
    return first != second;
  if (target == "aten.div.Tensor")
    return first && !second;
  return makesViews(target) || moving.contains(name);
}

void weft::frontend::aten::importComplex(GraphImporter &graph, Scope &scope, const GraphNode &call,
                                         OpImporter importer) {
  std::string target = firstName(operatorName(call));
  Node whole(call, graph, scope);
  if (OpImporter both = importerOfBoth(whole, target)) {
    both(whole);
    whole.checkArguments();
    return whole.checkResults();
  }
  if (!isPartwise(whole, target))
    throw ImportError("complex numbers are not supported here");
  for (ComplexPart part : {ComplexPart::Real, ComplexPart::Imaginary}) {
    llvm::SaveAndRestore chosen(scope.part, part);
    Node node(call, graph, scope);
    importer(node);
    node.checkArguments();
    node.checkResults();
  }
}

bool weft::frontend::aten::concernsComplex(const Scope &scope, const GraphNode &call) {
  static const llvm::StringSet<> makers = {"aten.complex.default", "aten.polar.default",
                                           "aten.view_as_complex.default"};
  return makers.contains(operatorName(call)) ||
         llvm::any_of(call.inputs, [&](const NamedArgument &input) {
           return isComplexType(input.argument) || ::isComplex(scope, input.argument);
         });
}

Value weft::frontend::aten::partOfPairs(Emitter &emit, Value pairs, ComplexPart part) {
  int64_t last = typeOf(pairs).getRank() - 1;
  Value slice = emit.sliceDim(pairs, last, part == ComplexPart::Real ? 0 : 1, 1);
  return emit.reshape(slice, shapeOf(pairs).drop_back());
}

void weft::frontend::aten::bindPairs(Scope &scope, StringRef name, Emitter &emit, Value pairs) {
  scope.values[name] = partOfPairs(emit, pairs, ComplexPart::Real);
  scope.imaginary[name] = partOfPairs(emit, pairs, ComplexPart::Imaginary);
}

/// Reached for real numbers alone, which these do not take.
static void refuseReal(Node & /*node*/) {
  throw ImportError("expected complex numbers, got real ones");
}

void weft::frontend::aten::addComplex(OpTable &table) {
  for (const char *name :
       {"aten._conj.default", "aten._conj_physical.default", "aten.complex.default",
        "aten.conj.default", "aten.conj_physical.default", "aten.imag.default",
        "aten.polar.default", "aten.view_as_complex.default", "aten.view_as_real.default"})
    table[name] = refuseReal;
}
