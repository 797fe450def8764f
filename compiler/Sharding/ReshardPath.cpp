#include "compiler/Sharding/ReshardPath.h"

#include "compiler/Cost/Traffic.h"
#include "compiler/Sharding/ReshardStates.h"

#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace weft;
using llvm::ArrayRef;
using llvm::SmallVector;

SmallVector<int64_t, 4> weft::localShape(ArrayRef<int64_t> shape, const TensorSharding &sharding) {
  SmallVector<int64_t, 4> local;
  for (auto [size, axes] : llvm::zip_equal(shape, sharding.dims))
    local.push_back(localExtent(size, axes));
  return local;
}

using State = ReshardState;
using Move = ReshardMove;
using Cost = ReshardCost;

namespace {
class PathFinder {
public:
  PathFinder(const MeshShape &mesh, ArrayRef<int64_t> shape, int64_t elementBytes,
             const TensorSharding &from, const TensorSharding &to)
      : shape(shape), elementBytes(elementBytes), devices(mesh.devices()),
        reduction(from.reduction) {
    makeAtoms(from, to);
    source = encode(from);
    target = encode(to);
    wanted.assign(atoms.size(), -1);
    for (auto [dim, list] : llvm::enumerate(target.dims))
      for (uint8_t atom : list)
        wanted[atom] = dim;
  }

  std::optional<ReshardPath> run();

private:
  void makeAtoms(const TensorSharding &from, const TensorSharding &to);
  Atoms encode(ArrayRef<AxisRef> axes) const;
  State encode(const TensorSharding &sharding) const;
  AxisList decode(const Atoms &list) const;
  TensorSharding decode(const State &state) const;
  int64_t count(const Atoms &list) const;
  int64_t localExtentOf(const State &state, unsigned dim) const {
    return localExtent(shape[dim], count(state.dims[dim]), state.units[dim]);
  }
  int64_t localBytes(const State &state) const;
  bool setDim(const State &state, State &next, unsigned dim, Atoms list) const;

  void expand(const State &state);
  void addReductions(const State &state, const Atoms &unwanted);
  void addScatters(const State &state, const Atoms &unwanted);
  void addSlices(const State &state);
  void addWholeSlices(const State &state);
  void addGathersAndExchanges(const State &state);
  void addPermutations(const State &state);
  void addPermutation(const State &state, const State &next);
  Cost costOf(const State &state, const Move &move) const;
  bool mayLead(const State &state, const Move &move) const;
  void reach(const State &state, State next, Move move);
  TotalBytes bytesSent(const State &state, const Move &move) const;
  ReshardPath trace(unsigned last) const;

  ArrayRef<int64_t> shape;
  int64_t elementBytes;
  int64_t devices;
  ReduceKind reduction;
  SmallVector<AxisRef, 8> atoms;
  std::vector<int> wanted; ///< per atom the dimension where the target has it, or -1
  State source, target;
  ReachedStates reached;
  unsigned current = 0;     ///< the node whose moves are tried
  std::optional<Cost> best; ///< of the ways to the target that are known
};
} // namespace

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

/// The places where the two shardings cut each axis, by (axis, digits above), ascending.
static SmallVector<std::pair<unsigned, int64_t>, 16> cuts(const TensorSharding &a,
                                                          const TensorSharding &b) {
  SmallVector<std::pair<unsigned, int64_t>, 16> places;
  auto add = [&](const AxisList &axes) {
    for (AxisRef axis : axes) {
      places.push_back({axis.axis, axis.pre});
      places.push_back({axis.axis, axis.end()});
    }
  };
  for (const TensorSharding *sharding : {&a, &b}) {
    add(sharding->partial);
    llvm::for_each(sharding->dims, add);
  }
  llvm::sort(places);
  places.erase(llvm::unique(places), places.end());
  return places;
}

void PathFinder::makeAtoms(const TensorSharding &from, const TensorSharding &to) {
  auto places = cuts(from, to);
  for (auto [place, next] : llvm::zip(places, llvm::drop_begin(places, places.empty() ? 0 : 1)))
    if (next.first == place.first)
      atoms.push_back({place.first, place.second, next.second / place.second});
}

Atoms PathFinder::encode(ArrayRef<AxisRef> axes) const {
  Atoms list;
  for (AxisRef axis : axes)
    for (auto [index, atom] : llvm::enumerate(atoms))
      if (overlaps(axis, atom))
        list.push_back(index);
  return list;
}

