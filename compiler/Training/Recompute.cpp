#include "compiler/Training/Recompute.h"

#include "compiler/Graph/Blocks.h"
#include "compiler/Graph/Work.h"
#include "compiler/Kernel/FusionRoles.h"
#include "dialects/Weft/IR/Decomposition.h"
#include "dialects/Weft/IR/Elementwise.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

/// The most that one element of a value may cost to be computed again in mode none, in additions.
static constexpr int64_t cheapCost = 8;

static bool isNormalisation(Operation *op) {
  auto interface = dyn_cast<DecomposableOpInterface>(op);
  return interface && !interface.getNormalisedDims().empty();
}

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

namespace {
/// Values of which there is no use in being kept: they are there anyway (weights, arguments, and
/// views of them), or are made where they are read, of positions and constants.
class FreeValues {
public:
  explicit FreeValues(Block &body);
  bool contains(Value value) const { return values.contains(value); }
  /// Whether the value is a weight, or only moves elements of weights.
  bool isOfWeights(Value value) const { return ofWeights.contains(value); }

private:
  DenseSet<Value> values;
  DenseSet<Value> ofWeights;
};

/// What a value is computed again by.
struct Sources {
  llvm::SetVector<Value> values;
  DenseSet<Operation *> again;
  int64_t cost = 0; ///< of an element, in additions
};

class Chooser {
public:
  Chooser(func::FuncOp main, Operation *loss, RecomputeMode mode)
      : body(main.getBody().front()), loss(loss), mode(mode), free(body) {
    if (mode == RecomputeMode::Full)
      findBlocksBefore(main);
  }

  void run(llvm::SetVector<Value> &kept);

private:
  void findBlocksBefore(func::FuncOp main);
  bool isResidual(Value value) const {
    return llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return loss->isBeforeInBlock(user); });
  }
  bool isInLastBlock(Operation *op) const {
    auto found = blockOf.find(op);
    return found == blockOf.end() || found->second + 1 >= blocks;
  }
  /// Whether later blocks use the value: it goes into them.
  bool crossesBlocks(Value value) const;
  bool mayRecompute(Value value) const;
  bool findSources(Value value, const llvm::SetVector<Value> &kept, Sources &sources) const;

  Block &body;
  Operation *loss;
  RecomputeMode mode;
  FreeValues free;
  llvm::DenseMap<Operation *, uint32_t> blockOf;
  uint32_t blocks = 0;
};
} // namespace

FreeValues::FreeValues(Block &body) {
  DenseSet<Value> positions; // follow from positions and constants alone
  for (Value argument : body.getArguments())
    values.insert(argument);
  for (Operation &op : body)
    for (Value result : op.getResults()) {
      auto allIn = [&](const DenseSet<Value> &set) {
        return llvm::all_of(op.getOperands(), [&](Value operand) { return set.contains(operand); });
      };
      bool computes = isMovement(&op) || isa<ElementwiseOpInterface, ConstantOp, IotaOp>(op);
      if (computes && allIn(positions))
        positions.insert(result);
      if (positions.contains(result) || isa<LoadOp>(op) || (isMovement(&op) && allIn(values)))
        values.insert(result);
      if (isa<LoadOp>(op) || (isMovement(&op) && op.getNumOperands() > 0 && allIn(ofWeights)))
        ofWeights.insert(result);
    }
}

/// Finds the blocks of the forward pass alone, in a copy that ends with the loss.
void Chooser::findBlocksBefore(func::FuncOp main) {
  IRMapping mapping;
  // Beside the function, where the weights are that it loads.
  auto copy = cast<func::FuncOp>(OpBuilder(main).clone(*main, mapping));
  Operation *last = mapping.lookup(loss), *end = copy.getBody().front().getTerminator();
  end->setOperands(last->getResults().take_front());
  copy.removeResAttrsAttr();
  copy.setType(
      FunctionType::get(main.getContext(), copy.getArgumentTypes(), end->getOperandTypes()));
  while (end->getPrevNode() != last)
    end->getPrevNode()->erase();
  llvm::DenseMap<Operation *, uint32_t> copies;
  ModelBlocks found = findBlocks(copy);
  for (auto [number, block] : llvm::enumerate(found.blocks))
    for (Operation *op : block.operations)
      copies[op] = number;
  for (Operation &op : llvm::make_range(body.begin(), std::next(loss->getIterator())))
    if (auto block = copies.find(mapping.lookup(&op)); block != copies.end())
      blockOf[&op] = block->second;
  blocks = found.blocks.size();
  copy.erase();
}

bool Chooser::crossesBlocks(Value value) const {
  auto own = blockOf.find(value.getDefiningOp());
  return own == blockOf.end() || llvm::any_of(value.getUsers(), [&](Operation *user) {
           auto other = blockOf.find(user);
           return other != blockOf.end() && other->second != own->second;
         });
}

