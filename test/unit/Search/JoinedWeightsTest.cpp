// Weights that are pinned so that an operation cannot read them so.
#include "test/unit/Search/BruteForce.h"

using namespace weft;

namespace {
/// x · (a + b), whose weights people put on one axis along unlike dimensions: no split of the sum
/// reads both so. Besides, weights that are pinned alike.
struct Summed : Program {
  Summed(int64_t width, bool alike) {
    unsigned x = input({64, 48});
    unsigned a = graph.addWeight({48, width}, 4), b = graph.addWeight({48, width}, 4);
    unsigned sum = add(a, b);
    graph.nodes.back().rule.linearity = SumLinearity::Joint;
    unsigned y = dot(x, sum);
    graph.nodes.back().rule.linearity = SumLinearity::Each;
    finish(y);
    AxisList model;
    append(model, AxisRef{0, 1, 2});
    problem.required[a] = split({model, {}});
    problem.required[b] = alike ? split({model, {}}) : split({{}, model});
  }
};
} // namespace

TEST_CASE("what a pinned weight takes to be joined where it is read is priced") {
  const ClusterModel cluster = getCluster("cpu:8");
  const MeshShape shape{"mesh", {{"model", 2}}};
  MeshPrices prices(shape, cluster);
  for (int64_t width : {32, 47, 4096}) {
    INFO("width " << width);
    Summed unlike(width, /*alike=*/false), alike(width, /*alike=*/true);
    ShardingAnswer answer = searchShardings(unlike.problem, prices, {});
    REQUIRE(answer.status == solver::Status::Optimal);
    CHECK(answer.seconds ==
          Approx(Enumerator(unlike, prices, Enumerator::none).run()).epsilon(1e-6));
    // At least one of both is moved, by the cheaper of the ways.
    FormTables tables;
    FormTable &forms = tables.of({48, width}, 4);
    unsigned rows = forms.add(*unlike.problem.required[1]),
             columns = forms.add(*unlike.problem.required[2]),
             whole = forms.add(TensorSharding::replicated(2));
    double least =
        std::min({forms.getSeconds(rows, columns, prices), forms.getSeconds(columns, rows, prices),
                  2 * forms.getSeconds(rows, whole, prices)});
    ShardingAnswer read = searchShardings(alike.problem, prices, {});
    REQUIRE(least > 0);
    CHECK(read.splits[0].axes[0].size() == 1); // as they lie
    for (std::optional<TensorSharding> &pin : unlike.problem.required)
      pin.reset();
    ShardingAnswer open = searchShardings(unlike.problem, prices, {});
    CHECK(answer.seconds >= open.seconds + 0.999 * least);
  }
}
