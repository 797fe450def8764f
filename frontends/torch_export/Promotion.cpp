#include "frontends/torch_export/Promotion.h"

#include "compiler/Interpret/Numbers.h"
#include "frontends/common/ImportError.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// bool < integer < float
static int category(Type type) { return isa<FloatType>(type) ? 2 : type.isInteger(1) ? 0 : 1; }

static Type promoteIntegers(IntegerType a, IntegerType b) {
  if (a.isUnsigned() == b.isUnsigned())
    return a.getWidth() >= b.getWidth() ? a : b;
  IntegerType isUnsigned = a.isUnsigned() ? a : b, isSigned = a.isUnsigned() ? b : a;
  if (isUnsigned.getWidth() > 8)
    throw ImportError("ATen promotes no pair of unsigned and signed integers of over 8 bits");
  // uint8 and int8 meet in int16; wider signed integers hold every uint8.
  return isSigned.getWidth() > 8 ? isSigned : IntegerType::get(a.getContext(), 16);
}

Type weft::frontend::aten::promoteTypes(Type a, Type b) {
  if (a == b)
    return a;
  if (category(a) != category(b))
    return category(a) > category(b) ? a : b;
  if (auto left = dyn_cast<IntegerType>(a))
    return promoteIntegers(left, cast<IntegerType>(b));
  unsigned left = a.getIntOrFloatBitWidth(), right = b.getIntOrFloatBitWidth();
  if (left != right)
    return left > right ? a : b;
  return Float32Type::get(a.getContext()); // f16 and bf16
}

static Type join(Type known, Type added) { return known ? promoteTypes(known, added) : added; }

void Promotion::add(Value tensor) {
  Type &type = typeOf(tensor).getRank() > 0 ? dimensioned : scalar;
  type = join(type, elementOf(tensor));
}

void Promotion::add(const Number &value) {
  Builder builder(context);
  Type type = std::holds_alternative<double>(value) ? Type(builder.getF32Type())
              : std::holds_alternative<bool>(value) ? Type(builder.getI1Type())
                                                    : Type(builder.getI64Type());
  number = join(number, type);
}

Type Promotion::result() const {
  Type type = dimensioned;
  for (Type lower : {scalar, number})
    if (lower && (!type || category(lower) > category(type)))
      type = lower;
  return type;
}

Type weft::frontend::aten::promotedType(Node &node, ArrayRef<StringRef> names) {
  Promotion promotion(node.emit.builder.getContext());
  for (StringRef name : names)
    if (node.isTensor(name))
      promotion.add(node.tensor(name));
    else
      promotion.add(node.number(name));
  return promotion.result();
}

Type weft::frontend::aten::promotedFloat(Node &node, ArrayRef<StringRef> names) {
  Type type = promotedType(node, names);
  return isa<FloatType>(type) ? type : node.emit.builder.getF32Type();
}

Value weft::frontend::aten::constantOf(Emitter &emit, const Number &number, Type element) {
  auto type = RankedTensorType::get({}, element);
  auto *integer = std::get_if<int64_t>(&number);
  return integer ? emit.constant(tensorOf(type, std::vector<int64_t>{*integer}))
                 : emit.splat(type, asDouble(number));
}

Value weft::frontend::aten::operandAs(Node &node, StringRef name, Type element) {
  if (node.isTensor(name))
    return node.emit.cast(node.tensor(name), element);
  return constantOf(node.emit, node.number(name), element);
}