bool Chooser::mayRecompute(Value value) const {
  Operation *op = value.getDefiningOp();
  if (mode == RecomputeMode::Full && !isInLastBlock(op))
    return !crossesBlocks(value);
  return isMovement(op) || isa<ElementwiseOpInterface>(op) || isNormalisation(op);
}

/// Adds what the value is computed again from, besides what is kept already; false where that is
/// too much work.
bool Chooser::findSources(Value value, const llvm::SetVector<Value> &kept, Sources &sources) const {
  Operation *op = value.getDefiningOp();
  if (!sources.again.insert(op).second)
    return true;
  if (!isMovement(op))
    sources.cost += getElementCost(op);
  if (mode == RecomputeMode::None && sources.cost > cheapCost)
    return false;
  for (Value operand : op->getOperands()) {
    if (free.contains(operand) || kept.contains(operand))
      continue;
    if (!mayRecompute(operand))
      sources.values.insert(operand);
    else if (!findSources(operand, kept, sources))
      return false;
  }
  return true;
}

/// Values in order: what is decided of one is known when those that follow from it are looked at.
void Chooser::run(llvm::SetVector<Value> &kept) {
  SmallVector<Value> open;
  for (Operation &op : llvm::make_range(body.begin(), std::next(loss->getIterator())))
    for (Value result : op.getResults())
      if (!free.contains(result) && isResidual(result)) {
        if (mayRecompute(result))
          open.push_back(result);
        else
          kept.insert(result);
      }
  for (Value value : open) {
    Sources sources;
    bool isCheap = findSources(value, kept, sources);
    // What only moves elements costs nothing, and may be a view of its source.
    int64_t bytes = isMovement(value.getDefiningOp()) ? -1 : 0;
    for (Value source : sources.values)
      bytes += countBytes(source.getType());
    bool isInBlock = mode == RecomputeMode::Full && !isInLastBlock(value.getDefiningOp());
    if (isCheap && (isInBlock || bytes < countBytes(value.getType())))
      kept.insert(sources.values.begin(), sources.values.end());
    else
      kept.insert(value);
  }
}

Residuals::Residuals(func::FuncOp main, Operation *loss, RecomputeMode mode) {
  Chooser(main, loss, mode).run(kept);
  for (Value value : kept)
    keptBytes += countBytes(value.getType());
}

//===----------------------------------------------------------------------===//
// The backward pass
//===----------------------------------------------------------------------===//

namespace {
/// Makes the residuals where they are read.
class Rewriter {
public:
  Rewriter(func::FuncOp main, Operation *loss, const Residuals &residuals)
      : builder(main.getContext()), body(main.getBody().front()), loss(loss), residuals(residuals),
        free(body) {}

  void run() {
    SmallVector<Operation *> backward;
    for (Operation &op : llvm::make_range(std::next(loss->getIterator()), body.end()))
      if (&op != body.getTerminator())
        backward.push_back(&op);
    for (Operation *op : backward) {
      builder.setInsertionPoint(op);
      for (OpOperand &operand : op->getOpOperands())
        operand.set(make(operand.get()));
    }
  }

private:
  bool isForward(Value value) const {
    Operation *op = value.getDefiningOp();
    return op == loss || (op && op->getBlock() == &body && op->isBeforeInBlock(loss));
  }

  Value make(Value value) {
    bool isOfWeights = free.isOfWeights(value);
    if (!isForward(value) || (free.contains(value) && !isOfWeights))
      return value;
    if (Value known = made.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    // Weights are loaded again: what is gathered for the forward pass is not held until then.
    if (isOfWeights) {
      for (Value operand : op->getOperands())
        made.map(operand, make(operand));
      builder.clone(*op, made);
      return made.lookup(value);
    }
    if (residuals.kept.contains(value)) {
      made.map(value, makeBarrier(op, value));
      return made.lookup(value);
    }
    bool isApart = false;
    for (Value operand : op->getOperands()) {
      made.map(operand, make(operand));
      isApart |= !free.contains(operand);
    }
    // Of weights and arguments alone it would be the first value once more.
    Value first = op->getOperand(0), again = made.lookup(first);
    if (!isApart)
      made.map(first, makeBarrier(op, again));
    builder.clone(*op, made);
    if (!isApart) // others read it as it is
      made.map(first, again);
    return made.lookup(value);
  }

  Value makeBarrier(Operation *op, Value value) {
    return BarrierOp::create(builder, op->getLoc(), value);
  }

  OpBuilder builder;
  Block &body;
  Operation *loss;
  const Residuals &residuals;
  FreeValues free;
  IRMapping made; ///< by the value that it is computed again for
};
} // namespace

void weft::recompute(func::FuncOp main, Operation *loss, const Residuals &residuals) {
  Rewriter(main, loss, residuals).run();
}
