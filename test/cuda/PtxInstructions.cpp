//===- PtxInstructions.cpp - each instruction against the host ------------===//

#include "test/cuda/InstructionCase.h"
#include "test/cuda/StandInFixture.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>

namespace weft::test {

namespace {

constexpr size_t tries = 512;

struct Inputs {
  uint64_t a, b, c;
};

/// What is likely to go wrong: ends of ranges, ties, subnormals, infinities, NaN.
const std::map<Numbers, std::vector<uint64_t>> specials = {
    {Numbers::Integers,
     {0,
      1,
      2,
      5,
      7,
      16,
      31,
      32,
      33,
      63,
      64,
      127,
      128,
      255,
      0x7fff,
      0x8000,
      0xffff,
      0x7fffffff,
      0x80000000,
      0xffffffff,
      0x7fffffffffffffff,
      0x8000000000000000,
      ~0ull,
      ~6ull}},
    {Numbers::Floats,
     {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x3f800000,
      0x3f800001, 0xbf800000, 0x40200000, 0xc0200000, 0x3f000000, 0x7f7fffff, 0xff7fffff,
      0x7f800000, 0xff800000, 0x7fc00000, 0x33000000, 0x33000001, 0x477fefff, 0x477ff000,
      0x4f000000, 0xcf000000, 0x5f000000, 0x3f808000, 0x3f818000, 0x387fffff, 0x38000001}},
    {Numbers::Doubles,
     {0,
      1ull << 63,
      1,
      0x000fffffffffffff,
      0x0010000000000000,
      0x3ff0000000000000,
      0xbff0000000000000,
      0x3ff0000010000000,
      0x3ff0000010000001,
      0x3ff0000030000000,
      0x7fefffffffffffff,
      0x7ff0000000000000,
      0xfff0000000000000,
      0x7ff8000000000000,
      0x41dfffffffc00000,
      0x41e0000000000000,
      0xc1e0000000000000,
      0x43e0000000000000,
      0x43f0000000000000,
      0x3ff0020000000000,
      0x36a0000000000000,
      0x3690000000000000,
      0x47efffffefffffff,
      0x47effffff0000000,
      0x4004000000000000,
      0x3fe0000000000000}},
    {Numbers::Halves,
     {0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
      0x7e00, 0x3800, 0x4100}},
    {Numbers::Bfloats,
     {0, 0x8000, 1, 0x007f, 0x0080, 0x3f80, 0xbf80, 0x3f81, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0,
      0x4020, 0x3c00}},
};

/// Half of them are special; of the others, half are of sizes that meet in sums.
uint64_t draw(std::mt19937_64 &random, Numbers numbers) {
  const auto &special = specials.at(numbers);
  uint64_t any = random(), choice = random() % 4;
  if (choice < 2)
    return special[random() % special.size()];
  if (choice == 2)
    switch (numbers) {
    case Numbers::Integers:
      return any >> (any & 63);
    case Numbers::Floats:
      return (any & 0x83ffffff) | 0x3c000000;
    case Numbers::Doubles:
      return (any & 0x807fffffffffffff) | 0x3f80000000000000;
    case Numbers::Halves:
      return (any & 0x8fff) | 0x3000;
    case Numbers::Bfloats:
      return (any & 0x83ff) | 0x3c00;
    }
  return any;
}

std::vector<Inputs> drawAll(Numbers numbers, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Inputs> inputs(tries);
  for (Inputs &each : inputs)
    each = {draw(random, numbers), draw(random, numbers), draw(random, numbers)};
  return inputs;
}

const char *const prologue = R"((.param .u64 in, .param .u64 out) {
  .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %d<10>;
  mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ntid.x; mov.u32 %r9, %tid.x; mad.lo.s32 %r7, %r7, %r8, %r9;
  ld.param.u64 %d8, [in]; mul.wide.u32 %d9, %r7, 24; add.s64 %d8, %d8, %d9;
  ld.global.b64 %d1, [%d8]; ld.global.b64 %d2, [%d8+8]; ld.global.b64 %d3, [%d8+16];
  ld.global.b32 %r1, [%d8]; ld.global.b32 %r2, [%d8+8]; ld.global.b32 %r3, [%d8+16];
  ld.global.b16 %h1, [%d8]; ld.global.b16 %h2, [%d8+8]; ld.global.b16 %h3, [%d8+16];
  and.b32 %r9, %r1, 1; setp.ne.u32 %p1, %r9, 0; and.b32 %r9, %r2, 1; setp.ne.u32 %p2, %r9, 0;
  and.b32 %r9, %r3, 1; setp.ne.u32 %p3, %r9, 0;
  ld.param.u64 %d8, [out]; mul.wide.u32 %d9, %r7, 8; add.s64 %d8, %d8, %d9; st.global.b64 [%d8], 0;
)";

const char *getEpilogue(char result) {
  switch (result) {
  case 'd':
  case 'D':
    return "  st.global.b64 [%d8], %d0; ret;\n}\n";
  case 'r':
  case 'R':
    return "  st.global.b32 [%d8], %r0; ret;\n}\n";
  case 'p':
    return "  selp.u32 %r0, 1, 0, %p0; st.global.b32 [%d8], %r0; ret;\n}\n";
  default:
    return "  st.global.b16 [%d8], %h0; ret;\n}\n";
  }
}

bool isNan(char result, uint64_t bits) {
  switch (result) {
  case 'D':
    return (bits & ~(1ull << 63)) > 0x7ff0000000000000;
  case 'R':
    return (bits & 0x7fffffff) > 0x7f800000;
  case 'H':
    return (bits & 0x7fff) > 0x7c00;
  case 'B':
    return (bits & 0x7fff) > 0x7f80;
  default:
    return false;
  }
}

void check(const InstructionCase &instruction, CUmodule module, size_t number) {
  std::vector<Inputs> inputs = drawAll(instruction.numbers, static_cast<unsigned>(number));
  DeviceArray<Inputs> in(inputs);
  DeviceArray<uint64_t> out(std::vector<uint64_t>(tries, 0));
  std::string name = "t" + std::to_string(number);
  succeed(launch(module, name.c_str(), tries / 128, 128, {&in.address, &out.address}));
  std::vector<uint64_t> results = out.read();
  int wrong = 0;
  for (size_t i = 0; i < tries; ++i) {
    const Inputs &given = inputs[i];
    uint64_t expected = instruction.expected(given.a, given.b, given.c);
    bool same = results[i] == expected ||
                (isNan(instruction.result, expected) && isNan(instruction.result, results[i]));
    if (same || ++wrong > 3)
      continue;
    INFO(instruction.text << std::hex << " of " << given.a << ", " << given.b << ", " << given.c
                          << " is " << results[i] << ", expected " << expected);
    CHECK(false);
  }
}

void checkAll(const std::vector<InstructionCase> &cases) {
  useDevice(0);
  std::string text;
  for (size_t i = 0; i < cases.size(); ++i)
    text += ".visible .entry t" + std::to_string(i) + prologue + cases[i].text + "\n" +
            getEpilogue(cases[i].result);
  LoadedModule module = loadModule(text);
  for (size_t i = 0; i < cases.size(); ++i)
    check(cases[i], module, i);
}

} // namespace

TEST_CASE("instructions of integers compute what the host does") { checkAll(getIntegerCases()); }

TEST_CASE("instructions of floats compute what the host does") { checkAll(getFloatCases()); }

} // namespace weft::test
