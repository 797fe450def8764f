#include "compiler/Search/Extrapolate.h"

#include "compiler/Search/TensorLifetimes.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace weft;
using llvm::ArrayRef;

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
        bytes(lifetimes.getLiveBytes()), colors(colorNodes(problem)) {
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
  bool hasColorsOf(const Program &other) const {
    return members.size() == other.members.size() &&
           llvm::all_of(other.members,
                        [&](const auto &entry) { return members.count(entry.first); });
  }

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

/// Where the long program holds most: at the first or the last node of some colour.
void Extrapolator::findPeak() {
  double most = -1;
  for (const auto &entry : base.members)
    for (bool isLast : {false, true}) {
      double bytes =
          extend([&](const Program &program) { return program.getBytes(entry.first, isLast); });
      if (bytes > most) {
        most = bytes;
        peak = {entry.first, isLast};
      }
    }
}

bool Extrapolator::run() {
  if (!llvm::all_of(longer, [&](const Program &program) { return program.hasColorsOf(base); }))
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
