#include "frontends/stablehlo/Instruction.h"

#include "frontends/stablehlo/Walker.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

Instruction::Instruction(Operation *op, Walker &walker)
    : op(op), walker(walker), emit(walker.emitter()), built(op->getNumResults()) {}

//===----------------------------------------------------------------------===//
// Operands and results
//===----------------------------------------------------------------------===//

Value Instruction::operand(size_t index) const {
  if (index >= operands())
    throw ImportError("expected operand " + std::to_string(index) + ", got " +
                      std::to_string(operands()) + " operands");
  return walker.lookup(op->getOperand(index));
}

SmallVector<Value> Instruction::operandsFrom(size_t begin, size_t end) const {
  SmallVector<Value> values;
  for (size_t index = begin; index < end; ++index)
    values.push_back(operand(index));
  return values;
}

void Instruction::expectOperands(size_t count) const {
  if (operands() != count)
    throw ImportError("expected " + std::to_string(count) + " operands, got " +
                      std::to_string(operands()));
}

Region &Instruction::region(size_t index) const {
  if (index >= op->getNumRegions() || !op->getRegion(index).hasOneBlock())
    throw ImportError("expected a region of one block");
  return op->getRegion(index);
}

RankedTensorType Instruction::resultType(size_t index) const {
  if (index >= results())
    throw ImportError("expected result " + std::to_string(index) + ", got " +
                      std::to_string(results()) + " results");
  return walker.translate(op->getResult(index).getType());
}

void Instruction::result(size_t index, Value value) {
  RankedTensorType declared = resultType(index);
  if (walker.isLifted() ? elementOf(value) != declared.getElementType() : typeOf(value) != declared)
    throw ImportError("result " + std::to_string(index) + " is declared " + describe(declared) +
                      ", but is " + describe(value));
  built[index] = value;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute Instruction::attribute(StringRef name) const {
  if (auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
    if (Attribute found = properties.get(name))
      return found;
  return op->getDiscardableAttr(name);
}

int64_t Instruction::getInt(StringRef name, int64_t otherwise) const {
  Attribute found = attribute(name);
  if (!found)
    return otherwise;
  auto number = dyn_cast<IntegerAttr>(found);
  if (!number || number.getValue().getSignificantBits() > 64)
    throw ImportError("expected an integer in attribute '" + name.str() + "'");
  return number.getValue().getSExtValue();
}

int64_t Instruction::requiredInt(StringRef name) const {
  if (!attribute(name))
    throw ImportError("it has no attribute '" + name.str() + "'");
  return getInt(name, 0);
}

bool Instruction::getBool(StringRef name, bool otherwise) const {
  Attribute found = attribute(name);
  if (!found)
    return otherwise;
  if (isa<UnitAttr>(found))
    return true;
  return getInt(name, 0) != 0;
}

std::string Instruction::getString(StringRef name) const {
  Attribute found = attribute(name);
  if (auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(found))
    return symbol.getValue().str();
  auto text = dyn_cast_or_null<StringAttr>(found);
  return text ? text.str() : "";
}

/// More numbers than this in an attribute are not the shape of anything.
static constexpr int64_t maxAttributeNumbers = 4096;

static std::optional<Shape> integersOf(Attribute attribute) {
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute))
    return Shape(array.asArrayRef());
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attribute))
    return Shape(array.asArrayRef());
  if (auto array = dyn_cast<DenseBoolArrayAttr>(attribute))
    return Shape(array.asArrayRef());
  Shape numbers;
  if (auto elements = dyn_cast<DenseIntElementsAttr>(attribute)) {
    if (elements.getNumElements() > maxAttributeNumbers ||
        elements.getElementType().getIntOrFloatBitWidth() > 64)
      return std::nullopt;
    for (const APInt &number : elements.getValues<APInt>())
      numbers.push_back(elements.getElementType().isInteger(1) ? number.getZExtValue()
                                                               : number.getSExtValue());
    return numbers;
  }
  auto array = dyn_cast<ArrayAttr>(attribute);
  if (!array)
    return std::nullopt;
  for (Attribute element : array) {
    auto number = dyn_cast<IntegerAttr>(element);
    if (!number || number.getValue().getSignificantBits() > 64)
      return std::nullopt;
    numbers.push_back(number.getValue().getSExtValue());
  }
  return numbers;
}

Shape Instruction::getInts(StringRef name, Shape otherwise) const {
  Attribute found = attribute(name);
  if (!found)
    return otherwise;
  std::optional<Shape> numbers = integersOf(found);
  if (!numbers)
    throw ImportError("expected integers in attribute '" + name.str() + "'");
  return *numbers;
}

Shape Instruction::requiredInts(StringRef name, size_t count) const {
  if (!attribute(name))
    throw ImportError("it has no attribute '" + name.str() + "'");
  Shape numbers = getInts(name);
  if (numbers.size() != count)
    throw ImportError("expected " + std::to_string(count) + " numbers in attribute '" + name.str() +
                      "', got " + std::to_string(numbers.size()));
  return numbers;
}

std::pair<Shape, Shape> Instruction::getPairs(StringRef name, size_t count) const {
  std::pair<Shape, Shape> pairs;
  Shape numbers = attribute(name) ? requiredInts(name, 2 * count) : Shape(2 * count, 0);
  for (size_t index = 0; index < count; ++index) {
    pairs.first.push_back(numbers[2 * index]);
    pairs.second.push_back(numbers[2 * index + 1]);
  }
  return pairs;
}

Shape Instruction::getDims(StringRef name, int64_t rank) const {
  Shape dims = getInts(name);
  checkDims(dims, rank, name);
  return dims;
}

void stablehlo::checkDims(ArrayRef<int64_t> dims, int64_t rank, StringRef what) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank || seen.test(dim))
      throw ImportError("expected distinct dimensions below " + std::to_string(rank) + " in '" +
                        what.str() + "', got " + describe(dims));
    seen.set(dim);
  }
}

Shape stablehlo::otherDims(int64_t rank, ArrayRef<int64_t> dims) {
  Shape others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      others.push_back(dim);
  return others;
}

Shape stablehlo::sizesOf(Value value, ArrayRef<int64_t> dims) {
  Shape sizes;
  for (int64_t dim : dims)
    sizes.push_back(shapeOf(value)[dim]);
  return sizes;
}
