//===- PtxTest.cpp - memory, control and threads of PTX -------------------===//

#include "test/cuda/StandInFixture.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace weft::test {

namespace {

std::vector<uint32_t> countUp(size_t count) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// Runs kernel `k` of x, one block of threads, and returns what x has become.
std::vector<uint32_t> run(const std::string &kernels, unsigned threads,
                          const std::vector<uint32_t> &values, unsigned sharedBytes = 0) {
  useDevice(0);
  LoadedModule module = loadModule(kernels);
  DeviceArray<uint32_t> x(values);
  succeed(launch(module, "k", 1, threads, {&x.address}, sharedBytes));
  std::vector<uint32_t> read = x.read();
  return read;
}

/// A kernel of x, whose address is in %rd1; %r1 is the thread, %rd2 where its element is.
std::string kernel(const std::string &body, const std::string &before = "") {
  return before + R"(
.visible .entry k(.param .u64 .ptr .global .align 4 k_param_0) {
  .reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<16>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [k_param_0]; cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
)" + body +
         "\n  ret;\n}\n";
}

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_CASE("variables of a module have their initial values") {
  auto text = kernel(R"(
  mov.b64 %rd3, words; ld.global.nc.b32 %r2, [%rd3+4]; st.global.b32 [%rd1], %r2;
  ld.const.s16 %r3, [shorts+2]; st.global.b32 [%rd1+4], %r3;
  ld.global.b64 %rd4, [pointer]; ld.b32 %r4, [%rd4]; st.global.b32 [%rd1+8], %r4;
  ld.global.b64 %rd5, [pieces+8]; ld.b32 %r5, [%rd5]; st.global.b32 [%rd1+12], %r5;
  ld.global.f32 %r6, [number]; st.global.f32 [%rd1+16], %r6;
  ld.global.v2.b32 {%r7, %r8}, [zeros]; add.s32 %r7, %r7, %r8; st.global.b32 [%rd1+20], %r7;)",
                     R"(
.global .align 4 .u32 words[3] = {10, 0x14, 30U};
.const .align 2 .b8 shorts[6] = {1, 0, 254, 255, 3};
.global .align 8 .u64 pointer = generic(words)+8;
.global .align 8 .u8 pieces[16] = {1, 2, 3, 4, 5, 6, 7, 8, 0xFF(generic(words)), 0xFF00(generic(words)),
  0xFF0000(generic(words)), 0xFF000000(generic(words)), 0xFF00000000(generic(words)), 0xFF0000000000(generic(words)),
  0xFF000000000000(generic(words)), 0xFF00000000000000(generic(words))};
.global .align 4 .f32 number = 0d3FF0000000000000;
.global .align 8 .b8 zeros[8];
)");
  auto x = run(text, 1, countUp(8));
  CHECK(std::vector<uint32_t>(x.begin(), x.begin() + 6) ==
        std::vector<uint32_t>{20, uint32_t(-2), 30, 10, 0x3f800000, 0});
}

TEST_CASE("a module that is loaded twice has its variables twice") {
  useDevice(0);
  auto text = kernel("atom.global.add.u32 %r2, [counter], 1; st.global.b32 [%rd1], %r2;",
                     ".global .u32 counter = 7;\n");
  LoadedModule first = loadModule(text), second = loadModule(text);
  DeviceArray<uint32_t> x(countUp(1));
  succeed(launch(first, "k", 1, 1, {&x.address}));
  succeed(launch(first, "k", 1, 1, {&x.address}));
  CHECK(x.read()[0] == 8);
  succeed(launch(second, "k", 1, 1, {&x.address}));
  CHECK(x.read()[0] == 7);
  CUdeviceptr address;
  size_t bytes;
  succeed(cuModuleGetGlobal(&address, &bytes, first, "counter"));
  uint32_t value;
  succeed(cuMemcpyDtoH(&value, address, bytes));
  CHECK(value == 9);
}

