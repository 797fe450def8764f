#include "compiler/Search/Strategies.h"

#include "compiler/Sharding/FactorDims.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace weft;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

/// Sizes below that of an axis at which it is cut: of factors that lead others in an operation that
/// computes, so that the groups of heads are split before what is in them.
static std::set<int64_t> findCuts(const ShardingGraph &graph, int64_t size) {
  std::set<int64_t> cuts;
  for (const ShardingGraph::Node &node : graph.nodes) {
    if (node.view || node.operands.size() < 2)
      continue;
    for (const TensorFactors &tensor : node.rule.operands)
      for (const DimFactors &dim : tensor)
        if (std::optional<LeadingFactor> lead = leadingFactorOf(node.rule, dim)) {
          int64_t leading = node.rule.factors[lead->factor].size;
          if (lead->unit > 1 && leading < size && size % leading == 0)
            cuts.insert(leading);
        }
  }
  return cuts;
}

/// The smallest part of an axis that makes blocks of the batch as short as all of it does: of eight
/// devices for a batch of four, four; none for a batch of one.
static std::set<int64_t> findBatchCuts(int64_t batch, int64_t size) {
  auto length = [&](int64_t count) { return (batch + count - 1) / count; };
  for (int64_t part = 1; part < size; ++part)
    if (size % part == 0 && batch > 0 && length(part) == length(size))
      return part > 1 ? std::set<int64_t>{part} : std::set<int64_t>();
  return {};
}

/// Those of an axis at which no other axis ends: where one splits the groups of heads, this one
/// splits what is in them, and parts of it would only be more to choose from.
static std::set<int64_t> withoutOthers(std::set<int64_t> cuts, const MeshShape &mesh, size_t axis) {
  for (auto [index, other] : llvm::enumerate(mesh.axes))
    if (index != axis && !isBatchAxis(other.name) && other.size > 1)
      for (auto cut = cuts.begin(); cut != cuts.end();)
        cut = *cut % other.size == 0 ? cuts.erase(cut) : std::next(cut);
  return cuts;
}

std::vector<Atom> weft::makeAtoms(const ShardingGraph &graph, const MeshShape &mesh) {
  std::vector<Atom> atoms;
  for (auto [index, axis] : llvm::enumerate(mesh.axes)) {
    bool takesBatch = isBatchAxis(axis.name);
    int64_t begin = 1;
    for (int64_t cut : takesBatch ? findBatchCuts(BatchDimensions(graph).size(), axis.size)
                                  : withoutOthers(findCuts(graph, axis.size), mesh, index))
      if (cut % begin == 0) {
        atoms.push_back({{static_cast<unsigned>(index), begin, cut / begin}, takesBatch});
        begin = cut;
      }
    if (axis.size > begin)
      atoms.push_back({{static_cast<unsigned>(index), begin, axis.size / begin}, takesBatch});
  }
  return atoms;
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

Strategies::Strategies(const ShardingGraph &graph, const MeshShape &mesh, std::vector<bool> isFree)
    : graph(graph), mesh(mesh), batch(BatchDimensions(graph).all()), isFree(std::move(isFree)),
      atoms(makeAtoms(graph, mesh)) {
  for (bool takesBatch : {false, true})
    llvm::copy_if(atoms, std::back_inserter(storageAtoms),
                  [&](const Atom &atom) { return atom.takesBatch == takesBatch; });
  findBatch();
  findUnits();
}

/// What meets the batch in an operation is the batch too: a bias that was broadcast to it.
void Strategies::findBatch() {
  for (unsigned index = graph.nodes.size(); index-- > 0;) {
    const ShardingGraph::Node &node = graph.nodes[index];
    for (unsigned factor = 0; factor < node.rule.factors.size(); ++factor) {
      if (!isBatch(index, factor))
        continue;
      for (auto [operand, tensor] : llvm::enumerate(node.operands))
        if (std::optional<unsigned> dim = dimLedBy(node.rule, node.rule.operands[operand], factor))
          batch[tensor].set(*dim);
    }
  }
}

/// Gives a dimension's place to all that its factor leads in the node. Whether anything is new.
bool Strategies::spreadPlaced(unsigned index, std::vector<llvm::BitVector> &places) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  std::set<unsigned> factors;
  bool changed = false;
  auto visit = [&](auto function) {
    for (auto [position, tensor] : llvm::enumerate(graph.tensorsOf(node)))
      for (auto [dim, own] : llvm::enumerate(ShardingGraph::factorsOf(node, position)))
        if (unsigned factor = leadingFactor(node.rule, own); factor != ShardingGraph::none)
          function(tensor, dim, factor);
  };
  visit([&](unsigned tensor, unsigned dim, unsigned factor) {
    if (places[tensor].test(dim))
      factors.insert(factor);
  });
  visit([&](unsigned tensor, unsigned dim, unsigned factor) {
    if (!factors.contains(factor) || places[tensor].test(dim))
      return;
    places[tensor].set(dim);
    changed = true;
  });
  return changed;
}

