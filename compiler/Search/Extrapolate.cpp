#include "compiler/Search/Extrapolate.h"

#include "compiler/Search/FoldNodes.h"
#include "compiler/Search/TensorLifetimes.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace weft;
using llvm::ArrayRef;

/// A variable is known by the colours of operations, of a state by those that read any of its loads
/// (Searcher::addStates), three steps from each: the load, the store, another load, its reader.
/// What looks alike so many steps further belongs to the same variables, and programs of the same
/// such surroundings have the same ones.
static constexpr unsigned linkSteps = 3;

static std::vector<uint64_t> colorSurroundings(const ShardingGraph &graph,
                                               ArrayRef<uint64_t> kinds) {
  return colorNodes(graph, kinds, foldingSteps + linkSteps);
}

namespace {
/// What there is of each colour in one program.
struct Members {
  std::vector<unsigned> nodes;
};

/// One of the programs.
class Program {
public:
  explicit Program(const ShardingProblem &problem)
      : problem(problem), graph(*problem.graph), lifetimes(problem),
        bytes(lifetimes.getLiveBytes()), colors(colorSurroundings(graph, problem.kinds)) {
    for (auto [node, color] : llvm::enumerate(colors))
      members[color].nodes.push_back(node);
  }

  /// When the first or the last node of a colour is computed.
  size_t getMoment(uint64_t color, bool isLast) const {
    const std::vector<unsigned> &nodes = members.at(color).nodes;
    return lifetimes.getMoment(isLast ? nodes.back() : nodes.front());
  }
  double getBytes(uint64_t color, bool isLast) const { return bytes[getMoment(color, isLast)]; }
  double count(uint64_t color) const { return static_cast<double>(members.at(color).nodes.size()); }
  /// How many of the results number `result` of a colour's nodes are there at a moment.
  double countLive(uint64_t color, unsigned result, size_t moment) const {
    return static_cast<double>(llvm::count_if(members.at(color).nodes, [&](unsigned node) {
      return lifetimes.isLive(graph.nodes[node].results[result], moment);
    }));
  }
  std::set<uint64_t> listColors() const { return std::set<uint64_t>(colors.begin(), colors.end()); }

  const ShardingProblem &problem;
  const ShardingGraph &graph;
  TensorLifetimes lifetimes;
  std::vector<double> bytes; ///< by moment
  std::vector<uint64_t> colors;
  std::map<uint64_t, Members> members; ///< by colour
};

class Extrapolator {
public:
  Extrapolator(ShardingProblem &problem, ArrayRef<FurtherLayers> further)
      : problem(problem), base(problem), further(further) {
    for (const FurtherLayers &layers : further)
      longer.emplace_back(*layers.problem);
  }

  bool run();

private:
  /// What a number that grows by as much with each layer comes to.
  template <typename Number> double extend(Number number) const {
    double first = number(base), sum = first;
    for (auto [program, layers] : llvm::zip_equal(longer, further))
      sum += layers.count * (number(program) - first);
    return sum;
  }
  void findPeak();

  ShardingProblem &problem;
  Program base;
  ArrayRef<FurtherLayers> further;
  std::vector<Program> longer;
  std::pair<uint64_t, bool> peak; ///< a colour, and whether its last node is meant
};
} // namespace

/// Where the long program holds most: at the first or the last node of some colour. Of equals it is
/// that whose first node comes last, since the order of colours is another in every process.
void Extrapolator::findPeak() {
  double most = -1;
  unsigned place = 0;
  for (const auto &entry : base.members)
    for (bool isLast : {false, true}) {
      double bytes =
          extend([&](const Program &program) { return program.getBytes(entry.first, isLast); });
      unsigned first = entry.second.nodes.front();
      if (bytes < most || (bytes == most && first <= place))
        continue;
      most = bytes;
      place = first;
      peak = {entry.first, isLast};
    }
}

bool Extrapolator::run() {
  std::set<uint64_t> known = base.listColors();
  if (!llvm::all_of(longer, [&](const Program &program) { return program.listColors() == known; }))
    return false;
  findPeak();
  problem.counts.assign(base.graph.nodes.size(), 1);
  problem.live.assign(base.graph.tensors.size(), 0);
  size_t moment = base.getMoment(peak.first, peak.second);
  for (unsigned tensor = 0; tensor < base.graph.tensors.size(); ++tensor)
    problem.live[tensor] = base.lifetimes.isLive(tensor, moment) ? 1 : 0;
  for (const auto &[color, members] : base.members) {
    uint64_t own = color;
    auto size = static_cast<double>(members.nodes.size());
    double count = extend([&](const Program &program) { return program.count(own); }) / size;
    for (unsigned node : members.nodes)
      problem.counts[node] = count;
    for (unsigned result = 0; result < base.graph.nodes[members.nodes.front()].results.size();
         ++result) {
      double live = extend([&](const Program &program) {
        return program.countLive(own, result, program.getMoment(peak.first, peak.second));
      });
      for (unsigned node : members.nodes)
        problem.live[base.graph.nodes[node].results[result]] = std::max(0.0, live) / size;
    }
  }
  return true;
}

bool weft::extrapolate(ShardingProblem &problem, ArrayRef<FurtherLayers> further) {
  return Extrapolator(problem, further).run();
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// By tensor, another tensor: results of nodes stand for those of `like`, inputs for inputs in
/// their order. None where there is no such input.
static std::optional<std::vector<unsigned>>
findLike(const ShardingGraph &from, const ShardingGraph &to, ArrayRef<unsigned> like) {
  std::vector<unsigned> inputs, found(to.tensors.size(), ShardingGraph::none);
  for (auto [number, tensor] : llvm::enumerate(from.tensors))
    if (tensor.input)
      inputs.push_back(number);
  auto next = inputs.begin();
  for (auto [number, tensor] : llvm::enumerate(to.tensors)) {
    if (!tensor.input)
      continue;
    if (next == inputs.end() || from.tensors[*next].shape != tensor.shape)
      return std::nullopt;
    found[number] = *next++;
  }
  for (auto [number, node] : llvm::enumerate(to.nodes))
    for (auto [result, tensor] : llvm::enumerate(node.results))
      found[tensor] = from.nodes[like[number]].results[result];
  return found;
}

std::optional<ShardingAnswer> weft::carryOver(const KnownAnswer &known, const ShardingGraph &graph,
                                              ArrayRef<uint64_t> kinds) {
  std::map<uint64_t, unsigned> first;
  const ShardingGraph &knownGraph = *known.problem->graph;
  for (auto [node, color] : llvm::enumerate(colorSurroundings(knownGraph, known.problem->kinds)))
    first.try_emplace(color, node);
  std::vector<unsigned> like;
  for (uint64_t color : colorSurroundings(graph, kinds)) {
    auto found = first.find(color);
    if (found == first.end())
      return std::nullopt;
    like.push_back(found->second);
  }
  std::optional<std::vector<unsigned>> tensors = findLike(knownGraph, graph, like);
  if (!tensors)
    return std::nullopt;
  ShardingAnswer answer = known.answer;
  answer.splits.clear();
  answer.forms.clear();
  answer.returned.clear();
  for (unsigned node : like)
    answer.splits.push_back(known.answer.splits[node]);
  for (unsigned tensor : *tensors) {
    bool isKnown = tensor != ShardingGraph::none;
    answer.forms.push_back(isKnown ? known.answer.forms[tensor] : std::nullopt);
    answer.returned.push_back(isKnown ? known.answer.returned[tensor] : std::nullopt);
  }
  return answer;
}
