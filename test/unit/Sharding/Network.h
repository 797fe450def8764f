//===- Network.h - small graphs for tests of propagation --------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_SHARDING_NETWORK_H
#define WEFT_TEST_UNIT_SHARDING_NETWORK_H

#include "compiler/Sharding/Propagation.h"

namespace weft {

inline const MeshShape mesh{"mesh", {{"data", 2}, {"model", 4}}};
inline const AxisRef data = fullAxis(mesh, 0), model = fullAxis(mesh, 1);
inline const AxisRef majorHalf{1, 1, 2}, minorHalf{1, 2, 2}; // of model

using Dims = llvm::SmallVector<AxisList, 4>;

inline TensorSharding split(Dims dims) { return {std::move(dims), {}, ReduceKind::Sum}; }

/// Builds graphs of the kinds of nodes that matter; each function gives the tensor it makes.
struct Network {
  ShardingGraph graph;

  unsigned input(llvm::ArrayRef<int64_t> shape) { return graph.addInput(shape, 4); }

  /// Results of the shape of the operands, which are alike.
  llvm::SmallVector<unsigned, 2> elementwise(llvm::ArrayRef<unsigned> operands, unsigned results,
                                             FactorKind kind = FactorKind::Parallel) {
    const auto shape = graph.tensors[operands[0]].shape;
    FactorRule rule;
    TensorFactors factors;
    for (int64_t size : shape)
      factors.push_back({rule.add("d", size, kind)});
    rule.operands.assign(operands.size(), factors);
    rule.results.assign(results, factors);
    llvm::SmallVector<unsigned, 2> made;
    for (unsigned result = 0; result < results; ++result)
      made.push_back(graph.addTensor(shape, 4));
    graph.addNode(rule, operands, made);
    return made;
  }
  unsigned exp(unsigned x) { return elementwise({x}, 1).front(); }
  unsigned add(unsigned x, unsigned y) { return elementwise({x, y}, 1).front(); }

  /// ([m, k], [k, n]) -> ([m, n]) reduction={k}
  unsigned dot(unsigned x, unsigned w) {
    int64_t m = graph.tensors[x].shape[0], k = graph.tensors[x].shape[1],
            n = graph.tensors[w].shape[1];
    FactorRule rule;
    unsigned fm = rule.add("m", m), fk = rule.add("k", k, FactorKind::Reduction),
             fn = rule.add("n", n);
    rule.operands = {{{fm}, {fk}}, {{fk}, {fn}}};
    rule.results = {{{fm}, {fn}}};
    unsigned result = graph.addTensor({m, n}, 4);
    graph.addNode(rule, {x, w}, {result});
    return result;
  }

  /// ([m, n]) -> ([n, m])
  unsigned transpose(unsigned x) {
    int64_t m = graph.tensors[x].shape[0], n = graph.tensors[x].shape[1];
    FactorRule rule;
    unsigned fm = rule.add("m", m), fn = rule.add("n", n);
    rule.operands = {{{fm}, {fn}}};
    rule.results = {{{fn}, {fm}}};
    unsigned result = graph.addTensor({n, m}, 4);
    graph.addNode(rule, {x}, {result}, /*view=*/true);
    return result;
  }

  /// ([b, (h d)]) -> ([b, h, d]) with h = heads
  unsigned splitHeads(unsigned x, int64_t heads) {
    int64_t b = graph.tensors[x].shape[0], d = graph.tensors[x].shape[1] / heads;
    FactorRule rule;
    unsigned fb = rule.add("b", b), fh = rule.add("h", heads), fd = rule.add("d", d);
    rule.operands = {{{fb}, {fh, fd}}};
    rule.results = {{{fb}, {fh}, {fd}}};
    unsigned result = graph.addTensor({b, heads, d}, 4);
    graph.addNode(rule, {x}, {result}, /*view=*/true);
    return result;
  }
};

} // namespace weft

#endif // WEFT_TEST_UNIT_SHARDING_NETWORK_H
