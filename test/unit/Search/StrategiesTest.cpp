#include "compiler/Search/Strategies.h"

#include "test/unit/Sharding/Network.h"
#include <catch2/catch.hpp>

using namespace weft;

namespace {
const MeshShape two{"mesh", {{"model", 2}}}, three{"mesh", {{"model", 3}}};

std::vector<OperationSplit> listSplits(const Network &network, const MeshShape &mesh,
                                       unsigned node) {
  return Strategies(network.graph, mesh, std::vector<bool>(network.graph.nodes.size())).list(node);
}

/// `m={"data"} sum={"model"} of 0`; "whole".
std::string describe(const FactorRule &rule, const OperationSplit &split, const MeshShape &mesh) {
  std::string text;
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, split.axes))
    if (!axes.empty())
      text += factor.name + "=" + str(mesh, axes) +
              (axes.unit > 1 ? " unit " + std::to_string(axes.unit) : "") + " ";
  if (!split.sums.axes.empty()) {
    text += "sum=" + str(mesh, split.sums.axes) + " of";
    for (auto [operand, carries] : llvm::enumerate(split.sums.operands))
      text += carries ? " " + std::to_string(operand) : "";
  }
  return text.empty() ? "whole" : llvm::StringRef(text).rtrim().str();
}

std::vector<std::string> describeAll(const Network &network, const MeshShape &mesh, unsigned node) {
  std::vector<std::string> texts;
  for (const OperationSplit &split : listSplits(network, mesh, node)) {
    texts.push_back(describe(network.graph.nodes[node].rule, split, mesh));
    CHECK(check(network.graph.nodes[node].rule, split, mesh).empty());
  }
  CHECK(texts.front() == "whole");
  return texts;
}

/// ([b, (g r), s, d], [b, g, t, d], [b, g, t, d]) -> ([b, (g r), s, d])
unsigned attend(Network &network, unsigned query, unsigned key, unsigned value) {
  const auto shape = network.graph.tensors[query].shape;
  const auto others = network.graph.tensors[key].shape;
  FactorRule rule;
  unsigned b = rule.add("b", shape[0]), g = rule.add("g", others[1]),
           r = rule.add("r", shape[1] / others[1]), s = rule.add("s", shape[2]),
           d = rule.add("d", shape[3], FactorKind::Replicated),
           t = rule.add("t", others[2], FactorKind::Replicated);
  rule.operands = {{{b}, {g, r}, {s}, {d}}, {{b}, {g}, {t}, {d}}, {{b}, {g}, {t}, {d}}};
  rule.results = {{{b}, {g, r}, {s}, {d}}};
  unsigned result = network.graph.addTensor(shape, 4);
  network.graph.addNode(rule, {query, key, value}, {result});
  return result;
}

/// ([m, n]) -> ([m]) reduction={n}
unsigned reduce(Network &network, unsigned x, ReduceKind kind) {
  const auto shape = network.graph.tensors[x].shape;
  FactorRule rule;
  unsigned m = rule.add("m", shape[0]), n = rule.add("n", shape[1], FactorKind::Reduction, kind);
  rule.operands = {{{m}, {n}}};
  rule.results = {{{m}}};
  rule.linearity = kind == ReduceKind::Sum ? SumLinearity::Joint : SumLinearity::None;
  unsigned result = network.graph.addTensor({shape[0]}, 4);
  network.graph.addNode(rule, {x}, {result});
  return result;
}
} // namespace

TEST_CASE("a product is split by its columns or its rows, and hands on the sum of its input") {
  Network network;
  unsigned x = network.exp(network.input({8, 16}));
  network.dot(x, network.graph.addWeight({16, 32}, 4));
  CHECK(describeAll(network, two, 1) ==
        std::vector<std::string>{"whole", "k={\"model\"}", "n={\"model\"}"});
  network.graph.nodes[1].rule.linearity = SumLinearity::Each;
  CHECK(describeAll(network, two, 1) == std::vector<std::string>{"whole", "k={\"model\"}",
                                                                 "n={\"model\"}",
                                                                 "sum={\"model\"} of 0"});
}

