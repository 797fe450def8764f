//===- Arenas.cpp - a rank's memory ---------------------------------------===//

#include "runtime/Executor/Arenas.h"

#include "runtime/Support/Error.h"

#include <algorithm>

namespace weft::runtime {

namespace {

constexpr int64_t maxFrames = 1 << 20;

bool hasFrames(const program::Arena &arena) {
  return arena.kind() != program::WEIGHTS && arena.kind() != program::STATE;
}

/// Frames keep the arena's alignment: a page serves every vector unit and device.
int64_t getFrameBytes(const program::Arena &arena) { return (arena.bytes() + 4095) / 4096 * 4096; }

} // namespace

int64_t getNumFrames(const program::Program &program) {
  int64_t frames = 1;
  for (const program::ScheduleEntry &entry : program.schedule()) {
    if (entry.frame() < 0 || entry.frame() >= maxFrames)
      throwBadInput("the schedule names frame {}", entry.frame());
    frames = std::max(frames, entry.frame() + 1);
  }
  return frames;
}

int64_t getArenaBytes(const program::Program &program) {
  int64_t total = 0, frames = getNumFrames(program);
  for (const program::Arena &arena : program.arenas()) {
    int64_t bytes = 0;
    if (arena.bytes() < 0 || __builtin_mul_overflow(getFrameBytes(arena), frames, &bytes) ||
        __builtin_add_overflow(total, hasFrames(arena) ? bytes : getFrameBytes(arena), &total))
      throwBadInput("an arena of {} bytes", arena.bytes());
  }
  return total;
}

Arenas::Arenas(Device &device, const program::Program &program)
    : frames(runtime::getNumFrames(program)) {
  getArenaBytes(program); // checks sizes
  for (const program::Arena &arena : program.arenas()) {
    int64_t count = hasFrames(arena) ? getNumFrames() : 1;
    DeviceAddress base = arenas.emplace_back(device, getFrameBytes(arena) * count).getAddress();
    for (int64_t frame = 0; frame < getNumFrames(); ++frame)
      frames[frame].push_back(base + (hasFrames(arena) ? frame * getFrameBytes(arena) : 0));
  }
}

} // namespace weft::runtime
