#include "compiler/Kernel/FusionOrder.h"

#include "compiler/Kernel/StateUpdates.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <queue>

using namespace mlir;
using namespace weft;

namespace {

/// The readers of each unit, and how many units each waits for.
struct Edges {
  std::vector<SmallVector<unsigned, 4>> readers;
  std::vector<unsigned> waiting;
};

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
  /// Lets the unit that changes a state wait for those that read its old value, so that it may
  /// change it in place; but for those that depend on it.
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
      for (unsigned reader : llvm::is_contained(all, changer) ? all : ArrayRef<unsigned>())
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

} // namespace

/// Kahn's algorithm; of the units that are ready, the one whose first operation came first.
std::vector<FusionUnit> weft::orderUnits(Block &block, std::vector<FusionUnit> units,
                                         const llvm::DenseMap<Operation *, unsigned> &numbers,
                                         ArrayRef<std::pair<StringAttr, Operation *>> updates) {
  auto [readers, waiting] = EdgeFinder(block, numbers, updates).findEdges(units);
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned number = 0; number < units.size(); ++number)
    if (waiting[number] == 0)
      ready.push(number);
  std::vector<FusionUnit> ordered;
  while (!ready.empty()) {
    unsigned number = ready.top();
    ready.pop();
    ordered.push_back(std::move(units[number]));
    for (unsigned reader : readers[number])
      if (--waiting[reader] == 0)
        ready.push(reader);
  }
  return ordered;
}
