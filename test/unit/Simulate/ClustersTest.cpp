//===- ClustersTest.cpp - many ranks, folded and one by one ---------------===//

#include "test/unit/Simulate/Programs.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <sys/resource.h>

using namespace weft::sim;

namespace {

/// A pipeline of stages, each split over a tensor group and copied by data parallelism.
struct Layout {
  int32_t tensor = 1, data = 1, pipeline = 1;
  int32_t layers = 1, microbatches = 1;
};

enum Event { Computed, Summed, Reduced, numEvents };

/// Writes the programs of a layout: all ranks of a stage as one class, or each as its own.
class Writer {
public:
  Writer(const Layout &layout, bool folded) : layout(layout), folded(folded) {}

  Program write() {
    int32_t ranks = layout.tensor * layout.data;
    program = makeProgram({});
    program.instances = layout.microbatches;
    program.links = {"network"};
    copies = folded ? 1 : ranks;
    program.channels.resize(size_t(2) * layout.pipeline * copies);
    program.rendezvous.assign(size_t(layout.pipeline) * (layout.tensor + layout.data), 0);
    for (int32_t stage = 0; stage < layout.pipeline; ++stage)
      for (int32_t copy = 0; copy < copies; ++copy)
        program.classes.push_back(makeRank(stage, copy, folded ? ranks : 1));
    return std::move(program);
  }

private:
  Instruction makeGroup(int32_t stage, int32_t copy, bool overData, double seconds) {
    Instruction group = makeTransfer(Stream::Collective, seconds / 4, seconds, -1);
    group.loss = 0.2;
    if (overData && folded)
      group.links = {{0, 1.0 / layout.pipeline}};
    if (folded)
      return group;
    // Tensor groups are neighbours, data groups lie across them.
    int32_t groups = overData ? layout.tensor : layout.data;
    int32_t index = overData ? copy % layout.tensor : copy / layout.tensor;
    group.op = Op::Rendezvous;
    group.id = stage * (layout.tensor + layout.data) + (overData ? layout.data : 0) + index;
    program.rendezvous[group.id] = overData ? layout.data : layout.tensor;
    if (overData)
      group.links = {{0, 1.0 / layout.pipeline / groups / program.rendezvous[group.id]}};
    return group;
  }

  void addLayer(Segment &segment, int32_t stage, int32_t copy, double seconds) {
    auto &list = segment.instructions;
    list.push_back(makeWork(seconds));
    list.push_back(makeOp(Op::Record, Stream::Compute, Computed));
    list.push_back(makeOp(Op::Wait, Stream::Collective, Computed));
    list.push_back(makeGroup(stage, copy, false, 0.25));
    list.push_back(makeOp(Op::Record, Stream::Collective, Summed));
    list.push_back(makeOp(Op::Wait, Stream::Compute, Summed));
  }

  Segment makeStage(int32_t stage, int32_t copy, bool forward, bool last) {
    Segment segment;
    auto getChannel = [&](int32_t from) { return (2 * from + (forward ? 0 : 1)) * copies + copy; };
    int32_t before = forward ? stage - 1 : stage + 1, after = forward ? stage + 1 : stage - 1;
    if (before >= 0 && before < layout.pipeline)
      segment.instructions.push_back(makeOp(Op::Receive, Stream::Compute, getChannel(before)));
    for (int32_t layer = 0; layer < layout.layers; ++layer) {
      addLayer(segment, stage, copy, forward ? 1 : 2);
      if (last)
        segment.instructions.push_back(makeGroup(stage, copy, true, 3));
    }
    segment.instructions.front().onBegin = {{0, forward ? 10.0 : 0}};
    segment.instructions.back().onEnd = {{0, forward ? 0 : -10.0}};
    if (after < 0 || after >= layout.pipeline)
      return segment;
    Instruction send = makeOp(Op::Send, Stream::Compute, getChannel(stage));
    send.flight = 0.5;
    program.channels[send.id] = {after * copies + copy, Channel::unbounded, 8};
    segment.instructions.push_back(send);
    return segment;
  }