TEST_CASE("local variables are a thread's own, and generic addresses reach them") {
  auto text = kernel(R"(
  .local .align 4 .b8 __local_depot0[16];
  .reg .b64 %SP, %SPL;
  mov.b64 %SPL, __local_depot0; cvta.local.u64 %SP, %SPL;
  add.u64 %rd3, %SP, 8; st.local.b32 [%SPL+8], %r1;
  ld.b32 %r2, [%rd3]; add.s32 %r2, %r2, 100; st.global.b32 [%rd2], %r2;
  isspacep.local %p1, %rd3; isspacep.global %p2, %rd2; and.pred %p1, %p1, %p2;
  @%p1 st.global.b32 [%rd2], %r2; @!%p1 st.global.b32 [%rd2], 0;)");
  CHECK(run(text, 3, countUp(3)) == std::vector<uint32_t>{100, 101, 102});
}

TEST_CASE("vectors are loaded and stored, in each width") {
  auto text = kernel(R"(
  ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd1]; st.global.v4.b32 [%rd1], {%r5, %r4, %r3, %r2};
  ld.volatile.global.v2.b16 {%rs1, %rs2}, [%rd1+16]; st.global.L1::no_allocate.v2.b16 [%rd1+16], {%rs2, %rs1};
  ld.global.s8 %r6, [%rd1+20]; st.global.b32 [%rd1+24], %r6;
  ld.acquire.gpu.global.u8 %r7, [%rd1+20]; st.release.gpu.global.b32 [%rd1+28], %r7;)");
  CHECK(run(text, 1, {0, 1, 2, 3, 0x00020001, 0x80, 0, 0}) ==
        std::vector<uint32_t>{3, 2, 1, 0, 0x00010002, 0x80, 0xffffff80, 0x80});
}

TEST_CASE("parameters may be structures, and have addresses") {
  useDevice(0);
  LoadedModule module = loadModule(R"(
.visible .entry k(.param .u64 x, .param .align 8 .b8 s[24], .param .u8 last) {
  .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x]; mov.b64 %rd2, s; add.s64 %rd2, %rd2, 16;
  ld.param.u32 %r1, [s+8]; ld.param.u32 %r2, [%rd2]; ld.param.u8 %r3, [last];
  cvta.param.u64 %rd3, %rd2; ld.b32 %r4, [%rd3+4];
  st.global.v4.b32 [%rd1], {%r1, %r2, %r3, %r4}; ret;
})");
  DeviceArray<uint32_t> x(countUp(4));
  uint32_t values[6] = {1, 2, 3, 4, 5, 6};
  uint8_t last = 200;
  succeed(launch(module, "k", 1, 1, {&x.address, values, &last}));
  CHECK(x.read() == std::vector<uint32_t>{3, 5, 200, 6});
}

TEST_CASE("atomics update memory, shared or not") {
  auto text = kernel(R"(
  mov.b64 %rd3, cell; setp.ne.u32 %p1, %r1, 0; @%p1 bra $L_add;
  st.shared.b32 [%rd3], 1000;
$L_add:
  bar.sync 0;
  atom.shared.add.u32 %r2, [%rd3], 2;
  red.global.max.s32 [%rd1+4], %r1;
  atom.relaxed.gpu.global.or.b32 %r3, [%rd1+8], 256;
  atom.add.f32 %r4, [%rd1+12], 0f3F000000;
  atom.global.inc.u32 %r5, [%rd1+16], 9;
  atom.acq_rel.sys.global.cas.b32 %r6, [%rd1+20], 5, 77;
  atom.global.exch.b32 %r7, [%rd1+24], 3;
  bar.sync 0;
  @%p1 bra $L_end;
  ld.shared.b32 %r2, [%rd3]; st.global.b32 [%rd1], %r2;
$L_end:)",
                     ".shared .align 4 .b8 cell[4];\n");
  CHECK(run(text, 64, countUp(7)) ==
        std::vector<uint32_t>{1128, 63, 258, 0x42000000 | 0, 8, 77, 3});
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

