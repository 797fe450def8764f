#include "frontends/stablehlo/ExpandComplex.h"

#include "frontends/common/ImportError.h"
#include "frontends/stablehlo/Names.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

namespace {
struct Parts {
  Value real, imaginary;
};

/// Goes through the operations of a function in order, regions included. What was complex is left
/// until all is expanded.
class Expander {
public:
  explicit Expander(Problems &problems) : problems(problems) {}

  void run(func::FuncOp function);

  // What the rules of operations use.
  Parts partsOf(Value value) const;
  void give(Operation *op, Parts made);
  /// An operation of one result beside `op`.
  static Value make(Operation *op, StringRef name, ValueRange operands, Type type);
  static Value make(Operation *op, StringRef name, ValueRange operands) {
    return make(op, name, operands, operands.front().getType());
  }
  void expandStructure(Operation *op);

private:
  void expandRegion(Region &region);
  void expandBlock(Block &block);
  void expand(Operation *op);

  Problems &problems;
  llvm::DenseMap<Value, Parts> parts;
  SmallVector<Operation *> replaced;
  SmallVector<Block *> blocks; ///< with arguments that are replaced
};

using Rule = void (*)(Expander &expander, Operation *op);
} // namespace

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Of a tensor of complex numbers, the type of its parts; null for other types.
static RankedTensorType partType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  return element && isa<FloatType>(element.getElementType())
             ? RankedTensorType::get(tensor.getShape(), element.getElementType())
             : RankedTensorType();
}

static bool isComplex(Value value) { return partType(value.getType()) != nullptr; }

/// The same types with two for each complex one.
static SmallVector<Type> expandTypes(TypeRange types) {
  SmallVector<Type> expanded;
  for (Type type : types) {
    RankedTensorType part = partType(type);
    expanded.append(part ? 2 : 1, part ? Type(part) : type);
  }
  return expanded;
}

bool stablehlo::hasComplexSignature(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  return llvm::any_of(llvm::concat<const Type>(type.getInputs(), type.getResults()),
                      [](Type type) { return partType(type) != nullptr; });
}

//===----------------------------------------------------------------------===//
// Any operation
//===----------------------------------------------------------------------===//

Parts Expander::partsOf(Value value) const {
  auto found = parts.find(value);
  if (found != parts.end())
    return found->second;
  if (problems.any())
    throw FailedValue(); // of what was reported
  throw ImportError("it uses a value that is not made before it");
}

void Expander::give(Operation *op, Parts made) {
  Type part = partType(op->getResult(0).getType());
  if (made.real.getType() != part || made.imaginary.getType() != part)
    throw ImportError("its result is declared otherwise");
  parts[op->getResult(0)] = made;
}

Value Expander::make(Operation *op, StringRef name, ValueRange operands, Type type) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), name, operands, type);
  return builder.create(state)->getResult(0);
}

/// The same operation with other operands and results, beside it; without its regions.
static Operation *remake(Operation *op, ValueRange operands, TypeRange types) {
  OperationState state(op->getLoc(), op->getName().getStringRef(), operands, types,
                       llvm::to_vector(op->getDiscardableAttrs()));
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (unsigned index = 0; index < op->getNumRegions(); ++index)
    state.addRegion();
  return OpBuilder(op).create(state);
}

/// What goes through as it is: calls, loops, branches and their ends have two values for each
/// complex one.
void Expander::expandStructure(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (isComplex(operand)) {
      Parts own = partsOf(operand);
      operands.append({own.real, own.imaginary});
    } else {
      operands.push_back(operand);
    }
  Operation *made = remake(op, operands, expandTypes(op->getResultTypes()));
  unsigned next = 0;
  for (OpResult result : op->getResults())
    if (isComplex(result)) {
      parts[result] = {made->getResult(next), made->getResult(next + 1)};
      next += 2;
    } else {
      result.replaceAllUsesWith(made->getResult(next++));
    }
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), made->getRegions())) {
    to.takeBody(from);
    expandRegion(to);
  }
}

//===----------------------------------------------------------------------===//
// One part at a time
//===----------------------------------------------------------------------===//

/// Copies a region that only adds, or takes one of its arguments, for parts of complex numbers.
static void copyLinear(Region &from, Region &to) {
  for (Operation &op : from.getOps()) {
    StringRef name = op.getName().getStringRef();
    auto isInside = [&](Value value) { return value.getParentRegion() == &from; };
    if ((name != "stablehlo.add" && name != "stablehlo.return") ||
        !llvm::all_of(op.getOperands(), isInside))
      throw ImportError("its region does more to complex numbers than to add them");
  }
  IRMapping mapping;
  from.cloneInto(&to, mapping);
  auto retype = [](Value value) {
    if (RankedTensorType part = partType(value.getType()))
      value.setType(part);
  };
  for (Block &block : to) {
    llvm::for_each(block.getArguments(), retype);
    for (Operation &op : block)
      llvm::for_each(op.getResults(), retype);
  }
}

