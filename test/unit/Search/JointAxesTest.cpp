// Axes of a mesh are chosen for together: one by one they are at most as good.
#include "test/unit/Search/BruteForce.h"

using namespace weft;

namespace {
/// What a split gives to one axis, by factor and for the sums that wait.
std::vector<AxisList> onlyAxis(const OperationSplit &split, unsigned axis) {
  std::vector<AxisList> parts;
  auto add = [&](const AxisList &axes) {
    AxisList &own = parts.emplace_back();
    for (AxisRef part : axes)
      if (part.axis == axis)
        append(own, part);
  };
  llvm::for_each(split.axes, add);
  add(split.sums.axes);
  return parts;
}

/// The splits that the search finds on a mesh of one axis, as parts of number `axis`.
std::vector<std::vector<AxisList>> solveAlone(const Program &program, const MeshShape &mesh,
                                              unsigned axis, const ClusterModel &cluster) {
  MeshShape alone{"mesh", {mesh.axes[axis]}};
  MeshPrices prices(alone, cluster);
  std::vector<std::vector<AxisList>> found;
  for (const OperationSplit &split : searchShardings(program.problem, prices, {}).splits) {
    found.push_back(onlyAxis(split, 0));
    for (AxisList &axes : found.back())
      for (AxisRef &part : axes)
        part.axis = axis;
  }
  return found;
}

/// The least where the splits of some axes are given and all else is open: other axes, and the
/// forms of values.
double solveGiven(const Program &program, MeshPrices &prices,
                  const std::map<unsigned, std::vector<std::vector<AxisList>>> &given) {
  return Enumerator(program, prices, Enumerator::none,
                    [&](unsigned node, const OperationSplit &split) {
                      return llvm::all_of(given, [&](const auto &entry) {
                        return onlyAxis(split, entry.first) == entry.second[node];
                      });
                    })
      .run();
}
} // namespace

TEST_CASE("axes solved one by one are worse than together, or lead nowhere") {
  const ClusterModel cluster = getCluster("cpu:8");
  const MeshShape mesh{"mesh", {{"model", 2}, {"expert", 2}}};
  int worse = 0, nowhere = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Program program(seed);
    INFO("seed " << seed << ":" << program.described);
    MeshPrices prices(mesh, cluster);
    double joint = searchShardings(program.problem, prices, {}).seconds;
    CHECK(joint == Approx(Enumerator(program, prices, Enumerator::none).run()).epsilon(1e-6));
    auto first = solveAlone(program, mesh, 0, cluster),
         second = solveAlone(program, mesh, 1, cluster);
    double inTurn = solveGiven(program, prices, {{0, first}});
    double apart = solveGiven(program, prices, {{0, first}, {1, second}});
    CHECK(joint <= inTurn * (1 + 1e-6)); // which counts in picoseconds
    CHECK(inTurn <= apart);
    nowhere += apart == Enumerator::none;
    worse += std::isfinite(inTurn) && joint < 0.99 * inTurn;
  }
  CHECK(worse > 0);
  CHECK(nowhere > 0); // both axes want what only one of them can have
}
