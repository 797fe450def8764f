#ifndef WEFT_TEST_UNIT_SIMULATE_PROGRAMS_H
#define WEFT_TEST_UNIT_SIMULATE_PROGRAMS_H

#include "compiler/Simulate/Simulator.h"

namespace weft::sim {

inline Instruction makeWork(double seconds) {
  Instruction work;
  work.seconds = seconds;
  return work;
}

inline Instruction makeTransfer(Stream stream, double seconds, double linkSeconds, int32_t link,
                                double demand = 1) {
  Instruction transfer;
  transfer.op = Op::Transfer;
  transfer.stream = stream;
  transfer.seconds = seconds;
  transfer.linkSeconds = linkSeconds;
  if (link >= 0)
    transfer.links = {{link, demand}};
  return transfer;
}

inline Instruction makeOp(Op op, Stream stream, int32_t id) {
  Instruction instruction;
  instruction.op = op;
  instruction.stream = stream;
  instruction.id = id;
  return instruction;
}

/// A class of one rank that runs the instructions once.
inline RankClass makeClass(std::vector<Instruction> instructions, int32_t events = 0) {
  RankClass rankClass;
  rankClass.name = "rank";
  rankClass.segments = {{std::move(instructions)}};
  rankClass.entries = {{0, 0}};
  rankClass.events = events;
  return rankClass;
}

inline Program makeProgram(std::vector<RankClass> classes) {
  Program program;
  program.classes = std::move(classes);
  program.names = {"work"};
  program.owners = {"activations", "weights"};
  return program;
}

} // namespace weft::sim

#endif // WEFT_TEST_UNIT_SIMULATE_PROGRAMS_H
