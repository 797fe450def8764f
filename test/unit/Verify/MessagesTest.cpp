//===- MessagesTest.cpp - the verifier rejects messages that do not arrive ===//
//
// Each mutation makes one thing wrong in a compiled program of two parts (Inputs/parts.mlir): rank
// 0 sends to rank 2 and rank 1 to rank 3, `skip` with tag 1 and `up` with tag 2. Sends are begun
// where their values are made and waited for at the end, receives are begun first.
//
//===----------------------------------------------------------------------===//

#include "runtime/Verify/Verify.h"
#include "test/unit/Verify/CompiledExecutable.h"

#include <catch2/catch.hpp>
#include <functional>

using namespace weft;
using namespace weft::test;

namespace {

using Executable = program::Executable;
using Instruction = program::Instruction;
using Case = Instruction::OpCase;

/// The class of the ranks that send, and that of those that receive.
constexpr int sender = 0, receiver = 1;

google::protobuf::RepeatedPtrField<Instruction> &getInstructions(Executable &executable,
                                                                 int number) {
  return *executable.mutable_classes(number)->mutable_segments(0)->mutable_instructions();
}

/// Index of the instruction of a kind, counted from 0.
int find(Executable &executable, int number, Case kind, int which = 0) {
  auto &instructions = getInstructions(executable, number);
  for (int i = 0; i < instructions.size(); ++i)
    if (instructions[i].op_case() == kind && which-- == 0)
      return i;
  throw std::runtime_error("the program has no such instruction");
}

program::Send &getSend(Executable &executable, int which = 0) {
  int at = find(executable, sender, Instruction::kSend, which);
  return *getInstructions(executable, sender).Mutable(at)->mutable_send();
}

program::Receive &getReceive(Executable &executable, int which = 0) {
  int at = find(executable, receiver, Instruction::kReceive, which);
  return *getInstructions(executable, receiver).Mutable(at)->mutable_receive();
}

void removeAt(Executable &executable, int number, int at) {
  getInstructions(executable, number).DeleteSubrange(at, 1);
}

/// Removes an instruction that is begun, and its wait.
void removeBegun(Executable &executable, int number, Case kind) {
  int at = find(executable, number, kind);
  uint32_t token = getInstructions(executable, number)[at].async().token();
  removeAt(executable, number, at);
  for (int wait = 0;; ++wait)
    if (int place = find(executable, number, Instruction::kWait, wait);
        getInstructions(executable, number)[place].wait().token() == token)
      return removeAt(executable, number, place);
}

/// Has the rank wait for each message in the place where it is begun.
void makeSynchronous(Executable &executable, int number) {
  auto &instructions = getInstructions(executable, number);
  for (int i = instructions.size() - 1; i >= 0; --i)
    if (instructions[i].has_wait())
      instructions.DeleteSubrange(i, 1);
    else
      instructions.Mutable(i)->clear_async();
}

void executeTwice(Executable &executable, int number) {
  auto &schedule = *executable.mutable_classes(number)->mutable_schedule();
  program::ScheduleItem item = schedule[0];
  *schedule.Add() = item;
}

/// Repeats what a step executes.
void repeatSchedule(Executable &executable, int number, int64_t times) {
  auto *schedule = executable.mutable_classes(number)->mutable_schedule();
  program::Repeat repeat;
  repeat.set_times(times);
  *repeat.mutable_body() = *schedule;
  schedule->Clear();
  *schedule->Add()->mutable_repeat() = repeat;
}

const std::vector<Mutation> sides = {
    {"a send removed", [](Executable &e) { removeBegun(e, sender, Instruction::kSend); },
     "nobody sends the message from rank 0 to rank 2 with tag 1: f32[2, 8] of 'skip', 1 a step"},
    {"a receive removed", [](Executable &e) { removeBegun(e, receiver, Instruction::kReceive); },
     "nobody receives the message from rank 1 to rank 3 with tag 1: f32[2, 8] of 'skip'"},
    {"two tags swapped",
     [](Executable &e) {
       getSend(e, 0).set_tag(2);
       getSend(e, 1).set_tag(1);
     },
     "the message from rank 0 to rank 2 with tag 1 is sent as f32[2, 8] of 'up', 1 a step, and "
     "received as f32[2, 8] of 'skip', 1 a step"},
    {"two messages of one tag", [](Executable &e) { getSend(e, 1).set_tag(1); },
     "two messages from rank 0 to rank 2 with tag 1"},
    {"another tag", [](Executable &e) { getReceive(e).set_tag(7); },
     "nobody sends the message from rank 0 to rank 2 with tag 7"},
    {"another peer", [](Executable &e) { getSend(e).clear_peer(); },
     "nobody receives the message from rank 1 to rank 2 with tag 1"},
    {"a peer that is not there",
     [](Executable &e) { getReceive(e).mutable_peer()->set_constant(1); },
     "rank 3 receives from position 2 of mesh 'mesh0', which has 2"},
    {"a peer before the first", [](Executable &e) { getSend(e).mutable_peer()->set_constant(-1); },
     "rank 0 sends to position -1 of mesh 'mesh1', which has 2"},
    {"half a message", [](Executable &e) { getSend(e).mutable_input()->set_shape(0, 1); },
     "is sent as f32[1, 8] of 'skip', 1 a step, and received as f32[2, 8] of 'skip', 1 a step"},
    {"as many bytes of another type",
     [](Executable &e) { getReceive(e).mutable_output()->set_dtype(program::I32); },
     "is sent as f32[2, 8] of 'skip', 1 a step, and received as i32[2, 8] of 'skip', 1 a step"},
    {"as many elements of another shape",
     [](Executable &e) {
       program::Operand &output = *getReceive(e).mutable_output();
       output.set_shape(0, 8);
       output.set_shape(1, 2);
       output.set_strides(0, 2);
     },
     "is sent as f32[2, 8] of 'skip', 1 a step, and received as f32[8, 2] of 'skip', 1 a step"},
    {"an execution less", [](Executable &e) { executeTwice(e, sender); },
     "is sent as f32[2, 8] of 'skip', 2 a step, and received as f32[2, 8] of 'skip', 1 a step"},
    {"a copy that nobody sends", [](Executable &e) { getSend(e).add_leaders()->set_name("data"); },
     "nobody sends the message from rank 1 to rank 3 with tag 1"},
};

const std::vector<Mutation> instructions = {
    {"a mesh that is not there", [](Executable &e) { getSend(e).set_mesh("mesh2"); },
     "there is no mesh 'mesh2'"},
    {"no tag", [](Executable &e) { getReceive(e).set_tag(0); }, "a message without a tag"},
    {"a peer along an axis of the other mesh",
     [](Executable &e) {
       e.mutable_meshes(1)->mutable_axes(0)->set_name("model");
       getSend(e).mutable_peer()->mutable_terms(0)->mutable_axes(0)->set_name("model");
     },
     "its peer depends on an axis that its mesh does not have"},
    {"leaders along an axis of the other mesh",
     [](Executable &e) { getSend(e).add_leaders()->set_name("model"); },
     "its mesh does not have the axes [model]"},
    {"more steps than dimensions",
     [](Executable &e) {
       for (int i = 0; i < 3; ++i)
         getSend(e).add_steps(1);
     },
     "3 steps for an operand of 2 dimensions"},
    {"elements apart", [](Executable &e) { getSend(e).mutable_input()->set_strides(0, 16); },
     "a message is not contiguous: [2, 8] with strides [16, 1]"},
    {"more peers than the mesh has",
     [](Executable &e) {
       getSend(e).add_steps(0);
       getSend(e).mutable_input()->set_shape(0, int64_t{1} << 40);
       getSend(e).mutable_input()->set_strides(0, 0);
     },
     "rank 0 has 1099511627776 messages to ranks of mesh 'mesh1', which has 2"},
    {"a mesh that begins elsewhere",
     [](Executable &e) { e.mutable_meshes(1)->set_first_device(3); },
     "mesh 'mesh1' begins at rank 3, not at 2"},
};

const std::vector<Mutation> waits = {
    {"a send that nobody waits for",
     [](Executable &e) { removeAt(e, sender, find(e, sender, Instruction::kWait)); },
     "SEND of 'skip' is begun and never waited for"},
    {"a receive that nobody waits for",
     [](Executable &e) { removeAt(e, receiver, find(e, receiver, Instruction::kWait)); },
     "which an instruction writes that was not waited for"},
    {"ranks that wait for each other's later messages",
     [](Executable &e) {
       makeSynchronous(e, sender);
       makeSynchronous(e, receiver);
       int first = find(e, receiver, Instruction::kReceive);
       int second = find(e, receiver, Instruction::kReceive, 1);
       getInstructions(e, receiver).SwapElements(first, second);
     },
     "it waits for ever: what it waits for is begun behind what waits for it"},
};

} // namespace

