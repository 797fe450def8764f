//===- Fixture.cpp - small executables made by hand -----------------------===//

#include "test/unit/Runtime/Fixture.h"

#include "runtime/Device/View.h"
#include "runtime/Io/Npy.h"
#include "runtime/Program/Executable.h"
#include "runtime/Program/Frame.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"
#include "runtime/Support/Hash.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace weft::test {

using namespace weft::runtime;

namespace {

constexpr int64_t rows = 8, features = 12, hidden = 16, results = 6, idBound = 10;
constexpr uint64_t chunkBytes = 64, w1Offset = 3;
constexpr uint64_t w1Bytes = 4 * features * hidden, w2Bytes = 4 * hidden * results;
constexpr const char *kernelSource = R"(
#include <stdint.h>
#include <time.h>
int32_t select_rows(void *const *operands, const int64_t *params, int64_t lo, int64_t hi, int64_t *error) {
  const int64_t *ids = operands[0];
  float *h = operands[1];
  struct timespec pause = {params[1] / 1000, params[1] % 1000 * 1000000};
  if (params[1]) nanosleep(&pause, 0);
  for (int64_t i = lo; i < hi; ++i) {
    if (ids[i] < 0 || ids[i] >= 10) { error[0] = 0; error[1] = ids[i]; error[2] = i; return 1; }
    for (int64_t j = 0; j < params[0]; ++j)
      h[i * params[0] + j] = h[i * params[0] + j] > 0 && ids[i] != 0 ? h[i * params[0] + j] : 0;
  }
  return 0;
}
int32_t double_and_add(void *const *operands, const int64_t *params, int64_t lo, int64_t hi, int64_t *error) {
  float *sum = operands[0];
  const float *other = operands[1];
  int64_t row = params[0], tile = params[1], in_row = (row - 1) / tile + 1;
  for (int64_t number = lo; number < hi; ++number) {
    int64_t at = number % in_row * tile;
    for (int64_t i = at; i < at + tile && i < row; ++i) {
      int64_t element = number / in_row * row + i;
      sum[element] = 2 * sum[element] + other[element];
    }
  }
  return 0;
}
)";

void writeText(const std::string &path, const std::string &text) {
  File::create(path).writeAt(0, text.data(), text.size());
}

/// Small numbers whose products and sums are exact in f32, so that every order of summing gives the
/// same.
std::vector<float> makeValues(int64_t count, int64_t seed) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 7 + seed * 5) % 11 - 5) / 4;
  return values;
}

NpyArray makeArray(DType dtype, std::vector<int64_t> shape, const void *data, size_t bytes) {
  auto *from = static_cast<const std::byte *>(data);
  return {dtype, std::move(shape), {from, from + bytes}};
}

void writeTensors(const std::string &folder) {
  std::vector<float> x = makeValues(rows * features, 1), w1 = makeValues(hidden * features, 2),
                     w2 = makeValues(hidden * results, 3), y(rows * results);
  std::vector<int64_t> ids(rows);
  for (int64_t i = 0; i < rows; ++i) {
    ids[i] = i * 3 % idBound;
    for (int64_t h = 0; h < hidden; ++h) {
      float sum = 0;
      for (int64_t f = 0; f < features; ++f)
        sum += x[i * features + f] * w1[h * features + f];
      for (int64_t r = 0; sum > 0 && ids[i] != 0 && r < results; ++r)
        y[i * results + r] += sum * w2[h * results + r];
    }
  }
  std::string weights(w1Offset, 'x');
  weights.append(reinterpret_cast<char *>(w1.data()), w1Bytes);
  weights.append(reinterpret_cast<char *>(w2.data()), w2Bytes);
  writeText(folder + "/weights.bin", weights);
  writeNpy(folder + "/inputs/x.npy",
           makeArray(weft::program::F32, {rows, features}, x.data(), x.size() * 4));
  writeNpy(folder + "/inputs/ids.npy",
           makeArray(weft::program::I64, {rows}, ids.data(), ids.size() * 8));
  writeNpy(folder + "/outputs/y.npy",
           makeArray(weft::program::F32, {rows, results}, y.data(), y.size() * 4));
}

