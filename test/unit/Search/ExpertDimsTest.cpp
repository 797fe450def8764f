#include "compiler/Search/ExpertDims.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {
/// Dispatch, two products, and combine, as ExpertDims.h has them: t tokens of m, e experts with
/// room for c.
struct Mixture {
  ShardingGraph graph;
  unsigned mask, tokens, gates, in, up, out;

  /// A contraction written as letters, of which "tem" makes [t, e, m].
  unsigned contract(const std::string &text, unsigned lhs, unsigned rhs) {
    const std::string left = text.substr(0, text.find(',')),
                      right = text.substr(left.size() + 1, text.find('>') - left.size() - 1),
                      result = text.substr(text.find('>') + 1);
    FactorRule rule;
    std::map<char, unsigned> factors;
    auto factorsOf = [&](const std::string &letters, llvm::ArrayRef<int64_t> shape) {
      TensorFactors dims;
      for (auto [letter, size] : llvm::zip(letters, shape)) {
        bool kept = result.find(letter) != std::string::npos;
        if (!factors.count(letter))
          factors[letter] =
              rule.add("f", size, kept ? FactorKind::Parallel : FactorKind::Reduction);
        dims.push_back({factors[letter]});
      }
      return dims;
    };
    rule.operands = {factorsOf(left, graph.tensors[lhs].shape),
                     factorsOf(right, graph.tensors[rhs].shape)};
    llvm::SmallVector<int64_t, 4> shape;
    for (char letter : result)
      shape.push_back(rule.factors[factors[letter]].size);
    rule.results = {factorsOf(result, shape)};
    unsigned tensor = graph.addTensor(shape, 4);
    graph.addNode(rule, {lhs, rhs}, {tensor});
    graph.tensors[tensor].varying = true;
    return tensor;
  }

  Mixture() {
    mask = graph.addInput({64, 4, 16}, 4);
    tokens = graph.addInput({64, 8}, 4);
    gates = graph.addInput({64, 4, 16}, 4);
    in = contract("tec,tm>ecm", mask, tokens);
    up = contract("ecm,emf>ecf", in, graph.addWeight({4, 8, 32}, 4));
    out = contract("tec,ecf>tf", gates, up);
  }
  std::vector<llvm::BitVector> noBatch() const {
    std::vector<llvm::BitVector> batch;
    for (const ShardingGraph::Tensor &tensor : graph.tensors)
      batch.emplace_back(tensor.shape.size());
    return batch;
  }
};
} // namespace

TEST_CASE("a product of one matrix for each expert is found, with where it comes from and goes") {
  Mixture model;
  ExpertDims places(model.graph, model.noBatch());
  REQUIRE(places.products().size() == 1);
  const ExpertProduct &product = places.products().front();
  CHECK(product.input == TensorDim{model.in, 0});
  CHECK(product.result == TensorDim{model.up, 0});
  CHECK(places.isExpert({model.up, 0}));
  CHECK_FALSE(places.isExpert({model.up, 1}));
  CHECK_FALSE(places.isExpert({model.in, 0}));

  TensorDims masks = places.dispatchMasksOf(product);
  CHECK(masks.getArrayRef() == llvm::ArrayRef<TensorDim>{{model.mask, 1}});
  auto combines = places.combinesOf(product);
  REQUIRE(combines);
  REQUIRE(combines->size() == 1);
  CHECK(combines->front().experts == TensorDim{model.up, 0});
  CHECK(combines->front().gates.getArrayRef() == llvm::ArrayRef<TensorDim>{{model.gates, 1}});
}

TEST_CASE("what the batch runs side by side is no expert") {
  Mixture model;
  std::vector<llvm::BitVector> batch = model.noBatch();
  batch[model.up].set(0);
  CHECK(ExpertDims(model.graph, batch).products().empty());
}

TEST_CASE("experts that an operation needs whole are joined nowhere") {
  Mixture model;
  FactorRule rule; // as a softmax over experts
  TensorFactors factors{
      {rule.add("e", 4, FactorKind::Replicated)}, {rule.add("c", 16)}, {rule.add("f", 32)}};
  rule.operands = {factors};
  rule.results = {factors};
  model.graph.addNode(rule, {model.up}, {model.graph.addTensor({4, 16, 32}, 4)});
  ExpertDims places(model.graph, model.noBatch());
  REQUIRE(places.products().size() == 1);
  CHECK_FALSE(places.combinesOf(places.products().front()));
}
