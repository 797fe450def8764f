//===- PricedProgram.cpp - an executable's program with prices ------------===//

#include "driver/PricedProgram.h"

#include "compiler/Cost/Instruction.h"
#include "compiler/Executable/InstructionShapes.h"
#include "driver/CommunicationPrices.h"
#include "driver/ValueLifetimes.h"
#include "runtime/Inspect/InspectReport.h"
#include "runtime/Program/Collectives.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/DType.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <map>
#include <set>

using namespace weft;
using sim::Op;
using sim::Stream;

/// Of the compute rate that a collective takes which the ranks' own cores do: while they move data
/// they do nothing else.
static constexpr double lossInMemory = 1;

namespace {

/// What the classes of a program have in common: names, links and channels.
class Tables {
public:
  explicit Tables(sim::Program &program) : program(program) {}

  int32_t getName(const program::Instruction &instruction) {
    std::string label = runtime::getLabel(instruction);
    auto [found, isNew] = names.try_emplace({label, instruction.shape_class()}, names.size());
    if (isNew) {
      program.names.push_back(label);
      program.operations.push_back(runtime::getOperation(instruction));
      program.shapes.push_back(instruction.shape_class());
    }
    return found->second;
  }

  int32_t getLink(const std::string &name) {
    auto [found, isNew] = links.try_emplace(name, links.size());
    if (isNew)
      program.links.push_back(name);
    return found->second;
  }

  int32_t getChannel(int32_t sender, int32_t receiver, uint32_t tag) {
    auto [found, isNew] = channels.try_emplace({sender, receiver, tag}, channels.size());
    if (isNew)
      program.channels.push_back({receiver, sim::Channel::unbounded, 0});
    return found->second;
  }

  sim::Program &program;

private:
  std::map<std::pair<std::string, std::string>, int32_t> names;
  std::map<std::string, int32_t> links;
  std::map<std::tuple<int32_t, int32_t, uint32_t>, int32_t> channels;
};

/// Writes one rank class.
class ClassWriter {
public:
  ClassWriter(const program::Executable &executable, const ClusterModel &cluster,
              const CostConstants &constants, Tables &tables, int32_t number)
      : executable(executable), range(executable.ranks(number)),
        from(executable.classes(static_cast<int>(range.rank_class()))), constants(constants),
        prices(cluster, constants), position(executable, range.begin()), lanes(from),
        tables(tables), number(number) {
    made.lanes = lanes.getNames();
    int64_t first = 0;
    for (const GroupModel &group : cluster.groups) {
      if (range.begin() < first + group.getNumDevices() && range.end() > first)
        devices.push_back(&group.device);
      first += group.getNumDevices();
    }
  }

  sim::RankClass write();

private:
  void write(const program::Segment &segment);
  void write(const program::Instruction &instruction);
  void addWork(const program::Instruction &instruction, const InstructionWork &work);
  void addTransfer(const program::Instruction &instruction, const TransferPrice &price,
                   sim::Instruction transfer);
  void addCollective(const program::Instruction &instruction);
  bool isHostCopy(const program::Instruction &instruction) const;
  void addHostCopy(const program::Instruction &instruction);
  void addSend(const program::Instruction &instruction);
  void addReceive(const program::Instruction &instruction);
  void addWait(uint32_t token);
  void addMemory();
  void addEntries();
  void change(const ProgramPoint &point, bool atEnd, const HeldValue &value);
  int32_t findClass(const std::string &mesh) const;
  int32_t addEvent() { return made.events++; }
  void add(Op op, Stream stream, int32_t id, int32_t lane = 0);
  std::vector<sim::Instruction> &instructions() { return made.segments.back().instructions; }

