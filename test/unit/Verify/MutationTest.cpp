//===- MutationTest.cpp - the verifier rejects programs that were changed -===//
//
// Each mutation makes one thing wrong in a compiled program; the verifier must say what.
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

program::Program &getProgram(Executable &executable) { return *executable.mutable_classes(0); }

program::Segment &getSegment(Executable &executable) {
  return *getProgram(executable).mutable_segments(0);
}

/// Index of the instruction of a kind, counted from 0.
int find(Executable &executable, Instruction::OpCase kind, int number = 0) {
  for (int i = 0; i < getSegment(executable).instructions_size(); ++i)
    if (getSegment(executable).instructions(i).op_case() == kind && number-- == 0)
      return i;
  throw std::runtime_error("the program has no such instruction");
}

Instruction &get(Executable &executable, Instruction::OpCase kind, int number = 0) {
  return *getSegment(executable).mutable_instructions(find(executable, kind, number));
}

program::Gemm &getGemm(Executable &executable) {
  return *get(executable, Instruction::kGemm).mutable_gemm();
}

program::Launch &getLaunch(Executable &executable) {
  return *get(executable, Instruction::kLaunch).mutable_launch();
}

program::Collective &getCollective(Executable &executable, int number = 0) {
  return *get(executable, Instruction::kCollective, number).mutable_collective();
}

program::Operand &getOutput(Executable &executable) {
  return *getProgram(executable).mutable_outputs(0)->mutable_local();
}

/// An instruction at the end that copies `from` onto `to`.
void appendCopy(Executable &executable, const program::Operand &from, const program::Operand &to) {
  program::Copy copy;
  *copy.mutable_input() = from;
  *copy.mutable_output() = to;
  *getSegment(executable).add_instructions()->mutable_copy() = copy;
}

void remove(Executable &executable, int index) {
  getSegment(executable).mutable_instructions()->DeleteSubrange(index, 1);
}

/// Ranks 2 and 3 run a program of their own, equal to that of ranks 0 and 1.
void splitClasses(Executable &executable) {
  *executable.add_classes() = executable.classes(0);
  executable.mutable_ranks(0)->set_end(2);
  program::RankRange &range = *executable.add_ranks();
  range.set_begin(2);
  range.set_end(4);
  range.set_rank_class(1);
}

/// The first padded block of a weight.
program::WeightBlock &getPaddedBlock(Executable &executable) {
  for (program::WeightBlock &block : *getProgram(executable).mutable_weights())
    if (!block.valid().empty())
      return block;
  throw std::runtime_error("no block of a weight is padded");
}

/// Makes the first number of valid elements that depends on the rank one larger.
template <typename Held> void lengthen(Held &held) {
  for (program::Affine &valid : *held.mutable_valid())
    if (!valid.terms().empty())
      return valid.set_constant(valid.constant() + 1);
}

/// Index of the first synchronous collective.
int findCollective(Executable &executable) {
  for (int number = 0;; ++number)
    if (int at = find(executable, Instruction::kCollective, number);
        !getSegment(executable).instructions(at).has_async())
      return at;
}

constexpr uint32_t newToken = 1000;

