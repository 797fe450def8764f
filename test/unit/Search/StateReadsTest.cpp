// States that a pass reads more than once, and what is moved of them; those that hosts keep.
#include "compiler/Cost/Instruction.h"
#include "test/unit/Search/BruteForce.h"

using namespace weft;

namespace {
/// exp(x) · w and exp(y) · w of a state that lies split where the batch is split too: both read it
/// whole.
struct ReadTwice : Program {
  explicit ReadTwice(const AxisList &data) {
    unsigned x = input({4096, 48}), y = input({4096, 48});
    state = graph.addWeight({48, 64}, 4);
    first = dot(exp(x), state);
    unsigned second = dot(exp(y), state);
    finish(first);
    problem.isReturned[second] = true;
    problem.isReadFreely[state] = false;
    problem.states = {{state}};
    for (unsigned tensor : {x, y, first, second, state})
      problem.pinned[tensor] = split({data, {}});
  }

  ShardingAnswer search(MeshPrices &prices, const SearchOptions &options = {}) const {
    ShardingAnswer answer = searchShardings(problem, prices, options);
    REQUIRE(answer.status == solver::Status::Optimal);
    return answer;
  }

  unsigned state, first;
};

/// Four devices of a node, which split the batch.
struct FourDevices {
  FourDevices() { append(data, AxisRef{0, 1, 4}); }

  const ClusterModel cluster = getCluster("dgx-h100:1");
  const MeshShape shape{"mesh", {{"data", 4}}};
  MeshPrices prices{shape, cluster};
  AxisList data;
};
} // namespace

TEST_CASE_METHOD(FourDevices, "what is brought of a state for one read is there for the others") {
  ReadTwice step(data);
  FormTables tables;
  FormTable &forms = tables.of({48, 64}, 4);
  double gathering = forms.getSeconds(forms.add(split({data, {}})),
                                      forms.add(TensorSharding::replicated(2)), prices);
  ShardingAnswer apart = step.search(prices);
  CHECK(apart.communication == Approx(2 * gathering));
  step.problem.brought = {{step.state}};
  ShardingAnswer joined = step.search(prices);
  CHECK(joined.communication == Approx(gathering));
  CHECK(apart.seconds - joined.seconds == Approx(gathering).epsilon(0.01));

  SECTION("and takes a step longer by a part of that where it goes beside computing") {
    step.problem.isBeside.assign(step.graph.tensors.size(), false);
    step.problem.isBeside[step.state] = true;
    ShardingAnswer beside = step.search(prices);
    CHECK(beside.communication == Approx(gathering));
    CHECK(beside.seconds < joined.seconds);
    CHECK(beside.seconds > joined.seconds - gathering);
  }
}

TEST_CASE_METHOD(
    FourDevices,
    "a state that its host keeps takes no memory of a device, and the time to come and go") {
  ReadTwice step(data);
  ShardingAnswer held = step.search(prices);
  step.problem.isOnHost = {true};
  ShardingAnswer fetched = step.search(prices);
  double bytes = 12.0 * 64 * 4; // a fourth of it
  CHECK(held.memory - fetched.memory == Approx(bytes));
  CHECK(fetched.seconds - held.seconds ==
        Approx(getHostCopySeconds(cluster.groups.front().device, bytes)).epsilon(0.01));
  CHECK(getLeastBytes(step.problem, 4) < held.memory);
}

TEST_CASE_METHOD(FourDevices, "a stage holds its share of states, and values of all in flight") {
  ReadTwice step(data);
  ShardingAnswer whole = step.search(prices);
  SearchOptions options;
  options.residentShare = 0.5;
  double state = 12.0 * 64 * 4, value = 1024.0 * 64 * 4; // a fourth of each
  CHECK(whole.memory - step.search(prices, options).memory == Approx(state / 2));
  CHECK(getLeastBytes(step.problem, 4) - getLeastBytes(step.problem, 4, 0.5) == Approx(state / 2));
  step.problem.isKept.assign(step.graph.tensors.size(), false);
  step.problem.isKept[step.first] = true;
  options = {};
  CHECK(step.search(prices, options).memory == whole.memory);
  options.waiting = {3, 0};
  ShardingAnswer waiting = step.search(prices, options);
  CHECK(waiting.memory - whole.memory == Approx(2 * value));
  CHECK(waiting.waitingBytes.kept == Approx(value));
  // What gradients of weights read is held for all of which they are put off.
  step.problem.isReadLate = step.problem.isKept;
  step.problem.isKept = {};
  options.waiting = {3, 2};
  ShardingAnswer putOff = step.search(prices, options);
  CHECK(putOff.memory - whole.memory == Approx(2 * value));
  CHECK(putOff.waitingBytes.putOff == Approx(value));
  CHECK(putOff.waitingBytes.kept == 0);
}

TEST_CASE("what another part hands over once a step is sent in parts over a slow network") {
  const ClusterModel cluster = getCluster("p3.16xlarge:2");
  const MeshShape node{"mesh", {{"data", 8}}};
  MeshPrices prices(node, cluster);
  AxisList data;
  append(data, AxisRef{0, 1, 8});
  Program step;
  unsigned x = step.input({4096, 4096}), w = step.input({4096, 4096}), y = step.dot(x, w);
  step.finish(y);
  step.problem.pinned[x] = step.problem.pinned[y] = split({data, {}});
  auto take = [&](bool handed) {
    step.graph.tensors[w].handed = handed;
    step.graph.tensors[w].batchDim = -1;
    ShardingAnswer answer = searchShardings(step.problem, prices, {});
    REQUIRE(answer.status == solver::Status::Optimal);
    return *answer.forms[w];
  };
  CHECK(take(false).isReplicated());
  CHECK(take(true) == split({data, {}}));
}
