//===- CutMain.cpp - from one function to parts ---------------------------===//
//
// Which operation goes where, and the functions that come of it. A part is what the value at its
// end needs and no earlier part has; the last takes the rest. What needs no input goes to each part
// that reads it.
//
// Worked example (docs/sharding.md), cut behind h and g:
//
//   %h = exp %x        part 0, which ends with h
//   %g = tanh %h       part 1, which is handed h and ends with g
//   %y = add %g, %h    part 2, which is handed g by part 1, and h by part 0: it skips a part
//
//===----------------------------------------------------------------------===//

#include "compiler/Sharding/Parts.h"

#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace weft;

namespace {
/// The part of every operation of @main that depends on an input or a state. The others have none:
/// each part that reads them makes them anew. A state that is stored is loaded and stored in one
/// part, the first that reads it; others get its value from there.
class Assignment {
public:
  Assignment(func::FuncOp main) : main(main) {
    Block &body = main.getBody().front();
    for (auto store : body.getOps<StoreOp>())
      stores[store.getWeightAttr().getAttr()] = store;
    mergeLoads();
    for (Operation &op : body)
      if (isStateUse(&op) ||
          llvm::any_of(op.getOperands(), [&](Value operand) { return dependsOnInput(operand); }))
        parts[&op] = none;
  }

  LogicalResult assign(ArrayRef<Value> ends);

  static constexpr unsigned none = ~0u;
  bool dependsOnInput(Value value) const {
    return isa<BlockArgument>(value) || parts.contains(value.getDefiningOp());
  }
  /// `none` for what depends on no input, and for arguments.
  unsigned get(Value value) const {
    Operation *op = value.getDefiningOp();
    return op ? get(op) : none;
  }
  unsigned get(Operation *op) const {
    auto found = parts.find(op);
    return found == parts.end() ? none : found->second;
  }
  unsigned getCount() const { return count; }

private:
  LogicalResult checkEnd(Value end, ArrayRef<Value> earlier) const;
  void take(Operation *op, unsigned part);
  bool isStateUse(Operation *op) const {
    auto load = dyn_cast<LoadOp>(op);
    return isa<StoreOp>(op) || (load && stores.contains(load.getWeightAttr().getAttr()));
  }
  void mergeLoads();

  func::FuncOp main;
  llvm::DenseMap<StringAttr, StoreOp> stores; ///< by state
  llvm::DenseMap<Operation *, unsigned> parts;
  unsigned count = 0;
};
} // namespace

LogicalResult Assignment::checkEnd(Value end, ArrayRef<Value> earlier) const {
  auto emitError = [&] {
    return mlir::emitError(end.getLoc()) << "cannot cut behind '" << getSourceName(end) << "': ";
  };
  if (isa<BlockArgument>(end))
    return emitError() << "it is an input, no part would be left before it";
  if (!dependsOnInput(end))
    return emitError() << "it depends on no input, every part that reads it makes it anew";
  if (unsigned part = get(end); part != none)
    return emitError() << "the part that ends behind '" << getSourceName(earlier[part])
                       << "' holds it already; name cuts in the order in which they are computed, "
                          "each once";
  return success();
}

/// One load for each state that is stored.
void Assignment::mergeLoads() {
  llvm::DenseMap<StringAttr, LoadOp> first;
  for (auto load : llvm::make_early_inc_range(main.getBody().front().getOps<LoadOp>())) {
    StringAttr symbol = load.getWeightAttr().getAttr();
    if (!stores.contains(symbol))
      continue;
    auto [known, isNew] = first.try_emplace(symbol, load);
    if (isNew)
      continue;
    load.getResult().replaceAllUsesWith(known->second.getResult());
    load.erase();
  }
}

/// Gives the part what its end needs and no part has, and what changes the states that it loads.
void Assignment::take(Operation *op, unsigned part) {
  SmallVector<Operation *> worklist{op};
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    auto found = parts.find(next);
    if (found == parts.end() || found->second != none)
      continue;
    found->second = part;
    if (auto load = dyn_cast<LoadOp>(next))
      worklist.push_back(stores.lookup(load.getWeightAttr().getAttr()));
    for (Value operand : next->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        worklist.push_back(producer);
  }
}

LogicalResult Assignment::assign(ArrayRef<Value> ends) {
  for (auto [part, end] : llvm::enumerate(ends)) {
    if (failed(checkEnd(end, ends)))
      return failure();
    take(end.getDefiningOp(), part);
  }
  count = ends.size() + 1;
  bool isLastEmpty = true;
  for (auto &[op, part] : parts)
    if (part == none) {
      part = ends.size();
      isLastEmpty = isLastEmpty && op->hasTrait<OpTrait::IsTerminator>();
    }
  if (isLastEmpty)
    return mlir::emitError(ends.back().getLoc())
           << "cannot cut behind '" << getSourceName(ends.back())
           << "': nothing is left to compute behind it";
  return success();
}

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
  Cutter(func::FuncOp main, const Assignment &assignment,
         llvm::function_ref<std::string(Value)> nameOf)
      : main(main), assignment(assignment), nameOf(nameOf), builder(main.getContext()) {}

  void run();

private:
  void createFunction(unsigned part);
  void fill();
  void clone(PartBody &body, Operation *op);
  Value import(PartBody &body, unsigned part, Value value);
  void addResults();
  void finish(unsigned part);
  void rewriteMain();

  func::FuncOp main;
  const Assignment &assignment;
  llvm::function_ref<std::string(Value)> nameOf;
  OpBuilder builder;
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
  if (assignment.dependsOnInput(value)) {
    body.inputs.push_back(value);
    if (assignment.get(value) != Assignment::none)
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
    if (part == Assignment::none)
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
    if (part == Assignment::none) { // an argument, or what depends on none
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
  for (auto [index, input] : llvm::enumerate(body.inputs)) {
    if (auto argument = dyn_cast<BlockArgument>(input))
      body.function.setArgAttrs(index, main.getArgAttrDict(argument.getArgNumber()));
    else
      body.function.setArgAttr(index, "weft.name", builder.getStringAttr(nameOf(input)));
  }
  for (auto [index, attributes] : llvm::enumerate(body.resultAttrs))
    body.function.setResultAttrs(index, attributes);
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
        operands.push_back(calls[assignment.get(input)].getResult(
            channels.lookup({input, static_cast<unsigned>(to)})));
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
  bodies.resize(assignment.getCount());
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

LogicalResult weft::cutMain(ModuleOp module, ArrayRef<Value> ends,
                            llvm::function_ref<std::string(Value)> nameOf) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  Assignment assignment(main);
  if (failed(assignment.assign(ends)))
    return failure();
  Cutter(main, assignment, nameOf).run();
  return success();
}