TEST_CASE("branches and loops") {
  auto text = kernel(R"(
  mov.u32 %r2, 0; mov.u32 %r3, 0;
$L_loop:
  setp.ge.u32 %p1, %r3, %r1; @%p1 bra $L_done;
  add.s32 %r2, %r2, %r3; add.s32 %r3, %r3, 1; bra.uni $L_loop;
$L_done:
  and.b32 %r4, %r1, 3;
$L_brx_0: .branchtargets $L_a, $L_b, $L_c, $L_a;
  brx.idx %r4, $L_brx_0;
$L_a: add.s32 %r2, %r2, 1000; bra $L_end;
$L_b: add.s32 %r2, %r2, 2000; bra $L_end;
$L_c: st.global.b32 [%rd2], 7; ret;
$L_end: st.global.b32 [%rd2], %r2;)");
  CHECK(run(text, 5, countUp(5)) == std::vector<uint32_t>{1000, 2000, 7, 1003, 1006});
}

TEST_CASE("functions are called by name and by address, and have memory of malloc") {
  auto functions = R"(
.extern .func (.param .b64 func_retval0) malloc(.param .b64 malloc_param_0);
.extern .func free(.param .b64 free_param_0);
.func (.param .b32 func_retval0) triple(.param .b32 triple_param_0);
.func (.param .align 8 .b8 func_retval0[16]) pair(.param .b32 pair_param_0, .param .b64 pair_param_1) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.b32 %r1, [pair_param_0]; ld.param.b64 %rd1, [pair_param_1];
  st.param.b32 [func_retval0], %r1; st.param.b64 [func_retval0+8], %rd1; ret;
}
.func (.param .b32 func_retval0) triple(.param .b32 triple_param_0) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [triple_param_0]; mul.lo.s32 %r1, %r1, 3; st.param.b32 [func_retval0], %r1; ret;
}
)";
  auto text = kernel(R"(
  { .param .b32 param0; .param .b64 param1; .param .align 8 .b8 retval0[16];
    st.param.b32 [param0], %r1; st.param.b64 [param1], 40;
    call.uni (retval0), pair, (param0, param1);
    ld.param.b32 %r2, [retval0]; ld.param.b64 %rd3, [retval0+8]; }
  mov.b64 %rd4, triple;
  { .param .b32 param0; .param .b32 retval0; st.param.b32 [param0], %r2;
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (retval0), %rd4, (param0), prototype_0;
    ld.param.b32 %r3, [retval0]; }
  { .param .b64 param0; .param .b64 retval0; st.param.b64 [param0], 16;
    call.uni (retval0), malloc, (param0); ld.param.b64 %rd5, [retval0]; }
  st.b32 [%rd5+12], %r3; ld.b32 %r4, [%rd5+12];
  { .param .b64 param0; st.param.b64 [param0], %rd5; call.uni free, (param0); }
  cvt.u32.u64 %r5, %rd3; add.s32 %r4, %r4, %r5; st.global.b32 [%rd2], %r4;)",
                     functions);
  CHECK(run(text, 3, countUp(3)) == std::vector<uint32_t>{40, 43, 46});
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

TEST_CASE("threads meet at barriers and share memory, of which some is dynamic") {
  auto text =
      kernel(R"(
  mul.wide.u32 %rd3, %r1, 4; mov.b64 %rd4, fixed; add.s64 %rd4, %rd4, %rd3;
  mov.b64 %rd5, dynamic; add.s64 %rd6, %rd5, %rd3;
  st.shared.b32 [%rd4], %r1; bar.sync 0;
  xor.b32 %r2, %r1, 127; mul.wide.u32 %rd7, %r2, 4; mov.b64 %rd8, fixed; add.s64 %rd8, %rd8, %rd7;
  ld.shared.b32 %r3, [%rd8]; st.shared.b32 [%rd6], %r3; barrier.sync.aligned 1, 128;
  add.s64 %rd9, %rd5, %rd7; cvta.shared.u64 %rd9, %rd9; ld.b32 %r4, [%rd9]; st.global.b32 [%rd2], %r4;)",
             ".shared .align 4 .b8 fixed[512];\n.extern .shared .align 16 .b8 dynamic[];\n");
  CHECK(run(text, 128, countUp(128), 512) == countUp(128));
}

