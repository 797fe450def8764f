//===- count_copies.cpp - what a run must copy to and from a device -------===//
//
//   count_copies NAME.weft STEPS [own]  →  {"to_device": [bytes by rank], "to_host": [bytes by
//   rank]}
//
// From the program alone: weights that lie in files and inputs go in once, outputs come out once,
// on the ranks whose copy is the first; the host's collectives take their operand out and bring
// their result in, each time, and so do the two sides of messages. "own": the device reaches other
// ranks by itself.
//
//===----------------------------------------------------------------------===//

#include "runtime/Program/Executable.h"
#include "runtime/Program/Position.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/DType.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace weft::runtime;
namespace program = weft::program;

/// Repeats are stored once.
static int64_t getBytes(const program::Operand &operand) {
  int64_t bytes = getElementSize(operand.dtype());
  for (int i = 0; i < operand.shape_size(); ++i)
    bytes *= operand.strides(i) == 0 ? 1 : operand.shape(i);
  return bytes;
}

/// What a port's or a weight's block holds of it on this rank: padding is not copied.
template <typename Held> static int64_t getValidBytes(const Held &held, const Position &position) {
  std::vector<int64_t> shape(held.local().shape().begin(), held.local().shape().end());
  int64_t bytes = getElementSize(held.local().dtype());
  for (int64_t extent : position.getValidExtents(held.valid(), shape))
    bytes *= extent;
  return bytes;
}

static void count(const Executable &executable, int64_t rank, int64_t steps, bool isOwn,
                  nlohmann::json &counts) {
  const program::Program &program = executable.getProgram(rank);
  Position position(executable.proto, rank);
  int64_t toDevice = 0, toHost = 0;
  for (const program::WeightBlock &block : program.weights())
    if (executable.proto.weights(static_cast<int>(block.weight())).splat().empty())
      toDevice += getValidBytes(block, position);
  for (const program::Port &port : program.inputs())
    toDevice += getValidBytes(port, position);
  for (const program::Port &port : program.outputs())
    if (position.isFirstCopy(port.sharding()))
      toHost += getValidBytes(port, position);
  forEachEntry(program, [&](const program::ScheduleEntry &entry, int64_t times) {
    if (isOwn)
      return;
    for (const program::Instruction &instruction :
         program.segments(static_cast<int>(entry.segment())).instructions())
      if (instruction.has_collective()) {
        toHost += steps * times * getBytes(instruction.collective().input());
        toDevice += steps * times * getBytes(instruction.collective().output());
      } else if (instruction.has_receive()) {
        toDevice += steps * times * getBytes(instruction.receive().output());
      } else if (instruction.has_send() &&
                 position.getCoordinate(instruction.send().leaders()) == 0) {
        toHost += steps * times * getBytes(instruction.send().input());
      }
  });
  counts["to_device"].push_back(toDevice);
  counts["to_host"].push_back(toHost);
}

int main(int argc, char **argv) {
  bool isOwn = argc == 4 && std::string(argv[3]) == "own";
  if (argc != 3 && !isOwn) {
    std::fprintf(stderr, "usage: count_copies NAME.weft STEPS [own]\n");
    return 2;
  }
  try {
    Executable executable = loadExecutable(argv[1]);
    nlohmann::json counts;
    for (int64_t rank = 0; rank < executable.getNumRanks(); ++rank)
      count(executable, rank, std::atoll(argv[2]), isOwn, counts);
    fmt::print("{}\n", counts.dump());
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
