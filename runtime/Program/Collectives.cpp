//===- Collectives.cpp - what people are told about collectives -----------===//

#include "runtime/Program/Collectives.h"

#include "runtime/Support/DType.h"

#include <fmt/format.h>

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

std::string getOpcode(const program::Instruction &instruction) {
  switch (instruction.op_case()) {
  case program::Instruction::kLaunch:
    return "LAUNCH";
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
  case program::Instruction::kWait:
    return "WAIT";
  default:
    return "?";
  }
}

CollectiveRecord describeCollective(const program::Instruction &instruction, int64_t groupSize) {
  const program::Collective &collective = instruction.collective();
  CollectiveRecord record;
  record.kind = getName(collective.kind());
  for (const plan::AxisRef &axis : collective.axes())
    record.axes.push_back(getName(axis));
  record.dtype = getName(collective.input().dtype());
  record.source = instruction.source();
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
    record.bytes = getBytes(collective.input()) * groupSize;
  }
  return record;
}

} // namespace weft::runtime