TEST_CASE("axes of the batch take the batch alone, of what is free anything") {
  Network network;
  network.dot(network.input({8, 16}), network.graph.addWeight({16, 32}, 4));
  // data: whole or m; model: whole, k or n.
  CHECK(describeAll(network, mesh, 0) ==
        std::vector<std::string>{"whole", "k={\"model\"}", "n={\"model\"}", "m={\"data\"}",
                                 "m={\"data\"} k={\"model\"}", "m={\"data\"} n={\"model\"}"});
  Strategies free(network.graph, MeshShape{"mesh", {{"data", 2}}}, {true});
  CHECK(free.list(0).size() == 4); // m, k or n
}

TEST_CASE("a bias that is broadcast to the batch is of the batch where they meet") {
  Network network;
  unsigned x = network.exp(network.input({8, 16}));
  FactorRule rule;
  unsigned rows = rule.add("m", 8), columns = rule.add("n", 16);
  rule.operands = {{{columns}}};
  rule.results = {{{rows}, {columns}}};
  unsigned wide = network.graph.addTensor({8, 16}, 4);
  network.graph.addNode(rule, {network.graph.addWeight({16}, 4)}, {wide});
  network.add(x, wide);
  MeshShape batch{"mesh", {{"data", 2}}};
  CHECK(describeAll(network, batch, 1) == std::vector<std::string>{"whole", "m={\"data\"}"});
  CHECK(describeAll(network, two, 1) == std::vector<std::string>{"whole", "n={\"model\"}"});
}

TEST_CASE("an axis larger than the groups of heads is cut there: groups first, then heads") {
  Network network;
  unsigned query = network.input({2, 8, 4, 16}), key = network.input({2, 2, 4, 16});
  attend(network, query, key, key);
  MeshShape four{"mesh", {{"model", 4}}};
  std::vector<Atom> atoms = makeAtoms(network.graph, four);
  REQUIRE(atoms.size() == 2);
  CHECK(atoms[0].axis == AxisRef{0, 1, 2});
  CHECK(atoms[1].axis == AxisRef{0, 2, 2});
  std::vector<std::string> all = describeAll(network, four, 0);
  CHECK(llvm::is_contained(all, "g={\"model\":(1)2} r={\"model\":(2)2}"));
  CHECK(llvm::is_contained(all, "g={\"model\":(1)2}"));
  CHECK(llvm::is_contained(all, "s={\"model\"}"));
  // Heads of a group only where groups are split wholly.
  CHECK_FALSE(llvm::is_contained(all, "r={\"model\"}"));
  CHECK(makeAtoms(network.graph, two).size() == 1);
}

TEST_CASE("an axis of the batch is cut behind as many devices as make it as short as all do") {
  auto listSizes = [](int64_t batch, int64_t devices) {
    Network network;
    network.exp(network.input({batch, 16}));
    MeshShape mesh{"mesh", {{"data", devices}}};
    std::vector<int64_t> sizes;
    for (const Atom &atom : makeAtoms(network.graph, mesh))
      sizes.push_back(atom.axis.size);
    return sizes;
  };
  CHECK(listSizes(4, 8) == std::vector<int64_t>{4, 2});
  CHECK(listSizes(2, 8) == std::vector<int64_t>{2, 4});
  CHECK(listSizes(8, 8) == std::vector<int64_t>{8});
  CHECK(listSizes(5, 4) == std::vector<int64_t>{4}); // 2, 2, 1, 0
  CHECK(listSizes(1, 8) == std::vector<int64_t>{8}); // no part of it does more than none
}

TEST_CASE("padded blocks of a joined dimension come in units of what is joined") {
  Network network;
  unsigned x = network.exp(network.input({4, 20})); // 5 heads of 4
  network.splitHeads(x, 5);
  std::vector<std::string> moved = describeAll(network, three, 1);
  CHECK(llvm::is_contained(moved, "h={\"model\"}"));
  CHECK_FALSE(llvm::is_contained(moved, "d={\"model\"}")); // heads are not split wholly
  std::vector<std::string> before = describeAll(network, three, 0);
  CHECK(llvm::is_contained(before, "d1={\"model\"}"));        // 7, 7, 6
  CHECK(llvm::is_contained(before, "d1={\"model\"} unit 4")); // 8, 8, 4
}

