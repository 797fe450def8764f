#include "compiler/Kernel/FusionRepeats.h"

#include "compiler/Graph/Work.h"
#include "compiler/Kernel/FusionRoles.h"
#include "compiler/Kernel/StateUpdates.h"
#include "dialects/Weft/IR/WeftDialect.h"

using namespace mlir;
using namespace weft;

namespace {

/// Reading an element takes about as long as so many additions: more are not repeated.
constexpr int64_t maxRepeatedCost = 8;
/// Larger kernels take no more.
constexpr size_t maxMembers = 96;

using Updates = ArrayRef<std::pair<StringAttr, Operation *>>;

/// How a value is made of what lies in memory.
struct Recipe {
  SmallVector<Operation *> members; ///< of the value's unit
  llvm::SetVector<Value> leaves;
  llvm::DenseSet<Operation *> seen; ///< members, and what they carry
  int64_t cost = 0;                 ///< additions for each element
};

class Repeats {
public:
  Repeats(std::vector<FusionUnit> &units, const Target &target,
          const DenseMap<Operation *, unsigned> &numbers, const DenseSet<Operation *> &carried,
          Updates updates)
      : units(units), target(target), numbers(numbers), carried(carried) {
    for (auto [number, unit] : llvm::enumerate(units))
      for (Value input : unit.inputs)
        readers[input].insert(number);
    for (auto &[state, update] : updates) {
      changedStates.insert(state);
      changers.insert(update);
    }
  }

  void run() {
    for (FusionUnit &unit : units)
      if (unit.isKernel)
        for (Value output : llvm::to_vector(unit.outputs))
          repeat(unit, output);
    while (!shrunk.empty())
      dropUnused(shrunk.pop_back_val());
  }

private:
  bool isCarried(Operation *op) const { return op && carried.contains(op); }

  FusionUnit *getUnit(Value value) {
    auto it = numbers.find(value.getDefiningOp());
    return value.getDefiningOp() && it != numbers.end() ? &units[it->second] : nullptr;
  }

  static bool isMember(const FusionUnit &unit, Operation *op) {
    return op && std::binary_search(
                     unit.ops.begin(), unit.ops.end(), op,
                     [](Operation *one, Operation *other) { return one->isBeforeInBlock(other); });
  }

  /// Has all readers of one of the unit's outputs compute it, if they can.
  void repeat(FusionUnit &unit, Value output) {
    Recipe recipe;
    if (!isReadInPlace(output) || !trace(unit, output, recipe))
      return;
    SmallVector<unsigned> all = llvm::to_vector(readers[output]);
    if (!llvm::all_of(all, [&](unsigned reader) { return mayRepeat(reader, output, recipe); }))
      return;
    for (unsigned reader : all) {
      SmallVector<Operation *, 4> &ops = units[reader].ops;
      ops.append(recipe.members.begin(), recipe.members.end());
      llvm::sort(ops, [](Operation *one, Operation *other) { return one->isBeforeInBlock(other); });
      ops.erase(llvm::unique(ops), ops.end());
      findInputs(reader);
    }
  }

