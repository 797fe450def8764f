#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Support/KeywordEnum.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::dist;
using weft::ReduceKind;

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/IR/DistAttrs.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Dist/IR/DistAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Axis references and lists of them
//===----------------------------------------------------------------------===//

/// `"model"` or `"model":(1)2`.
static void printAxisRef(AsmPrinter &printer, AxisRefAttr axis) {
  printer.printString(axis.getName());
  if (!axis.isFullAxis())
    printer << ":(" << axis.getPre() << ")" << axis.getSize();
}

static ParseResult parseAxisRef(AsmParser &parser, AxisRefAttr &axis) {
  std::string name;
  int64_t pre = 1, size = 0;
  if (parser.parseString(&name))
    return failure();
  if (succeeded(parser.parseOptionalColon())) {
    SMLoc where = parser.getCurrentLocation();
    if (parser.parseLParen() || parser.parseInteger(pre) || parser.parseRParen() ||
        parser.parseInteger(size))
      return failure();
    if (pre < 1 || size < 2)
      return parser.emitError(where)
             << "expected a sub-axis with pre >= 1 and size >= 2, got: (" << pre << ")" << size;
  }
  axis = AxisRefAttr::get(parser.getContext(), name, pre, size);
  return success();
}

static void printAxisRefs(AsmPrinter &printer, ArrayRef<AxisRefAttr> axes) {
  llvm::interleaveComma(axes, printer, [&](AxisRefAttr axis) { printAxisRef(printer, axis); });
}

static ParseResult parseAxisRefs(AsmParser &parser, AsmParser::Delimiter delimiter,
                                 SmallVectorImpl<AxisRefAttr> &axes) {
  return parser.parseCommaSeparatedList(delimiter,
                                        [&] { return parseAxisRef(parser, axes.emplace_back()); });
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAxisRef(printer, *this);
  printer << ">";
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  AxisRefAttr axis;
  if (parser.parseLess() || parseAxisRef(parser, axis) || parser.parseGreater())
    return {};
  return axis;
}

/// `{"data", "model"} unit 64`.
static void printDimSharding(AsmPrinter &printer, DimShardingAttr dim) {
  printer << "{";
  printAxisRefs(printer, dim.getAxes());
  printer << "}";
  if (dim.getUnit() != 1)
    printer << " unit " << dim.getUnit();
}

static ParseResult parseDimSharding(AsmParser &parser, DimShardingAttr &dim) {
  SmallVector<AxisRefAttr> axes;
  int64_t unit = 1;
  if (parseAxisRefs(parser, AsmParser::Delimiter::Braces, axes))
    return failure();
  SMLoc where = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("unit")) && parser.parseInteger(unit))
    return failure();
  if (unit < 1)
    return parser.emitError(where) << "expected a unit >= 1, got: " << unit;
  dim = DimShardingAttr::get(parser.getContext(), axes, unit);
  return success();
}

void DimShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printDimSharding(printer, *this);
  printer << ">";
}

Attribute DimShardingAttr::parse(AsmParser &parser, Type) {
  DimShardingAttr dim;
  if (parser.parseLess() || parseDimSharding(parser, dim) || parser.parseGreater())
    return {};
  return dim;
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<" << getMesh() << ", [";
  llvm::interleaveComma(getDims(), printer,
                        [&](DimShardingAttr dim) { printDimSharding(printer, dim); });
  printer << "]";
  if (isPartial()) {
    printer << ", partial = " << stringifyReduceKind(getReduction()) << "{";
    printAxisRefs(printer, getPartial());
    printer << "}";
  }
  printer << ">";
}

/// `, partial = sum{"seq"}`, where present.
static ParseResult parsePartial(AsmParser &parser, SmallVectorImpl<AxisRefAttr> &axes,
                                ReduceKind &reduction) {
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("partial") || parser.parseEqual())
    return failure();
  FailureOr<ReduceKind> kind = weft::parseKeywordEnum<ReduceKind>(parser);
  if (failed(kind))
    return failure();
  reduction = *kind;
  SMLoc where = parser.getCurrentLocation();
  if (parseAxisRefs(parser, AsmParser::Delimiter::Braces, axes))
    return failure();
  if (axes.empty())
    return parser.emitError(where) << "expected at least one partial axis";
  return success();
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SymbolRefAttr mesh;
  SmallVector<DimShardingAttr> dims;
  SmallVector<AxisRefAttr> partial;
  ReduceKind reduction = ReduceKind::Sum;
  auto parseDim = [&] { return parseDimSharding(parser, dims.emplace_back()); };
  if (parser.parseLess() || parser.parseAttribute(mesh) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parsePartial(parser, partial, reduction) || parser.parseGreater())
    return {};
  auto flat = dyn_cast<FlatSymbolRefAttr>(mesh);
  if (!flat) {
    parser.emitError(parser.getNameLoc()) << "expected the name of a mesh, got: " << mesh;
    return {};
  }
  return get(parser.getContext(), flat, dims, partial, reduction);
}

ShardingAttr ShardingAttr::getReplicated(FlatSymbolRefAttr mesh, int64_t rank) {
  auto none = DimShardingAttr::get(mesh.getContext(), {});
  return get(mesh.getContext(), mesh, SmallVector<DimShardingAttr>(rank, none), {},
             ReduceKind::Sum);
}

bool ShardingAttr::isReplicated() const {
  return !isPartial() &&
         llvm::all_of(getDims(), [](DimShardingAttr dim) { return dim.getAxes().empty(); });
}

ShardingAttr ShardingAttr::withPartial(ArrayRef<AxisRefAttr> axes, ReduceKind reduction) const {
  return get(getContext(), getMesh(), getDims(), axes, axes.empty() ? ReduceKind::Sum : reduction);
}

ShardingAttr ShardingAttr::withDim(unsigned dim, ArrayRef<AxisRefAttr> axes, int64_t unit) const {
  SmallVector<DimShardingAttr> dims(getDims());
  dims[dim] = DimShardingAttr::get(getContext(), axes, unit);
  return get(getContext(), getMesh(), dims, getPartial(), getReduction());
}

//===----------------------------------------------------------------------===//
// Directives of the operations' assembly formats
//===----------------------------------------------------------------------===//

ParseResult weft::dist::parseAxes(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<AxisRefAttr> refs;
  if (parseAxisRefs(parser, AsmParser::Delimiter::Square, refs))
    return failure();
  axes = parser.getBuilder().getArrayAttr(SmallVector<Attribute>(refs.begin(), refs.end()));
  return success();
}

void weft::dist::printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  printer << "[";
  printAxisRefs(printer, llvm::to_vector(axes.getAsRange<AxisRefAttr>()));
  printer << "]";
}