TEST_CASE("a dimension is split only where blocks become shorter") {
  Network network;
  network.exp(network.input({1, 2}));
  CHECK(describeAll(network, three, 0) == std::vector<std::string>{"whole", "d1={\"model\"}"});
  MeshShape both{"mesh", {{"x", 2}, {"y", 2}}};
  CHECK(describeAll(network, both, 0).size() == 3); // once, by x or by y
}

TEST_CASE("sums of maxima are not carried") {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max}) {
    Network network;
    unsigned x = network.exp(network.input({8, 16}));
    unsigned y = reduce(network, x, kind);
    std::vector<std::string> all = describeAll(network, two, 1);
    CHECK(llvm::is_contained(all, "n={\"model\"}"));
    CHECK(llvm::is_contained(all, "sum={\"model\"} of 0") == (kind == ReduceKind::Sum));
    OperationSplit split = OperationSplit::whole(network.graph.nodes[1].rule);
    split.axes[1] = {model};
    CHECK(getResultForm(network.graph.nodes[1].rule, 0, split).reduction == kind);
    (void)y;
  }
}

TEST_CASE("inputs lie split by the batch or by what activations are split by, states by anything") {
  Network network;
  unsigned x = network.input({8, 16});
  network.exp(x);
  Strategies strategies(network.graph, mesh, {false});
  CHECK(strategies.listForms(x, /*isStorage=*/false).size() == 4);
  CHECK(strategies.listForms(x, /*isStorage=*/true).size() == 6);
}

namespace {
/// Rows that meet one matrix of a weight each: ([e, m, k], [e, k, n]) -> ([e, m, n]).
struct Experts : Network {
  explicit Experts(int64_t experts) {
    unsigned x = input({8, 16});
    FactorRule spread;
    unsigned e = spread.add("e", experts), m = spread.add("m", 8), k = spread.add("k", 16);
    spread.operands = {{{m}, {k}}};
    spread.results = {{{e}, {m}, {k}}};
    unsigned sent = graph.addTensor({experts, 8, 16}, 4);
    graph.addNode(spread, {x}, {sent});
    FactorRule product = spread;
    product.factors[k].kind = FactorKind::Reduction;
    unsigned n = product.add("n", 32);
    product.operands = {{{e}, {m}, {k}}, {{e}, {k}, {n}}};
    product.results = {{{e}, {m}, {n}}};
    unsigned made = graph.addTensor({experts, 8, 32}, 4);
    graph.addNode(product, {sent, graph.addWeight({experts, 16, 32}, 4)}, {made});
  }

  /// Whether the batch's axis may split the experts of the product.
  bool splitsByData(llvm::SmallVector<MeshAxis, 4> axes, bool places = true) const {
    MeshShape shape{"mesh", std::move(axes)};
    Strategies strategies(graph, shape, std::vector<bool>(graph.nodes.size()));
    if (places)
      strategies.placeExperts();
    return llvm::any_of(strategies.list(1), [&](const OperationSplit &split) {
      return overlaps(split.axes[0], fullAxis(shape, 0));
    });
  }
};
} // namespace

TEST_CASE("axes of the batch split experts where evenly, beside one other axis at most") {
  Experts four(4);
  CHECK(four.splitsByData({{"data", 2}}));
  CHECK(four.splitsByData({{"data", 4}}));
  CHECK(four.splitsByData({{"data", 2}, {"model", 2}}));
  CHECK(four.splitsByData({{"data", 2}, {"expert", 2}}));
  CHECK_FALSE(four.splitsByData({{"data", 2}}, /*places=*/false)); // without a cluster
  CHECK_FALSE(four.splitsByData({{"data", 3}}));
  CHECK_FALSE(four.splitsByData({{"data", 8}}));
  CHECK_FALSE(Experts(6).splitsByData({{"data", 4}}));
  CHECK_FALSE(four.splitsByData({{"data", 2}, {"expert", 2}, {"model", 2}}));
}