TEST_CASE("A compiled program of two parts is accepted") {
  Executable executable = getCompiledParts().proto;
  CHECK(joinReasons(executable) == "");
  REQUIRE(executable.classes_size() == 2);
  CHECK(getSend(executable, 1).input().shape_size() == 2);
  CHECK(getReceive(executable, 1).steps_size() == 0);
}

TEST_CASE("Messages of which the sides differ are rejected") {
  checkRejected(getCompiledParts(), sides);
}

TEST_CASE("Messages that are none are rejected") {
  checkRejected(getCompiledParts(), instructions);
}

TEST_CASE("Messages that nobody waits for, or that wait for ever, are rejected") {
  checkRejected(getCompiledParts(), waits);
}

TEST_CASE("Messages that are waited for in their place and order are accepted") {
  Executable executable = getCompiledParts().proto;
  makeSynchronous(executable, sender);
  makeSynchronous(executable, receiver);
  CHECK(joinReasons(executable) == "");
}

TEST_CASE("Segments that a step executes twice send twice") {
  Executable executable = getCompiledParts().proto;
  executeTwice(executable, sender);
  executeTwice(executable, receiver);
  CHECK(joinReasons(executable) == "");
}

TEST_CASE("Repeats that no one unrolls are walked as far as programs are") {
  Executable executable = getCompiledParts().proto;
  for (int number : {sender, receiver})
    repeatSchedule(executable, number, int64_t{1} << 25);
  CHECK(joinReasons(executable) == "");
  repeatSchedule(executable, receiver, 2);
  CHECK_THAT(joinReasons(executable), Catch::Contains("33554432 a step"));
}