/// By tensor, dimensions that the axis may split though its name says otherwise.
std::vector<llvm::BitVector> &Strategies::getPlaces(unsigned axis) {
  std::vector<llvm::BitVector> &places = placed[axis];
  if (places.empty())
    for (const ShardingGraph::Tensor &described : graph.tensors)
      places.emplace_back(described.shape.size());
  return places;
}

void Strategies::spreadAllPlaced() {
  for (auto &[axis, places] : placed)
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned node = 0; node < graph.nodes.size(); ++node)
        changed |= spreadPlaced(node, places);
      for (unsigned node = graph.nodes.size(); node-- > 0;)
        changed |= spreadPlaced(node, places);
    }
}

void Strategies::follow(ArrayRef<std::optional<TensorSharding>> pins) {
  for (auto [tensor, pin] : llvm::enumerate(pins))
    for (auto [dim, axes] :
         llvm::enumerate(pin ? ArrayRef<AxisList>(pin->dims) : ArrayRef<AxisList>()))
      for (AxisRef axis : axes)
        if (isBatchAxis(mesh.axes[axis.axis].name) != batch[tensor].test(dim))
          getPlaces(axis.axis)[tensor].set(dim);
  spreadAllPlaced();
}

/// Whether a tensor is a weight, or made of one alone, as one in another type is.
static bool isOfWeight(const ShardingGraph &graph, unsigned tensor) {
  while (!graph.tensors[tensor].weight) {
    unsigned producer = graph.tensors[tensor].producer;
    if (producer == ShardingGraph::none || graph.nodes[producer].operands.size() != 1)
      return false;
    tensor = graph.nodes[producer].operands.front();
  }
  return true;
}

/// The factors of a node that multiplies rows by matrices of a weight, each its own: which matrix.
SmallVector<unsigned, 2> Strategies::findExperts(unsigned index) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  if (node.operands.size() < 2 ||
      llvm::none_of(node.operands, [&](unsigned tensor) { return isOfWeight(graph, tensor); }))
    return {};
  SmallVector<unsigned, 2> experts;
  bool multiplies = false;
  for (auto [factor, described] : llvm::enumerate(node.rule.factors)) {
    bool isOfAll = described.size > 1 &&
                   llvm::all_of(node.rule.operands, [&, factor = factor](const TensorFactors &own) {
                     return hasFactor(own, factor);
                   });
    multiplies |= isOfAll && described.kind == FactorKind::Reduction;
    if (isOfAll && described.kind == FactorKind::Parallel && !isBatch(index, factor))
      experts.push_back(factor);
  }
  return multiplies ? experts : SmallVector<unsigned, 2>();
}

void Strategies::placeExperts() {
  // Beside an axis of experts there are as many ways to split them without.
  if (llvm::count_if(mesh.axes, [](const MeshAxis &axis) { return !isBatchAxis(axis.name); }) > 1)
    return;
  for (auto [index, node] : llvm::enumerate(graph.nodes))
    for (unsigned factor : findExperts(index))
      for (auto [axis, described] : llvm::enumerate(mesh.axes))
        if (isBatchAxis(described.name) && node.rule.factors[factor].size % described.size == 0)
          for (auto [operand, tensor] : llvm::enumerate(node.operands))
            if (std::optional<unsigned> dim =
                    dimLedBy(node.rule, node.rule.operands[operand], factor))
              getPlaces(axis)[tensor].set(*dim);
  spreadAllPlaced();
}