void addFile(program::Executable &executable, const std::string &folder, const std::string &path,
             bool inside) {
  program::File &file = *executable.add_files();
  file.set_path(path);
  file.set_inside(inside);
  std::filesystem::path place = std::filesystem::path(folder + "/mlp.weft") / path;
  if (!inside)
    file.set_absolute_path(std::filesystem::absolute(place).lexically_normal());
  File content = File::open(place);
  file.set_size(content.getSize());
  file.set_chunk_bytes(chunkBytes);
  for (uint64_t at = 0; at < file.size(); at += chunkBytes) {
    std::string chunk(std::min(chunkBytes, file.size() - at), '\0');
    content.readAt(at, chunk.data(), chunk.size());
    file.add_chunk_hashes(std::max<uint64_t>(1, getHash(chunk.data(), chunk.size())));
  }
}

program::Operand makeOperand(uint32_t arena, int64_t offset, DType dtype,
                             const std::vector<int64_t> &shape,
                             const std::vector<int64_t> &strides = {}) {
  program::Operand operand;
  operand.set_arena(arena);
  operand.mutable_offset()->set_constant(offset);
  operand.set_dtype(dtype);
  operand.mutable_shape()->Add(shape.begin(), shape.end());
  std::vector<int64_t> given = strides.empty() ? getRowMajorStrides(shape) : strides;
  operand.mutable_strides()->Add(given.begin(), given.end());
  return operand;
}

void addPort(program::Port *port, const std::string &name, const std::vector<int64_t> &shape,
             program::Operand local) {
  port->set_name(name);
  port->set_dtype(local.dtype());
  port->mutable_shape()->Add(shape.begin(), shape.end());
  port->mutable_sharding()->set_mesh("mesh");
  for (size_t i = 0; i < shape.size(); ++i) {
    plan::DimSharding *dim = port->mutable_sharding()->add_dims();
    if (i == 0)
      dim->add_axes()->set_name("data");
  }
  *port->mutable_local() = std::move(local);
}

/// A block whose start moves by `coefficient` elements along model.
void addBlock(program::Program &program, uint32_t weight, program::Operand local,
              int64_t coefficient, const std::vector<int64_t> &strides) {
  program::WeightBlock &block = *program.add_weights();
  block.set_weight(weight);
  *block.mutable_local() = std::move(local);
  program::Affine::Term &term = *block.mutable_start()->add_terms();
  term.add_axes()->set_name("model");
  term.set_coefficient(coefficient);
  block.mutable_strides()->Add(strides.begin(), strides.end());
}

void addInstructions(program::Segment &segment, int64_t m, int64_t h,
                     const FixtureOptions &options) {
  using program::F32, program::I64;
  program::Operand x = makeOperand(1, 0, F32, {m, features});
  program::Operand ids = makeOperand(1, 4096, I64, {m});
  program::Operand hiddens = makeOperand(1, 8192, F32, {m, h});
  program::Operand y = makeOperand(1, 12288, F32, {m, results});
  program::Instruction *instruction = segment.add_instructions();
  instruction->set_source("dense1");
  *instruction->mutable_gemm()->mutable_a() = x;
  *instruction->mutable_gemm()->mutable_b() = makeOperand(0, 0, F32, {features, h}, {1, features});
  *instruction->mutable_gemm()->mutable_c() = hiddens;
  instruction = segment.add_instructions();
  instruction->set_source("select");
  program::Launch &launch = *instruction->mutable_launch();
  launch.set_kernel("select_rows");
  *launch.add_inputs() = ids;
  *launch.add_outputs() = hiddens;
  launch.add_params()->set_constant(h);
  launch.add_params()->set_constant(options.sleepMilliseconds);
  launch.set_tiles(m);
  launch.set_grain(64);
  program::Check &check = *launch.add_checks();
  check.set_message("index out of range");
  check.set_high(idBound);
  check.set_source("select");
  instruction = segment.add_instructions();
  instruction->set_source("dense2");
  *instruction->mutable_gemm()->mutable_a() = hiddens;
  *instruction->mutable_gemm()->mutable_b() = makeOperand(0, 4096, F32, {h, results});
  *instruction->mutable_gemm()->mutable_c() = y;
  instruction = segment.add_instructions();
  instruction->set_source("dense2");
  program::Collective &reduce = *instruction->mutable_collective();
  reduce.set_mesh("mesh");
  reduce.add_axes()->set_name("model");
  *reduce.mutable_input() = y;
  *reduce.mutable_output() = y;
  if (!options.async)
    return;
  instruction->mutable_async()->set_stream(program::COMMUNICATION_STREAM);
  instruction->mutable_async()->set_token(1);
  instruction = segment.add_instructions();
  instruction->set_source("dense2");
  instruction->mutable_wait()->set_token(1);
}