State PathFinder::encode(const TensorSharding &sharding) const {
  State state;
  for (const AxisList &dim : sharding.dims)
    state.dims.push_back(encode(dim));
  state.partial = encode(sharding.partial);
  llvm::sort(state.partial);
  for (const AxisList &dim : sharding.dims)
    state.units.push_back(dim.unit);
  return state;
}

AxisList PathFinder::decode(const Atoms &list) const {
  AxisList axes;
  for (uint8_t atom : list)
    append(axes, atoms[atom]);
  return axes;
}

TensorSharding PathFinder::decode(const State &state) const {
  TensorSharding sharding;
  for (auto [list, unit] : llvm::zip_equal(state.dims, state.units)) {
    sharding.dims.push_back(decode(list));
    sharding.dims.back().unit = unit;
  }
  sharding.partial = decode(state.partial);
  sharding.reduction = state.partial.empty() ? ReduceKind::Sum : reduction;
  return sharding;
}

int64_t PathFinder::count(const Atoms &list) const {
  int64_t product = 1;
  for (uint8_t atom : list)
    product *= atoms[atom].size;
  return product;
}

int64_t PathFinder::localBytes(const State &state) const {
  int64_t bytes = elementBytes;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    bytes *= localExtentOf(state, dim);
  return bytes;
}