/// Whether the axis may split what the factor leads, though its name says otherwise.
bool Strategies::isPlaced(unsigned index, unsigned factor, unsigned axis) const {
  auto found = placed.find(axis);
  if (found == placed.end())
    return false;
  const ShardingGraph::Node &node = graph.nodes[index];
  for (auto [position, tensor] : llvm::enumerate(graph.tensorsOf(node)))
    for (auto [dim, factors] : llvm::enumerate(ShardingGraph::factorsOf(node, position)))
      if (found->second[tensor].test(dim) && leadingFactor(node.rule, factors) == factor)
        return true;
  return false;
}

/// What is placed for one node.
struct Strategies::Options {
  unsigned node;
  SmallVector<bool, 4> carriers; ///< operands that may come as sums, all of them or none
  std::vector<OperationSplit> &found;
};

/// Whether the factor leads a dimension of the batch.
bool Strategies::isBatch(unsigned index, unsigned factor) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  for (auto [position, tensor] : llvm::enumerate(graph.tensorsOf(node)))
    for (auto [dim, factors] : llvm::enumerate(ShardingGraph::factorsOf(node, position)))
      if (batch[tensor].test(dim) && leadingFactor(node.rule, factors) == factor)
        return true;
  return false;
}

/// Whether a split of the factor would leave whole a weight that the node contracts.
bool Strategies::leavesWeight(unsigned index, unsigned factor) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  return llvm::any_of(llvm::enumerate(node.operands), [&](const auto &entry) {
    const TensorFactors &own = node.rule.operands[entry.index()];
    return graph.tensors[entry.value()].weight && !hasFactor(own, factor) &&
           llvm::any_of(llvm::enumerate(node.rule.factors), [&](const auto &other) {
             return other.value().kind == FactorKind::Reduction && hasFactor(own, other.index());
           });
  });
}

bool Strategies::maySplit(unsigned node, unsigned factor, const Atom &atom) const {
  const Factor &described = graph.nodes[node].rule.factors[factor];
  if (described.size == 1 ||
      (described.kind != FactorKind::Parallel && described.kind != FactorKind::Reduction))
    return false;
  if (isPlaced(node, factor, atom.axis.axis))
    return true;
  if (isBatch(node, factor))
    return atom.takesBatch;
  return atom.takesBatch ? isFree[node] : !leavesWeight(node, factor);
}

/// The only factor of a dimension; none of one that is joined, or of size 1.
static std::optional<unsigned> onlyFactor(const FactorRule &rule, const DimFactors &dim) {
  std::optional<LeadingFactor> lead = leadingFactorOf(rule, dim);
  return lead && lead->unit == 1 ? std::optional(lead->factor) : std::nullopt;
}

/// Dimensions that share a factor, each made of it alone, share its units; one that joins factors
/// brings the unit of the first. Calls `changes` with the tensors that get new ones.
void Strategies::spreadUnits(unsigned index, llvm::function_ref<void(unsigned)> changes) {
  const ShardingGraph::Node &node = graph.nodes[index];
  std::vector<std::set<int64_t>> known(node.rule.factors.size());
  auto visit = [&](auto function) {
    for (auto [position, tensor] : llvm::enumerate(graph.tensorsOf(node)))
      for (auto [dim, factors] : llvm::enumerate(ShardingGraph::factorsOf(node, position)))
        function(tensor, units[tensor][dim], factors);
  };
  visit([&](unsigned tensor, std::set<int64_t> &own, const DimFactors &factors) {
    if (std::optional<unsigned> factor = onlyFactor(node.rule, factors))
      known[*factor].insert(own.begin(), own.end());
    else if (std::optional<LeadingFactor> lead = leadingFactorOf(node.rule, factors))
      if (own.insert(lead->unit).second)
        changes(tensor);
  });
  visit([&](unsigned tensor, std::set<int64_t> &own, const DimFactors &factors) {
    if (std::optional<unsigned> factor = onlyFactor(node.rule, factors))
      for (int64_t unit : known[*factor])
        if (own.insert(unit).second)
          changes(tensor);
  });
}