TEST_CASE("shared variables of kernels and functions have places of their own") {
  auto functions = R"(
.func (.param .b32 func_retval0) give(.param .b32 give_param_0) {
  .shared .align 4 .b8 kept[4];
  .reg .b32 %r<2>;
  ld.param.b32 %r1, [give_param_0]; st.shared.b32 [kept], %r1; ld.shared.b32 %r1, [kept];
  st.param.b32 [func_retval0], %r1; ret;
}
)";
  auto text = kernel(R"(
  .shared .align 4 .b8 kept[8];
  st.shared.b32 [kept], 3;
  { .param .b32 param0; .param .b32 retval0; st.param.b32 [param0], 4;
    call.uni (retval0), give, (param0); ld.param.b32 %r2, [retval0]; }
  ld.shared.b32 %r3, [kept]; add.s32 %r2, %r2, %r3; st.global.b32 [%rd2], %r2;)",
                     functions);
  CHECK(run(text, 1, countUp(1))[0] == 7);
}

TEST_CASE("shared memory holds rubbish before it is written") {
  auto text = kernel("ld.shared.b32 %r2, [cell]; st.global.b32 [%rd2], %r2;",
                     ".shared .align 4 .b8 cell[4];\n");
  CHECK(run(text, 1, countUp(1))[0] == 0xa5a5a5a5);
}

TEST_CASE("lanes shuffle, vote and match") {
  auto text = kernel(R"(
  mul.lo.s32 %r2, %r1, 10;
  shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;
  shfl.sync.up.b32 %r4|%p1, %r2, 1, 0, -1;
  shfl.sync.down.b32 %r5, %r2, 4, 0x1807, -1;
  shfl.sync.idx.b32 %r6, %r2, 3, 31, -1;
  setp.gt.u32 %p2, %r1, 15; vote.sync.ballot.b32 %r7, %p2, -1;
  and.b32 %r8, %r1, 7; match.any.sync.b32 %r9, %r8, -1;
  redux.sync.add.s32 %r10, %r1, -1; vote.sync.any.pred %p3, %p1, -1;
  selp.u32 %r11, 1, 0, %p1; selp.u32 %r12, 1, 0, %p3;
  mul.wide.u32 %rd3, %r1, 36; add.s64 %rd3, %rd1, %rd3;
  st.global.b32 [%rd3], %r3; st.global.b32 [%rd3+4], %r4; st.global.b32 [%rd3+8], %r5; st.global.b32 [%rd3+12], %r6;
  st.global.b32 [%rd3+16], %r7; st.global.b32 [%rd3+20], %r9; st.global.b32 [%rd3+24], %r10;
  st.global.b32 [%rd3+28], %r11; st.global.b32 [%rd3+32], %r12;)");
  auto x = run(text, 32, countUp(32 * 9));
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t *got = &x[lane * 9];
    CHECK(got[0] == (lane ^ 1) * 10);
    CHECK(got[1] == (lane ? lane - 1 : 0) * 10);
    CHECK(got[2] == (lane % 8 < 4 ? lane + 4 : lane) * 10); // within segments of 8
    CHECK(got[3] == 30);
    CHECK(got[4] == 0xffff0000);
    CHECK(got[5] == 0x01010101u << lane % 8);
    CHECK(got[6] == 496);
    CHECK(got[7] == (lane != 0));
    CHECK(got[8] == 1);
  }
}

TEST_CASE("halves of a warp may shuffle apart, and threads that have ended are not waited for") {
  auto text = kernel(R"(
  setp.gt.u32 %p1, %r1, 39; @%p1 ret;
  and.b32 %r2, %r1, 16; setp.ne.u32 %p2, %r2, 0; @%p2 bra $L_high;
  shfl.sync.idx.b32 %r3, %r1, 0, 31, 65535; bra $L_end;
$L_high: shfl.sync.idx.b32 %r3, %r1, 16, 31, 0xffff0000;
$L_end: bar.sync 0; st.global.b32 [%rd2], %r3;)");
  auto x = run(text, 64, std::vector<uint32_t>(64, 9));
  for (uint32_t i = 0; i < 64; ++i)
    CHECK(x[i] == (i > 39 ? 9 : i >= 32 ? 32 : i / 16 * 16));
}

