#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Support/KeywordEnum.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace weft::exec;

//===----------------------------------------------------------------------===//
// MeshAxisAttr: "x"=size
//===----------------------------------------------------------------------===//

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t size;
  if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(size))
    return {};
  return MeshAxisAttr::get(parser.getContext(), name, size);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  printer << "=" << getSize();
}

//===----------------------------------------------------------------------===//
// AxisAttr: "x" or "x":(pre)size
//===----------------------------------------------------------------------===//

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t pre = 1, size = 0;
  if (parser.parseString(&name))
    return {};
  if (succeeded(parser.parseOptionalColon()) && (parser.parseLParen() || parser.parseInteger(pre) ||
                                                 parser.parseRParen() || parser.parseInteger(size)))
    return {};
  return AxisAttr::get(parser.getContext(), name, pre, size);
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer.printString(getName());
  if (getSize() != 0)
    printer << ":(" << getPre() << ")" << getSize();
}

//===----------------------------------------------------------------------===//
// TermAttr: coefficient * [axes]
//===----------------------------------------------------------------------===//

static ParseResult parseAxisList(AsmParser &parser, SmallVectorImpl<AxisAttr> &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    auto axis = dyn_cast_or_null<AxisAttr>(AxisAttr::parse(parser, {}));
    if (!axis)
      return failure();
    axes.push_back(axis);
    return success();
  });
}

Attribute TermAttr::parse(AsmParser &parser, Type) {
  int64_t coefficient;
  SmallVector<AxisAttr> axes;
  if (parser.parseInteger(coefficient) || parser.parseStar() || parseAxisList(parser, axes))
    return {};
  return TermAttr::get(parser.getContext(), coefficient, axes);
}

void TermAttr::print(AsmPrinter &printer) const {
  printer << getCoefficient() << " * [";
  llvm::interleaveComma(getAxes(), printer, [&](AxisAttr axis) { axis.print(printer); });
  printer << "]";
}

//===----------------------------------------------------------------------===//
// AffineAttr: <constant + term + …>
//===----------------------------------------------------------------------===//

/// constant (`+` term)*
static AffineAttr parseAffine(AsmParser &parser) {
  int64_t constant;
  SmallVector<TermAttr> terms;
  if (parser.parseInteger(constant))
    return {};
  while (succeeded(parser.parseOptionalPlus())) {
    auto term = dyn_cast_or_null<TermAttr>(TermAttr::parse(parser, {}));
    if (!term)
      return {};
    terms.push_back(term);
  }
  return AffineAttr::get(parser.getContext(), constant, terms);
}

static void printAffine(AsmPrinter &printer, AffineAttr affine) {
  printer << affine.getConstant();
  for (TermAttr term : affine.getTerms()) {
    printer << " + ";
    term.print(printer);
  }
}

Attribute AffineAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  AffineAttr affine = parseAffine(parser);
  return affine && succeeded(parser.parseGreater()) ? affine : AffineAttr();
}

void AffineAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAffine(printer, *this);
  printer << ">";
}

AffineAttr AffineAttr::plus(AffineAttr other) const {
  llvm::SmallMapVector<ArrayRef<AxisAttr>, int64_t, 4> coefficients;
  for (AffineAttr part : {*this, other})
    for (TermAttr term : part.getTerms())
      coefficients[term.getAxes()] += term.getCoefficient();
  SmallVector<TermAttr> terms;
  for (auto &[axes, coefficient] : coefficients)
    if (coefficient != 0)
      terms.push_back(TermAttr::get(getContext(), coefficient, axes));
  return get(getContext(), getConstant() + other.getConstant(), terms);
}

AffineAttr AffineAttr::plus(int64_t constant) const {
  return get(getContext(), getConstant() + constant, getTerms());
}

AffineAttr AffineAttr::times(int64_t factor) const {
  if (factor == 0)
    return get(getContext(), 0);
  SmallVector<TermAttr> terms;
  for (TermAttr term : getTerms())
    terms.push_back(TermAttr::get(getContext(), term.getCoefficient() * factor, term.getAxes()));
  return get(getContext(), getConstant() * factor, terms);
}

//===----------------------------------------------------------------------===//
// AsyncAttr
//===----------------------------------------------------------------------===//

LogicalResult AsyncAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Stream stream,
                                int64_t token) {
  if (stream == Stream::Compute)
    return emitError() << "expected a stream beside compute";
  if (token < 1)
    return emitError() << "expected a token of at least 1, got: " << token;
  return success();
}

//===----------------------------------------------------------------------===//
// OperandAttr: <arena, offset, dtype [shape] (strides [strides])? (value n)?>
//===----------------------------------------------------------------------===//

static ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parser.parseInteger(numbers.emplace_back()); });
}

Attribute OperandAttr::parse(AsmParser &parser, Type) {
  Type dtype;
  SmallVector<int64_t> shape, strides;
  if (parser.parseLess())
    return {};
  FailureOr<ArenaKind> arena = weft::parseKeywordEnum<ArenaKind>(parser);
  if (failed(arena) || parser.parseComma())
    return {};
  AffineAttr offset = parseAffine(parser);
  if (!offset || parser.parseComma() || parser.parseType(dtype) || parseNumbers(parser, shape))
    return {};
  if (failed(parser.parseOptionalKeyword("strides")))
    strides = getRowMajorStrides(shape);
  else if (parseNumbers(parser, strides))
    return {};
  int64_t value = 0;
  if (succeeded(parser.parseOptionalKeyword("value")) && parser.parseInteger(value))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(),
                    *arena, offset, dtype, ArrayRef<int64_t>(shape), ArrayRef<int64_t>(strides),
                    value);
}

void OperandAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyArenaKind(getArena()) << ", ";
  printAffine(printer, getOffset());
  printer << ", " << getDtype() << " [";
  llvm::interleaveComma(getShape(), printer);
  printer << "]";
  if (getStrides() != ArrayRef<int64_t>(getRowMajorStrides(getShape()))) {
    printer << " strides [";
    llvm::interleaveComma(getStrides(), printer);
    printer << "]";
  }
  if (getValue() != 0)
    printer << " value " << getValue();
  printer << ">";
}

LogicalResult OperandAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArenaKind,
                                  AffineAttr, Type dtype, ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> strides, int64_t) {
  if (shape.size() != strides.size())
    return emitError() << "expected one stride per extent, got: " << strides.size()
                       << " != " << shape.size();
  for (int64_t number : llvm::concat<const int64_t>(shape, strides))
    if (number < 0)
      return emitError() << "expected extents and strides of at least 0, got: " << number;
  if (getElementBytes(dtype) == 0)
    return emitError() << "expected an element type that arenas hold, got: " << dtype;
  return success();
}

int64_t OperandAttr::getNumElements() const {
  int64_t elements = 1;
  for (int64_t extent : getShape())
    elements *= extent;
  return elements;
}

int64_t OperandAttr::getBytes() const { return getNumElements() * getElementBytes(getDtype()); }

bool OperandAttr::isContiguous() const {
  int64_t expected = 1;
  for (size_t i = getShape().size(); i-- > 0;) {
    if (getShape()[i] != 1 && getStrides()[i] != expected)
      return false;
    expected *= getShape()[i];
  }
  return true;
}
