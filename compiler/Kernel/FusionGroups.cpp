#include "compiler/Kernel/FusionGroups.h"

#include "compiler/Kernel/FusionOrder.h"
#include "compiler/Kernel/FusionRepeats.h"
#include "compiler/Kernel/FusionRoles.h"
#include "compiler/Kernel/StateUpdates.h"
#include "compiler/Kernel/StridedView.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"

using namespace mlir;
using namespace weft;

namespace {

/// How a value lies in the domain of its group.
enum class Form { Full, Row };

/// A group while it grows. `inner` is 0 until a reduction fixes it.
struct Group {
  bool isKernel = false;
  unsigned level = 0;
  int64_t elements = 0;
  int64_t inner = 0;
  bool columns = false; ///< reduces others than the last dimension: only values per row may follow
  bool closed = false;  ///< nothing may follow
  bool updates = false; ///< makes a state's next value
  bool tree = true;     ///< every member has one reader
  bool reduces = false;
  int64_t cost = 0;
  unsigned members = 0;
  unsigned reads = 0; ///< operands of as many elements as the domain that lie in memory
  Operation *firstReader = nullptr; ///< of another unit, in the block's order
  Operation *lastSource = nullptr;  ///< of what other units make, but loads
};

/// What an operand of an operation reads through carried operations.
struct Source {
  Value leaf;            ///< null if it is made of constants and iotas alone
  bool aligned = true;   ///< the chain keeps each element's row
  bool fromRow = false;  ///< the chain broadcasts along the rows
  bool singleUse = true; ///< each link has one reader
  bool separate = false; ///< behind a barrier
};

/// An absorbed value is computed again for each element that reads it; more than this many
/// operations are not.
constexpr int64_t maxAbsorbedCost = 8;
/// Bounds the size of one kernel, and so its compile time.
constexpr unsigned maxMembers = 96;
/// A reduction to fewer rows than this over more elements than that gets a kernel of its own, so
/// that its producers keep their parallelism.
constexpr int64_t fewRows = 4, manyElements = 16384;

class Grouper {
public:
  Grouper(Block &block, const Target &target, DenseSet<Operation *> &carried)
      : block(block), target(target), carried(carried) {}

  std::vector<FusionUnit> run() {
    updateOf = findUpdates(block);
    for (auto &[state, update] : updateOf)
      updates.insert(update);
    for (Operation &op : block)
      if (getFusionRole(&op, target) == FusionRole::Carried && isCheap(&op))
        carried.insert(&op);
    for (Operation &op : block)
      keepForBoundary(&op);
    for (Operation &op : block)
      if (!carried.contains(&op))
        place(&op);
    std::vector<FusionUnit> units = collect();
    repeatCheap(units, target, unitNumber, carried, updateOf);
    return orderUnits(block, std::move(units), unitNumber, updateOf);
  }

private:
  //===--- Carried operations ----------------------------------------------===//

  bool isCheap(Operation *op) {
    int64_t sum = 1;
    bool hasLeaf = false;
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      auto it = def ? carriedCost.find(def) : carriedCost.end();
      hasLeaf |= it == carriedCost.end() || readingMemory.contains(def);
      sum += it == carriedCost.end() ? 0 : it->second;
    }
    bool structural = isMovement(op);
    if (sum > maxCarriedCost || (hasLeaf && !structural))
      return false;
    carriedCost[op] = sum;
    if (hasLeaf)
      readingMemory.insert(op);
    return true;
  }