/// Forwards and backwards, since units come from reshapes on either side; nodes whose tensors got
/// nothing since they were visited have nothing to spread.
void Strategies::spreadAllUnits() {
  std::vector<unsigned> changedAt(graph.tensors.size(), 1), visitedAt(graph.nodes.size());
  unsigned now = 1;
  auto visit = [&](unsigned index) {
    auto tensors = graph.tensorsOf(graph.nodes[index]);
    if (llvm::all_of(tensors, [&](unsigned each) { return changedAt[each] <= visitedAt[index]; }))
      return;
    ++now;
    spreadUnits(index, [&](unsigned tensor) { changedAt[tensor] = now; });
    visitedAt[index] = now;
  };
  for (unsigned before = 0; before != now;) {
    before = now;
    for (unsigned node = 0; node < graph.nodes.size(); ++node)
      visit(node);
    for (unsigned node = graph.nodes.size(); node-- > 0;)
      visit(node);
  }
}

void Strategies::findUnits() {
  for (const ShardingGraph::Tensor &tensor : graph.tensors)
    units.emplace_back(tensor.shape.size());
  bool pads = llvm::any_of(graph.tensors, [&](const ShardingGraph::Tensor &tensor) {
    return llvm::any_of(tensor.shape, [&](int64_t size) {
      return llvm::any_of(atoms, [&](const Atom &atom) { return size % atom.axis.size != 0; });
    });
  });
  if (pads)
    spreadAllUnits();
}

SmallVector<int64_t, 2> Strategies::listUnits(unsigned index, unsigned factor) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  std::set<int64_t> found;
  for (auto [position, tensor] : llvm::enumerate(graph.tensorsOf(node)))
    for (auto [dim, factors] : llvm::enumerate(ShardingGraph::factorsOf(node, position)))
      if (onlyFactor(node.rule, factors) == factor)
        found.insert(units[tensor][dim].begin(), units[tensor][dim].end());
  return {found.begin(), found.end()};
}

/// The ways to split `size` elements by an axis besides those at hand: none where blocks do not
/// become shorter, or are no parts of the blocks at hand; several where they are padded.
SmallVector<AxisList, 2> Strategies::extend(int64_t size, const AxisList &now, AxisRef more,
                                            ArrayRef<int64_t> units) const {
  int64_t before = localExtent(size, now);
  if (!now.empty() && (isPadded(size, now) || before % more.size != 0))
    return {};
  SmallVector<AxisList, 2> found;
  auto add = [&](int64_t unit) {
    AxisList axes = now;
    append(axes, more);
    axes.unit = unit;
    if (localExtent(size, axes) < before && (unit == 1 || isPadded(size, axes)))
      found.push_back(std::move(axes));
  };
  add(1);
  for (int64_t unit : size % more.size == 0 ? ArrayRef<int64_t>() : units)
    if (size % unit == 0 && unit > 1)
      add(unit);
  return found;
}

void Strategies::place(Options &options, size_t next, OperationSplit &split) const {
  const FactorRule &rule = graph.nodes[options.node].rule;
  const std::vector<Atom> &ordered = isFree[options.node] ? storageAtoms : atoms;
  if (next == ordered.size()) {
    bool carries = llvm::is_contained(options.carriers, true);
    if (carries != split.sums.axes.empty() && check(rule, split, mesh).empty())
      options.found.push_back(split);
    return;
  }
  const Atom &atom = ordered[next];
  place(options, next + 1, split);
  if (llvm::any_of(split.axes, [&](const AxisList &axes) { return overlaps(axes, atom.axis); }))
    return; // given
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    if (!maySplit(options.node, factor, atom))
      continue;
    AxisList before = split.axes[factor];
    for (const AxisList &axes :
         extend(rule.factors[factor].size, before, atom.axis, listUnits(options.node, factor))) {
      split.axes[factor] = axes;
      place(options, next + 1, split);
    }
    split.axes[factor] = before;
  }
  if (llvm::is_contained(options.carriers, true)) {
    AxisList before = split.sums.axes;
    append(split.sums.axes, atom.axis);
    place(options, next + 1, split);
    split.sums.axes = before;
  }
}

