//===- Waterfall.cpp - from the physical floor to the step ----------------===//

#include "driver/Waterfall.h"

#include "compiler/Cost/Instruction.h"
#include "compiler/Graph/Work.h"
#include "compiler/Search/ProgramWork.h"

#include <algorithm>

using namespace weft;

//===----------------------------------------------------------------------===//
// The floor
//===----------------------------------------------------------------------===//

/// FLOP/s of the first so many devices together.
static double getPeak(const ClusterModel &cluster, int64_t ranks, const std::string &dtype) {
  double peak = 0;
  for (const GroupModel &group : cluster.groups) {
    int64_t used = std::min(ranks, group.getNumDevices());
    peak += static_cast<double>(used) * group.device.getRate(dtype).peak;
    ranks -= used;
  }
  return peak;
}

double weft::getFloorSeconds(const PlannedModule &planned, const ClusterModel &cluster,
                             int64_t ranks) {
  ClusterModel shared = shareHost(cluster, ranks);
  std::map<std::string, double> flops; // by element type
  for (const PlannedPart &part : planned.parts) {
    std::vector<NodeWork> works = listWork(part.main, *part.function);
    for (auto [op, work] : llvm::zip_equal(part.function->operations, works))
      if (countProductFlops(op))
        flops[work.dtype] += work.flops * static_cast<double>(work.times);
  }
  double seconds = 0;
  for (const auto &[dtype, number] : flops)
    seconds += number / getPeak(shared, ranks, dtype);
  return seconds;
}

//===----------------------------------------------------------------------===//
// The steps
//===----------------------------------------------------------------------===//

namespace {
struct Interval {
  double begin = 0, end = 0;
};

/// What a rank of one class does with its step.
struct ClassTimes {
  WorkSeconds work;
  double slowed = 0;               ///< of work, beyond what it takes alone
  std::vector<Interval> computing; ///< in order of time, apart from each other
  std::vector<Interval> moving;
};
} // namespace

static void add(const sim::Span &span, const sim::Instruction &instruction, ClassTimes &times) {
  if (instruction.op != sim::Op::Work) {
    if (instruction.stream != sim::Stream::Compute)
      times.moving.push_back({span.begin, span.end});
    return;
  }
  times.work.arithmetic += instruction.parts.arithmetic;
  times.work.traffic += instruction.parts.traffic;
  times.work.kernel += instruction.parts.kernel;
  times.work.launch += instruction.parts.launch;
  times.slowed += span.end - span.begin - instruction.seconds;
  times.computing.push_back({span.begin, span.end});
}

static std::vector<ClassTimes> readClasses(const Simulation &simulation) {
  std::vector<ClassTimes> classes(simulation.program.classes.size());
  for (const sim::Span &span : simulation.result.spans) {
    const sim::RankClass &rankClass = simulation.program.classes[span.rankClass];
    int32_t segment = rankClass.entries[span.entry].segment;
    add(span, rankClass.segments[segment].instructions[span.instruction], classes[span.rankClass]);
  }
  return classes;
}

/// Intervals in order of time, those that overlap joined.
static std::vector<Interval> join(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval &a, const Interval &b) { return a.begin < b.begin; });
  std::vector<Interval> joined;
  for (const Interval &interval : intervals)
    if (joined.empty() || interval.begin > joined.back().end)
      joined.push_back(interval);
    else
      joined.back().end = std::max(joined.back().end, interval.end);
  return joined;
}

static double getLength(const std::vector<Interval> &intervals) {
  double length = 0;
  for (const Interval &interval : intervals)
    length += interval.end - interval.begin;
  return length;
}

/// Seconds in which a rank neither computes nor, if that counts too, communicates.
static double getIdle(const ClassTimes &times, double step, bool countsMoving) {
  std::vector<Interval> busy = times.computing;
  if (countsMoving)
    busy.insert(busy.end(), times.moving.begin(), times.moving.end());
  return step - getLength(join(std::move(busy)));
}

std::vector<WaterfallStep> weft::makeWaterfall(const Simulation &simulation, double floorSeconds) {
  double arithmetic = 0, traffic = 0, kernel = 0, launch = 0, slowed = 0, idle = 0, waiting = 0;
  std::vector<ClassTimes> classes = readClasses(simulation);
  for (size_t i = 0; i < classes.size(); ++i) {
    const ClassTimes &times = classes[i];
    double share = static_cast<double>(simulation.program.classes[i].ranks) /
                   static_cast<double>(simulation.ranks);
    arithmetic += share * times.work.arithmetic;
    traffic += share * times.work.traffic;
    kernel += share * times.work.kernel;
    launch += share * times.work.launch;
    slowed += share * times.slowed;
    idle += share * getIdle(times, simulation.seconds, /*countsMoving=*/false);
    waiting += share * getIdle(times, simulation.seconds, /*countsMoving=*/true);
  }
  double floor = std::min(floorSeconds, arithmetic);
  return {{"arithmetic at peak", floor},
          {"repeated and padded work", arithmetic - floor},
          {"memory traffic", traffic},
          {"kernel efficiency", kernel},
          {"launches", launch},
          {"computing beside communication", slowed},
          {"communication", idle - waiting},
          {"waiting for other ranks", waiting}};
}