  /// Takes back from `carried` what a boundary needs in memory.
  void keepForBoundary(Operation *op) {
    if (getFusionRole(op, target) != FusionRole::Boundary)
      return;
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!isCarried(def) || isa<ConstantOp>(def))
        continue;
      bool view = readingMemory.contains(def) && isMovementChain(operand);
      std::optional<Strides> strides = view ? getViewStrides(operand) : std::nullopt;
      bool fits = strides && (readsViews(op) || isReshapeChain(operand));
      if (!fits)
        carried.erase(def);
    }
  }

  /// Whether `value` reaches its leaf through transposes, reshapes and slices only.
  bool isMovementChain(Value value) {
    for (Operation *def = value.getDefiningOp(); isCarried(def); def = value.getDefiningOp()) {
      if (!isa<TransposeOp, ReshapeOp, SliceOp>(def))
        return false;
      value = def->getOperand(0);
    }
    return true;
  }

  /// Whether `value` is a contiguous leaf under other shapes.
  bool isReshapeChain(Value value) {
    while (isCarried(value.getDefiningOp())) {
      auto reshape = value.getDefiningOp<ReshapeOp>();
      if (!reshape)
        return false;
      value = reshape.getInput();
    }
    auto type = cast<RankedTensorType>(value.getType());
    std::optional<Strides> strides = getViewStrides(value);
    return strides && isRowMajor(type.getShape(), *strides);
  }

  bool isCarried(Operation *op) const { return op && carried.contains(op); }

  //===--- Growing groups --------------------------------------------------===//

  unsigned find(unsigned group) {
    while (parent[group] != group)
      group = parent[group] = parent[parent[group]];
    return group;
  }

  std::optional<unsigned> groupOf(Value value) {
    Operation *def = value ? value.getDefiningOp() : nullptr;
    auto it = def ? unitOf.find(def) : unitOf.end();
    return it == unitOf.end() ? std::nullopt : std::optional<unsigned>(find(it->second));
  }

  Source trace(Value value) {
    Source source;
    while (Operation *def = value.getDefiningOp()) {
      if (!carried.contains(def))
        break;
      source.singleUse &= value.hasOneUse();
      source.separate |= def->hasAttr(barrierAttrName);
      if (!readingMemory.contains(def))
        return {};
      RowMotion motion = getRowMotion(def);
      source.aligned &= motion != RowMotion::Moves;
      source.fromRow |= motion == RowMotion::Expands;
      value = def->getOperand(0);
    }
    source.singleUse &= value.hasOneUse();
    source.leaf = value;
    return source;
  }

  void place(Operation *op) {
    SmallVector<Source, 4> sources =
        llvm::map_to_vector<4>(op->getOperands(), [&](Value value) { return trace(value); });
    unsigned level = 0;
    for (const Source &source : sources)
      if (auto group = groupOf(source.leaf))
        level = std::max(level, groups[*group].level);
    bool isKernel = getFusionRole(op, target) != FusionRole::Boundary;
    if (isKernel && level > 0 && join(op, sources, level)) {
      noteReads(op, sources);
      return;
    }
    unsigned group = groups.size();
    groups.push_back(isKernel ? startGroup(op) : Group());
    parent.push_back(group);
    groups[group].isKernel = isKernel;
    groups[group].level = level + 1;
    add(op, group,
        getMemberKind(op) == MemberKind::RowReduce || getMemberKind(op) == MemberKind::ColumnReduce
            ? Form::Row
            : Form::Full);
    if (isKernel && getMemberKind(op) == MemberKind::Pointwise)
      bringAlong(group, sources);
    noteReads(op, sources);
  }

  /// What makes a value that lies in memory: null for what is there at any time, and parts of it.
  static Operation *getWaitedFor(const Source &source) {
    Value whole = source.leaf ? getUnviewed(source.leaf) : source.leaf;
    while (auto part = whole ? whole.getDefiningOp<dist::SliceOp>() : dist::SliceOp())
      whole = getUnviewed(part.getInput());
    bool isThere = !whole || !whole.getDefiningOp() || getLoadedSymbol(whole.getDefiningOp());
    return isThere ? nullptr : source.leaf.getDefiningOp();
  }

  static Operation *getLater(Operation *one, Operation *other) {
    return !one || (other && one->isBeforeInBlock(other)) ? other : one;
  }

  /// Whether an operation in the candidates' groups, made one, would have one of their readers wait
  /// for what the block makes behind it. Levels do not tell: what the backward pass gathers again
  /// of a weight waits for nothing but the weight.
  bool delaysReaders(ArrayRef<Source> sources,
                     ArrayRef<std::pair<unsigned, Source>> candidates) const {
    Operation *reader = nullptr, *last = nullptr;
    for (auto &[index, source] : candidates) {
      Operation *first = groups[index].firstReader;
      reader = !reader || (first && first->isBeforeInBlock(reader)) ? first : reader;
      last = getLater(last, groups[index].lastSource);
    }
    for (const Source &source : sources)
      if (llvm::none_of(candidates,
                        [&](auto &candidate) { return candidate.second.leaf == source.leaf; }))
        last = getLater(last, getWaitedFor(source));
    return reader && last && reader->isBeforeInBlock(last);
  }

  /// Counts what an operation makes its group read, and keeps when groups are read first and what
  /// they wait for. Operations come in the block's order.
  void noteReads(Operation *op, ArrayRef<Source> sources) {
    unsigned own = find(unitOf.lookup(op));
    for (const Source &source : sources) {
      std::optional<unsigned> group = groupOf(source.leaf);
      if (!source.leaf || group == own)
        continue;
      auto type = cast<RankedTensorType>(source.leaf.getType());
      if (getWaitedFor(source) && type.getNumElements() == groups[own].elements)
        ++groups[own].reads;
      if (group && !groups[*group].firstReader)
        groups[*group].firstReader = op;
      groups[own].lastSource = getLater(groups[own].lastSource, getWaitedFor(source));
    }
  }

  /// Whether one operation reads the result, through carried ones too.
  bool isReadOnce(Operation *op) const {
    do {
      if (op->getNumResults() != 1 || !op->getResult(0).hasOneUse())
        return false;
      op = *op->user_begin();
    } while (isCarried(op));
    return true;
  }

  void add(Operation *op, unsigned group, Form form) {
    unitOf[op] = group;
    Group &joined = groups[group];
    ++joined.members;
    joined.cost += getElementCost(op);
    joined.updates |= updates.contains(op);
    joined.tree &= isReadOnce(op);
    for (Value result : op->getResults())
      forms[result] = form;
  }

  /// The domain of a group that begins with `op`.
  Group startGroup(Operation *op) {
    Group group;
    auto count = [](Value value) {
      return cast<RankedTensorType>(value.getType()).getNumElements();
    };
    MemberKind kind = getMemberKind(op);
    bool reduces = kind == MemberKind::RowReduce || kind == MemberKind::ColumnReduce;
    group.elements = count(reduces ? op->getOperand(0) : op->getResult(0));
    group.inner = getInnerSize(op);
    group.reduces = group.inner != 0;
    group.columns = kind == MemberKind::ColumnReduce;
    group.closed = kind == MemberKind::Alone;
    return group;
  }

  /// Adds `op` to the groups of level `level` among its sources, merged; false if it cannot join
  /// all of them.
  bool join(Operation *op, ArrayRef<Source> sources, unsigned level) {
    SmallVector<std::pair<unsigned, Source>, 4> candidates;
    for (auto [index, source] : llvm::enumerate(sources)) {
      std::optional<unsigned> group = groupOf(source.leaf);
      if (!group || groups[*group].level != level)
        continue;
      const Group &candidate = groups[*group];
      if (!candidate.isKernel || source.separate || candidate.closed ||
          candidate.members >= maxMembers)
        return false;
      // What reads more than its own element of a state cannot share a kernel that changes it.
      if (candidate.updates && getMemberKind(op) != MemberKind::Pointwise)
        return false;
      if (getMemberKind(op) == MemberKind::RowReduce && index != 0)
        return false;
      candidates.push_back({*group, source});
    }
    if (delaysReaders(sources, candidates))
      return false;
    switch (getMemberKind(op)) {
    case MemberKind::Pointwise:
      return joinPointwise(op, sources, candidates);
    case MemberKind::RowReduce:
    case MemberKind::RowNormalise:
      return joinReduction(op, candidates);
    case MemberKind::ColumnReduce:
    case MemberKind::Indexing:
      return absorb(op, candidates);
    case MemberKind::Alone:
      return false;
    }
    return false;
  }

  /// Whether the group of an operand may be computed as late as its one reader: that keeps nothing
  /// in memory longer but one value of its size instead of its own.
  bool mayFollow(const Source &source, const Group &into) {
    std::optional<unsigned> index = groupOf(source.leaf);
    if (!index || !source.singleUse || !source.aligned || source.fromRow || source.separate)
      return false;
    const Group &group = groups[*index];
    return group.isKernel && group.level < into.level && group.tree && !group.closed &&
           group.members + into.members <= maxMembers && !group.reduces && !group.columns &&
           group.reads <= 1 && group.elements == into.elements &&
           forms.lookup(source.leaf) == Form::Full;
  }

  /// Lets groups of operands be computed as late as the new group of their reader.
  void bringAlong(unsigned index, ArrayRef<Source> sources) {
    Group merged = groups[index];
    SmallVector<std::pair<unsigned, Source>, 4> along{{index, Source()}};
    for (const Source &source : sources)
      if (mayFollow(source, merged) && mergeDomains(merged, groups[*groupOf(source.leaf)]))
        along.push_back({*groupOf(source.leaf), source});
    if (along.size() > 1)
      unite(along, merged);
  }

  bool joinPointwise(Operation *op, ArrayRef<Source> sources,
                     SmallVectorImpl<std::pair<unsigned, Source>> &candidates) {
    int64_t count = cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
    std::optional<Form> form;
    Group merged = groups[candidates.front().first];
    for (auto &[index, source] : candidates) {
      const Group &group = groups[index];
      Form own = forms.lookup(source.leaf);
      if (own == Form::Row && source.fromRow && !group.columns)
        own = Form::Full;
      else if (source.fromRow)
        return false;
      int64_t expected = own == Form::Full ? group.elements : group.elements / group.inner;
      bool fits = source.aligned && count == expected && (own == Form::Row || !group.columns);
      if (!fits || (form && *form != own) || !mergeDomains(merged, group))
        return false;
      form = own;
    }
    for (const Source &source : sources)
      if (*form == Form::Full && mayFollow(source, merged) &&
          mergeDomains(merged, groups[*groupOf(source.leaf)]))
        candidates.push_back({*groupOf(source.leaf), source});
    unite(candidates, merged);
    add(op, find(candidates.front().first), *form);
    return true;
  }

  bool joinReduction(Operation *op, ArrayRef<std::pair<unsigned, Source>> candidates) {
    auto &[index, source] = candidates.front();
    const Group &group = groups[index];
    int64_t inner = getInnerSize(op);
    int64_t count = cast<RankedTensorType>(op->getOperand(0).getType()).getNumElements();
    Form own = source.fromRow ? Form::Full : forms.lookup(source.leaf);
    bool fits = candidates.size() == 1 && source.leaf == trace(op->getOperand(0)).leaf &&
                source.aligned && own == Form::Full && !group.columns && count == group.elements &&
                (group.inner == 0 || group.inner == inner);
    bool serialises = count / inner < fewRows && count > manyElements && !group.reduces;
    if (!fits || serialises)
      return false;
    groups[index].inner = inner;
    groups[index].reduces = true;
    add(op, index, getMemberKind(op) == MemberKind::RowReduce ? Form::Row : Form::Full);
    return true;
  }

  /// Joins by computing what is read at the reader's own indices: groups whose members only `op`
  /// reads.
  bool absorb(Operation *op, ArrayRef<std::pair<unsigned, Source>> candidates) {
    bool once = getMemberKind(op) == MemberKind::ColumnReduce;
    for (auto &[index, source] : candidates) {
      const Group &group = groups[index];
      if (!source.singleUse || !group.tree || group.reduces ||
          (!once && group.cost > maxAbsorbedCost))
        return false;
    }
    Group merged = startGroup(op);
    merged.isKernel = true;
    merged.level = groups[candidates.front().first].level;
    merged.members = merged.cost = 0;
    for (auto &[index, source] : candidates) {
      merged.members += groups[index].members;
      merged.cost += groups[index].cost;
    }
    unite(candidates, merged);
    add(op, find(candidates.front().first), once ? Form::Row : Form::Full);
    return true;
  }

  static bool mergeDomains(Group &into, const Group &from) {
    if (into.elements != from.elements || into.columns != from.columns ||
        (into.inner && from.inner && into.inner != from.inner))
      return false;
    into.inner = std::max(into.inner, from.inner);
    into.reduces |= from.reduces;
    into.updates |= from.updates;
    into.tree &= from.tree;
    return true;
  }

  /// Makes the candidates' groups one, with the domain `merged`.
  void unite(ArrayRef<std::pair<unsigned, Source>> candidates, Group merged) {
    unsigned root = candidates.front().first;
    SetVector<unsigned> distinct;
    for (auto &[index, source] : candidates)
      distinct.insert(index);
    merged.members = merged.cost = merged.reads = 0;
    for (unsigned index : distinct) {
      merged.members += groups[index].members;
      merged.cost += groups[index].cost;
      merged.reads += groups[index].reads;
      Operation *first = groups[index].firstReader;
      if (!merged.firstReader || (first && first->isBeforeInBlock(merged.firstReader)))
        merged.firstReader = first;
      merged.lastSource = getLater(merged.lastSource, groups[index].lastSource);
      parent[index] = root;
    }
    groups[root] = merged;
  }

  //===--- Units -----------------------------------------------------------===//

  std::vector<FusionUnit> collect() {
    std::vector<FusionUnit> units;
    units.reserve(groups.size()); // they would be copied, not moved, as it grows
    DenseMap<unsigned, unsigned> numberOf;
    for (Operation &op : block) {
      auto it = unitOf.find(&op);
      if (it == unitOf.end())
        continue;
      unsigned group = find(it->second);
      auto [number, isNew] = numberOf.try_emplace(group, units.size());
      if (isNew)
        units.emplace_back().isKernel = groups[group].isKernel;
      units[number->second].ops.push_back(&op);
      unitNumber[&op] = number->second;
    }
    for (FusionUnit &unit : units)
      for (Operation *op : unit.ops)
        for (Value operand : op->getOperands())
          addInputs(units, unit, operand);
    return units;
  }

  void addInputs(std::vector<FusionUnit> &units, FusionUnit &unit, Value operand) {
    SmallVector<Value> stack{operand};
    while (!stack.empty()) {
      Value value = stack.pop_back_val();
      Operation *def = value.getDefiningOp();
      if (isCarried(def)) {
        llvm::append_range(stack, def->getOperands());
        continue;
      }
      if (def && &units[unitNumber.lookup(def)] == &unit)
        continue;
      unit.inputs.insert(value);
      if (def)
        units[unitNumber.lookup(def)].outputs.insert(value);
    }
  }

  Block &block;
  const Target &target;
  DenseSet<Operation *> &carried;
  DenseMap<Operation *, int64_t> carriedCost;
  DenseSet<Operation *> readingMemory; ///< carried operations that read a value in memory
  SmallVector<std::pair<StringAttr, Operation *>> updateOf; ///< what makes states' next values
  DenseSet<Operation *> updates;                            ///< the same operations
  DenseMap<Operation *, unsigned> unitOf, unitNumber;
  DenseMap<Value, Form> forms;
  std::vector<Group> groups;
  std::vector<unsigned> parent;
};

} // namespace

FusionGroups::FusionGroups(Block &block, const Target &target) {
  units = Grouper(block, target, carried).run();
}
