#include "runtime/Collective/Collectives.h"
#include "runtime/Collective/Local/LocalTransport.h"
#include "runtime/Measure/Clock.h"
#include "runtime/Measure/Measure.h"

#include <numeric>
#include <thread>

namespace weft::runtime {

namespace {

constexpr int64_t elementBytes = 4;

/// One collective of one size, again and again until rank 0 says that the budget is over. Each
/// batch ends with rank 0's verdict, an all-reduce of one element.
class Repeater {
public:
  Repeater(Transport &transport, Operation operation, int64_t bytes)
      : transport(transport), operation(operation), ranks(transport.getSize()),
        block(std::max<int64_t>(1, bytes / elementBytes / ranks)), input(block * ranks, 1.0F),
        output(block * ranks) {
    group.ranks.resize(ranks);
    std::iota(group.ranks.begin(), group.ranks.end(), 0);
    group.self = transport.getRank();
  }

  /// Least seconds of one.
  double run(double budget) {
    int64_t bytes = block * ranks * elementBytes;
    int batch = static_cast<int>(std::clamp<int64_t>((1 << 16) / bytes, 1, 8));
    double least = 1e9, end = getNow() + budget;
    int batches = 0;
    float goOn = 1;
    while (goOn > 0) {
      double begin = getNow();
      for (int i = 0; i < batch; ++i)
        runOnce();
      least = std::min(least, (getNow() - begin) / batch);
      bool over = ++batches >= 3 && getNow() >= end;
      float vote = group.self == 0 && !over ? 1 : 0;
      runPhases(transport, allReduce(group, program::F32, plan::SUM, asBytes(&vote), asBytes(&goOn),
                                     1, scratch));
    }
    return least;
  }

private:
  static std::byte *asBytes(float *data) { return reinterpret_cast<std::byte *>(data); }

  void runOnce() {
    runPhases(transport, makePhases(asBytes(input.data()), asBytes(output.data())));
  }

  Phases makePhases(const std::byte *from, std::byte *to) {
    switch (operation) {
    case Operation::AllReduce:
      return allReduce(group, program::F32, plan::SUM, from, to, block * ranks, scratch);
    case Operation::AllGather:
      return allGather(group, from, to, block * elementBytes);
    case Operation::ReduceScatter:
      return reduceScatter(group, program::F32, plan::SUM, from, to, block, scratch);
    case Operation::AllToAll:
      return allToAll(group, from, to, block * elementBytes);
    }
    return {};
  }

  Transport &transport;
  Operation operation;
  int64_t ranks, block; ///< elements of a rank's part
  std::vector<float> input, output;
  Group group;
  Scratch scratch;
};

} // namespace

std::vector<Timing> measureCollective(Transport &transport, Operation operation,
                                      const std::vector<int64_t> &sizes, double budget) {
  std::vector<Timing> timings;
  for (int64_t bytes : sizes)
    timings.push_back(
        {{transport.getSize(), bytes}, Repeater(transport, operation, bytes).run(budget)});
  return timings;
}

std::vector<Timing> measureLocalCollective(int64_t ranks, Operation operation,
                                           const std::vector<int64_t> &sizes, double budget) {
  std::vector<std::unique_ptr<Transport>> transports = makeLocalTransports(ranks);
  std::vector<std::thread> threads;
  for (int64_t rank = 1; rank < ranks; ++rank)
    threads.emplace_back(
        [&, rank] { measureCollective(*transports[rank], operation, sizes, budget); });
  std::vector<Timing> timings = measureCollective(*transports[0], operation, sizes, budget);
  for (std::thread &thread : threads)
    thread.join();
  return timings;
}

} // namespace weft::runtime
