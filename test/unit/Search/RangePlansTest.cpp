// Ranges of blocks, and all best splits of a program by several costs.
#include "compiler/Search/RangePlans.h"

#include "compiler/Search/TensorLifetimes.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/Search/BruteForce.h"
#include <fmt/format.h>

using namespace mlir;
using namespace weft;

namespace {
/// Seconds of the phases and of communication, bytes.
using Numbers = std::array<double, 5>;

Numbers toNumbers(const StepCost &cost) {
  return {cost.forward, cost.backward, cost.weightGradient, cost.communication, cost.memory};
}

/// Whether `a` is no worse than `b`, as far as picoseconds tell.
bool isCovered(const Numbers &a, const Numbers &b) {
  return llvm::all_of(llvm::zip(a, b), [](auto pair) {
    return std::get<0>(pair) <= std::get<1>(pair) * (1 + 1e-9) + 2e-11;
  });
}

/// What all assignments of a program of one input cost.
class CostEnumerator {
public:
  CostEnumerator(const Program &program, ArrayRef<Phase> phases, MeshPrices &prices)
      : problem(program.problem), graph(program.graph), phases(phases), prices(prices),
        strategies(graph, prices.getMesh(), problem.isFree), forms(graph.tensors.size()),
        lifetimes(problem), peak(lifetimes.findPeak()) {
    visitInput(0);
  }

  std::vector<Numbers> all;

private:
  double move(unsigned tensor, const TensorSharding &from, const TensorSharding &to) {
    FormTable &table = tables.of(graph.tensors[tensor].shape, graph.tensors[tensor].elementBytes);
    return table.getSeconds(table.add(from), table.add(to), prices);
  }
  double getBytes(unsigned tensor, const TensorSharding &form) const {
    const ShardingGraph::Tensor &own = graph.tensors[tensor];
    return static_cast<double>(form.localElements(own.shape) * own.elementBytes);
  }
  unsigned countUses(unsigned tensor) const {
    return graph.tensors[tensor].users.size() + problem.isReturned[tensor];
  }
  /// Forms in which a value is made or taken.
  std::vector<TensorSharding> listPassed(unsigned tensor) const {
    std::vector<TensorSharding> passed;
    unsigned producer = graph.tensors[tensor].producer;
    for (const OperationSplit &split : strategies.list(producer))
      passed.push_back(getResultForm(graph.nodes[producer].rule, 0, split));
    for (unsigned user : graph.tensors[tensor].users)
      for (auto [slot, operand] : llvm::enumerate(graph.nodes[user].operands))
        for (const OperationSplit &split : strategies.list(user))
          if (operand == tensor)
            passed.push_back(getOperandForm(graph.nodes[user].rule, slot, split));
    std::vector<TensorSharding> unique;
    for (const TensorSharding &form : passed)
      if (!llvm::is_contained(unique, form))
        unique.push_back(form);
    return unique;
  }

  void visitInput(unsigned tensor) {
    while (!graph.tensors[tensor].input)
      ++tensor;
    for (const TensorSharding &form : strategies.listForms(tensor, false)) {
      forms[tensor] = form;
      visitNode(0, {});
    }
  }

  void visitNode(unsigned index, const Numbers &before) {
    if (index == graph.nodes.size())
      return finish(before);
    const ShardingGraph::Node &node = graph.nodes[index];
    unsigned result = node.results.front();
    for (const OperationSplit &split : strategies.list(index)) {
      Numbers own = before;
      own[static_cast<size_t>(phases[index])] += getShardSeconds(
          graph, node, problem.work[index], split.axes, prices.getDevice(), prices.getConstants());
      for (auto [slot, tensor] : llvm::enumerate(node.operands)) {
        TensorSharding form = getOperandForm(node.rule, slot, split);
        own[3] += problem.isReadFreely[tensor] ? 0 : move(tensor, forms[tensor], form);
        own[4] += problem.isReadFreely[tensor] ? getBytes(tensor, form) : 0;
      }
      if (!std::isfinite(own[3]))
        continue;
      TensorSharding made = getResultForm(node.rule, 0, split);
      bool isKept = countUses(result) > 1;
      for (const TensorSharding &form :
           isKept ? listPassed(result) : std::vector<TensorSharding>{made}) {
        Numbers kept = own;
        kept[3] += isKept ? move(result, made, form) : 0;
        kept[4] += lifetimes.isLive(result, peak) && !node.view ? getBytes(result, form) : 0;
        forms[result] = form;
        if (std::isfinite(kept[3]))
          visitNode(index + 1, kept);
      }
    }
  }

  void finish(Numbers costs) {
    for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
      if (!problem.isReturned[tensor])
        continue;
      double least = std::numeric_limits<double>::infinity();
      for (const TensorSharding &left : listPassed(tensor))
        if (left.partial.empty())
          least = std::min(least, move(tensor, forms[tensor], left));
      costs[3] += least;
    }
    if (std::isfinite(costs[3]))
      all.push_back(costs);
  }

