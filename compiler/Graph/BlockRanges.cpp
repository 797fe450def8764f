#include "compiler/Graph/BlockRanges.h"

#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;
using Operations = std::vector<Operation *>;

BlockRanges::BlockRanges(func::FuncOp main) : main(main), model(findBlocks(main)) {
  for (Operation &op : main.getBody().front()) {
    positions[&op] = positions.size();
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          return !operand.getDefiningOp() || varying.contains(operand.getDefiningOp());
        }))
      varying.insert(&op);
  }
}

/// The operations of blocks, as they follow each other in the function.
Operations BlockRanges::list(size_t begin, size_t end) const {
  Operations operations;
  for (size_t block = begin; block < end; ++block)
    llvm::append_range(operations, model.blocks[block].operations);
  llvm::sort(operations,
             [&](Operation *a, Operation *b) { return positions.lookup(a) < positions.lookup(b); });
  return operations;
}

/// Whether something outside takes a value that depends on inputs.
bool BlockRanges::isHandedOn(Value value, const llvm::DenseSet<Operation *> &inside) const {
  return varying.contains(value.getDefiningOp()) &&
         llvm::any_of(value.getUsers(), [&](Operation *user) { return !inside.contains(user); });
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

namespace weft {
class RangeHasher {
public:
  explicit RangeHasher(const BlockRanges &ranges) : ranges(ranges) {}

  uint64_t run(const Operations &operations) {
    llvm::DenseSet<Operation *> inside(operations.begin(), operations.end());
    for (Operation *op : operations)
      visit(op);
    for (Operation *op : operations)
      for (Value result : op->getResults())
        if (ranges.isHandedOn(result, inside))
          hash = llvm::hash_combine(hash, numbers.lookup(result));
    return hash;
  }

private:
  void number(Value value) {
    if (numbers.contains(value))
      return;
    if (Operation *op = value.getDefiningOp(); op && !ranges.varying.contains(op))
      return visit(op);
    numbers[value] = numbers.size(); // handed in
    hash = llvm::hash_combine(hash, value.getType());
  }

  void visit(Operation *op) {
    if (op->getNumResults() > 0 && numbers.contains(op->getResult(0)))
      return;
    llvm::for_each(op->getOperands(), [&](Value operand) { number(operand); });
    hash = llvm::hash_combine(hash, op->getName());
    if (auto load = dyn_cast<LoadOp>(op))
      hash = llvm::hash_combine(
          hash, weights.try_emplace(load.getWeight(), weights.size()).first->second);
    else
      hash = llvm::hash_combine(hash, op->hashProperties());
    for (Value operand : op->getOperands())
      hash = llvm::hash_combine(hash, numbers.lookup(operand));
    for (Value result : op->getResults()) {
      numbers[result] = numbers.size();
      hash = llvm::hash_combine(hash, result.getType());
    }
  }

  const BlockRanges &ranges;
  llvm::hash_code hash = 0;
  llvm::DenseMap<Value, unsigned> numbers;
  llvm::DenseMap<StringRef, unsigned> weights;
};
} // namespace weft

uint64_t BlockRanges::classify(size_t begin, size_t end) const {
  return RangeHasher(*this).run(list(begin, end));
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace weft {
class RangeCloner {
public:
  RangeCloner(const BlockRanges &ranges, ExtractedRange &range)
      : ranges(ranges), range(range), main(ranges.main), builder(main.getContext()) {}

  void run(const Operations &operations);

private:
  void addWeight(LoadOp load);
  void provide(Value value);
  void clone(Operation *op);

  const BlockRanges &ranges;
  ExtractedRange &range;
  func::FuncOp main;
  OpBuilder builder;
  Block *body = nullptr;
  IRMapping mapping;
  llvm::DenseSet<StringRef> weights;
};
} // namespace weft

void RangeCloner::addWeight(LoadOp load) {
  if (!weights.insert(load.getWeight()).second)
    return;
  auto module = main->getParentOfType<ModuleOp>();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(range.module->getBody());
  builder.clone(*module.lookupSymbol(load.getWeight()));
}

/// Makes an operand of what is cloned: an argument, or what weights and constants make.
void RangeCloner::provide(Value value) {
  if (mapping.contains(value))
    return;
  if (Operation *op = value.getDefiningOp(); op && !ranges.varying.contains(op))
    return clone(op);
  mapping.map(value, body->addArgument(value.getType(), value.getLoc()));
  range.arguments.push_back(value);
}

void RangeCloner::clone(Operation *op) {
  if (op->getNumResults() > 0 && mapping.contains(op->getResult(0)))
    return;
  llvm::for_each(op->getOperands(), [&](Value operand) { provide(operand); });
  if (auto load = dyn_cast<LoadOp>(op))
    addWeight(load);
  builder.clone(*op, mapping);
}

void RangeCloner::run(const Operations &operations) {
  range.module = ModuleOp::create(main.getLoc());
  builder.setInsertionPointToEnd(range.module->getBody());
  auto function =
      func::FuncOp::create(builder, main.getLoc(), "main", builder.getFunctionType({}, {}));
  body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  llvm::for_each(operations, [&](Operation *op) { clone(op); });
  llvm::DenseSet<Operation *> inside(operations.begin(), operations.end());
  SmallVector<Value> results;
  for (Operation *op : operations)
    for (Value result : op->getResults())
      if (ranges.isHandedOn(result, inside)) {
        range.results.push_back(result);
        results.push_back(mapping.lookup(result));
      }
  func::ReturnOp::create(builder, main.getLoc(), results);
  function.setType(
      builder.getFunctionType(body->getArgumentTypes(), ValueRange(results).getTypes()));
}

ExtractedRange BlockRanges::extract(size_t begin, size_t end) const {
  ExtractedRange range;
  RangeCloner(*this, range).run(list(begin, end));
  return range;
}