/// What moves elements, and what is linear, does so to each part.
static void expandPartwise(Expander &expander, Operation *op) {
  if (!isComplex(op->getResult(0)))
    throw ImportError("complex numbers are not supported here");
  SmallVector<Value> real, imaginary;
  for (Value operand : op->getOperands()) {
    Parts own = isComplex(operand) ? expander.partsOf(operand) : Parts{operand, operand};
    real.push_back(own.real);
    imaginary.push_back(own.imaginary);
  }
  auto makePart = [&](ValueRange operands) {
    Operation *made = remake(op, operands, partType(op->getResult(0).getType()));
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), made->getRegions()))
      copyLinear(from, to);
    return made->getResult(0);
  };
  expander.give(op, {makePart(real), makePart(imaginary)});
}

static Value makeConstant(Operation *op, DenseElementsAttr value) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), "stablehlo.constant", {}, value.getType());
  state.addAttribute("value", value);
  return builder.create(state)->getResult(0);
}

static Value makeZero(Operation *op, RankedTensorType type) {
  Attribute zero = FloatAttr::get(type.getElementType(), 0.0);
  return makeConstant(op, DenseElementsAttr::get(type, zero));
}

static void expandConstant(Expander &expander, Operation *op) {
  auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  Attribute value = properties ? properties.get("value") : Attribute();
  auto elements = dyn_cast_or_null<DenseElementsAttr>(value ? value : op->getAttr("value"));
  RankedTensorType type = partType(op->getResult(0).getType());
  if (!elements || !type || partType(elements.getType()) != type)
    throw ImportError("expected elements of the result's type in attribute 'value'");
  SmallVector<APFloat> real, imaginary;
  auto numbers = elements.getValues<std::complex<APFloat>>();
  int64_t count = elements.isSplat() ? 1 : elements.getNumElements();
  for (int64_t index = 0; index < count; ++index) {
    real.push_back(numbers[index].real());
    imaginary.push_back(numbers[index].imag());
  }
  expander.give(op, {makeConstant(op, DenseElementsAttr::get(type, real)),
                     makeConstant(op, DenseElementsAttr::get(type, imaginary))});
}

//===----------------------------------------------------------------------===//
// From and to real numbers
//===----------------------------------------------------------------------===//

static void expectOperands(Operation *op, unsigned count) {
  if (op->getNumOperands() != count)
    throw ImportError("expected " + std::to_string(count) + " operands, got " +
                      std::to_string(op->getNumOperands()));
}

static Parts oneOperand(Expander &expander, Operation *op) {
  expectOperands(op, 1);
  return expander.partsOf(op->getOperand(0));
}

static void replace(Operation *op, Value value) {
  if (op->getResult(0).getType() != value.getType())
    throw ImportError("its result is declared otherwise");
  op->getResult(0).replaceAllUsesWith(value);
}

static void expandReal(Expander &expander, Operation *op) {
  replace(op, oneOperand(expander, op).real);
}

static void expandImaginary(Expander &expander, Operation *op) {
  replace(op, oneOperand(expander, op).imaginary);
}

static void expandCartesian(Expander &expander, Operation *op) {
  expectOperands(op, 2);
  expander.give(op, {op->getOperand(0), op->getOperand(1)});
}

