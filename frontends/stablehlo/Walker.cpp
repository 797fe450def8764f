#include "frontends/stablehlo/Walker.h"

#include "frontends/stablehlo/ops/OpTable.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// Calls inside each other; enough for any model, little enough for the stack.
static constexpr size_t maxCallDepth = 128;
/// Functions that call functions, and loops in loops, can make a small file large; no real model
/// comes near.
static constexpr int64_t maxWalkedOperations = 1'000'000;

Walker::Walker(SourceModule &source, Emitter &emit, Weights &weights, Problems &problems)
    : source(source), emit(emit), weights(weights), problems(problems), operators(makeOpTable()) {}

//===----------------------------------------------------------------------===//
// Values and types
//===----------------------------------------------------------------------===//

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Null for types that Weft has not.
static Type translateElement(Type element, MLIRContext *context) {
  Builder builder(context);
  if (isa<Float16Type>(element))
    return builder.getF16Type();
  if (isa<BFloat16Type>(element))
    return builder.getBF16Type();
  if (isa<Float32Type>(element))
    return builder.getF32Type();
  if (isa<Float64Type>(element))
    return builder.getF64Type();
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.isSigned() || !llvm::is_contained({1, 8, 16, 32, 64}, integer.getWidth()))
    return {};
  return IntegerType::get(context, integer.getWidth(), integer.getSignedness());
}

RankedTensorType Walker::translate(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    throw ImportError("type " + textOf(type) + " is not supported: values are tensors");
  if (!tensor.hasStaticShape())
    throw ImportError("type " + textOf(type) +
                      " has a dimension without a size; trace the function with concrete shapes");
  Type element = translateElement(tensor.getElementType(), emit.builder.getContext());
  if (!element || (element.isUnsignedInteger(1)))
    throw ImportError("element type " + textOf(tensor.getElementType()) + " is not supported");
  return tensorType(tensor.getShape(), element);
}

Value Walker::lookup(Value sourceValue) const {
  auto found = values.find(sourceValue);
  if (found == values.end())
    throw ImportError("it uses a value that is not made before it");
  if (!found->second)
    throw FailedValue();
  return found->second;
}

void Walker::bind(ValueRange sources, ArrayRef<Value> bound) {
  for (auto [from, to] : llvm::zip_equal(sources, bound))
    values[from] = to;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Walker::dispatch(Operation *op) {
  StringRef name = op->getName().getStringRef();
  auto importer = operators.find(name);
  if (importer == operators.end()) {
    ++failures;
    problems.addUnsupported(name, current);
    throw FailedValue();
  }
  Instruction instruction(op, *this);
  importer->second(instruction);
  bind(op->getResults(), instruction.built);
}

/// Whether the operation after this one has the same location: it makes the value that the name
/// belongs to, of which this one is a part.
static bool isPart(Operation *op) {
  Operation *next = op->getNextNode();
  return next && next->getNextNode() && next->getLoc() == op->getLoc();
}

void Walker::importOperation(Operation *op) {
  if (++walked > maxWalkedOperations)
    throw ImportError("the model unfolds to more than " + std::to_string(maxWalkedOperations) +
                      " operations, which is not supported: are loops of many rounds in it?");
  std::string outer = std::exchange(current, names.pathOf(op));
  llvm::scope_exit restore([&] { current = std::move(outer); });
  emit.setName(current);
  try {
    dispatch(op);
    if (op->getNumRegions() == 0 && op->getNumResults() == 1 && !isPart(op) && !lifted)
      emit.nameResult(values[op->getResult(0)], names.unique(current));
    return;
  } catch (const ImportError &error) {
    ++failures;
    problems.add("'" + current + "' (" + op->getName().getStringRef() + "): " + error.what());
  } catch (const FailedValue &) {
  }
  for (Value result : op->getResults())
    values[result] = Value();
}

SmallVector<Value> Walker::walk(Region &region, ArrayRef<Value> arguments) {
  if (!region.hasOneBlock())
    throw ImportError("expected a region of one block");
  Block &block = region.front();
  if (block.getNumArguments() != arguments.size())
    throw ImportError("expected a region of " + std::to_string(arguments.size()) +
                      " arguments, got " + std::to_string(block.getNumArguments()));
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments)) {
    if (value && !lifted && translate(argument.getType()) != typeOf(value))
      throw ImportError("an argument is declared " + describe(translate(argument.getType())) +
                        ", but is " + describe(value));
    values[argument] = value;
  }
  if (block.empty())
    throw ImportError("expected a region that returns");
  for (Operation &op : llvm::drop_end(block)) // the last returns
    importOperation(&op);
  SmallVector<Value> results;
  for (Value result : block.back().getOperands()) {
    auto found = values.find(result);
    if (found == values.end())
      throw ImportError("it returns a value that is not made before");
    results.push_back(found->second);
  }
  return results;
}

SmallVector<Value> Walker::lift(Region &region, ArrayRef<Value> arguments) {
  bool outer = std::exchange(lifted, true);
  llvm::scope_exit restore([&] { lifted = outer; });
  Shape shape(arguments.empty() ? ArrayRef<int64_t>() : shapeOf(arguments.front()));
  SmallVector<Value> results = walk(region, arguments);
  for (Value &result : results) {
    if (!result)
      throw FailedValue();
    result = emit.broadcast(result, shape); // of a constant
  }
  return results;
}

Region &Walker::bodyOf(StringRef function) {
  func::FuncOp callee = source.function(function);
  if (!callee || callee.isExternal())
    throw ImportError("function @" + function.str() + " has no body");
  return callee.getBody();
}

SmallVector<Value> Walker::call(StringRef function, ArrayRef<Value> arguments) {
  Region &body = bodyOf(function);
  if (llvm::is_contained(calls, function))
    throw ImportError("function @" + function.str() + " calls itself, which is not supported");
  if (calls.size() >= maxCallDepth)
    throw ImportError("calls nest deeper than " + std::to_string(maxCallDepth));
  calls.push_back(body.getParentOfType<func::FuncOp>().getName());
  llvm::scope_exit leave([&] { calls.pop_back(); });
  Names::Inside inside(names, current);
  return walk(body, arguments);
}
