//===- CutMain.cpp - from one function to parts ---------------------------===//
//
// The functions that come of an assignment of operations to parts (PartAssignment.h). What no part
// has is made in each that reads it.
//
// Worked example (docs/sharding.md), cut behind h and g:
//
//   %h = exp %x        part 0, which ends with h
//   %g = tanh %h       part 1, which is handed h and ends with g
//   %y = add %g, %h    part 2, which is handed g by part 1, and h by part 0: it skips a part
//
//===----------------------------------------------------------------------===//

#include "compiler/Sharding/BackwardPass.h"
#include "compiler/Sharding/Microbatches.h"
#include "compiler/Sharding/PartAssignment.h"
#include "compiler/Sharding/Parts.h"

#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
/// The function of one part while it fills.
struct PartBody {
  func::FuncOp function;
  IRMapping mapping;
  SmallVector<Value> inputs;                 ///< of @main's body, by argument
  llvm::MapVector<Value, unsigned> crossing; ///< those of them that another part makes
  SmallVector<Value> results;                ///< of @main's body, by result
  SmallVector<DictionaryAttr> resultAttrs;   ///< by result
};

class Cutter {
public:
  Cutter(func::FuncOp main, const PartAssignment &assignment,
         llvm::function_ref<std::string(Value)> nameOf)
      : main(main), assignment(assignment), nameOf(nameOf), builder(main.getContext()) {
    if (main->hasAttr(dist::kMicrobatchesAttr))
      phases.emplace(main);
  }

  void run();

private:
  void createFunction(unsigned part);
  void fill();
  void clone(PartBody &body, Operation *op);
  Value import(PartBody &body, unsigned part, Value value);
  void addResults();
  void finish(unsigned part);
  void describeArgument(unsigned part, unsigned index, Value input);
  Value getHanded(unsigned to, Value input, ArrayRef<func::CallOp> calls);
  void rewriteMain();

  func::FuncOp main;
  const PartAssignment &assignment;
  llvm::function_ref<std::string(Value)> nameOf;
  OpBuilder builder;
  std::optional<MicrobatchPhases> phases; ///< of a step in microbatches
  std::vector<PartBody> bodies;
  llvm::DenseMap<std::pair<Value, unsigned>, unsigned> channels; ///< (value, receiver) → result
  SmallVector<std::pair<unsigned, unsigned>> outputs; ///< part and its result, by result of @main
};
} // namespace

void Cutter::createFunction(unsigned part) {
  auto function = func::FuncOp::create(main.getLoc(), "part" + std::to_string(part),
                                       builder.getFunctionType({}, {}));
  function.getBody().emplaceBlock();
  bodies[part].function = function;
}

/// Copies an operation whose operands are there.
void Cutter::clone(PartBody &body, Operation *op) {
  builder.setInsertionPointToEnd(&body.function.getBody().front());
  Operation *copy = builder.clone(*op, body.mapping);
  SmallVector<Attribute> names;
  bool known = true;
  for (Value result : op->getResults()) {
    names.push_back(builder.getStringAttr(nameOf(result)));
    known &= cast<StringAttr>(names.back()).getValue() == getSourceName(result);
  }
  if (!known)
    copy->setAttr(kValueNamesAttr, builder.getArrayAttr(names));
}

/// The value in a part: made there, or an argument.
Value Cutter::import(PartBody &body, unsigned part, Value value) {
  if (Value known = body.mapping.lookupOrNull(value))
    return known;
  if (assignment.isHanded(value)) {
    body.inputs.push_back(value);
    if (assignment.get(value) != PartAssignment::none)
      body.crossing[value] = body.inputs.size() - 1;
    Value argument = body.function.getBody().addArgument(value.getType(), value.getLoc());
    body.mapping.map(value, argument);
    return argument;
  }
  Operation *source = value.getDefiningOp();
  for (Value operand : source->getOperands())
    import(body, part, operand);
  clone(body, source);
  return body.mapping.lookup(value);
}

void Cutter::fill() {
  for (Operation &op : main.getBody().front().without_terminator()) {
    unsigned part = assignment.get(&op);
    if (part == PartAssignment::none)
      continue;
    PartBody &body = bodies[part];
    for (Value operand : op.getOperands())
      import(body, part, operand);
    clone(body, &op);
  }
}