/// Sets of operands that may come as sums that wait.
std::vector<SmallVector<bool, 4>> Strategies::listCarriers(unsigned index) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  size_t count = node.operands.size();
  auto isSum = [&](unsigned operand) {
    const ShardingGraph::Tensor &tensor = graph.tensors[node.operands[operand]];
    return !tensor.weight && !tensor.integral && tensor.producer != ShardingGraph::none;
  };
  std::vector<SmallVector<bool, 4>> sets{SmallVector<bool, 4>(count, false)};
  auto addOne = [&](unsigned operand) {
    if (!isSum(operand))
      return;
    sets.emplace_back(count, false);
    sets.back()[operand] = true;
  };
  if (node.results.size() != 1 || count == 0)
    return sets;
  if (node.rule.linearity == SumLinearity::Joint &&
      llvm::all_of(llvm::seq<unsigned>(0, count), isSum))
    sets.emplace_back(count, true);
  if (node.rule.linearity == SumLinearity::First)
    addOne(0);
  if (node.rule.linearity == SumLinearity::Each)
    for (unsigned operand = 0; operand < count; ++operand)
      addOne(operand);
  return sets;
}

std::vector<OperationSplit> Strategies::list(unsigned node) const {
  return list(node, FactorAxes(graph.nodes[node].rule.factors.size()));
}

std::vector<OperationSplit> Strategies::list(unsigned node, const FactorAxes &given) const {
  std::vector<OperationSplit> found;
  for (SmallVector<bool, 4> &carriers : listCarriers(node)) {
    OperationSplit split = OperationSplit::whole(graph.nodes[node].rule);
    split.axes = given;
    split.sums.operands = carriers;
    Options options{node, carriers, found};
    place(options, 0, split);
  }
  return found;
}

void Strategies::keepBatch(unsigned node, std::vector<OperationSplit> &splits) const {
  for (const Atom &atom : atoms) {
    auto takes = [&](const OperationSplit &split) {
      return llvm::any_of(llvm::enumerate(split.axes), [&](const auto &entry) {
        return overlaps(entry.value(), atom.axis) &&
               (isBatch(node, entry.index()) || isPlaced(node, entry.index(), atom.axis.axis));
      });
    };
    if (atom.takesBatch && atom.axis.pre == 1 && llvm::any_of(splits, takes))
      llvm::erase_if(splits, [&](const OperationSplit &split) { return !takes(split); });
  }
}

//===----------------------------------------------------------------------===//
// Tensors that no node makes
//===----------------------------------------------------------------------===//

std::vector<TensorSharding> Strategies::listForms(unsigned index, bool isStorage) const {
  const ShardingGraph::Tensor &tensor = graph.tensors[index];
  std::vector<TensorSharding> found{TensorSharding::replicated(tensor.shape.size())};
  for (const Atom &atom : isStorage ? storageAtoms : atoms)
    for (size_t known = found.size(), form = 0; form < known; ++form)
      for (unsigned dim = 0; dim < tensor.shape.size(); ++dim) {
        bool mayTake = batch[index].test(dim) ? atom.takesBatch : !atom.takesBatch || isStorage;
        if (!mayTake)
          continue;
        std::set<int64_t> own = units[index][dim];
        for (const AxisList &axes : extend(tensor.shape[dim], found[form].dims[dim], atom.axis,
                                           SmallVector<int64_t>(own.begin(), own.end()))) {
          TensorSharding more = found[form];
          more.dims[dim] = axes;
          found.push_back(std::move(more));
        }
      }
  return found;
}