  const ShardingProblem &problem;
  const ShardingGraph &graph;
  ArrayRef<Phase> phases;
  MeshPrices &prices;
  Strategies strategies;
  FormTables tables;
  std::vector<TensorSharding> forms; ///< by tensor, as it is kept
  TensorLifetimes lifetimes;
  size_t peak;
};

/// An embedding's product, layers of two products around a stream, and a head.
std::string makeModel(int layers) {
  std::string weights, body;
  auto multiply = [&](const std::string &name, const std::string &x, int rows, int columns) {
    weights += fmt::format("weft.weight @{} : tensor<{}x{}xf32> = #weft.external<\"w\", 0, {}>\n",
                           name, rows, columns, 4 * rows * columns);
    body += fmt::format("%{0}_w = weft.load @{0} : tensor<{2}x{3}xf32>\n"
                        "%{0} = weft.dot_general {1}, %{0}_w batch [] x [] contract [1] x [0] : "
                        "(tensor<64x{2}xf32>, tensor<{2}x{3}xf32>) -> tensor<64x{3}xf32>\n",
                        name, x, rows, columns);
  };
  multiply("embed", "%ids", 32, 128);
  body += "%x0 = weft.tanh %embed : tensor<64x128xf32>\n";
  for (int i = 0; i < layers; ++i) {
    multiply(fmt::format("up{}", i), fmt::format("%x{}", i), 128, 512);
    body += fmt::format("%t{0} = weft.tanh %up{0} : tensor<64x512xf32>\n", i);
    multiply(fmt::format("down{}", i), fmt::format("%t{}", i), 512, 128);
    body += fmt::format("%x{1} = weft.add %x{0}, %down{0} : tensor<64x128xf32>\n", i, i + 1);
  }
  multiply("head", fmt::format("%x{}", layers), 128, 256);
  return fmt::format("{}func.func @main(%ids: tensor<64x32xf32>) -> tensor<64x256xf32> {{\n{}"
                     "return %head : tensor<64x256xf32>\n}}",
                     weights, body);
}

struct Fixture {
  explicit Fixture(int layers) {
    context.loadDialect<func::FuncDialect, WeftDialect, dist::DistDialect>();
    module = parseSourceString<ModuleOp>(makeModel(layers), &context);
    REQUIRE(module);
    main = module->lookupSymbol<func::FuncOp>("main");
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
  ClusterModel cluster = getCluster("dgx-h100:1");
};

const MeshShape byData{"mesh", {{"data", 2}}}, byModel{"mesh", {{"model", 2}}},
    byBoth{"mesh", {{"data", 2}, {"model", 2}}};

/// The least of number `kind`.
double getLeast(const StepSplits &splits, size_t kind) {
  double least = std::numeric_limits<double>::infinity();
  for (const StepSplit &split : splits.splits)
    least = std::min(least, toNumbers(split.cost)[kind]);
  return least;
}

void checkBest(const StepSplits &splits) {
  for (const StepSplit &a : splits.splits) {
    CHECK(!a.answer.splits.empty());
    for (const StepSplit &b : splits.splits) {
      Numbers own = toNumbers(a.cost), other = toNumbers(b.cost);
      bool isNoWorse =
          llvm::all_of(llvm::seq<size_t>(0, 5), [&](size_t i) { return other[i] <= own[i]; });
      CHECK((&a == &b || !isNoWorse));
    }
  }
}
} // namespace

TEST_CASE("of a small program all splits that no assignment beats are found") {
  const ClusterModel cluster = getCluster("cpu:8");
  size_t found = 0, programs = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Program program(seed);
    if (program.graph.nodes.size() > 3)
      continue;
    ++programs;
    INFO("seed " << seed << ":" << program.described);
    MeshPrices prices(byModel, cluster);
    FormTables tables;
    std::vector<Phase> phases;
    for (size_t node = 0; node < program.graph.nodes.size(); ++node)
      phases.push_back(static_cast<Phase>((node + seed) % 3));
    StepSplits splits = searchPareto(program.problem, phases, prices, tables, {});
    CHECK(splits.isComplete);
    checkBest(splits);
    CostEnumerator enumerator(program, phases, prices);
    REQUIRE(!enumerator.all.empty());
    auto covers = [](const auto &all, const auto &get, const Numbers &costs) {
      return llvm::any_of(all, [&](const auto &each) { return isCovered(get(each), costs); });
    };
    auto get = [](const StepSplit &split) { return toNumbers(split.cost); };
    size_t missing = llvm::count_if(
        enumerator.all, [&](const Numbers &costs) { return !covers(splits.splits, get, costs); });
    CHECK(missing == 0);
    for (const StepSplit &split : splits.splits)
      CHECK(covers(
          enumerator.all, [](const Numbers &numbers) { return numbers; }, toNumbers(split.cost)));
    found += splits.splits.size();
  }
  CHECK(found > programs + programs / 2);
}