/// Splits a dimension of `next` by `list`, which begins or continues that of `state`. False where
/// blocks of the one are no parts of blocks of the other: neither is whole, and some are padded
/// unlike.
bool PathFinder::setDim(const State &state, State &next, unsigned dim, Atoms list) const {
  bool isTarget = list == target.dims[dim];
  next.dims[dim] = std::move(list);
  int64_t after = count(next.dims[dim]), before = count(state.dims[dim]);
  next.units[dim] = isTarget ? target.units[dim] : state.units[dim];
  if (!isPadded(shape[dim], after, next.units[dim]))
    next.units[dim] = 1;
  if (before == 1 || after == 1)
    return true;
  return before * localExtentOf(state, dim) == after * localExtentOf(next, dim);
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

TotalBytes PathFinder::bytesSent(const State &state, const Move &move) const {
  TotalBytes bytes = localBytes(state), group = count(move.axes), groups = devices / group;
  switch (move.kind) {
  case ReshardKind::AllGather:
    return groups * getGroupTraffic(CollectiveKind::AllGather, group, group * bytes);
  case ReshardKind::AllReduce:
    return groups * getGroupTraffic(CollectiveKind::AllReduce, group, bytes);
  case ReshardKind::AllToAll:
    return groups * getGroupTraffic(CollectiveKind::AllToAll, group, bytes);
  case ReshardKind::ReduceScatter:
    return groups * getGroupTraffic(CollectiveKind::ReduceScatter, group, bytes);
  case ReshardKind::Permute:
    return bytes * devices;
  case ReshardKind::Slice:
    return 0;
  }
  return 0;
}

/// Of the way to the current state, and this move.
Cost PathFinder::costOf(const State &state, const Move &move) const {
  auto [bytes, communications, steps] = reached[current].cost;
  bool communicates = move.kind != ReshardKind::Slice;
  return {bytes + bytesSent(state, move), communications + communicates, steps + 1};
}

/// Whether a way that begins so may be cheaper than those that are known.
bool PathFinder::mayLead(const State &state, const Move &move) const {
  return !best || costOf(state, move) < *best;
}

void PathFinder::reach(const State &state, State next, Move move) {
  Cost cost = costOf(state, move);
  if (best && !(cost < *best))
    return;
  if (next == target)
    best = cost;
  reached.add({std::move(next), cost, current, std::move(move)});
}

static Atoms without(const Atoms &list, const Atoms &removed) {
  Atoms rest;
  for (uint8_t atom : list)
    if (!llvm::is_contained(removed, atom))
      rest.push_back(atom);
  return rest;
}

/// The elements of `list` whose bits `mask` sets.
static Atoms choose(const Atoms &list, unsigned mask) {
  Atoms chosen;
  for (auto [index, atom] : llvm::enumerate(list))
    if (mask >> index & 1)
      chosen.push_back(atom);
  return chosen;
}

void PathFinder::addReductions(const State &state, const Atoms &unwanted) {
  for (unsigned mask = 1; mask < 1u << unwanted.size(); ++mask) {
    Move move{ReshardKind::AllReduce, 0, 0, choose(unwanted, mask), {}};
    if (!mayLead(state, move))
      continue;
    State next = state;
    next.partial = without(state.partial, move.axes);
    reach(state, std::move(next), std::move(move));
  }
}

void PathFinder::addScatters(const State &state, const Atoms &unwanted) {
  for (auto [dim, list] : llvm::enumerate(target.dims)) {
    Atoms candidates = without(list, without(list, unwanted)); // those of `list` in `unwanted`
    for (unsigned mask = 1; mask < 1u << candidates.size(); ++mask) {
      Move move{
          ReshardKind::ReduceScatter, static_cast<unsigned>(dim), 0, choose(candidates, mask), {}};
      if (!mayLead(state, move))
        continue;
      State next = state;
      next.partial = without(state.partial, move.axes);
      Atoms split = state.dims[dim];
      llvm::append_range(split, move.axes);
      if (setDim(state, next, dim, split))
        reach(state, std::move(next), std::move(move));
    }
  }
}

void PathFinder::addSlices(const State &state) {
  SmallVector<bool, 16> used(atoms.size(), false);
  for (uint8_t atom : state.partial)
    used[atom] = true;
  for (const Atoms &dim : state.dims)
    for (uint8_t atom : dim)
      used[atom] = true;
  for (uint8_t atom = 0; atom < atoms.size(); ++atom) {
    if (used[atom] || wanted[atom] < 0)
      continue;
    unsigned dim = wanted[atom];
    Move move{ReshardKind::Slice, dim, 0, {atom}, {}};
    if (!mayLead(state, move))
      continue;
    State next = state;
    Atoms split = state.dims[dim];
    split.push_back(atom);
    if (setDim(state, next, dim, split))
      reach(state, std::move(next), std::move(move));
  }
}

/// Cuts dimensions that are whole at once as the target has them, whose blocks need not be parts of
/// the first axis' blocks.
void PathFinder::addWholeSlices(const State &state) {
  Atoms used = state.partial;
  for (const Atoms &dim : state.dims)
    llvm::append_range(used, dim);
  for (auto [dim, list] : llvm::enumerate(target.dims)) {
    if (list.size() < 2 || !state.dims[dim].empty() || without(list, used) != list)
      continue;
    State next = state;
    setDim(state, next, dim, list);
    reach(state, std::move(next), {ReshardKind::Slice, static_cast<unsigned>(dim), 0, list, {}});
  }
}

void PathFinder::addGathersAndExchanges(const State &state) {
  for (unsigned dim = 0; dim < state.dims.size(); ++dim)
    for (size_t kept = 0; kept < state.dims[dim].size(); ++kept) {
      Atoms tail(state.dims[dim].begin() + kept, state.dims[dim].end());
      // Its parts go where all want to be, or to everyone.
      int to = wanted[tail.front()];
      bool isExchange = to >= 0 && to != static_cast<int>(dim) &&
                        llvm::all_of(tail, [&](uint8_t atom) { return wanted[atom] == to; });
      Move gather{ReshardKind::AllGather, dim, 0, tail, {}};
      bool mayGather = mayLead(state, gather);
      if (!mayGather && !isExchange)
        continue;
      State next = state;
      Atoms joined = state.dims[dim];
      joined.resize(kept);
      if (!setDim(state, next, dim, joined))
        continue;
      if (mayGather)
        reach(state, next, std::move(gather));
      if (!isExchange)
        continue;
      Atoms split = state.dims[to];
      llvm::append_range(split, tail);
      if (setDim(state, next, to, split))
        reach(state, std::move(next),
              {ReshardKind::AllToAll, static_cast<unsigned>(to), dim, tail, {}});
    }
}

/// Adds the permutation that makes `next`, if both have as many blocks in each dimension.
void PathFinder::addPermutation(const State &state, const State &next) {
  if (next == state || next.partial != state.partial)
    return;
  Move move{ReshardKind::Permute, 0, 0, {}, {}};
  for (auto [dim, before, after] : llvm::enumerate(state.dims, next.dims)) {
    if (count(before) != count(after) || state.units[dim] != next.units[dim])
      return;
    if (before == after)
      continue;
    llvm::append_range(move.axes, before);
    llvm::append_range(move.to, after);
  }
  Atoms vanishing = without(move.axes, move.to), appearing = without(move.to, move.axes);
  llvm::append_range(move.axes, appearing);
  llvm::append_range(move.to, vanishing);
  reach(state, next, std::move(move));
}

void PathFinder::addPermutations(const State &state) {
  addPermutation(state, target);
  State sorted = state;
  for (auto [list, goal] : llvm::zip_equal(sorted.dims, target.dims)) {
    Atoms others = without(list, goal);
    list = without(goal, without(goal, list)); // those that the target has, in its order
    llvm::append_range(list, others);
  }
  addPermutation(state, sorted);
}

void PathFinder::expand(const State &state) {
  Atoms unwanted = without(state.partial, target.partial);
  addReductions(state, unwanted);
  addScatters(state, unwanted);
  addSlices(state);
  addWholeSlices(state);
  addGathersAndExchanges(state);
  addPermutations(state);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// Appends a step; a slice that continues the last one joins it.
static void appendStep(llvm::SmallVectorImpl<ReshardStep> &steps, ReshardStep step) {
  if (!steps.empty() && step.kind == ReshardKind::Slice &&
      steps.back().kind == ReshardKind::Slice && steps.back().dim == step.dim) {
    append(steps.back().axes, step.axes);
    steps.back().after = step.after;
    return;
  }
  steps.push_back(std::move(step));
}

ReshardPath PathFinder::trace(unsigned last) const {
  SmallVector<unsigned, 8> nodes;
  for (unsigned node = last; node != 0; node = reached[node].before)
    nodes.push_back(node);
  ReshardPath path;
  path.bytes = static_cast<double>(std::get<0>(reached[last].cost));
  for (unsigned node : llvm::reverse(nodes)) {
    const auto &[after, cost, before, move] = reached[node];
    ReshardStep step{move.kind, move.dim, move.concatDim, decode(move.axes), {}, decode(after)};
    if (move.kind == ReshardKind::Permute) { // both lists in the same atoms
      step.axes = step.to = {};
      for (uint8_t atom : move.axes)
        step.axes.push_back(atoms[atom]);
      for (uint8_t atom : move.to)
        step.to.push_back(atoms[atom]);
    }
    appendStep(path.steps, std::move(step));
  }
  return path;
}

std::optional<ReshardPath> PathFinder::run() {
  if (!without(target.partial, source.partial).empty())
    return std::nullopt;
  reached.add({source, {}, 0, {}});
  while (std::optional<unsigned> next = reached.pop()) {
    current = *next;
    const State &state = reached[current].state;
    if (state == target)
      return trace(current);
    expand(state);
  }
  return std::nullopt;
}

/// `from` without the axes whose sub-axes do not nest with those of `to` (and what lies behind them
/// in their dimension, or all of it where it is padded), for instance (1)2 beside (1)3 of an axis
/// of 12.
static TensorSharding withoutConflicts(ArrayRef<int64_t> shape, const TensorSharding &from,
                                       const TensorSharding &to) {
  SmallVector<unsigned, 4> conflicting;
  auto places = cuts(from, to);
  for (auto [place, next] : llvm::zip(places, llvm::drop_begin(places, places.empty() ? 0 : 1)))
    if (next.first == place.first && next.second % place.second != 0)
      conflicting.push_back(place.first);
  if (conflicting.empty())
    return from;
  TensorSharding result = from;
  auto conflicts = [&](AxisRef axis) { return llvm::is_contained(conflicting, axis.axis); };
  for (auto [dim, list] : llvm::enumerate(result.dims)) {
    auto first = llvm::find_if(list, conflicts);
    if (first == list.end())
      continue;
    list.erase(isPadded(shape[dim], list) ? list.begin() : first, list.end());
    list.unit = 1;
  }
  llvm::erase_if(result.partial, conflicts);
  return result;
}

std::optional<ReshardPath> weft::findReshardPath(const MeshShape &mesh, ArrayRef<int64_t> shape,
                                                 int64_t elementBytes, const TensorSharding &from,
                                                 const TensorSharding &to) {
  if (!to.partial.empty() && to.reduction != from.reduction)
    return std::nullopt;
  TensorSharding middle = withoutConflicts(shape, from, to);
  std::optional<ReshardPath> path;
  if (middle != from)
    path = PathFinder(mesh, shape, elementBytes, from, middle).run();
  std::optional<ReshardPath> end = PathFinder(mesh, shape, elementBytes, middle, to).run();
  if (middle == from || !path || !end)
    return middle == from ? end : std::nullopt;
  llvm::append_range(path->steps, end->steps);
  path->bytes += end->bytes;
  return path;
}
