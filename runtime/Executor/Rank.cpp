//===- Rank.cpp - one rank's run ------------------------------------------===//

#include "runtime/Executor/Rank.h"

#include "runtime/Executor/Agree.h"
#include "runtime/Executor/HostCommunicator.h"
#include "runtime/Executor/MakeCommand.h"
#include "runtime/Executor/OpenDevice.h"
#include "runtime/Executor/ProcessMemory.h"
#include "runtime/Executor/Weights.h"
#include "runtime/Io/Npy.h"

#include <cstring>
#include <sstream>

namespace weft::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *kernelFolder = "kernels";

double getSecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <typename T> std::string toBytes(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

template <typename T> std::vector<T> fromBytes(const std::string &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

DeviceOptions makeDeviceOptions(const Transport &transport, int threads) {
  HostRank hostRank = transport.getHostRank();
  return {hostRank.rank, hostRank.ranks, transport.getThreadShare(threads)};
}

std::unique_ptr<Communicator> openCommunicator(Device &device, Transport &transport,
                                               Staging &staging) {
  std::unique_ptr<Communicator> own = device.makeCommunicator(transport);
  return own ? std::move(own) : makeHostCommunicator(transport, staging);
}

} // namespace

Rank::Rank(const Executable &executable, Transport &transport, const RunOptions &options,
           RankLocation &location)
    : executable(executable), program(executable.getProgram(transport.getRank())),
      transport(transport), options(options), location(location),
      position(executable.proto, transport.getRank()), lanes(program),
      device(openDevice(executable.proto, options.device,
                        makeDeviceOptions(transport, options.threads))),
      wait(*device, transport), staging(*device, wait), hostCopies(*device),
      copies(device->makeStream()), compute(device->makeStream()),
      progress(*device, *compute, wait, location) {}

void Rank::prepareSegment(const program::Segment &segment) {
  CommandContext context{executable.proto,    program, position,      lanes,
                         transport.getSize(), *device, *communicator, hostCopies};
  std::vector<Step> steps;
  for (const program::Instruction &instruction : segment.instructions()) {
    Step step;
    step.instruction = &instruction;
    step.label = location.keepLabel(getLabel(instruction));
    try {
      if (!instruction.has_observe())
        step.command = makeCommand(context, instruction);
    } catch (const Error &error) {
      throwBadInput("'{}' is damaged: {}, in segment '{}', instruction {}, {}", executable.folder,
                    error.what(), segment.name(), steps.size(), step.label);
    }
    steps.push_back(std::move(step));
  }
  segments.push_back(std::move(steps));
}

void Rank::prepare() {
  communicator = openCommunicator(*device, transport, staging);
  if (!options.train && options.data.empty())
    inputPaths = checkInputs(executable.proto, program, options.inputs);
  else if (!options.train)
    data.emplace(options.data, executable.proto, program);
  states.emplace(executable, position);
  if (!options.trace.empty())
    trace.emplace();
  if (!options.stateIn.empty())
    states->check(options.stateIn);
  for (const program::Port &port : program.inputs())
    inputs.push_back(resolvePort(program, port, position));
  std::map<std::string, const program::Port *> own;
  for (const program::Port &port : program.outputs())
    own[port.name()] = &port;
  for (const program::Port *port : listOutputs(executable.proto)) // every rank delivers all
    outputs.push_back(own.count(port->name()) ? resolvePort(program, *own[port->name()], position)
                                              : describePort(*port));
  for (const program::Segment &segment : program.segments())
    prepareSegment(segment);
  if (std::string flaw = findFlaw(program); !flaw.empty())
    throwBadInput("'{}' is damaged: {}", executable.folder, flaw);
  if (!options.expectDir.empty())
    checkExpected(program, options.expectDir);
  checkMemory();
}

void Rank::prepareTraining() {
  if (!options.train)
    return;
  training = std::make_unique<Training>(
      TrainContext{executable, program, transport, options, location, position, inputs, outputs,
                   *states, [this] { return getAccess(); }, [this] { wait.forStream(*copies); },
                   [this](int64_t step) { executeOnce(step); }});
  training->prepare();
}

/// What the host is to keep for a device beside it is told by allocating it.
void Rank::checkMemory() const {
  int64_t needed = getArenaBytes(program), available = device->getAvailableMemory();
  if (device->sharesHostMemory())
    needed += getHostBytes(program);
  if (needed > available)
    throwFailure("the arenas need {:.2f} GiB, {:.2f} GiB of the {}'s memory are available to "
                 "this rank",
                 double(needed) / (1 << 30), double(available) / (1 << 30), device->getName());
}

void Rank::initialise() {
  auto begin = Clock::now();
  arenas = std::make_unique<Arenas>(*device, program);
  if (!executable.proto.kernels().empty())
    device->loadKernels(executable.getPath(kernelFolder));
  for (std::vector<Step> &steps : segments)
    for (Step &step : steps)
      if (step.command)
        step.command->initialise();
  const DeviceBases &bases = arenas->getBases();
  WeightsTarget target{*device, bases, staging, *copies, weightCommands};
  bool resumed = training && training->isResumed();
  loadWeights(executable, position, target, {options.weightsDir, /*withStates=*/!resumed});
  for (const PortBlock &input : inputs)
    if (input.padded)
      clear(*input.padded, target);
  if (!options.stateIn.empty())
    states->read(options.stateIn, getAccess());
  if (resumed)
    training->restore();
  for (size_t i = 0; i < inputPaths.size(); ++i)
    readInput(inputs[i], inputPaths[i], getAccess());
  wait.forStream(*copies);
  initialiseSeconds = getSecondsSince(begin);
}

void Rank::executeEntry(const Execution &execution) {
  arenas->getBases(execution.frames, bases);
  std::vector<Step> &steps = segments[execution.entry->segment()];
  for (size_t i = 0; i < steps.size(); ++i) {
    Step &step = steps[i];
    ++step.executions;
    if (!step.command) { // lets the host look
      observe(static_cast<int64_t>(i), step);
      continue;
    }
    executeStep(static_cast<int64_t>(i), step);
    if (NanCheck *check = training ? training->getNanCheck() : nullptr) {
      progress.catchUp();
      check->look(execution.entry->segment(), i, step.label, {bases, staging, *compute});
    }
  }
}

void Rank::executeStep(int64_t number, Step &step) {
  if (step.command->waitsForStream())
    progress.catchUp();
  location.enterInstruction(number, step.label);
  auto begin = Clock::now();
  step.command->enqueue(bases, *compute);
  progress.passed({number, step.label, &step.seconds});
  if (!trace)
    return;
  progress.catchUp();
  trace->add(*step.instruction, step.label, begin);
}

void Rank::observe(int64_t number, const Step &step) {
  if (!training || !training->wantsGradients())
    return;
  progress.catchUp();
  location.enterInstruction(number, step.label);
  training->observe(step.instruction->observe().port(), {bases, staging, *compute});
}

void Rank::executeOnce(int64_t number) {
  if (transport.getSize() > 1)
    gatherTexts(transport, ""); // begin together, so that a step's time is its own
  location.enterStep(number);
  auto begin = Clock::now();
  progress.begin();
  if (trace)
    trace->beginStep();
  forEachExecution(program, [&](const Execution &execution) { executeEntry(execution); });
  progress.catchUp();
  stepSeconds.push_back(getSecondsSince(begin));
}

void Rank::execute() {
  if (training)
    return training->execute();
  if (data)
    return executeData();
  for (int64_t step = 0; step < options.repeat; ++step)
    executeOnce(step);
}

void Rank::executeData() {
  openDelivery(data->getNumSteps());
  try {
    for (int64_t step = 0; step < data->getNumSteps(); ++step) {
      location.enterStage("reading of a step's inputs");
      data->readNext(inputs, getAccess());
      wait.forStream(*copies);
      executeOnce(step);
      delivery->add(step, getAccess());
    }
  } catch (...) {
    delivery.reset(); // leaves no half-written files
    throw;
  }
}

void Rank::openDelivery(int64_t steps) {
  delivery.emplace(transport, outputs, OutputFolders{options.outputDir, options.expectDir}, steps);
}

void Rank::deliver() {
  if (trace)
    agree(transport, [&] { trace->write(options.trace, transport); });
  if (training)
    return training->deliver();
  if (!data) {
    openDelivery(/*steps=*/0);
    agree(transport, [&] { delivery->add(0, getAccess()); });
  }
  comparisons = delivery->finish();
  if (!options.stateOut.empty())
    states->write(options.stateOut, transport, getAccess());
}

int64_t Rank::getNumSteps() const {
  if (training)
    return training->getNumSteps();
  return data ? data->getNumSteps() : options.repeat;
}

/// Whether this rank is the first that runs its program: it counts for all of them.
bool Rank::countsForClass() const {
  for (const program::RankRange &range : executable.proto.ranks())
    if (range.begin() == transport.getRank())
      return true;
  return false;
}

/// What this rank executed a step: opcodes, an empty line, collectives.
std::string Rank::describeExecutions() const {
  std::map<std::string, int64_t> opcodes;
  CollectiveCounts counts;
  for (const std::vector<Step> &steps : segments)
    for (const Step &step : steps) {
      int64_t count = step.executions / std::max<int64_t>(getNumSteps(), 1);
      opcodes[getOpcode(*step.instruction)] += count;
      if (std::optional<CollectiveRecord> record =
              describeCommunication(*step.instruction, position)) {
        record->count = count;
        counts.add(*record);
      }
    }
  std::string text;
  for (const auto &[opcode, count] : opcodes)
    text += fmt::format("{} {}\n", opcode, count);
  text += '\n';
  for (const CollectiveRecord &record : counts.get())
    text += toText(record) + '\n';
  return text;
}

/// Sums the counts of all classes.
void Rank::countInto(RunReport &report) const {
  for (const std::vector<Step> &steps : segments)
    for (const Step &step : steps)
      report.times.push_back({getOpcode(*step.instruction), step.instruction->source(),
                              step.instruction->shape_class(), step.seconds});
  CollectiveCounts counts;
  for (const std::string &text :
       gatherTexts(transport, countsForClass() ? describeExecutions() : "")) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line) && !line.empty())
      report.instructions[line.substr(0, line.find(' '))] +=
          std::stoll(line.substr(line.find(' ')));
    while (std::getline(lines, line))
      counts.add(parseRecord(line));
  }
  report.collectives = counts.get();
}

RunReport Rank::report() {
  RunReport report;
  report.rank = transport.getRank();
  report.transport = transport.getName();
  report.device = device->getName();
  report.threadsPerRank = transport.getThreadShare(options.threads);
  report.comparisons = comparisons;
  if (training)
    report.train = training->getReport();
  if (!options.outputDir.empty())
    for (const PortBlock &output : outputs)
      report.outputs.push_back({output.port->name(),
                                std::string(runtime::getName(output.local.dtype)),
                                std::string(runtime::getName(getNpyDType(output.local.dtype)))});
  countInto(report);
  CopiedBytes copied = device->getCopiedBytes();
  std::vector<int64_t> sizes = {getWeightBytes(program), getArenaBytes(program), getPeakRss(),
                                copied.toDevice, copied.toHost};
  for (const std::string &bytes : gatherTexts(transport, toBytes(sizes))) {
    sizes = fromBytes<int64_t>(bytes);
    report.weightsBytes.push_back(sizes[0]);
    report.arenaBytes.push_back(sizes[1]);
    report.peakRss.push_back(sizes[2]);
    report.copied.push_back({sizes[3], sizes[4]});
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
