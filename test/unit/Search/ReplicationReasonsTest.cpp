#include "compiler/Search/ReplicationReasons.h"

#include <catch2/catch.hpp>

using namespace weft;
using Kind = ReplicationReason::Kind;

namespace {
const MeshShape mesh{"mesh", {{"data", 2}, {"model", 4}}};

/// x [batch, tokens, 16] through a normalisation over its last dimension and a product to
/// `columns`.
struct Layer {
  ShardingGraph graph;
  unsigned x, scaled, normed, weight, y;

  explicit Layer(int64_t batch, int64_t tokens, int64_t columns) {
    x = graph.addInput({batch, tokens, 16}, 4);
    scaled = pointwise(x, FactorKind::Parallel);
    normed = pointwise(scaled, FactorKind::Replicated);
    weight = graph.addWeight({16, columns}, 4);
    y = graph.addTensor({batch, tokens, columns}, 4);
    FactorRule rule;
    unsigned b = rule.add("b", batch), s = rule.add("s", tokens),
             k = rule.add("k", 16, FactorKind::Reduction), n = rule.add("n", columns);
    rule.operands = {{{b}, {s}, {k}}, {{k}, {n}}};
    rule.results = {{{b}, {s}, {n}}};
    graph.addNode(rule, {normed, weight}, {y});
  }

  unsigned pointwise(unsigned from, FactorKind last) {
    llvm::SmallVector<int64_t, 4> shape = graph.tensors[from].shape;
    FactorRule rule;
    unsigned b = rule.add("b", shape[0]), s = rule.add("s", shape[1]), d = rule.add("d", 16, last);
    rule.operands = {{{b}, {s}, {d}}};
    rule.results = {{{b}, {s}, {d}}};
    unsigned result = graph.addTensor(shape, 4);
    graph.addNode(rule, {from}, {result});
    return result;
  }

  /// The reason for a dimension (none: for the tensor as such) and an axis.
  std::optional<ReplicationReason> why(const Propagation &shardings, unsigned tensor, unsigned axis,
                                       std::optional<unsigned> dim, bool pinned = false) {
    ReplicationReasons reasons(graph, mesh, shardings, {pinned, pinned});
    for (const ReplicationReason &reason : reasons.of(tensor))
      if (reason.axis == axis && reason.dim == dim)
        return reason;
    return std::nullopt;
  }
};
} // namespace

TEST_CASE("axes and the batch keep to each other") {
  Layer layer(4, 8, 64);
  Propagation shardings(layer.graph);
  CHECK(layer.why(shardings, layer.x, 0, 1)->kind == Kind::NoBatch);
  CHECK(layer.why(shardings, layer.x, 1, 0)->kind == Kind::Batch);
  CHECK(layer.why(shardings, layer.x, 0, 0)->kind == Kind::NotChosen);
  CHECK(layer.why(shardings, layer.x, 1, 1)->kind == Kind::NotChosen);
  // Pins may split what the choice does not.
  CHECK(layer.why(shardings, layer.x, 1, 0, true)->kind == Kind::PinnedAxis);
  REQUIRE(shardings.seed(layer.x, 0, fullAxis(mesh, 0)));
  shardings.run();
  CHECK_FALSE(layer.why(shardings, layer.x, 0, 1));
  CHECK_FALSE(layer.why(shardings, layer.y, 0, 0));
}

TEST_CASE("blocks that no part of an axis divides") {
  Layer layer(3, 6, 63);
  Propagation shardings(layer.graph);
  CHECK(layer.why(shardings, layer.x, 0, 0)->kind != Kind::Indivisible); // padded
  REQUIRE(shardings.seed(layer.x, 1, fullAxis(mesh, 0)));
  CHECK(layer.why(shardings, layer.x, 1, 1)->kind == Kind::Indivisible); // 3 by 4
  CHECK(layer.why(shardings, layer.x, 1, 0)->kind != Kind::Indivisible);
  Layer one(1, 8, 64);
  Propagation whole(one.graph);
  CHECK_FALSE(one.why(whole, one.x, 0, 0)); // nothing to split
}

TEST_CASE("a split would meet what needs the dimension whole") {
  Layer layer(4, 8, 64);
  Propagation shardings(layer.graph);
  std::optional<ReplicationReason> met = layer.why(shardings, layer.x, 1, 2);
  REQUIRE(met);
  CHECK(met->kind == Kind::NeedsReshard);
  CHECK(met->obstacle.kind == Obstacle::Kind::NeedsReplication);
  CHECK(met->obstacle.node == 1); // the normalisation, behind an elementwise node
  std::optional<ReplicationReason> made = layer.why(shardings, layer.normed, 1, 2);
  REQUIRE(made);
  CHECK(made->kind == Kind::ProducedReplicated);
  CHECK(made->obstacle.node == 1);
}

TEST_CASE("partial sums are joined") {
  Layer layer(4, 8, 64);
  Propagation shardings(layer.graph);
  REQUIRE(shardings.seed(layer.weight, 0, fullAxis(mesh, 1)));
  shardings.run();
  std::optional<ReplicationReason> summed = layer.why(shardings, layer.y, 1, std::nullopt);
  REQUIRE(summed);
  CHECK(summed->kind == Kind::Summed);
  CHECK(summed->obstacle.node == 2);
  CHECK_FALSE(layer.why(shardings, layer.y, 0, std::nullopt));
}
