#include "compiler/Kernel/FusionOrder.h"

#include "compiler/Graph/Work.h"
#include "compiler/Kernel/Buckets.h"
#include "compiler/Kernel/StateUpdates.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <iterator>
#include <queue>

using namespace mlir;
using namespace weft;

namespace {

/// The readers of each unit, and how many units each waits for.
struct Edges {
  std::vector<SmallVector<unsigned, 4>> readers;
  std::vector<unsigned> waiting;
};

/// Whether a unit is communication that leaves what it moves as it is.
bool isMove(const FusionUnit &unit) {
  return !unit.isKernel &&
         isa<dist::AllGatherOp, dist::AllToAllOp, dist::PermuteOp>(unit.ops.front());
}

/// Whether a unit comes after another whatever the order.
bool follows(const Edges &edges, unsigned unit, unsigned other) {
  SmallVector<unsigned> stack{other};
  llvm::DenseSet<unsigned> seen{other};
  while (!stack.empty())
    for (unsigned reader : edges.readers[stack.pop_back_val()]) {
      if (reader == unit)
        return true;
      if (seen.insert(reader).second)
        stack.push_back(reader);
    }
  return false;
}

class EdgeFinder {
public:
  EdgeFinder(Block &block, const llvm::DenseMap<Operation *, unsigned> &numbers,
             ArrayRef<std::pair<StringAttr, Operation *>> updates)
      : block(block), numbers(numbers), updates(updates) {
    for (auto &[state, update] : updates)
      updatedStates.insert(state);
  }

  Edges findEdges(const std::vector<FusionUnit> &units) {
    Edges edges{std::vector<SmallVector<unsigned, 4>>(units.size()),
                std::vector<unsigned>(units.size())};
    for (auto [number, unit] : llvm::enumerate(units)) {
      llvm::SetVector<unsigned> sources;
      for (Value input : unit.inputs)
        if (Operation *def = input.getDefiningOp())
          sources.insert(numbers.lookup(def));
      edges.waiting[number] = sources.size();
      for (unsigned source : sources)
        edges.readers[source].push_back(number);
    }
    waitForReaders(units, edges);
    return edges;
  }

private:
  /// Lets the unit that changes a state, or what is moved into its place, wait for those that read
  /// its old value, so that nothing else need be held; but for those that depend on it.
  void waitForReaders(const std::vector<FusionUnit> &units, Edges &edges) {
    llvm::DenseMap<StringAttr, SmallVector<unsigned, 2>> loaders;
    for (auto [number, unit] : llvm::enumerate(units))
      for (Value input : unit.inputs)
        if (StringAttr symbol = getViewedState(input); symbol && updatedStates.contains(symbol) &&
                                                       !getStoredSymbol(unit.ops.front()) &&
                                                       unit.ops.front() != &block.back())
          loaders[symbol].push_back(number);
    for (auto &[state, update] : updates) {
      unsigned changer = numbers.lookup(update);
      ArrayRef<unsigned> all = loaders[state];
      bool waits = llvm::is_contained(all, changer) || isMove(units[changer]);
      for (unsigned reader : waits ? all : ArrayRef<unsigned>())
        if (reader != changer && !follows(edges, reader, changer)) {
          edges.readers[reader].push_back(changer);
          ++edges.waiting[changer];
        }
    }
  }

  Block &block;
  const llvm::DenseMap<Operation *, unsigned> &numbers;
  ArrayRef<std::pair<StringAttr, Operation *>> updates;
  llvm::DenseSet<StringAttr> updatedStates;
};

/// Kahn's algorithm; of the units that are ready, the one whose first operation came first, what is
/// small and made of loads alone when it is read. But what changes a state is computed as soon as
/// it can be, with the little that only it waits for: a gradient is gone when its parameter is
/// updated, whether or not others are still to come, and what is gathered of the new parameter is
/// sent beside what is still computed. What devices join is waited for a little: it is sent with
/// others.
class Orderer {
public:
  Orderer(Block &block, std::vector<FusionUnit> &units, Edges edges,
          const llvm::DenseMap<Operation *, unsigned> &numbers,
          ArrayRef<std::pair<StringAttr, Operation *>> updates)
      : units(units), readers(std::move(edges.readers)), waiting(std::move(edges.waiting)),
        sources(units.size()), changes(units.size()), moves(units.size()), placed(units.size()),
        sentAt(units.size()),
        bytesBehind(2 * getBucketBytes(block.getParentOp()->getParentOfType<ModuleOp>())) {
    for (auto [number, list] : llvm::enumerate(readers))
      for (unsigned reader : list)
        sources[reader].push_back(number);
    for (auto &[state, update] : updates)
      changes[numbers.lookup(update)] = true;
    findMoves();
    findTurns();
  }