  RankClass makeRank(int32_t stage, int32_t copy, int64_t ranks) {
    RankClass rank;
    rank.ranks = ranks;
    rank.events = numEvents;
    for (auto [forward, last] : {std::pair{true, false}, {false, false}, {false, true}})
      rank.segments.push_back(makeStage(stage, copy, forward, last));
    int32_t warmup = std::min(layout.microbatches, layout.pipeline - 1 - stage);
    for (int32_t i = 0; i < warmup; ++i)
      rank.entries.push_back({0, i});
    for (int32_t i = 0; i < layout.microbatches; ++i) {
      if (i + warmup < layout.microbatches)
        rank.entries.push_back({0, i + warmup});
      rank.entries.push_back({i + 1 < layout.microbatches ? 1 : 2, i});
    }
    return rank;
  }

  const Layout &layout;
  bool folded;
  int32_t copies = 1;
  Program program;
};

double getProcessorSeconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

double getPeakGigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / (1 << 20);
}

} // namespace

TEST_CASE("folded classes take what their ranks take one by one") {
  for (const Layout &layout : {Layout{1, 1, 4, 2, 6}, Layout{2, 2, 2, 3, 4}, Layout{4, 1, 3, 1, 5},
                               Layout{2, 4, 3, 2, 7}}) {
    Result folded = simulate(Writer(layout, true).write());
    Result whole = simulate(Writer(layout, false).write());
    REQUIRE(folded.blocked.empty());
    REQUIRE(whole.blocked.empty());
    CHECK(folded.seconds == Approx(whole.seconds));
    CHECK(folded.messages == whole.messages);
    CHECK(folded.messageBytes == whole.messageBytes);
    size_t copies = whole.classes.size() / folded.classes.size();
    for (size_t i = 0; i < whole.classes.size(); ++i) {
      const ClassResult &one = whole.classes[i], &all = folded.classes[i / copies];
      CHECK(one.end == Approx(all.end));
      CHECK(one.memory.bytes == all.memory.bytes);
      CHECK(one.busy[size_t(Stream::Collective)] == Approx(all.busy[size_t(Stream::Collective)]));
    }
  }
}

/// Processor s to write and simulate a program, and what comes of it.
static double measure(const Layout &layout, bool folded, Result &result) {
  double begin = getProcessorSeconds();
  result = simulate(Writer(layout, folded).write());
  return getProcessorSeconds() - begin;
}

/// Whether ten times as many microbatches or ranks take some ten times as long: a quadratic walk
/// takes a hundred times. Others on the machine take caches and memory from the one or the other,
/// so that it is looked at again before it is said to be slow.
static bool isLinear(const Layout &layout, const Layout &tenth, bool folded) {
  constexpr double most = 30;
  constexpr int looks = 5;
  Result result;
  for (int look = 0; look < looks; ++look)
    if (measure(layout, folded, result) < most * measure(tenth, folded, result))
      return true;
  return false;
}

TEST_CASE("ten thousand ranks take as long as they are many, folded or not") {
  for (const Layout &layout : {Layout{8, 50, 25, 4, 512}, Layout{8, 5, 250, 1, 500}}) {
    Result result = simulate(Writer(layout, true).write());
    CHECK(result.blocked.empty());
    int64_t ranks = 0;
    for (size_t i = 0; i < result.classes.size(); ++i)
      ranks += int64_t(layout.tensor) * layout.data;
    CHECK(ranks == 10000);
    Layout tenth = layout;
    tenth.microbatches /= 10;
    CHECK(isLinear(layout, tenth, true));
  }
  Layout layout{8, 125, 10, 2, 20};
  Result result = simulate(Writer(layout, false).write());
  CHECK(result.blocked.empty());
  CHECK(result.classes.size() == 10000);
  CHECK(getPeakGigabytes() < 1);
  CHECK(isLinear(layout, {8, 12, 10, 2, 20}, false));
}