/// Conversions; from complex to real numbers what was imaginary is left out.
static void expandConvert(Expander &expander, Operation *op) {
  expectOperands(op, 1);
  Value operand = op->getOperand(0), result = op->getResult(0);
  if (!isComplex(result))
    return replace(op, Expander::make(op, "stablehlo.convert", expander.partsOf(operand).real,
                                      result.getType()));
  if (isComplex(operand))
    return expandPartwise(expander, op);
  RankedTensorType type = partType(result.getType());
  expander.give(op, {Expander::make(op, "stablehlo.convert", operand, type), makeZero(op, type)});
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value add(Operation *op, Value x, Value y) {
  return Expander::make(op, "stablehlo.add", {x, y});
}
static Value subtract(Operation *op, Value x, Value y) {
  return Expander::make(op, "stablehlo.subtract", {x, y});
}
static Value multiply(Operation *op, Value x, Value y) {
  return Expander::make(op, "stablehlo.multiply", {x, y});
}
static Value divide(Operation *op, Value x, Value y) {
  return Expander::make(op, "stablehlo.divide", {x, y});
}
static Value contract(Operation *op, Value x, Value y) {
  return remake(op, {x, y}, partType(op->getResult(0).getType()))->getResult(0);
}

static std::pair<Parts, Parts> twoOperands(Expander &expander, Operation *op) {
  expectOperands(op, 2);
  return {expander.partsOf(op->getOperand(0)), expander.partsOf(op->getOperand(1))};
}

/// a² + b²
static Value squaredSize(Operation *op, Parts x) {
  return add(op, multiply(op, x.real, x.real), multiply(op, x.imaginary, x.imaginary));
}

/// (a + bi)·(c + di) = (ac - bd) + (ad + bc)i
template <Value (*multiply)(Operation *, Value, Value)>
static void expandProduct(Expander &expander, Operation *op) {
  auto [x, y] = twoOperands(expander, op);
  Value real = subtract(op, multiply(op, x.real, y.real), multiply(op, x.imaginary, y.imaginary));
  Value imaginary = add(op, multiply(op, x.real, y.imaginary), multiply(op, x.imaginary, y.real));
  expander.give(op, {real, imaginary});
}

/// x / y = x · conj(y) / |y|²
static void expandQuotient(Expander &expander, Operation *op) {
  auto [x, y] = twoOperands(expander, op);
  Value size = squaredSize(op, y);
  Value real = add(op, multiply(op, x.real, y.real), multiply(op, x.imaginary, y.imaginary));
  Value imaginary =
      subtract(op, multiply(op, x.imaginary, y.real), multiply(op, x.real, y.imaginary));
  expander.give(op, {divide(op, real, size), divide(op, imaginary, size)});
}

/// eᵃ · (cos b + i sin b)
static void expandExp(Expander &expander, Operation *op) {
  Parts x = oneOperand(expander, op);
  Value size = Expander::make(op, "stablehlo.exponential", x.real);
  expander.give(op, {multiply(op, size, Expander::make(op, "stablehlo.cosine", x.imaginary)),
                     multiply(op, size, Expander::make(op, "stablehlo.sine", x.imaginary))});
}

static void expandAbsolute(Expander &expander, Operation *op) {
  Parts x = oneOperand(expander, op);
  replace(op, Expander::make(op, "stablehlo.sqrt", squaredSize(op, x)));
}

static void expandStructure(Expander &expander, Operation *op) { expander.expandStructure(op); }

/// How operations that concern complex numbers are expanded, by name.
static const llvm::StringMap<Rule> &allRules() {
  static const llvm::StringMap<Rule> rules = [] {
    llvm::StringMap<Rule> rules = {{"stablehlo.abs", expandAbsolute},
                                   {"stablehlo.complex", expandCartesian},
                                   {"stablehlo.constant", expandConstant},
                                   {"stablehlo.convert", expandConvert},
                                   {"stablehlo.divide", expandQuotient},
                                   {"stablehlo.dot_general", expandProduct<contract>},
                                   {"stablehlo.exponential", expandExp},
                                   {"stablehlo.imag", expandImaginary},
                                   {"stablehlo.multiply", expandProduct<multiply>},
                                   {"stablehlo.real", expandReal}};
    for (StringRef name :
         {"func.call", "func.return", "stablehlo.case", "stablehlo.composite", "stablehlo.if",
          "stablehlo.optimization_barrier", "stablehlo.return", "stablehlo.while"})
      rules[name] = expandStructure;
    for (StringRef name :
         {"add", "broadcast_in_dim", "concatenate", "dynamic_slice", "dynamic_update_slice",
          "gather", "negate", "pad", "reduce", "reduce_window", "reshape", "reverse", "scatter",
          "select", "slice", "subtract", "transpose"})
      rules[("stablehlo." + name).str()] = expandPartwise;
    return rules;
  }();
  return rules;
}

std::vector<std::string> stablehlo::listComplexOperations() {
  std::vector<std::string> names;
  for (const auto &[name, rule] : allRules())
    if (rule != ::expandStructure)
      names.push_back(name.str());
  return names;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void Expander::expand(Operation *op) {
  if (llvm::none_of(op->getOperands(), isComplex) && llvm::none_of(op->getResults(), isComplex)) {
    for (Region &region : op->getRegions())
      expandRegion(region);
    return;
  }
  replaced.push_back(op);
  try {
    Rule rule = allRules().lookup(op->getName().getStringRef());
    if (!rule || (rule != ::expandStructure && op->getNumResults() != 1))
      throw ImportError("complex numbers are not supported here");
    rule(*this, op);
  } catch (const ImportError &error) {
    problems.add("'" + operationName(op) + "' (" + op->getName().getStringRef() +
                 "): " + error.what());
  } catch (const FailedValue &) {
  }
}

void Expander::expandBlock(Block &block) {
  if (llvm::any_of(block.getArguments(), isComplex))
    blocks.push_back(&block);
  for (unsigned index = 0; index < block.getNumArguments(); ++index) {
    BlockArgument argument = block.getArgument(index);
    RankedTensorType part = partType(argument.getType());
    if (!part)
      continue;
    Value real = block.insertArgument(index + 1, part, argument.getLoc());
    Value imaginary = block.insertArgument(index + 2, part, argument.getLoc());
    parts[argument] = {real, imaginary};
  }
  for (Operation &op : llvm::make_early_inc_range(block))
    expand(&op);
}

void Expander::expandRegion(Region &region) {
  for (Block &block : region)
    expandBlock(block);
}

void Expander::run(func::FuncOp function) {
  expandRegion(function.getBody());
  if (problems.any())
    return;
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  for (Block *block : blocks)
    block->eraseArguments([](BlockArgument argument) { return isComplex(argument); });
  FunctionType type = function.getFunctionType();
  if (hasComplexSignature(function)) {
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
    function.setType(FunctionType::get(function.getContext(), expandTypes(type.getInputs()),
                                       expandTypes(type.getResults())));
  }
}

void stablehlo::expandComplex(func::FuncOp function, Problems &problems) {
  if (!function.isExternal())
    Expander(problems).run(function);
}
