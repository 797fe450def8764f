#include "compiler/Graph/ModelSequence.h"
#include "compiler/Graph/Work.h"

#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// Whether a weight is a matrix, or more, of numbers: neither a mask nor a vector.
static bool isMatrix(Type type) {
  auto shaped = cast<ShapedType>(type);
  return isa<FloatType>(shaped.getElementType()) &&
         llvm::count_if(shaped.getShape(), [](int64_t size) { return size > 1; }) > 1;
}

/// Whether an operation is a constant of many numbers: a small weight, told by its type alone.
static bool isTable(Operation &op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && isa<FloatType>(constant.getType().getElementType()) &&
         !constant.getValue().isSplat();
}

static bool hasWeights(func::FuncOp function) {
  return llvm::any_of(function.front(), [](Operation &op) {
    return (isa<LoadOp>(op) || isTable(op)) && isMatrix(op.getResult(0).getType());
  });
}

ModelSequence::ModelSequence(func::FuncOp function) {
  for (auto weight : function->getParentOfType<ModuleOp>().getOps<WeightOp>())
    weights.try_emplace(weight.getSymNameAttr(), weight);
  addArguments(function, /*asWeights=*/!hasWeights(function));
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (op.getNumResults() == 0)
      continue;
    Facts described = describe(op);
    for (Value result : op.getResults())
      facts[result] = described;
    if (described.role == Role::Main)
      operations.push_back(&op);
  }
  order();
  for (uint32_t i = 0; i < operations.size(); ++i)
    addNode(i);
}

bool ModelSequence::isWeighted(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Facts fact = facts.lookup(operand);
    return fact.role != Role::Main && fact.weight;
  });
}

/// What multiplies by no weight goes right behind what it needs: the first layer may hold what all
/// of them use (a transposed memory). What needs nothing of the sequence, an embedding, goes before
/// its first user: a decoder's may stand before the encoder.
void ModelSequence::order() {
  llvm::DenseMap<Operation *, uint32_t> numbers,
      places; ///< as the function has them, and as wanted
  for (auto [index, op] : llvm::enumerate(operations))
    numbers[op] = index;
  for (Operation *op : operations) {
    bool first = true;
    uint32_t place = 0;
    for (Value operand : op->getOperands())
      if (auto found = places.find(operand.getDefiningOp()); found != places.end()) {
        place = std::max(place, found->second);
        first = false;
      }
    if (first) {
      place = UINT32_MAX;
      for (Operation *user : op->getUsers())
        if (auto found = numbers.find(user); found != numbers.end())
          place = std::min(place, found->second);
    } else if (isWeighted(op)) {
      place = numbers.lookup(op);
    }
    places[op] = place;
  }
  llvm::sort(operations, [&](Operation *a, Operation *b) {
    return std::pair(places.lookup(a), numbers.lookup(a)) <
           std::pair(places.lookup(b), numbers.lookup(b));
  });
}

/// As weights, floating-point arguments beside others are that, told by their types; of nothing
/// but those any may be the input.
void ModelSequence::addArguments(func::FuncOp function, bool asWeights) {
  auto isFloat = [](Type type) { return isa<FloatType>(cast<ShapedType>(type).getElementType()); };
  bool all = llvm::all_of(function.getArgumentTypes(), isFloat);
  for (BlockArgument argument : function.getArguments()) {
    Type type = argument.getType();
    if (asWeights && !all && isFloat(type))
      facts[argument] = {Role::Fixed, isMatrix(type), static_cast<uint64_t>(hash_value(type))};
    else
      facts[argument] = {Role::Prepared, asWeights && isMatrix(type),
                         llvm::hash_combine(argument.getArgNumber(), type)};
  }
}

uint64_t ModelSequence::hashOperand(Value value) const {
  Facts fact = facts.lookup(value);
  return fact.role == Role::Main ? static_cast<uint64_t>(hash_value(value.getType())) : fact.hash;
}

/// A load's weight is told by its kind and type, not by its name.
ModelSequence::Facts ModelSequence::describe(Operation &op) const {
  if (auto load = dyn_cast<LoadOp>(op)) {
    auto weight = cast<WeightOp>(weights.lookup(load.getWeightAttr().getAttr()));
    bool state = weight.getKind() == WeightKind::State;
    return {state ? Role::Prepared : Role::Fixed, !state && isMatrix(load.getType()),
            llvm::hash_combine(load.getType(), state)};
  }
  if (isTable(op))
    return {Role::Fixed, isMatrix(op.getResult(0).getType()),
            llvm::hash_combine(op.getName(), op.getResult(0).getType())};
  Facts described{Role::Fixed, false, 0};
  for (Value operand : op.getOperands()) {
    Facts fact = facts.lookup(operand);
    described.role = std::max(described.role, fact.role);
    described.weight |= fact.weight;
  }
  if (described.role == Role::Prepared && described.weight)
    described.role = Role::Main;
  llvm::hash_code hash = OperationEquivalence::computeHash(
      &op, [](Value) { return llvm::hash_code(0); }, OperationEquivalence::ignoreHashValue,
      OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs);
  for (Value operand : op.getOperands())
    hash = llvm::hash_combine(hash, hashOperand(operand));
  described.hash = hash;
  return described;
}

void ModelSequence::addNode(uint32_t place) {
  Operation &op = *operations[place];
  OperationSequence::Node node{facts.lookup(op.getResult(0)).hash,
                               static_cast<uint64_t>(hash_value(op.getName())),
                               isWeighted(&op),
                               {}};
  SmallVector<uint32_t, 3> seen;
  for (Value operand : op.getOperands()) {
    auto found = values.find(operand);
    if (found == values.end())
      continue;
    node.inputs.push_back(found->second);
    OperationSequence::Value &value = sequence.values[found->second];
    value.last = place;
    if (!llvm::is_contained(seen, found->second))
      ++value.users;
    seen.push_back(found->second);
  }
  sequence.nodes.push_back(std::move(node));
  for (Value result : op.getResults()) {
    values[result] = static_cast<uint32_t>(sequence.values.size());
    sequence.values.push_back({place, place, 0, countBytes(result.getType())});
  }
}