/// The segment once, or once a microbatch, each in a frame of its own.
void addSchedule(program::Program &program, int64_t microbatches) {
  if (microbatches == 1) {
    program.add_schedule()->mutable_entry();
    return;
  }
  program::Repeat &repeat = *program.add_schedule()->mutable_repeat();
  repeat.set_times(microbatches);
  program::ScheduleEntry &entry = *repeat.add_body()->mutable_entry();
  entry.mutable_microbatch()->add_steps(1);
  program::FrameBinding &frame = *entry.add_frames();
  frame.set_arena(1);
  frame.mutable_index()->add_steps(1);
}

void addProgram(program::Executable &executable, const FixtureOptions &options) {
  using program::F32, program::I64;
  program::Program &program = *executable.add_classes();
  for (auto [kind, bytes] : {std::pair(program::WEIGHTS, 8192), {program::PORTS, 16384}}) {
    program::Arena &arena = *program.add_arenas();
    arena.set_kind(kind);
    arena.set_bytes(bytes);
    arena.set_frames(kind == program::PORTS ? options.microbatches : 1);
    arena.set_alignment(64);
  }
  int64_t m = rows / options.data / options.microbatches, h = hidden / options.model;
  // w1 is used as it lies: [hidden, features], read through its transpose.
  addBlock(program, 0, makeOperand(0, 0, F32, {h, features}), h * features, {features, 1});
  addBlock(program, 1, makeOperand(0, 4096, F32, {h, results}), h * results, {results, 1});
  addPort(program.add_inputs(), "x", {rows, features}, makeOperand(1, 0, F32, {m, features}));
  addPort(program.add_inputs(), "ids", {rows}, makeOperand(1, 4096, I64, {m}));
  addPort(program.add_outputs(), "y", {rows, results}, makeOperand(1, 12288, F32, {m, results}));
  program::Segment &segment = *program.add_segments();
  segment.set_name("forward");
  addInstructions(segment, m, h, options);
  addSchedule(program, options.microbatches);
}

} // namespace

void writeProgram(const std::string &folder, const program::Executable &executable) {
  writeText(folder + "/mlp.weft/executable.pb", formatFrame(executable.SerializeAsString()));
}

void writeFixture(const std::string &folder, const FixtureOptions &options) {
  for (const char *name : {"/mlp.weft/kernels", "/inputs", "/outputs"})
    std::filesystem::create_directories(folder + name);
  writeTensors(folder);
  writeText(folder + "/kernels.c", kernelSource);
  std::string compile =
      fmt::format("'{1}' -O1 -shared -fPIC -o '{0}/mlp.weft/kernels/cpu.so' '{0}/kernels.c'",
                  folder, WEFT_C_COMPILER);
  if (std::system(compile.c_str()) != 0)
    throwFailure("cannot compile the kernels: {}", compile);
  program::Executable executable;
  executable.set_version(program::EXECUTABLE_VERSION);
  executable.set_device("cpu");
  plan::Mesh &mesh = *executable.add_meshes();
  mesh.set_name("mesh");
  for (auto [name, size] : {std::pair("data", options.data), {"model", options.model}}) {
    plan::Axis &axis = *mesh.add_axes();
    axis.set_name(name);
    axis.set_size(size);
  }
  executable.add_ranks()->set_end(options.data * options.model);
  addFile(executable, folder, "../weights.bin", false);
  addFile(executable, folder, "kernels/cpu.so", true);
  for (auto [name, offset, bytes] :
       {std::tuple("w1", w1Offset, w1Bytes), {"w2", w1Offset + w1Bytes, w2Bytes}}) {
    program::Weight &weight = *executable.add_weights();
    weight.set_name(name);
    weight.set_dtype(program::F32);
    weight.set_offset(offset);
    weight.set_length(bytes);
  }
  executable.add_kernels("select_rows");
  addProgram(executable, options);
  writeProgram(folder, executable);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "weft-test-XXXXXX";
  if (!mkdtemp(pattern.data()))
    throwFailure("cannot make a folder like '{}'", pattern);
  path = pattern;
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path); }

} // namespace weft::test
