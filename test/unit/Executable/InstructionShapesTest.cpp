#include "compiler/Executable/InstructionShapes.h"

#include <catch2/catch.hpp>

using namespace weft;

static void describe(program::Operand &operand, std::initializer_list<int64_t> shape,
                     std::initializer_list<int64_t> strides) {
  operand.set_dtype(program::F32);
  operand.mutable_shape()->Assign(shape.begin(), shape.end());
  operand.mutable_strides()->Assign(strides.begin(), strides.end());
}

/// Three products [4, 8] x [8, 16].
static program::Instruction makeProducts(int64_t strideOfA, int64_t strideOfB) {
  program::Instruction instruction;
  program::Gemm &gemm = *instruction.mutable_gemm();
  describe(*gemm.mutable_a(), {3, 4, 8}, {strideOfA, 8, 1});
  describe(*gemm.mutable_b(), {3, 8, 16}, {strideOfB, 16, 1});
  describe(*gemm.mutable_c(), {3, 4, 16}, {64, 16, 1});
  return instruction;
}

TEST_CASE("products that share a factor are one") {
  auto check = [](const program::Instruction &products, int64_t batch, int64_t m, int64_t n) {
    std::optional<InstructionWork> work = describeWork(products);
    REQUIRE(work);
    CHECK(work->kind == InstructionWork::Kind::Product);
    CHECK(work->batch == batch);
    CHECK(work->m == m);
    CHECK(work->n == n);
    CHECK(work->k == 8);
  };
  check(makeProducts(32, 128), 3, 4, 16);
  check(makeProducts(32, 0), 1, 12, 16); // of all rows
  check(makeProducts(0, 128), 1, 4, 48); // of all columns
}

TEST_CASE("of a copy it is told how many bytes lie side by side") {
  program::Instruction instruction;
  program::Operand &from = *instruction.mutable_copy()->mutable_input();
  program::Operand &to = *instruction.mutable_copy()->mutable_output();
  describe(from, {4, 8}, {8, 1});
  describe(to, {4, 8}, {16, 1});
  std::optional<InstructionWork> work = describeWork(instruction);
  REQUIRE(work);
  CHECK(work->readRun == 128);
  CHECK(work->writtenRun == 32);
  CHECK(work->runBytes == 32);
  to.set_dtype(program::DTYPE_UNKNOWN); // of a file that is not what it says
  CHECK(describeWork(instruction)->runBytes == 0);
}