/// First what is a result of @main, then what other parts read. Inputs that nothing reads stay
/// inputs, of the last part.
void Cutter::addResults() {
  auto last = static_cast<unsigned>(bodies.size() - 1);
  for (BlockArgument argument : main.getArguments())
    if (argument.use_empty())
      import(bodies[last], last, argument);
  for (OpOperand &operand : main.getBody().front().getTerminator()->getOpOperands()) {
    unsigned number = operand.getOperandNumber(), part = assignment.get(operand.get());
    if (part == PartAssignment::none) { // an argument, or what depends on none
      part = last;
      import(bodies[part], part, operand.get());
    }
    NamedAttrList attributes(main.getResultAttrDict(number));
    if (!attributes.get("weft.name"))
      attributes.set("weft.name", builder.getStringAttr(std::to_string(number)));
    outputs.emplace_back(part, bodies[part].results.size());
    bodies[part].results.push_back(operand.get());
    bodies[part].resultAttrs.push_back(attributes.getDictionary(main.getContext()));
  }
  for (auto [to, body] : llvm::enumerate(bodies))
    for (auto &[value, argument] : body.crossing) {
      PartBody &from = bodies[assignment.get(value)];
      channels[{value, static_cast<unsigned>(to)}] = from.results.size();
      from.results.push_back(value);
      from.resultAttrs.push_back(DictionaryAttr::get(main.getContext()));
    }
}

void Cutter::finish(unsigned part) {
  PartBody &body = bodies[part];
  builder.setInsertionPointToEnd(&body.function.getBody().front());
  SmallVector<Value> results;
  for (Value result : body.results)
    results.push_back(body.mapping.lookup(result));
  func::ReturnOp::create(builder, main.getLoc(), results);
  body.function.setType(builder.getFunctionType(body.function.getBody().getArgumentTypes(),
                                                ValueRange(results).getTypes()));
  for (auto [index, input] : llvm::enumerate(body.inputs))
    describeArgument(part, index, input);
  if (Attribute microbatches = main->getAttr(dist::kMicrobatchesAttr))
    body.function->setAttr(dist::kMicrobatchesAttr, microbatches);
  for (auto [index, attributes] : llvm::enumerate(body.resultAttrs))
    body.function.setResultAttrs(index, attributes);
}

/// What is known of what a part is given.
void Cutter::describeArgument(unsigned part, unsigned index, Value input) {
  func::FuncOp function = bodies[part].function;
  if (auto argument = dyn_cast<BlockArgument>(input))
    return function.setArgAttrs(index, main.getArgAttrDict(argument.getArgNumber()));
  function.setArgAttr(index, "weft.name", builder.getStringAttr(nameOf(input)));
  if (assignment.get(input) > part)
    function.setArgAttr(index, kOfLaterPartAttr, builder.getUnitAttr());
  if (phases && (phases->varies(input) || phases->isLate(input)))
    function.setArgAttr(index, kHandedAttr,
                        builder.getStringAttr(phases->varies(input) ? "each" : "late"));
}

/// What @main passes to a part for what another one makes.
Value Cutter::getHanded(unsigned to, Value input, ArrayRef<func::CallOp> calls) {
  unsigned from = assignment.get(input), result = channels.lookup({input, to});
  if (from < calls.size())
    return func::CallOp(calls[from]).getResult(result);
  return dist::ResultOfOp::create(builder, input.getLoc(), input.getType(),
                                  bodies[from].function.getSymName(), result);
}

void Cutter::rewriteMain() {
  Block *body = new Block();
  SmallVector<Value> arguments;
  for (BlockArgument argument : main.getArguments())
    arguments.push_back(body->addArgument(argument.getType(), argument.getLoc()));
  builder.setInsertionPointToStart(body);
  SmallVector<func::CallOp> calls;
  for (auto [to, part] : llvm::enumerate(bodies)) {
    SmallVector<Value> operands;
    for (Value input : part.inputs) {
      if (auto argument = dyn_cast<BlockArgument>(input))
        operands.push_back(arguments[argument.getArgNumber()]);
      else
        operands.push_back(getHanded(to, input, calls));
    }
    calls.push_back(func::CallOp::create(builder, main.getLoc(), part.function, operands));
  }
  SmallVector<Value> results;
  for (auto [part, result] : outputs)
    results.push_back(calls[part].getResult(result));
  func::ReturnOp::create(builder, main.getLoc(), results);
  main.getBody().getBlocks().clear();
  main.getBody().push_back(body);
}

void Cutter::run() {
  bodies.resize(assignment.count);
  for (unsigned part = 0; part < bodies.size(); ++part)
    createFunction(part);
  fill();
  addResults();
  SymbolTable symbols(main->getParentOp());
  for (unsigned part = 0; part < bodies.size(); ++part) {
    finish(part);
    symbols.insert(bodies[part].function, Block::iterator(main));
  }
  rewriteMain();
}

void weft::cutMain(ModuleOp module, const PartAssignment &assignment,
                   llvm::function_ref<std::string(Value)> nameOf) {
  Cutter(module.lookupSymbol<func::FuncOp>("main"), assignment, nameOf).run();
}
