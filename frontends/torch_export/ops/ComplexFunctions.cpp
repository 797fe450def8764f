// Operators that know both parts of complex numbers.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Complex.h"
#include "frontends/torch_export/ops/OpTable.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

namespace {
/// Complex numbers, or real ones: those have no imaginary part.
struct Parts {
  Value real, imaginary;
};
} // namespace

static Value partOf(Node &node, StringRef name, ComplexPart part) {
  llvm::SaveAndRestore chosen(node.scope.part, part);
  return node.tensor(name);
}

static Parts partsOf(Node &node, StringRef name) {
  return {partOf(node, name, ComplexPart::Real), partOf(node, name, ComplexPart::Imaginary)};
}

static void give(Node &node, Parts parts) {
  llvm::SaveAndRestore chosen(node.scope.part, ComplexPart::Real);
  node.result(parts.real);
  node.scope.part = ComplexPart::Imaginary;
  node.result(parts.imaginary ? parts.imaginary : node.emit.like(parts.real, 0));
}

/// The type of the parts of what two operands promote to.
static Type promotedParts(Node &node) {
  llvm::SaveAndRestore chosen(node.scope.part, ComplexPart::Real);
  return promotedFloat(node, {"self", "other"});
}

/// An operand, complex or real, a tensor or a number.
static Parts operand(Node &node, StringRef name, Type element) {
  if (!isComplex(node, name))
    return {operandAs(node, name, element), nullptr};
  Parts parts = partsOf(node, name);
  return {node.emit.cast(parts.real, element), node.emit.cast(parts.imaginary, element)};
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value add(Emitter &emit, Value a, Value b) { return emit.binary<AddOp>(a, b); }
static Value subtract(Emitter &emit, Value a, Value b) { return emit.binary<SubOp>(a, b); }
static Value multiply(Emitter &emit, Value a, Value b) { return emit.binary<MulOp>(a, b); }

/// a² + b²
static Value squaredSize(Emitter &emit, Parts x) {
  return add(emit, multiply(emit, x.real, x.real), multiply(emit, x.imaginary, x.imaginary));
}

static Parts conjugate(Emitter &emit, Parts x) { return {x.real, emit.unary<NegOp>(x.imaginary)}; }

/// (a + bi)·(c + di) = (ac - bd) + (ad + bc)i
static Parts product(Emitter &emit, Parts x, Parts y,
                     Value (*multiply)(Emitter &, Value, Value) = ::multiply) {
  auto [a, b] = x;
  auto [c, d] = y;
  return {subtract(emit, multiply(emit, a, c), multiply(emit, b, d)),
          add(emit, multiply(emit, a, d), multiply(emit, b, c))};
}

/// Sums and differences, also of complex and real numbers.
template <typename Op> static void importSum(Node &node) {
  Emitter &emit = node.emit;
  Type element = promotedParts(node);
  Parts x = operand(node, "self", element), y = operand(node, "other", element);
  if (node.has("alpha") && asDouble(node.number("alpha")) != 1)
    for (Value *part : {&y.real, &y.imaginary})
      if (*part)
        *part = multiply(emit, *part, constantOf(emit, node.number("alpha"), element));
  Value real = emit.binary<Op>(x.real, y.real), zero = emit.like(real, 0);
  give(node,
       {real, emit.binary<Op>(x.imaginary ? x.imaginary : zero, y.imaginary ? y.imaginary : zero)});
}

static void importProduct(Node &node) {
  Type element = promotedParts(node);
  give(node, product(node.emit, operand(node, "self", element), operand(node, "other", element)));
}

/// x / y = x · conj(y) / |y|²
static void importQuotient(Node &node) {
  Emitter &emit = node.emit;
  Type element = promotedParts(node);
  Parts x = operand(node, "self", element), y = operand(node, "other", element);
  Value size = squaredSize(emit, y);
  Parts turned = conjugate(emit, y);
  turned = x.imaginary ? product(emit, x, turned)
                       : Parts{multiply(emit, x.real, turned.real),
                               multiply(emit, x.real, turned.imaginary)};
  give(node, {emit.binary<DivOp>(turned.real, size), emit.binary<DivOp>(turned.imaginary, size)});
}

static void importReciprocal(Node &node) {
  Emitter &emit = node.emit;
  Parts x = partsOf(node, "self"), turned = conjugate(emit, x);
  Value size = squaredSize(emit, x);
  give(node, {emit.binary<DivOp>(turned.real, size), emit.binary<DivOp>(turned.imaginary, size)});
}

static void importMatrixProduct(Node &node) {
  Parts x = partsOf(node, "self"), y = partsOf(node, node.has("mat2") ? "mat2" : "other");
  give(node, product(node.emit, x, y, emitMatMul));
}

static void importConjugate(Node &node) { give(node, conjugate(node.emit, partsOf(node, "self"))); }

/// eᵃ · (cos b + i sin b)
static void importExp(Node &node) {
  Emitter &emit = node.emit;
  Parts x = partsOf(node, "self");
  Value size = emit.unary<ExpOp>(x.real);
  give(node, {multiply(emit, size, emit.unary<CosOp>(x.imaginary)),
              multiply(emit, size, emit.unary<SinOp>(x.imaginary))});
}

static void importAbsolute(Node &node) {
  node.result(node.emit.unary<SqrtOp>(squaredSize(node.emit, partsOf(node, "self"))));
}

//===----------------------------------------------------------------------===//
// From and to real numbers
//===----------------------------------------------------------------------===//

static void importCartesian(Node &node) {
  auto [real, imaginary] = node.emit.together(node.tensor("real"), node.tensor("imag"));
  give(node, {real, imaginary});
}

static void importPolar(Node &node) {
  Emitter &emit = node.emit;
  Value size = node.tensor("abs"), angle = node.tensor("angle");
  expectFloat(angle);
  give(node, {multiply(emit, size, emit.unary<CosOp>(angle)),
              multiply(emit, size, emit.unary<SinOp>(angle))});
}

/// Pairs along the last dimension.
static void importViewAsComplex(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  expectRank(x, 1);
  expectFloat(x);
  if (shapeOf(x).back() != 2)
    throw ImportError("expected pairs along the last dimension, got " + describe(x));
  give(node,
       {partOfPairs(emit, x, ComplexPart::Real), partOfPairs(emit, x, ComplexPart::Imaginary)});
}

static void importViewAsReal(Node &node) {
  Emitter &emit = node.emit;
  auto [real, imaginary] = partsOf(node, "self");
  Shape shape(shapeOf(real));
  shape.push_back(1);
  node.result(emit.concat({emit.reshape(real, shape), emit.reshape(imaginary, shape)},
                          int64_t(shape.size()) - 1));
}

static void importReal(Node &node) { node.result(partsOf(node, "self").real); }
static void importImaginary(Node &node) { node.result(partsOf(node, "self").imaginary); }

/// The type that a cast asks for; of complex numbers that of their parts.
static Type wantedType(Node &node, Value self) {
  llvm::SaveAndRestore chosen(node.scope.part, ComplexPart::Real);
  return node.has("other") ? elementOf(node.tensor("other")) : node.dtype("dtype", elementOf(self));
}

/// Casts to and from complex numbers; real ones are left without what was imaginary.
static void importCast(Node &node) {
  Emitter &emit = node.emit;
  node.ignore({"copy"});
  Value self = partOf(node, "self", ComplexPart::Real);
  Type element = wantedType(node, self);
  const Argument *dtype = node.find("dtype");
  bool isComplexWanted =
      dtype ? isComplexType(*dtype) : isComplex(node, node.has("other") ? "other" : "self");
  Value real = emit.cast(self, element);
  if (!isComplexWanted)
    return node.result(real);
  if (!isComplex(node, "self"))
    return give(node, {real, nullptr});
  give(node, {real, emit.cast(partOf(node, "self", ComplexPart::Imaginary), element)});
}

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

OpImporter weft::frontend::aten::importerOfBoth(Node &node, StringRef target) {
  static const llvm::StringMap<OpImporter> importers = {
      {"aten._conj.default", importConjugate},
      {"aten._conj_physical.default", importConjugate},
      {"aten._to_copy.default", importCast},
      {"aten.abs.default", importAbsolute},
      {"aten.add.Tensor", importSum<AddOp>},
      {"aten.complex.default", importCartesian},
      {"aten.conj.default", importConjugate},
      {"aten.conj_physical.default", importConjugate},
      {"aten.exp.default", importExp},
      {"aten.imag.default", importImaginary},
      {"aten.polar.default", importPolar},
      {"aten.real.default", importReal},
      {"aten.reciprocal.default", importReciprocal},
      {"aten.sub.Tensor", importSum<SubOp>},
      {"aten.to.device", importCast},
      {"aten.to.dtype", importCast},
      {"aten.to.dtype_layout", importCast},
      {"aten.to.other", importCast},
      {"aten.type_as.default", importCast},
      {"aten.view_as_complex.default", importViewAsComplex},
      {"aten.view_as_real.default", importViewAsReal}};
  static const llvm::StringMap<OpImporter> products = {{"aten.bmm.default", importMatrixProduct},
                                                       {"aten.matmul.default", importMatrixProduct},
                                                       {"aten.mm.default", importMatrixProduct},
                                                       {"aten.mul.Tensor", importProduct}};
  bool isOfComplex = isComplex(node, node.has("mat2") ? "mat2" : "other");
  if (target == "aten.div.Tensor" && isOfComplex)
    return importQuotient;
  if (isOfComplex && isComplex(node, "self") && products.contains(target))
    return products.lookup(target);
  return importers.lookup(target);
}
