//===- Collectives.cpp - what is known of a program's collectives ---------===//

#include "runtime/Program/Collectives.h"

#include "runtime/Support/DType.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace weft::runtime {

namespace {
int64_t getBytes(const program::Operand &operand) {
  int64_t bytes = getElementSize(operand.dtype());
  for (int64_t extent : operand.shape())
    bytes *= extent;
  return bytes;
}
} // namespace

std::string getName(program::CollectiveKind kind) {
  switch (kind) {
  case program::ALL_REDUCE:
    return "all_reduce";
  case program::ALL_GATHER:
    return "all_gather";
  case program::REDUCE_SCATTER:
    return "reduce_scatter";
  case program::ALL_TO_ALL:
    return "all_to_all";
  case program::PERMUTE:
    return "permute";
  default:
    return "unknown";
  }
}

std::string getName(plan::Reduction reduction) {
  switch (reduction) {
  case plan::SUM:
    return "sum";
  case plan::MAX:
    return "max";
  case plan::MIN:
    return "min";
  case plan::PROD:
    return "prod";
  default:
    return "unknown";
  }
}

std::string getName(const plan::AxisRef &axis) {
  return axis.size() == 0 ? axis.name()
                          : fmt::format("{}:({}){}", axis.name(), axis.pre(), axis.size());
}

std::string getAxesName(const program::Collective &collective) {
  std::string name;
  for (const plan::AxisRef &axis : collective.axes())
    name += (name.empty() ? "" : ", ") + getName(axis);
  return name;
}

CollectiveLanes::CollectiveLanes(const program::Program &program) {
  std::set<std::string> found;
  for (const program::Segment &segment : program.segments())
    for (const program::Instruction &instruction : segment.instructions())
      if (instruction.has_collective())
        found.insert(getAxesName(instruction.collective()));
  names.assign(found.begin(), found.end());
}

int32_t CollectiveLanes::get(const program::Collective &collective) const {
  auto found = std::lower_bound(names.begin(), names.end(), getAxesName(collective));
  return static_cast<int32_t>(found - names.begin());
}

std::string getOpcode(const program::Instruction &instruction) {
  switch (instruction.op_case()) {
  case program::Instruction::kLaunch:
    return "LAUNCH";
  case program::Instruction::kAttention:
    return "ATTENTION";
  case program::Instruction::kAttentionBackward:
    return "ATTENTION_BACKWARD";
  case program::Instruction::kGemm:
    return "GEMM";
  case program::Instruction::kConv:
    return "CONV";
  case program::Instruction::kCollective:
    return "COLLECTIVE";
  case program::Instruction::kCopy:
    return "COPY";
  case program::Instruction::kFill:
    return "FILL";
  case program::Instruction::kSend:
    return "SEND";
  case program::Instruction::kReceive:
    return "RECV";
  case program::Instruction::kWait:
    return "WAIT";
  case program::Instruction::kObserve:
    return "OBSERVE";
  default:
    return "?";
  }
}

std::string getOperation(const program::Instruction &instruction) {
  std::string opcode = getOpcode(instruction);
  return instruction.has_collective() ? opcode + " " + getName(instruction.collective().kind())
                                      : opcode;
}

std::string getLabel(const program::Instruction &instruction) {
  return fmt::format("{} of '{}'", getOperation(instruction), instruction.source());
}

static CollectiveRecord describeCollective(const program::Instruction &instruction,
                                           const Position &position) {
  const program::Collective &collective = instruction.collective();
  CollectiveRecord record;
  record.kind = getName(collective.kind());
  for (const plan::AxisRef &axis : collective.axes())
    record.axes.push_back(getName(axis));
  record.dtype = getName(collective.input().dtype());
  record.source = instruction.source();
  record.mesh = position.hasOtherMeshes() ? collective.mesh() : "";
  switch (collective.kind()) {
  case program::ALL_REDUCE:
  case program::REDUCE_SCATTER:
    record.reduction = getName(collective.reduction());
    record.bytes = getBytes(collective.input());
    break;
  case program::ALL_GATHER:
    record.bytes = getBytes(collective.output());
    break;
  default:
    record.bytes =
        getBytes(collective.input()) * position.getSize(collective.axes(), collective.mesh());
  }
  return record;
}

static CollectiveRecord describeTransfer(const program::Instruction &instruction,
                                         const Position &position) {
  const program::Send &send = instruction.send();
  CollectiveRecord record;
  record.kind = "transfer";
  record.dtype = getName(send.input().dtype());
  record.source = instruction.source();
  record.mesh = position.getMesh().name();
  record.to = send.mesh();
  int64_t senders = getNumPositions(position.getMesh()) / position.getSize(send.leaders());
  record.messages = senders;
  for (int i = 0; i < send.steps_size() && i < send.input().shape_size(); ++i)
    record.messages *= send.input().shape(i);
  record.bytes = senders * getBytes(send.input());
  return record;
}

std::optional<CollectiveRecord> describeCommunication(const program::Instruction &instruction,
                                                      const Position &position) {
  if (instruction.has_collective())
    return describeCollective(instruction, position);
  if (instruction.has_send())
    return describeTransfer(instruction, position);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// Between the fields of a record, and the axes in one.
static constexpr char fieldEnd = '\x1f', axisEnd = '\x1e';

std::string toText(const CollectiveRecord &record) {
  std::string axes;
  for (const std::string &axis : record.axes)
    axes += axis + axisEnd;
  std::string text;
  for (const std::string &field :
       {record.kind, axes, record.reduction, record.dtype, std::to_string(record.bytes),
        std::to_string(record.count), record.source, record.mesh, record.to,
        std::to_string(record.messages)})
    text += field + fieldEnd;
  return text;
}

static std::vector<std::string> split(const std::string &text, char end) {
  std::vector<std::string> parts;
  for (size_t at = 0, stop; (stop = text.find(end, at)) != std::string::npos; at = stop + 1)
    parts.push_back(text.substr(at, stop - at));
  return parts;
}

CollectiveRecord parseRecord(const std::string &text) {
  std::vector<std::string> fields = split(text, fieldEnd);
  fields.resize(10);
  return {fields[0],
          split(fields[1], axisEnd),
          fields[2],
          fields[3],
          std::stoll(fields[4]),
          std::stoll(fields[5]),
          fields[6],
          fields[7],
          fields[8],
          std::stoll(fields[9])};
}

void CollectiveCounts::add(const CollectiveRecord &record) {
  CollectiveRecord key = record;
  key.count = 0;
  auto [it, isNew] = known.try_emplace(toText(key), records.size());
  if (isNew)
    records.push_back(record);
  else
    records[it->second].count += record.count;
}

} // namespace weft::runtime