  std::vector<FusionUnit> run() {
    for (unsigned number = 0; number < units.size(); ++number)
      if (waiting[number] == 0)
        ready.emplace(turns[number], number);
    while (!ready.empty()) {
      unsigned number = ready.top().second;
      ready.pop();
      if (placed[number])
        continue;
      place(number);
      placeChangesBehind(number);
      if (sentAt[number] > 0)
        placeDelayed();
    }
    return std::move(ordered);
  }

private:
  /// More is not computed earlier than its turn.
  static constexpr int64_t smallBytes = 1 << 20;

  /// What is made of loads alone and small, its turn is when it is read first: a kernel of what a
  /// layer needs and of what its parameter's update needs does not wait for where the update would
  /// load the parameter.
  void findTurns() {
    std::vector<unsigned> sorted, left = waiting;
    std::vector<char> isEarly(units.size());
    for (unsigned number = 0; number < units.size(); ++number)
      if (left[number] == 0)
        sorted.push_back(number);
    for (size_t i = 0; i < sorted.size(); ++i)
      for (unsigned reader : readers[sorted[i]])
        if (--left[reader] == 0)
          sorted.push_back(reader);
    for (unsigned number : sorted)
      isEarly[number] =
          (isSmall(number) || countResults(number) <= smallBytes) &&
          llvm::all_of(sources[number], [&](unsigned source) { return isEarly[source]; });
    turns.resize(units.size());
    for (unsigned number : llvm::reverse(sorted)) {
      turns[number] = number;
      for (unsigned reader : isEarly[number] ? readers[number] : SmallVector<unsigned, 4>())
        turns[number] = std::min(turns[number], turns[reader]);
    }
  }

  /// Communication that makes a state's next value: what is moved in several steps does so with the
  /// first of them.
  void findMoves() {
    for (unsigned number = units.size(); number-- > 0;) {
      bool leads = !readers[number].empty() &&
                   llvm::all_of(readers[number], [&](unsigned reader) { return moves[reader]; });
      moves[number] = isMove(units[number]) && (changes[number] || leads);
      changes[number] |= moves[number];
    }
  }

  void place(unsigned number) {
    placed[number] = true;
    if (isReduction(number))
      sentAt[number] = sentBytes += countBytes(units[number].ops.front()->getOperand(0).getType());
    for (unsigned reader : readers[number])
      if (--waiting[reader] == 0)
        ready.emplace(turns[reader], reader);
    ordered.push_back(std::move(units[number]));
  }

  /// Places what changes a state and waits for nothing but small units any more, now that a unit
  /// is placed; what reads a reduction, later.
  void placeChangesBehind(unsigned number) {
    SmallVector<unsigned> changed;
    for (unsigned reader : readers[number])
      collectChanges(reader, changed);
    if (sentAt[number] > 0)
      delayed.append(changed);
    for (unsigned change : sentAt[number] > 0 ? SmallVector<unsigned>() : changed)
      if (!placed[change])
        tryToPlace(change);
  }

  /// Places what moves what a unit, which is placed, has made of a state.
  void placeMovesBehind(unsigned number) {
    SmallVector<unsigned> changed;
    for (unsigned reader : readers[number])
      collectChanges(reader, changed);
    for (unsigned change : changed)
      if (moves[change] && !placed[change])
        tryToPlace(change);
  }

  /// Appends a unit where it changes a state, else those that do and read it: as views, or what a
  /// small kernel may make of it now.
  void collectChanges(unsigned number, SmallVectorImpl<unsigned> &changed) const {
    if (placed[number])
      return;
    if (changes[number])
      changed.push_back(number);
    else if (isView(number) || (isSmall(number) && waiting[number] == 0))
      for (unsigned reader : readers[number])
        collectChanges(reader, changed);
  }

