//===- AttentionTest.cpp - the verifier rejects attention that does not fit ===//
//
// Each mutation makes one thing wrong in the program of Inputs/attention.mlir.
//
//===----------------------------------------------------------------------===//

#include "runtime/Verify/Verify.h"
#include "test/unit/Verify/CompiledExecutable.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

namespace {

using Executable = program::Executable;

program::Attention &getAttention(Executable &executable) {
  for (program::Instruction &instruction :
       *executable.mutable_classes(0)->mutable_segments(0)->mutable_instructions())
    if (instruction.has_attention())
      return *instruction.mutable_attention();
  throw std::runtime_error("the program has no attention");
}

program::AttentionBackward &getBackward(Executable &executable) {
  for (program::Instruction &instruction :
       *executable.mutable_classes(0)->mutable_segments(0)->mutable_instructions())
    if (instruction.has_attention_backward())
      return *instruction.mutable_attention_backward();
  throw std::runtime_error("the program has no gradients of attention");
}

const std::vector<Mutation> backwardMutations = {
    {"no logarithms", [](Executable &e) { getBackward(e).mutable_attention()->clear_lse(); },
     "gradients of attention without the logarithms of its sums"},
    {"keys of another size",
     [](Executable &e) { getBackward(e).mutable_attention()->mutable_key()->set_shape(3, 4); },
     "attention's key is [2, 2, 6, 4] where [2, 2, 6, 8] is needed"},
    {"a gradient of fewer queries",
     [](Executable &e) { getBackward(e).mutable_gradient()->set_shape(2, 5); },
     "attention's gradient is [2, 4, 5, 8] where [2, 4, 6, 8] is needed"},
    {"a gradient of fewer keys",
     [](Executable &e) { getBackward(e).mutable_key_gradient()->set_shape(2, 5); },
     "attention's key gradient is [2, 2, 5, 8] where [2, 2, 6, 8] is needed"},
    {"a gradient of another type",
     [](Executable &e) { getBackward(e).mutable_value_gradient()->set_dtype(program::I32); },
     "element types differ: f32 and i32"},
    {"a gradient with gaps",
     [](Executable &e) {
       program::Operand &gradient = *getBackward(e).mutable_query_gradient();
       gradient.set_strides(3, 6);
       gradient.set_strides(2, 1);
     },
     "attention whose query gradient has a stride of 6 in its rows"},
    {"a result that holds something else",
     [](Executable &e) { getBackward(e).mutable_attention()->mutable_output()->set_value(12345); },
     "12345"},
};

const std::vector<Mutation> mutations = {
    {"three dimensions",
     [](Executable &e) {
       getAttention(e).mutable_query()->mutable_shape()->RemoveLast();
       getAttention(e).mutable_query()->mutable_strides()->RemoveLast();
     },
     "attention of [2, 4, 6] to [2, 2, 6, 8]"},
    {"heads that no head of keys is for",
     [](Executable &e) { getAttention(e).mutable_query()->set_shape(1, 3); },
     "attention of [2, 3, 6, 8] to [2, 2, 6, 8]"},
    {"keys of another size", [](Executable &e) { getAttention(e).mutable_key()->set_shape(3, 4); },
     "attention's key is [2, 2, 6, 4] where [2, 2, 6, 8] is needed"},
    {"an output of fewer queries",
     [](Executable &e) { getAttention(e).mutable_output()->set_shape(2, 5); },
     "attention's output is [2, 4, 5, 8] where [2, 4, 6, 8] is needed"},
    {"a mask of fewer keys", [](Executable &e) { getAttention(e).mutable_mask()->set_shape(3, 5); },
     "attention's mask is [2, 4, 6, 5] where [2, 4, 6, 6] is needed"},
    {"a bias of fewer keys", [](Executable &e) { getAttention(e).mutable_bias()->set_shape(3, 5); },
     "attention's bias is [2, 4, 6, 5] where [2, 4, 6, 6] is needed"},
    {"logarithms of fewer queries",
     [](Executable &e) { getAttention(e).mutable_lse()->set_shape(2, 5); },
     "attention's lse is [2, 4, 5] where [2, 4, 6] is needed"},
    {"a mask of floats",
     [](Executable &e) {
       program::Operand bias = getAttention(e).bias();
       *getAttention(e).mutable_mask() = bias;
     },
     "attention with a mask of f32"},
    {"logarithms of another kind",
     [](Executable &e) { getAttention(e).mutable_lse()->set_dtype(program::I32); },
     "attention of i32"},
    {"an output with gaps",
     [](Executable &e) {
       program::Operand &output = *getAttention(e).mutable_output();
       output.set_strides(3, 6);
       output.set_strides(2, 1);
     },
     "attention whose output has a stride of 6 in its rows"},
    {"masked rows of no kind",
     [](Executable &e) { getAttention(e).set_masked_rows(program::MaskedRows(7)); },
     "attention with masked rows of kind 7"},
    {"a mask that holds something else",
     [](Executable &e) { getAttention(e).mutable_mask()->set_value(12345); }, "12345"},
};

} // namespace

TEST_CASE("Attention is accepted") {
  Executable executable = getCompiledAttention().proto;
  CHECK(getAttention(executable).has_lse());
  CHECK(getAttention(executable).high() == 0);
  CHECK(joinReasons(executable) == "");
}

TEST_CASE("Attention that does not fit is rejected") {
  checkRejected(getCompiledAttention(), mutations);
}

TEST_CASE("Gradients of attention that do not fit are rejected") {
  checkRejected(getCompiledAttention(), backwardMutations);
}
