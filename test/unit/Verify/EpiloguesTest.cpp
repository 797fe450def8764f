//===- EpiloguesTest.cpp - the verifier rejects epilogues that do not fit -===//
//
// Each mutation makes one thing wrong in the program of Inputs/convolution.mlir, whose only
// convolution has an epilogue.
//
//===----------------------------------------------------------------------===//

#include "runtime/Verify/Verify.h"
#include "test/unit/Verify/CompiledExecutable.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

namespace {

using Executable = program::Executable;

program::Instruction &getInstruction(Executable &executable) {
  for (program::Instruction &instruction :
       *executable.mutable_classes(0)->mutable_segments(0)->mutable_instructions())
    if (instruction.conv().has_epilogue())
      return instruction;
  throw std::runtime_error("the program has no epilogue");
}

program::Conv &getConv(Executable &executable) {
  return *getInstruction(executable).mutable_conv();
}

program::Epilogue &getEpilogue(Executable &executable) {
  return *getConv(executable).mutable_epilogue();
}

program::Launch &getLaunch(Executable &executable) {
  return *getEpilogue(executable).mutable_launch();
}

/// An input that is not the convolution's output.
program::Operand &getOther(Executable &executable) {
  std::string output = getConv(executable).output().SerializeAsString();
  for (program::Operand &input : *getLaunch(executable).mutable_inputs())
    if (input.SerializeAsString() != output)
      return input;
  throw std::runtime_error("the epilogue has no other input");
}

const std::vector<Mutation> mutations = {
    {"no such kernel", [](Executable &e) { getLaunch(e).set_kernel("k0"); },
     "kernel 'k0' is none of the executable's"},
    {"another output", [](Executable &e) { getLaunch(e).mutable_outputs(0)->set_value(12345); },
     "its epilogue does not take the place of its output"},
    {"the output is no input",
     [](Executable &e) {
       for (program::Operand &input : *getLaunch(e).mutable_inputs())
         input = getConv(e).input();
     },
     "its epilogue does not take the place of its output"},
    {"checks", [](Executable &e) { getLaunch(e).add_checks(); }, "its epilogue makes checks"},
    {"tiles that are missing", [](Executable &e) { getLaunch(e).set_tiles(0); }, "0 tiles of "},
    {"tiles of no elements", [](Executable &e) { getEpilogue(e).set_tile(0); },
     "are not those of an output of 640"},
    {"rows that do not divide the output", [](Executable &e) { getEpilogue(e).set_row(641); },
     "in 641 are not those of an output of 640"},
    {"of a gradient", [](Executable &e) { getConv(e).set_kernel_gradient(true); },
     "a kernel's gradient has an epilogue"},
    {"an output with gaps",
     [](Executable &e) {
       program::Operand output = getConv(e).output(), wide = output;
       wide.set_strides(2, 2 * wide.strides(2));
       *getConv(e).mutable_output() = *getLaunch(e).mutable_outputs(0) = wide;
       for (program::Operand &input : *getLaunch(e).mutable_inputs())
         if (input.SerializeAsString() == output.SerializeAsString())
           input = wide;
     },
     "output"},
    {"an input beyond its arena", [](Executable &e) { getOther(e).set_shape(0, 1 << 30); },
     "an input ends at byte"},
    {"an input that holds something else", [](Executable &e) { getOther(e).set_value(12345); },
     "12345"},
};

} // namespace

TEST_CASE("A convolution with an epilogue is accepted") {
  Executable executable = getCompiledConvolution().proto;
  CHECK(getLaunch(executable).inputs_size() >= 2);
  CHECK(joinReasons(executable) == "");
}

TEST_CASE("Epilogues that do not fit are rejected") {
  checkRejected(getCompiledConvolution(), mutations);
}