  /// Places what waited for reductions that are long behind.
  void placeDelayed() {
    SmallVector<unsigned> waited = std::exchange(delayed, {});
    for (unsigned number : waited) {
      if (!placed[number])
        tryToPlace(number);
      if (!placed[number])
        delayed.push_back(number);
    }
  }

  bool isReduction(unsigned number) const {
    return !units[number].isKernel &&
           isa<dist::AllReduceOp, dist::ReduceScatterOp>(units[number].ops.front());
  }

  /// Whether a unit is a reduction that is better not waited for yet.
  bool isUnderWay(unsigned number) const {
    return sentAt[number] > 0 && sentBytes - sentAt[number] < bytesBehind;
  }

  void tryToPlace(unsigned number) {
    SmallVector<unsigned> missing;
    llvm::DenseSet<unsigned> seen;
    bool mayPlace = units[number].isKernel || moves[number];
    if (!mayPlace || !collectMissing(number, missing, seen))
      return;
    for (unsigned each : missing)
      place(each);
    for (unsigned each : missing)
      placeMovesBehind(each);
  }

  /// Appends a unit behind those of its sources that are to be placed; false if one is more than a
  /// small kernel, or waits for what is under way.
  bool collectMissing(unsigned number, SmallVectorImpl<unsigned> &missing,
                      llvm::DenseSet<unsigned> &seen) {
    if (!seen.insert(number).second)
      return true;
    for (unsigned source : sources[number])
      if (placed[source] ? isUnderWay(source)
                         : !isSmall(source) || !collectMissing(source, missing, seen))
        return false;
    missing.push_back(number);
    return true;
  }

  /// Whether a unit shows otherwise, or in part, what is there.
  bool isView(unsigned number) const {
    return !units[number].isKernel &&
           isa<ReshapeOp, TransposeOp, dist::SliceOp>(units[number].ops.front());
  }

  /// Whether a unit is a kernel of small results, or of such as are read in part alone, or computes
  /// nothing.
  bool isSmall(unsigned number) const {
    const FusionUnit &unit = units[number];
    if (!unit.isKernel)
      return isView(number) || getLoadedSymbol(unit.ops.front()) ||
             isa<ConstantOp>(unit.ops.front());
    return countResults(number) <= smallBytes ||
           llvm::all_of(readers[number], [&](unsigned reader) {
             return isa<dist::SliceOp>(units[reader].ops.front());
           });
  }

  int64_t countResults(unsigned number) const {
    int64_t bytes = 0;
    for (Value output : units[number].outputs)
      bytes += countBytes(output.getType());
    return bytes;
  }

  std::vector<FusionUnit> &units;
  std::vector<SmallVector<unsigned, 4>> readers;
  std::vector<unsigned> waiting; ///< sources of each that are not placed
  std::vector<SmallVector<unsigned, 4>> sources;
  std::vector<char> changes; ///< whether a unit makes a state's next value
  std::vector<char> moves;   ///< whether it does so by communication
  std::vector<char> placed;
  std::vector<int64_t> sentAt; ///< of reductions that are placed: bytes sent with it and before
  int64_t sentBytes = 0;
  /// So much is sent behind what is to be there: twice what goes together, so that one such message
  /// is under way while the next is put together.
  int64_t bytesBehind;
  SmallVector<unsigned> delayed;              ///< changes that wait for reductions
  std::vector<unsigned> turns;                ///< by unit: that of the lowest comes first
  using Turn = std::pair<unsigned, unsigned>; ///< and the unit's number
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> ready;
  std::vector<FusionUnit> ordered;
};
} // namespace

std::vector<FusionUnit> weft::orderUnits(Block &block, std::vector<FusionUnit> units,
                                         const llvm::DenseMap<Operation *, unsigned> &numbers,
                                         ArrayRef<std::pair<StringAttr, Operation *>> updates) {
  SmallVector<std::pair<StringAttr, Operation *>> ofUnits; // what is carried changes nothing
  llvm::copy_if(updates, std::back_inserter(ofUnits),
                [&](const auto &update) { return numbers.contains(update.second); });
  Edges edges = EdgeFinder(block, numbers, ofUnits).findEdges(units);
  return Orderer(block, units, std::move(edges), numbers, ofUnits).run();
}