/// Makes the first synchronous collective asynchronous, to be waited for before instruction `wait`;
/// -1: never.
Instruction &beginFirstCollective(Executable &executable, int wait) {
  program::Segment &segment = getSegment(executable);
  Instruction &instruction = *segment.mutable_instructions(findCollective(executable));
  instruction.mutable_async()->set_stream(program::COMMUNICATION_STREAM);
  instruction.mutable_async()->set_token(newToken);
  if (wait < 0)
    return instruction;
  segment.add_instructions()->mutable_wait()->set_token(newToken);
  for (int i = segment.instructions_size() - 1; i > wait; --i)
    segment.mutable_instructions()->SwapElements(i, i - 1);
  return instruction;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

const std::vector<Mutation> tables = {
    {"a rank left out", [](Executable &e) { e.mutable_ranks(0)->set_end(3); },
     "programs for 3 ranks, but meshes of 4"},
    {"ranks that begin late", [](Executable &e) { e.mutable_ranks(0)->set_begin(1); },
     "ranks 1 to 4 do not follow rank 0"},
    {"a class that is not there", [](Executable &e) { e.mutable_ranks(0)->set_rank_class(7); },
     "rank class 7 is none of 1"},
    {"a larger mesh", [](Executable &e) { e.mutable_meshes(0)->mutable_axes(0)->set_size(3); },
     "programs for 4 ranks, but meshes of 6"},
    {"an odd alignment", [](Executable &e) { getProgram(e).mutable_arenas(0)->set_alignment(48); },
     "aligned to 48"},
    {"two arenas of a kind",
     [](Executable &e) { *getProgram(e).add_arenas() = getProgram(e).arenas(0); },
     "two arenas of kind"},
    {"two outputs of a name",
     [](Executable &e) { *getProgram(e).add_outputs() = getProgram(e).outputs(0); },
     "two outputs named 'logits'"},
    {"an output split otherwise",
     [](Executable &e) {
       getProgram(e).mutable_outputs(0)->mutable_sharding()->mutable_dims(0)->clear_axes();
     },
     "do not cover dimension 0 of 4"},
    {"a padded output that tells of more",
     [](Executable &e) { lengthen(*getProgram(e).mutable_outputs(0)); },
     "output 'logits': rank 1 holds 252 elements from 252 on of dimension 2 of 503"},
    {"a padded output that tells of too few dimensions",
     [](Executable &e) { getProgram(e).mutable_outputs(0)->mutable_valid()->RemoveLast(); },
     "2 numbers of valid elements for 3 dimensions"},
    {"a padded weight that is read behind its end",
     [](Executable &e) { lengthen(getPaddedBlock(e)); }, "reads element"},
    {"a padded weight on an axis that is not there",
     [](Executable &e) {
       for (program::Affine &valid : *getPaddedBlock(e).mutable_valid())
         for (program::Affine::Term &term : *valid.mutable_terms())
           term.mutable_axes(0)->set_name("none");
     },
     "'none'"},
    {"a schedule of a segment that is not there",
     [](Executable &e) { getProgram(e).mutable_schedule(0)->mutable_entry()->set_segment(9); },
     "the schedule names segment 9 of 1"},
    {"a segment that nobody runs",
     [](Executable &e) { getProgram(e).add_segments()->set_name("spare"); },
     "segment 'spare' is never executed"},
    {"a weight beyond its file",
     [](Executable &e) { e.mutable_weights(0)->set_offset(uint64_t{1} << 60); }, "ends beyond"},
    {"a weight in fewer bytes than it has",
     [](Executable &e) { e.mutable_weights(0)->set_length(4); }, "bytes lies in 4"},
    {"a block that starts beyond its weight",
     [](Executable &e) {
       getProgram(e).mutable_weights(0)->mutable_start()->set_constant(1 << 30);
     },
     "reads element"},
    {"a block of a weight that is not there",
     [](Executable &e) { getProgram(e).mutable_weights(0)->set_weight(999); },
     "a block of weight 999"},
};

//===----------------------------------------------------------------------===//
// Operands and operations
//===----------------------------------------------------------------------===//

const std::vector<Mutation> operations = {
    {"an arena too small", [](Executable &e) { getProgram(e).mutable_arenas(0)->set_bytes(64); },
     "of arena 0, which has 64"},
    {"an operand in no arena", [](Executable &e) { getGemm(e).mutable_a()->set_arena(17); },
     "lies in arena 17"},
    {"an offset along an axis that is not there",
     [](Executable &e) {
       program::Affine::Term &term = *getGemm(e).mutable_a()->mutable_offset()->add_terms();
       term.add_axes()->set_name("pipeline");
       term.set_coefficient(4);
     },
     "depends on an axis that no mesh has"},
    {"an offset within an element",
     [](Executable &e) {
       program::Affine &offset = *getGemm(e).mutable_a()->mutable_offset();
       offset.set_constant(offset.constant() + 2);
     },
     "no multiple of its element's 4"},
    {"a stride too many", [](Executable &e) { getGemm(e).mutable_a()->add_strides(1); },
     "extents and"},
    {"a product of other shapes",
     [](Executable &e) {
       program::Operand &a = *getGemm(e).mutable_a();
       a.set_shape(a.shape_size() - 1, a.shape(a.shape_size() - 1) - 1);
     },
     "a product of"},
    {"a product of two types",
     [](Executable &e) { getGemm(e).mutable_b()->set_dtype(program::I32); },
     "element types differ: f32 and i32"},
    {"a kernel that is not there", [](Executable &e) { getLaunch(e).set_kernel("k0"); },
     "kernel 'k0' is none of"},
    {"a launch without tiles", [](Executable &e) { getLaunch(e).set_tiles(-1); },
     "a launch of -1 tiles"},
    {"a collective on axes that are not there",
     [](Executable &e) { getCollective(e).mutable_axes(0)->set_name("tensor"); },
     "has the axes [tensor]"},
    {"a collective of other sizes",
     [](Executable &e) { getCollective(e).set_kind(program::ALL_GATHER); }, "does not make"},
    {"a permutation to other axes",
     [](Executable &e) { getCollective(e).set_kind(program::PERMUTE); }, "goes to axes []"},
    {"a strided collective",
     [](Executable &e) {
       program::Operand &input = *getCollective(e).mutable_input();
       input.set_strides(input.strides_size() - 1, 2);
     },
     "is not contiguous"},
    {"a negative price", [](Executable &e) { get(e, Instruction::kGemm).set_flops(-1); },
     "its price is negative"},
    {"an empty instruction", [](Executable &e) { getSegment(e).add_instructions(); },
     "an unknown instruction"},
};

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Makes the output a gradient, too, that is looked at where the step ends.
void addGradient(Executable &executable) {
  program::Port &port = *getProgram(executable).add_gradients();
  port = getProgram(executable).outputs(0);
  port.set_name("grad:w");
  *getSegment(executable).add_instructions()->mutable_observe()->mutable_input() = port.local();
}

const std::vector<Mutation> observations = {
    {"a gradient that nobody observes",
     [](Executable &e) {
       addGradient(e);
       remove(e, find(e, Instruction::kObserve));
     },
     "gradient 'grad:w' is never observed"},
    {"a gradient that is not there",
     [](Executable &e) {
       addGradient(e);
       get(e, Instruction::kObserve).mutable_observe()->set_port(1);
     },
     "it observes gradient 1 of 1"},
    {"an observation of something else",
     [](Executable &e) {
       addGradient(e);
       get(e, Instruction::kObserve).mutable_observe()->mutable_input()->set_value(0);
     },
     "it observes something else than gradient 'grad:w'"},
    {"two gradients of a name",
     [](Executable &e) {
       addGradient(e);
       addGradient(e);
     },
     "two gradients named 'grad:w'"},
    {"an observation before its value is made",
     [](Executable &e) {
       addGradient(e);
       int last = getSegment(e).instructions_size() - 1;
       for (int i = last; i > 0; --i)
         getSegment(e).mutable_instructions()->SwapElements(i, i - 1);
     },
     "before anything is written there"},
    {"an asynchronous observation",
     [](Executable &e) {
       addGradient(e);
       get(e, Instruction::kObserve).mutable_async()->set_token(1000);
     },
     "a OBSERVE cannot be asynchronous"},
};

//===----------------------------------------------------------------------===//
// Lifetimes, and programs that meet
//===----------------------------------------------------------------------===//

const std::vector<Mutation> lifetimes = {
    {"a write left out", [](Executable &e) { remove(e, find(e, Instruction::kGemm)); }, "reads"},
    {"an instruction before what it reads",
     [](Executable &e) {
       int at = find(e, Instruction::kGemm);
       getSegment(e).mutable_instructions()->SwapElements(at, at + 1);
     },
     "reads"},
    {"a result in another's place",
     [](Executable &e) { *getGemm(e).mutable_c()->mutable_offset() = getOutput(e).offset(); },
     "reads"},
    {"a result over its own operand",
     [](Executable &e) {
       program::Gemm &gemm = getGemm(e);
       *gemm.mutable_c()->mutable_offset() = gemm.a().offset();
     },
     "overlaps its input"},
    {"a weight that is overwritten",
     [](Executable &e) {
       const program::Operand &weight = getProgram(e).weights(0).local();
       program::Operand other = weight;
       other.set_value(weight.value() + 100000);
       program::Fill fill;
       *fill.mutable_output() = other;
       fill.set_value(std::string(4, '\0'));
       *getSegment(e).add_instructions()->mutable_fill() = fill;
     },
     "a weight block at the step's end"},
    {"an output that another value replaces",
     [](Executable &e) {
       program::Operand other = getOutput(e);
       other.set_value(other.value() + 100000);
       program::Fill fill;
       *fill.mutable_output() = other;
       fill.set_value(std::string(4, '\0'));
       *getSegment(e).add_instructions()->mutable_fill() = fill;
     },
     "output 'logits' reads value"},
    {"an input that is overwritten",
     [](Executable &e) {
       const program::Operand &input = getProgram(e).inputs(0).local();
       program::Operand other = input;
       other.set_value(input.value() + 100000);
       appendCopy(e, other, other);
     },
     "input 'input_ids' at the step's end"},
    {"weights that overlap",
     [](Executable &e) {
       *getProgram(e).mutable_weights(0)->mutable_local()->mutable_offset() =
           getProgram(e).weights(1).local().offset();
     },
     "weight block overlaps another"},
    {"collectives in another order on some ranks",
     [](Executable &e) {
       splitClasses(e);
       program::Segment &other = *e.mutable_classes(1)->mutable_segments(0);
       program::Collective &first =
           *other.mutable_instructions(find(e, Instruction::kCollective))->mutable_collective();
       first.mutable_axes(0)->set_name("data");
     },
     "collective 0 of class 0 is"},
    {"a collective that some ranks leave out",
     [](Executable &e) {
       splitClasses(e);
       e.mutable_classes(1)->mutable_segments(0)->mutable_instructions()->DeleteSubrange(
           find(e, Instruction::kCollective, 3), 1);
     },
     "of class 1 none"},
};

//===----------------------------------------------------------------------===//
// Asynchronous instructions
//===----------------------------------------------------------------------===//

const std::vector<Mutation> asynchronous = {
    {"a result that is read before it is waited for",
     [](Executable &e) { beginFirstCollective(e, findCollective(e) + 2); },
     "which an instruction writes that was not waited for"},
    {"a collective that nobody waits for", [](Executable &e) { beginFirstCollective(e, -1); },
     "is begun and never waited for (token 1000)"},
    {"a wait for nothing",
     [](Executable &e) { getSegment(e).add_instructions()->mutable_wait()->set_token(1007); },
     "it waits for token 1007, which nothing has begun"},
    {"a wait that comes twice",
     [](Executable &e) {
       beginFirstCollective(e, findCollective(e) + 1);
       getSegment(e).add_instructions()->mutable_wait()->set_token(newToken);
     },
     "it waits for token 1000, which nothing has begun"},
    {"a token that is begun again",
     [](Executable &e) {
       Instruction again = beginFirstCollective(e, -1);
       *getSegment(e).add_instructions() = again;
     },
     "two instructions begin token 1000"},
    {"an operand that changes under a collective",
     [](Executable &e) {
       int at = findCollective(e);
       program::Operand input = beginFirstCollective(e, at + 1).collective().input();
       program::Segment &segment = getSegment(e);
       program::Fill fill;
       *fill.mutable_output() = input;
       fill.mutable_output()->set_value(input.value() + 100000);
       fill.set_value(std::string(4, '\0'));
       *segment.add_instructions()->mutable_fill() = fill;
       for (int i = segment.instructions_size() - 1; i > at + 1; --i)
         segment.mutable_instructions()->SwapElements(i, i - 1);
     },
     "uses that was not waited for"},
    {"a product that is asynchronous",
     [](Executable &e) {
       program::Async &async = *get(e, Instruction::kGemm).mutable_async();
       async.set_stream(program::COMMUNICATION_STREAM);
       async.set_token(newToken);
     },
     "a GEMM cannot be asynchronous"},
    {"a copy within a device that is asynchronous",
     [](Executable &e) {
       program::Copy copy;
       *copy.mutable_input() = *copy.mutable_output() = get(e, Instruction::kGemm).gemm().c();
       program::Instruction &made = *getSegment(e).add_instructions();
       *made.mutable_copy() = copy;
       made.mutable_async()->set_stream(program::COPY_STREAM);
       made.mutable_async()->set_token(newToken);
     },
     "a COPY cannot be asynchronous"},
    {"a product of what the host keeps",
     [](Executable &e) {
       program::Operand &operand = *get(e, Instruction::kGemm).mutable_gemm()->mutable_a();
       e.mutable_classes(0)->mutable_arenas(operand.arena())->set_kind(program::HOST);
     },
     "a GEMM names the memory of the host"},
    {"frames of what the host keeps",
     [](Executable &e) {
       program::Arena &arena = *e.mutable_classes(0)->add_arenas();
       arena.set_kind(program::HOST);
       arena.set_alignment(64);
       arena.set_frames(2);
     },
     "an arena of kind HOST has 2 frames"},
    {"an asynchronous collective on the compute stream",
     [](Executable &e) {
       beginFirstCollective(e, findCollective(e) + 1)
           .mutable_async()
           ->set_stream(program::COMPUTE_STREAM);
     },
     "it is asynchronous on stream 0"},
    {"an asynchronous collective without a token",
     [](Executable &e) {
       beginFirstCollective(e, findCollective(e) + 1).mutable_async()->set_token(0);
     },
     "it is asynchronous and has no token"},
};

} // namespace

TEST_CASE("A compiled program is accepted") { CHECK(joinReasons(getCompiled().proto) == ""); }

TEST_CASE("Changed tables are rejected") { checkRejected(getCompiled(), tables); }

TEST_CASE("Changed operands and operations are rejected") {
  checkRejected(getCompiled(), operations);
}

TEST_CASE("A collective that is begun and waited for is accepted") {
  Executable executable = getCompiled().proto;
  beginFirstCollective(executable, findCollective(executable) + 1);
  CHECK(joinReasons(executable) == "");
}

TEST_CASE("Waits that are missing or wrong are rejected") {
  checkRejected(getCompiled(), asynchronous);
}

TEST_CASE("Broken lifetimes and collectives are rejected") {
  checkRejected(getCompiled(), lifetimes);
}

TEST_CASE("A gradient that is observed is accepted") {
  Executable executable = getCompiled().proto;
  addGradient(executable);
  CHECK(joinReasons(executable) == "");
}

TEST_CASE("Gradients that are not observed where they are made are rejected") {
  checkRejected(getCompiled(), observations);
}
