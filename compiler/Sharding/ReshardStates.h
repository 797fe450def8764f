//===- ReshardStates.h - shardings that a path may pass ---------*- C++ -*-===//
//
// Private to ReshardPath.cpp. The search for a plan asks for ways between shardings by the hundred
// thousand: nothing here is allocated by itself.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_RESHARDSTATES_H
#define WEFT_COMPILER_SHARDING_RESHARDSTATES_H

#include "compiler/Sharding/ReshardPath.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <deque>
#include <tuple>
#include <vector>

namespace weft {

/// Indices of atoms, major to minor.
using Atoms = llvm::SmallVector<uint8_t, 8>;

/// A sharding in atoms. Those that occur nowhere replicate.
struct ReshardState {
  llvm::SmallVector<Atoms, 4> dims;
  Atoms partial;                       ///< ascending
  llvm::SmallVector<int64_t, 4> units; ///< of padded dimensions; else 1

  bool operator==(const ReshardState &) const = default;
  bool operator<(const ReshardState &other) const {
    return std::tie(dims, partial, units) < std::tie(other.dims, other.partial, other.units);
  }
  /// Equal of equal states.
  uint64_t hash() const {
    uint64_t hash = 0;
    auto add = [&](uint64_t number) { hash = (hash ^ number) * 0x100000001b3ull + (hash >> 29); };
    for (const Atoms &dim : dims) {
      llvm::for_each(dim, add);
      add(0xff);
    }
    llvm::for_each(partial, add);
    for (int64_t unit : units)
      add(unit);
    return hash;
  }
};

/// A step in atoms.
struct ReshardMove {
  ReshardKind kind = ReshardKind::Slice;
  unsigned dim = 0;
  unsigned concatDim = 0;
  Atoms axes;
  Atoms to;
};

/// Bytes that all devices send: of thousands of them more than 64 bits count.
using TotalBytes = __int128;

/// Bytes, communications, steps.
using ReshardCost = std::tuple<TotalBytes, int, int>;

/// A state that was reached.
struct ReshardNode {
  ReshardState state;
  ReshardCost cost;
  unsigned before = 0; ///< node
  ReshardMove move;
};

/// The states that were reached, each as cheaply as is known, by number; the first is number 0.
class ReachedStates {
public:
  const ReshardNode &operator[](unsigned number) const { return nodes[number]; }

  /// Adds a state, or a cheaper way to it.
  void add(ReshardNode node) {
    uint64_t hash = node.state.hash();
    unsigned number = 0;
    while (number < nodes.size() && (hashes[number] != hash || nodes[number].state != node.state))
      ++number;
    if (number == nodes.size()) {
      hashes.push_back(hash);
      nodes.push_back(std::move(node));
    } else if (node.cost < nodes[number].cost) {
      nodes[number] = std::move(node);
    } else {
      return;
    }
    queue.push_back({nodes[number].cost, number});
    std::push_heap(queue.begin(), queue.end(), [&](auto &a, auto &b) { return isLater(a, b); });
  }

  /// The cheapest that was not taken yet; of equals the first by its state.
  std::optional<unsigned> pop() {
    while (!queue.empty()) {
      std::pop_heap(queue.begin(), queue.end(), [&](auto &a, auto &b) { return isLater(a, b); });
      auto [cost, number] = queue.back();
      queue.pop_back();
      if (cost == nodes[number].cost)
        return number;
    }
    return std::nullopt;
  }

private:
  using Entry = std::pair<ReshardCost, unsigned>;
  bool isLater(const Entry &a, const Entry &b) const {
    return a.first != b.first ? b.first < a.first : nodes[b.second].state < nodes[a.second].state;
  }

  std::deque<ReshardNode> nodes;          ///< which stay where they are as more are added
  llvm::SmallVector<uint64_t, 32> hashes; ///< of states
  std::vector<Entry> queue;               ///< a heap, some of whose states cost less by now
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_RESHARDSTATES_H
