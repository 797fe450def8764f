#include "dialects/Weft/IR/WeftDialect.h"

#include "dialects/Support/KeywordEnum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;

/// `kind(constant)`; nothing for parameters.
static ParseResult parseWeightKind(OpAsmParser &parser, WeightKindAttr &kind) {
  kind = WeightKindAttr::get(parser.getContext(), WeightKind::Parameter);
  if (failed(parser.parseOptionalKeyword("kind")))
    return success();
  if (parser.parseLParen())
    return failure();
  FailureOr<WeightKind> value = parseKeywordEnum<WeightKind>(parser);
  if (failed(value) || parser.parseRParen())
    return failure();
  kind = WeightKindAttr::get(parser.getContext(), *value);
  return success();
}

static void printWeightKind(OpAsmPrinter &printer, WeightOp, WeightKindAttr kind) {
  if (kind.getValue() != WeightKind::Parameter)
    printer << " kind(" << stringifyWeightKind(kind.getValue()) << ")";
}

#include "dialects/Weft/IR/UpdateInterface.cpp.inc"
#include "dialects/Weft/IR/WeftDialect.cpp.inc"
#include "dialects/Weft/IR/WeftEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Weft/IR/WeftAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Weft/IR/WeftOps.cpp.inc"

void WeftDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Weft/IR/WeftAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Weft/IR/WeftOps.cpp.inc"
      >();
}

Operation *WeftDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type ||
      (!elements.isSplat() && elements.getNumElements() > ConstantOp::maxElements))
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}
