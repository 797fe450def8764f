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

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static bool isComplex(const Scope &scope, const Argument &argument) {
  if (auto *tensor = argument.as<TensorName>())
    return scope.imaginary.contains(tensor->name);
  if (auto *tensors = argument.as<std::vector<std::optional<TensorName>>>())
    return llvm::any_of(*tensors, [&](const std::optional<TensorName> &tensor) {
      return tensor && scope.imaginary.contains(tensor->name);
    });
  return false;
}

static bool isComplex(Node &node, StringRef name) {
  const Argument *found = node.find(name);
  return found && isComplex(node.scope, *found);
}

static Value partOf(Node &node, StringRef name, ComplexPart part) {
  llvm::SaveAndRestore chosen(node.scope.part, part);
  return node.tensor(name);
}

static Value realOf(Node &node, StringRef name) { return partOf(node, name, ComplexPart::Real); }
static Value imaginaryOf(Node &node, StringRef name) {
  return partOf(node, name, ComplexPart::Imaginary);
}

static void giveParts(Node &node, Value real, Value imaginary) {
  for (auto [part, value] :
       {std::pair(ComplexPart::Real, real), std::pair(ComplexPart::Imaginary, imaginary)}) {
    llvm::SaveAndRestore chosen(node.scope.part, part);
    node.result(value);
  }
}

//===----------------------------------------------------------------------===//
// Operators that know both parts
//===----------------------------------------------------------------------===//

static void importCartesian(Node &node) {
  auto [real, imaginary] = node.emit.together(node.tensor("real"), node.tensor("imag"));
  giveParts(node, real, imaginary);
}

static void importPolar(Node &node) {
  Emitter &emit = node.emit;
  Value size = node.tensor("abs"), angle = node.tensor("angle");
  expectFloat(angle);
  giveParts(node, emit.binary<MulOp>(size, emit.unary<CosOp>(angle)),
            emit.binary<MulOp>(size, emit.unary<SinOp>(angle)));
}

/// Pairs along the last dimension.
static void importViewAsComplex(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  expectRank(x, 1);
  expectFloat(x);
  int64_t last = typeOf(x).getRank() - 1;
  if (shapeOf(x)[last] != 2)
    throw ImportError("expected pairs along the last dimension, got " + describe(x));
  auto part = [&](int64_t index) {
    return emit.reshape(emit.sliceDim(x, last, index, 1), shapeOf(x).drop_back());
  };
  giveParts(node, part(0), part(1));
}

static void importViewAsReal(Node &node) {
  Emitter &emit = node.emit;
  SmallVector<Value> parts{realOf(node, "self"), imaginaryOf(node, "self")};
  Shape shape(shapeOf(parts[0]));
  shape.push_back(1);
  for (Value &part : parts)
    part = emit.reshape(part, shape);
  node.result(emit.concat(parts, int64_t(shape.size()) - 1));
}

static void importReal(Node &node) { node.result(realOf(node, "self")); }
static void importImaginary(Node &node) { node.result(imaginaryOf(node, "self")); }

static void importAbsolute(Node &node) {
  Emitter &emit = node.emit;
  Value real = realOf(node, "self"), imaginary = imaginaryOf(node, "self");
  node.result(emit.unary<SqrtOp>(emit.binary<AddOp>(emit.binary<MulOp>(real, real),
                                                    emit.binary<MulOp>(imaginary, imaginary))));
}

/// (a + bi)·(c + di) = (ac - bd) + (ad + bc)i
static void importProduct(Node &node) {
  Emitter &emit = node.emit;
  Value a = realOf(node, "self"), b = imaginaryOf(node, "self");
  Value c = realOf(node, "other"), d = imaginaryOf(node, "other");
  giveParts(node, emit.binary<SubOp>(emit.binary<MulOp>(a, c), emit.binary<MulOp>(b, d)),
            emit.binary<AddOp>(emit.binary<MulOp>(a, d), emit.binary<MulOp>(b, c)));
}

/// The importer of an operator on both parts; null where it has none.
static OpImporter wholeImporter(Node &node, StringRef target) {
  static const llvm::StringMap<OpImporter> importers = {
      {"aten.abs.default", importAbsolute},
      {"aten.complex.default", importCartesian},
      {"aten.imag.default", importImaginary},
      {"aten.polar.default", importPolar},
      {"aten.real.default", importReal},
      {"aten.view_as_complex.default", importViewAsComplex},
      {"aten.view_as_real.default", importViewAsReal}};
  if (target == "aten.mul.Tensor" && isComplex(node, "self") && isComplex(node, "other"))
    return importProduct;
  return importers.lookup(target);
}

//===----------------------------------------------------------------------===//
// Operators on one part at a time
//===----------------------------------------------------------------------===//

/// Whether the parts of the result are those of the operands, each for itself.
static bool isPartwise(Node &node, StringRef target) {
  if (makesViews(target) || target == "aten.clone.default" || target == "aten.neg.default")
    return true;
  bool first = isComplex(node, "self"), second = isComplex(node, "other");
  if (target == "aten.add.Tensor" || target == "aten.sub.Tensor")
    return first && second;
  if (target == "aten.mul.Tensor")
    return first != second;
  return target == "aten.div.Tensor" && first && !second;
}

void weft::frontend::aten::importComplex(GraphImporter &graph, Scope &scope, const GraphNode &call,
                                         OpImporter importer) {
  std::string target = operatorName(call);
  Node whole(call, graph, scope);
  if (OpImporter both = wholeImporter(whole, target)) {
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
         (!scope.imaginary.empty() && llvm::any_of(call.inputs, [&](const auto &input) {
           return isComplex(scope, input.argument);
         }));
}

/// Reached for real numbers alone, which these do not take.
static void refuseReal(Node & /*node*/) {
  throw ImportError("expected complex numbers, got real ones");
}

void weft::frontend::aten::addComplex(OpTable &table) {
  for (const char *name : {"aten.complex.default", "aten.imag.default", "aten.polar.default",
                           "aten.view_as_complex.default", "aten.view_as_real.default"})
    table[name] = refuseReal;
}