TEST_CASE("equal ranges are searched once for a mesh and a limit") {
  Fixture model(6);
  RangeOptions options;
  options.trains = false;
  options.limits.answers = 10'000;
  RangePlanner planner(model.main, model.cluster, options);
  REQUIRE(planner.getNumBlocks() == 8);
  auto first = planner.find(1, 3, byModel);
  REQUIRE(succeeded(first));
  CHECK(planner.getNumSearched() == 1);
  for (size_t begin = 1; begin < 6; ++begin) {
    auto again = planner.find(begin, begin + 2, byModel);
    REQUIRE(succeeded(again));
    CHECK(*again == *first);
  }
  CHECK(planner.getNumSearched() == 1);
  CHECK(succeeded(planner.find(1, 3, byData)));
  CHECK(planner.getNumSearched() == 2);
  CHECK(succeeded(planner.find(0, 3, byModel))); // with the embedding
  CHECK(planner.getNumSearched() == 3);
  // What fits is taken of all.
  double least = getLeast(**first, 4);
  auto fitting = planner.find(2, 4, byModel, least);
  REQUIRE(succeeded(fitting));
  CHECK(planner.getNumSearched() == 3);
  CHECK(!(*fitting)->splits.empty());
  CHECK((*fitting)->splits.size() < (*first)->splits.size());
  auto none = planner.find(2, 4, byModel, least - 1);
  REQUIRE(succeeded(none));
  CHECK((*none)->splits.empty());
}

TEST_CASE("a limit that is asked for first gives what fits of all") {
  Fixture model(3);
  RangeOptions options;
  options.trains = false;
  options.limits.answers = 10'000;
  RangePlanner open(model.main, model.cluster, options),
      limited(model.main, model.cluster, options);
  auto all = open.find(1, 2, byModel);
  REQUIRE(succeeded(all));
  double limit = (getLeast(**all, 4) + (*all)->splits.front().cost.memory) / 2;
  auto expected = open.find(1, 2, byModel, limit), found = limited.find(1, 2, byModel, limit);
  REQUIRE((succeeded(expected) && succeeded(found)));
  REQUIRE((*found)->splits.size() == (*expected)->splits.size());
  for (auto [a, b] : llvm::zip_equal((*found)->splits, (*expected)->splits))
    CHECK(toNumbers(a.cost) == toNumbers(b.cost));
}

TEST_CASE("ranges take together what the whole takes") {
  Fixture model(3);
  RangePlanner planner(model.main, model.cluster);
  for (const MeshShape &mesh : {byData, byModel}) {
    INFO(mesh.axes.front().name);
    auto whole = planner.find(0, 5, mesh);
    REQUIRE(succeeded(whole));
    for (size_t kind : {0, 1, 2}) { // what is computed; what is handed on is brought for nothing
      double parts = 0;
      for (size_t block = 0; block < 5; ++block)
        parts += getLeast(**planner.find(block, block + 1, mesh), kind);
      double cut =
          getLeast(**planner.find(0, 2, mesh), kind) + getLeast(**planner.find(2, 5, mesh), kind);
      CHECK(parts > 0);
      CHECK(getLeast(**whole, kind) == Approx(parts).epsilon(1e-3));
      CHECK(cut == Approx(parts).epsilon(1e-3));
    }
  }
}

TEST_CASE("gradients take twice what the forward pass does, and data parallel ones are summed") {
  Fixture model(3);
  RangePlanner planner(model.main, model.cluster);
  RangeOptions options;
  options.trains = false;
  RangePlanner forward(model.main, model.cluster, options);
  auto training = planner.find(1, 2, byBoth), inference = forward.find(1, 2, byBoth);
  REQUIRE((succeeded(training) && succeeded(inference)));
  checkBest(**training);
  checkBest(**inference);
  CHECK(getLeast(**inference, 0) == Approx(getLeast(**training, 0)));
  CHECK(getLeast(**inference, 1) == 0);
  CHECK(getLeast(**inference, 2) == 0);
  for (size_t kind : {1, 2}) { // the products of both, and what is done to their results
    CHECK(getLeast(**training, kind) > 0.7 * getLeast(**training, 0));
    CHECK(getLeast(**training, kind) < 1.6 * getLeast(**training, 0));
  }
  // Weights in parts are less to hold, for communication.
  double least = getLeast(**training, 3);
  for (const StepSplit &split : (*training)->splits)
    if (split.cost.memory < 1.001 * getLeast(**training, 4))
      CHECK(split.cost.communication > least);
}

TEST_CASE("what is no range, and what is no mesh of the cluster, is refused") {
  Fixture model(2);
  RangePlanner planner(model.main, model.cluster);
  std::string message;
  ScopedDiagnosticHandler handler(&model.context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  CHECK(failed(planner.find(2, 2, byModel)));
  CHECK(message == "expected a range of 4 blocks, got: [2, 2)");
  CHECK(failed(planner.find(1, 5, byModel)));
  CHECK(failed(planner.find(0, 1, {"mesh", {{"model", 16}}})));
  CHECK(message == "expected a mesh of at most 8 devices, got: 16");
}
