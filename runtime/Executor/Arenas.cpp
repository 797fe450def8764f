//===- Arenas.cpp - a rank's memory ---------------------------------------===//

#include "runtime/Executor/Arenas.h"

#include "runtime/Program/Schedule.h"
#include "runtime/Support/Error.h"

namespace weft::runtime {

namespace {

bool isOnHost(const program::Arena &arena) { return arena.kind() == program::HOST; }

int64_t sumArenas(const program::Program &program, bool onHost) {
  int64_t total = 0;
  for (const program::Arena &arena : program.arenas()) {
    int64_t bytes = 0;
    if (isOnHost(arena) != onHost)
      continue;
    if (arena.bytes() < 0 || arena.bytes() > INT64_MAX - 4096 ||
        __builtin_mul_overflow(getFrameStride(arena), arena.frames(), &bytes) ||
        __builtin_add_overflow(total, bytes, &total))
      throwBadInput("an arena of {} frames of {} bytes", arena.frames(), arena.bytes());
  }
  return total;
}

} // namespace

int64_t getArenaBytes(const program::Program &program) { return sumArenas(program, false); }

int64_t getHostBytes(const program::Program &program) { return sumArenas(program, true); }

Arenas::Arenas(Device &device, const program::Program &program) {
  getArenaBytes(program); // checks sizes
  getHostBytes(program);
  for (const program::Arena &arena : program.arenas()) {
    strides.push_back(getFrameStride(arena));
    arenas.emplace_back(device, strides.back() * arena.frames(), isOnHost(arena));
    first.push_back(arenas.back().getAddress());
  }
}

void Arenas::getBases(const std::vector<int64_t> &frames, DeviceBases &bases) const {
  bases.resize(first.size());
  for (size_t arena = 0; arena < first.size(); ++arena)
    bases[arena] = first[arena] + frames[arena] * strides[arena];
}

} // namespace weft::runtime