TEST_CASE("bar.red counts, and bar.arrive does not wait") {
  auto text = kernel(R"(
  setp.lt.u32 %p1, %r1, 10; barrier.red.popc.u32 %r2, 0, %p1;
  setp.lt.u32 %p2, %r1, 32; @%p2 bra $L_first;
  bar.sync 2, 64; bra $L_end;
$L_first: bar.arrive 2, 64;
$L_end: st.global.b32 [%rd2], %r2;)");
  CHECK(run(text, 64, countUp(64)) == std::vector<uint32_t>(64, 10));
}

TEST_CASE("a barrier that cannot be completed is a failure") {
  useDevice(4);
  LoadedModule module =
      loadModule(kernel("setp.lt.u32 %p1, %r1, 16; @%p1 bar.sync 0; @!%p1 bar.sync 1;"));
  DeviceArray<uint32_t> x(countUp(32));
  CHECK(launch(module, "k", 1, 32, {&x.address}) == CUDA_ERROR_LAUNCH_FAILED);
}

TEST_CASE("a shuffle that other lanes do not take part in is a failure") {
  useDevice(5);
  LoadedModule module =
      loadModule(kernel("setp.lt.u32 %p1, %r1, 16; @!%p1 bar.sync 0; @%p1 "
                        "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; @%p1 bar.sync 0;"));
  DeviceArray<uint32_t> x(countUp(32));
  CHECK(launch(module, "k", 1, 32, {&x.address}) == CUDA_ERROR_LAUNCH_FAILED);
}

TEST_CASE("an access beyond shared memory is a failure") {
  useDevice(6);
  LoadedModule module =
      loadModule(kernel("st.shared.b32 [cell+4], %r1;", ".shared .align 4 .b8 cell[4];\n"));
  DeviceArray<uint32_t> x(countUp(1));
  CHECK(launch(module, "k", 1, 1, {&x.address}) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("trap is a failure") {
  useDevice(7);
  LoadedModule module = loadModule(kernel("trap;"));
  DeviceArray<uint32_t> x(countUp(1));
  CHECK(launch(module, "k", 1, 1, {&x.address}) == CUDA_ERROR_LAUNCH_FAILED);
}

//===----------------------------------------------------------------------===//
// What is not understood
//===----------------------------------------------------------------------===//

TEST_CASE("what is not understood is told, and fails") {
  useDevice(0);
  struct {
    const char *body, *message;
  } cases[] = {
      {"frobnicate.b32 %r1, %r2;", "unknown instruction: frobnicate"},
      {"add.s32.odd %r1, %r2, %r3;", "unknown of add: .odd"},
      {"add.s32 %r1, %r99, %r3;", "unknown name: %r99"},
      {"add.s32 %r1, %rd1, %r3;", "a register of another size than .s32: %rd1"},
      {"add.s32 %r1, %r2;", "expected 3 operands of add, got: 2"},
      {"cvt.s32.f32 %r1, %r2;", "a conversion that rounds otherwise"},
      {"cvt.f32.f64 %r1, %rd1;", "a conversion without rounding"},
      {"ld.param.b64 %rd1, [k_param_0+4];", "an access beyond the end of k_param_0"},
      {"setp.lt.s32 %p1, %r1 %r2;", "expected ';', got: %r2"},
      {"call.uni nothing;", "unknown name: nothing"},
      {"st.const.b32 [%rd1], %r1;", "a store to what may only be read"},
  };
  for (auto &each : cases) {
    std::string log = getLoadError(kernel(each.body));
    INFO(log);
    CHECK(log.find(each.message) != std::string::npos);
    CHECK(log.find("line 9: ") != std::string::npos);
  }
}

} // namespace weft::test