  /// Whether each element is read for the one in the same place of the row-major order, and not
  /// behind a barrier.
  bool isReadInPlace(Value value) const {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      return !isCarried(user) ||
             (getRowMotion(user) == RowMotion::Keeps && !user->hasAttr(barrierAttrName) &&
              isReadInPlace(user->getResult(0)));
    });
  }

  /// Adds how a value is made to the recipe; false if that takes more than arithmetic of the unit's
  /// own, or much of it.
  bool trace(FusionUnit &unit, Value value, Recipe &recipe) {
    Operation *op = value.getDefiningOp();
    bool isPointwise = op && getMemberKind(op) == MemberKind::Pointwise;
    bool isOwn = isMember(unit, op) && (isPointwise || !unit.outputs.contains(value));
    if (!isOwn && !isCarried(op)) {
      recipe.leaves.insert(value);
      return true;
    }
    if (isOwn && (!isPointwise || changers.contains(op)))
      return false;
    if (!recipe.seen.insert(op).second)
      return true;
    if (isOwn) {
      recipe.members.push_back(op);
      recipe.cost += getElementCost(op);
    }
    return recipe.cost <= maxRepeatedCost && llvm::all_of(op->getOperands(), [&](Value operand) {
             return trace(unit, operand, recipe);
           });
  }

  bool mayRepeat(unsigned number, Value value, const Recipe &recipe) {
    const FusionUnit &reader = units[number];
    bool isFull = reader.ops.size() + recipe.members.size() > maxMembers;
    if (!reader.isKernel || isFull || llvm::any_of(reader.ops, [](Operation *op) {
          return llvm::is_contained({MemberKind::Alone, MemberKind::Indexing}, getMemberKind(op));
        }))
      return false;
    int64_t bytes = 0;
    for (Value leaf : recipe.leaves) {
      bool isFollowed = leaf.getDefiningOp() && target.runsEpilogues(leaf.getDefiningOp()) &&
                        readers[leaf].size() == 1;
      if (isFollowed || changedStates.contains(getViewedState(leaf)))
        return false;
      bytes += reader.inputs.contains(leaf) ? 0 : countBytes(leaf.getType());
    }
    return bytes <= countBytes(value.getType());
  }

  /// Finds what a unit reads anew, and what other units need to write for it.
  void findInputs(unsigned number) {
    FusionUnit &unit = units[number];
    llvm::SetVector<Value> before = std::move(unit.inputs);
    unit.inputs.clear();
    if (!unit.outputs.empty())
      for (Operation *op : unit.ops)
        for (Value operand : op->getOperands())
          addInputs(unit, operand);
    for (Value input : unit.inputs) {
      readers[input].insert(number);
      if (FusionUnit *maker = getUnit(input))
        maker->outputs.insert(input);
    }
    for (Value input : before)
      if (!unit.inputs.contains(input))
        stopReading(number, input);
  }

  void addInputs(FusionUnit &unit, Value value) {
    Operation *op = value.getDefiningOp();
    if (isCarried(op)) {
      for (Value operand : op->getOperands())
        addInputs(unit, operand);
    } else if (!isMember(unit, op)) {
      unit.inputs.insert(value);
    }
  }

  void stopReading(unsigned number, Value input) {
    readers[input].remove(number);
    FusionUnit *maker = getUnit(input);
    if (!maker || !readers[input].empty())
      return;
    maker->outputs.remove(input);
    if (maker->isKernel)
      shrunk.push_back(maker - units.data());
  }

  /// Drops the operations of a unit that none of its outputs needs any more.
  void dropUnused(unsigned number) {
    FusionUnit &unit = units[number];
    llvm::DenseSet<Operation *> needed;
    SmallVector<Value> stack(unit.outputs.begin(), unit.outputs.end());
    llvm::DenseSet<Operation *> own(unit.ops.begin(), unit.ops.end());
    while (!stack.empty()) {
      Operation *op = stack.pop_back_val().getDefiningOp();
      if (op && (own.contains(op) || isCarried(op)) && needed.insert(op).second)
        llvm::append_range(stack, op->getOperands());
    }
    if (!unit.outputs.empty())
      llvm::erase_if(unit.ops, [&](Operation *op) { return !needed.contains(op); });
    findInputs(number);
  }

  std::vector<FusionUnit> &units;
  const Target &target;
  const DenseMap<Operation *, unsigned> &numbers; ///< of the unit that an operation is first in
  const DenseSet<Operation *> &carried;
  llvm::DenseSet<StringAttr> changedStates;
  llvm::DenseSet<Operation *> changers;
  llvm::DenseMap<Value, llvm::SetVector<unsigned>> readers;
  SmallVector<unsigned> shrunk; ///< units that have lost an output
};
} // namespace

void weft::repeatCheap(std::vector<FusionUnit> &units, const Target &target,
                       const DenseMap<Operation *, unsigned> &numbers,
                       const DenseSet<Operation *> &carried, Updates updates) {
  Repeats(units, target, numbers, carried, updates).run();
}