  const program::Executable &executable;
  const program::RankRange &range;
  const program::Program &from;
  const CostConstants &constants;
  CommunicationPrices prices;
  runtime::Position position; ///< of the first rank, which stands for all
  runtime::CollectiveLanes lanes;
  Tables &tables;
  int32_t number;
  std::vector<const DeviceModel *> devices; ///< of the class's ranks: the slowest decides
  sim::RankClass made;
  struct Begun {
    int32_t event = -1;                     ///< set when it is over
    const program::Instruction *receives{}; ///< what is received where it is waited for
  };
  std::map<uint32_t, Begun> begun; ///< by token
  /// By segment and instruction: the first and the last that it became.
  std::vector<std::vector<std::pair<size_t, size_t>>> places;
};

void ClassWriter::add(Op op, Stream stream, int32_t id, int32_t lane) {
  sim::Instruction instruction;
  instruction.op = op;
  instruction.stream = stream;
  instruction.lane = lane;
  instruction.id = id;
  instructions().push_back(std::move(instruction));
}

void ClassWriter::addWork(const program::Instruction &instruction, const InstructionWork &work) {
  sim::Instruction made;
  made.name = tables.getName(instruction);
  for (const DeviceModel *device : devices)
    if (double seconds = getInstructionSeconds(*device, work, constants); seconds > made.seconds) {
      made.seconds = seconds;
      made.parts = splitInstructionSeconds(*device, work, constants);
    }
  instructions().push_back(std::move(made));
}

/// Between two events where it has a stream of its own; waited for at once where it is not begun
/// beside others.
void ClassWriter::addTransfer(const program::Instruction &instruction, const TransferPrice &price,
                              sim::Instruction transfer) {
  Stream stream = transfer.stream;
  int32_t lane = transfer.lane;
  int32_t ready = addEvent(), done = addEvent();
  transfer.name = tables.getName(instruction);
  transfer.seconds = price.seconds;
  transfer.linkSeconds = price.linkSeconds;
  bool isCopy = stream == Stream::Copy || stream == Stream::CopyBack; // done by no processor
  transfer.loss = isCopy ? 0 : price.inMemory ? lossInMemory : constants.overlapLoss;
  if (!price.tier.empty() && price.linkSeconds > 0) // memory is everybody's, other links a class's
    transfer.links = {{tables.getLink(price.inMemory ? price.tier : made.name + " " + price.tier)}};
  add(Op::Record, Stream::Compute, ready);
  add(Op::Wait, stream, ready, lane);
  instructions().push_back(std::move(transfer));
  add(Op::Record, stream, done, lane);
  if (instruction.has_async())
    begun[instruction.async().token()] = {done, nullptr};
  else
    add(Op::Wait, Stream::Compute, done);
}

void ClassWriter::addCollective(const program::Instruction &instruction) {
  sim::Instruction transfer;
  transfer.op = Op::Transfer;
  transfer.stream = Stream::Collective;
  transfer.lane = lanes.get(instruction.collective());
  addTransfer(instruction, prices.getCollective(instruction.collective(), position), transfer);
}

/// Of a device that has another memory than its host.
bool ClassWriter::isHostCopy(const program::Instruction &instruction) const {
  return instruction.has_copy() &&
         runtime::isOnHost(from, instruction.copy().input()) !=
             runtime::isOnHost(from, instruction.copy().output()) &&
         std::all_of(devices.begin(), devices.end(),
                     [](const DeviceModel *device) { return device->hostCopy.has_value(); });
}

void ClassWriter::addHostCopy(const program::Instruction &instruction) {
  sim::Instruction transfer;
  transfer.op = Op::Transfer;
  transfer.stream =
      runtime::isOnHost(from, instruction.copy().output()) ? Stream::CopyBack : Stream::Copy;
  TransferPrice price;
  auto bytes = static_cast<double>(instruction.bytes_read());
  for (const DeviceModel *device : devices)
    price.seconds = std::max(price.seconds, getHostCopySeconds(*device, bytes));
  addTransfer(instruction, price, transfer);
}

int32_t ClassWriter::findClass(const std::string &mesh) const {
  int64_t rank = runtime::findMesh(executable, mesh).first_device();
  for (int32_t other = 0; other < executable.ranks_size(); ++other)
    if (rank >= executable.ranks(other).begin() && rank < executable.ranks(other).end())
      return other;
  runtime::throwBadInput("no program runs on mesh '{}'", mesh);
}

void ClassWriter::addSend(const program::Instruction &instruction) {
  const program::Send &send = instruction.send();
  sim::Instruction message;
  message.op = Op::Send;
  message.stream = Stream::PointToPoint;
  message.id = tables.getChannel(number, findClass(send.mesh()), send.tag());
  auto bytes = static_cast<double>(runtime::getElementSize(send.input().dtype()));
  for (int64_t extent : send.input().shape())
    bytes *= static_cast<double>(extent);
  tables.program.channels[message.id].bytes = bytes;
  int64_t peer = runtime::getRankAt(runtime::findMesh(executable, send.mesh()),
                                    position.evaluate(send.peer()));
  addTransfer(instruction,
              prices.getMessage(range.begin(), peer, range.end() - range.begin(), bytes), message);
}

/// A message is taken where it is waited for: it overtakes whatever else is under way.
void ClassWriter::addReceive(const program::Instruction &instruction) {
  if (instruction.has_async()) {
    begun[instruction.async().token()] = {-1, &instruction};
    return;
  }
  const program::Receive &receive = instruction.receive();
  add(Op::Receive, Stream::Compute,
      tables.getChannel(findClass(receive.mesh()), number, receive.tag()));
  instructions().back().name = tables.getName(instruction);
}

void ClassWriter::addWait(uint32_t token) {
  auto found = begun.find(token);
  if (found == begun.end())
    return;
  if (found->second.event >= 0)
    return add(Op::Wait, Stream::Compute, found->second.event);
  const program::Receive &receive = found->second.receives->receive();
  add(Op::Receive, Stream::Compute,
      tables.getChannel(findClass(receive.mesh()), number, receive.tag()));
  instructions().back().name = tables.getName(*found->second.receives);
}

void ClassWriter::write(const program::Instruction &instruction) {
  if (isHostCopy(instruction))
    addHostCopy(instruction);
  else if (std::optional<InstructionWork> work = describeWork(instruction))
    addWork(instruction, *work);
  else if (instruction.has_collective())
    addCollective(instruction);
  else if (instruction.has_send())
    addSend(instruction);
  else if (instruction.has_receive())
    addReceive(instruction);
  else if (instruction.has_wait())
    addWait(instruction.wait().token());
}

void ClassWriter::write(const program::Segment &segment) {
  made.segments.emplace_back();
  places.emplace_back();
  for (const program::Instruction &instruction : segment.instructions()) {
    size_t first = instructions().size();
    write(instruction);
    size_t end = instructions().size();
    places.back().emplace_back(first, end > first ? end - 1 : first);
  }
}

/// Bytes that come with an instruction, or go with it.
void ClassWriter::change(const ProgramPoint &point, bool atEnd, const HeldValue &value) {
  auto [first, last] = places[point.segment][point.instruction];
  std::vector<sim::Instruction> &list = made.segments[point.segment].instructions;
  if (list.empty())
    return;
  sim::Instruction &instruction = list[std::min(atEnd ? last : first, list.size() - 1)];
  auto bytes = static_cast<double>(value.bytes) / static_cast<double>(value.frames);
  if (atEnd)
    instruction.onEnd.push_back({value.kind, -bytes});
  else
    instruction.onBegin.push_back({value.kind, bytes});
}

/// What lives longer than its segment's execution counts as there all the time; but what lies in
/// frames, which a microbatch's forward phase leaves to its backward phase.
void ClassWriter::addMemory() {
  std::map<program::ArenaKind, double> resident;
  for (const HeldValue &value : listHeldValues(executable, from)) {
    bool comesAndGoes = !value.resident && value.first.step >= 0 &&
                        (value.first.segment == value.last.segment || value.frames > 1) &&
                        !runtime::isKept(value.kind) && value.kind != program::PORTS;
    if (!comesAndGoes) {
      resident[value.kind] += static_cast<double>(value.bytes);
      continue;
    }
    change(value.first, /*atEnd=*/false, value);
    change(value.last, /*atEnd=*/true, value);
  }
  for (const auto &[kind, bytes] : resident)
    made.resident.push_back({kind, bytes});
}

void ClassWriter::addEntries() {
  runtime::forEachExecution(from, [&](const runtime::Execution &execution) {
    auto instance = static_cast<int32_t>(execution.microbatch);
    made.entries.push_back({static_cast<int32_t>(execution.entry->segment()), instance});
    tables.program.instances = std::max(tables.program.instances, instance + 1);
  });
}

sim::RankClass ClassWriter::write() {
  made.ranks = range.end() - range.begin();
  made.name = made.ranks == 1 ? fmt::format("rank {}", range.begin())
                              : fmt::format("ranks {} to {}", range.begin(), range.end() - 1);
  for (const program::Segment &segment : from.segments())
    write(segment);
  addMemory();
  addEntries();
  return std::move(made);
}

} // namespace

sim::Program weft::priceProgram(const program::Executable &executable, const ClusterModel &cluster,
                                const CostConstants &constants) {
  int64_t ranks = 0;
  for (const program::RankRange &range : executable.ranks())
    ranks = std::max(ranks, range.end());
  ClusterModel shared = shareHost(cluster, ranks);
  if (shared.getNumDevices() < ranks)
    throw runtime::Error(runtime::ErrorKind::Infeasible,
                         fmt::format("the program has {} ranks, cluster '{}' {} devices", ranks,
                                     cluster.name, shared.getNumDevices()));
  sim::Program program;
  for (int kind = program::ArenaKind_MIN; kind <= program::ArenaKind_MAX; ++kind)
    program.owners.push_back(runtime::getArenaName(static_cast<program::ArenaKind>(kind)));
  Tables tables(program);
  for (int32_t number = 0; number < executable.ranks_size(); ++number)
    program.classes.push_back(ClassWriter(executable, shared, constants, tables, number).write());
  return program;
}
