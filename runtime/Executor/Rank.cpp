//===- Rank.cpp - one rank's run ------------------------------------------===//

#include "runtime/Executor/Rank.h"

#include "runtime/Executor/Agree.h"
#include "runtime/Executor/CollectiveAction.h"
#include "runtime/Executor/Weights.h"

#include <cstring>
#include <fstream>
#include <unistd.h>

namespace weft::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *kernelFile = "kernels/cpu.so";

double getSecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Peak resident set of this process in bytes.
int64_t getPeakRss() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return std::stoll(line.substr(6)) * 1024;
  return 0;
}

/// Bytes that this machine can still give.
int64_t getAvailableMemory() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("MemAvailable:", 0) == 0)
      return std::stoll(line.substr(13)) * 1024;
  return std::numeric_limits<int64_t>::max();
}

template <typename T> std::string toBytes(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

template <typename T> std::vector<T> fromBytes(const std::string &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

bool isSame(const CollectiveRecord &a, const CollectiveRecord &b) {
  return a.kind == b.kind && a.axes == b.axes && a.reduction == b.reduction && a.dtype == b.dtype &&
         a.bytes == b.bytes && a.source == b.source;
}

} // namespace

Rank::Rank(const Executable &executable, Transport &transport, const RunOptions &options,
           Place &place)
    : executable(executable), program(executable.getProgram(transport.getRank())),
      transport(transport), options(options), place(place),
      position(executable.proto, transport.getRank()),
      pool(transport.getThreadShare(options.threads)) {
  limitLibraryThreads();
}

void Rank::prepareSegment(const program::Segment &segment) {
  std::vector<Step> steps;
  for (const program::Instruction &instruction : segment.instructions()) {
    Step step;
    step.instruction = &instruction;
    std::string opcode = getOpcode(instruction);
    if (instruction.has_collective())
      opcode += " " + getName(instruction.collective().kind());
    step.label = place.keepLabel(fmt::format("{} of '{}'", opcode, instruction.source()));
    try {
      step.action =
          instruction.has_collective()
              ? makeCollectiveAction(program, instruction.collective(), position, transport)
              : makeCpuAction(program, instruction, position);
    } catch (const Error &error) {
      throwBadInput("'{}' is damaged: {}, in segment '{}', instruction {}, {}", executable.folder,
                    error.what(), segment.name(), steps.size(), step.label);
    }
    steps.push_back(std::move(step));
  }
  segments.push_back(std::move(steps));
}

void Rank::prepare() {
  inputPaths = checkInputs(program, options.inputs);
  for (const program::Port &port : program.inputs())
    inputs.push_back(resolvePort(program, port, position));
  for (const program::Port &port : program.outputs())
    outputs.push_back(resolvePort(program, port, position));
  for (const program::Segment &segment : program.segments())
    prepareSegment(segment);
  for (const program::ScheduleEntry &entry : program.schedule())
    if (entry.segment() >= segments.size())
      throwBadInput("'{}' is damaged: its schedule names segment {}", executable.folder,
                    entry.segment());
  int64_t sharing = transport.ownsProcess() ? 1 : transport.getSize();
  int64_t needed = 0, available = getAvailableMemory();
  if (__builtin_mul_overflow(getArenaBytes(program), sharing, &needed) || needed > available)
    throwFailure("the arenas of {} rank(s) need {:.2f} GiB, {:.2f} GiB are available", sharing,
                 double(getArenaBytes(program)) * double(sharing) / (1 << 30),
                 double(available) / (1 << 30));
}

void Rank::initialise() {
  auto begin = Clock::now();
  arenas = std::make_unique<Arenas>(program);
  kernels = std::make_unique<KernelLibrary>(
      executable.proto.kernels().empty() ? "" : executable.getPath(kernelFile));
  for (std::vector<Step> &steps : segments)
    for (Step &step : steps)
      step.action->initialise(*kernels);
  loadWeights(executable, position, arenas->getBases(0), options.weightsDir);
  for (size_t i = 0; i < inputs.size(); ++i)
    readInput(inputs[i], inputPaths[i], arenas->getBases(0));
  initialiseSeconds = getSecondsSince(begin);
}

void Rank::executeOnce(int64_t number) {
  if (transport.getSize() > 1)
    gatherTexts(transport, ""); // begin together, so that a step's time is its own
  place.enterStep(number);
  auto begin = Clock::now(), last = begin;
  for (const program::ScheduleEntry &entry : program.schedule()) {
    const Bases &bases = arenas->getBases(entry.frame());
    std::vector<Step> &steps = segments[entry.segment()];
    for (size_t i = 0; i < steps.size(); ++i) {
      Step &step = steps[i];
      place.enterInstruction(static_cast<int64_t>(i), step.label);
      step.action->execute(bases, pool);
      auto now = Clock::now();
      step.seconds += std::chrono::duration<double>(now - last).count();
      last = now;
      ++step.executions;
    }
  }
  stepSeconds.push_back(getSecondsSince(begin));
}

void Rank::execute() {
  for (int64_t step = 0; step < options.repeat; ++step)
    executeOnce(step);
}

void Rank::deliver() {
  if (!options.outputDir.empty())
    writeOutputs(transport, outputs, options.outputDir, arenas->getBases(0));
  if (!options.expectDir.empty())
    comparisons = compareOutputs(transport, outputs, options.expectDir, arenas->getBases(0));
}

void Rank::countInto(RunReport &report) const {
  for (const std::vector<Step> &steps : segments) {
    for (const Step &step : steps) {
      std::string opcode = getOpcode(*step.instruction);
      int64_t count = step.executions / std::max<int64_t>(options.repeat, 1);
      report.instructions[opcode] += count;
      report.times.push_back(
          {opcode, step.instruction->source(), step.instruction->shape_class(), step.seconds});
      if (!step.instruction->has_collective())
        continue;
      const program::Collective &collective = step.instruction->collective();
      CollectiveRecord record = describeCollective(
          *step.instruction, position.getSize(collective.axes(), collective.mesh()));
      record.count = count;
      auto same =
          std::find_if(report.collectives.begin(), report.collectives.end(),
                       [&](const CollectiveRecord &other) { return isSame(record, other); });
      if (same == report.collectives.end())
        report.collectives.push_back(record);
      else
        same->count += count;
    }
  }
}

RunReport Rank::report() {
  RunReport report;
  report.rank = transport.getRank();
  report.transport = transport.getName();
  report.threadsPerRank = pool.getNumThreads();
  report.comparisons = comparisons;
  countInto(report);
  std::vector<int64_t> sizes = {getWeightBytes(program), getArenaBytes(program), getPeakRss()};
  for (const std::string &bytes : gatherTexts(transport, toBytes(sizes))) {
    sizes = fromBytes<int64_t>(bytes);
    report.weightsBytes.push_back(sizes[0]);
    report.arenaBytes.push_back(sizes[1]);
    report.peakRss.push_back(sizes[2]);
  }
  std::vector<double> seconds = stepSeconds;
  seconds.push_back(initialiseSeconds);
  report.stepSeconds.assign(seconds.size(), 0);
  for (const std::string &bytes : gatherTexts(transport, toBytes(seconds))) {
    std::vector<double> others = fromBytes<double>(bytes);
    for (size_t i = 0; i < others.size(); ++i)
      report.stepSeconds[i] = std::max(report.stepSeconds[i], others[i]);
  }
  report.initialiseSeconds = report.stepSeconds.back();
  report.stepSeconds.pop_back();
  return report;
}

} // namespace weft::runtime
