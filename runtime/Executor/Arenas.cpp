//===- Arenas.cpp - a rank's memory ---------------------------------------===//

#include "runtime/Executor/Arenas.h"

#include "runtime/Support/Error.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace weft::runtime {

namespace {

constexpr size_t hugePage = 2 << 20;
constexpr int64_t maxFrames = 1 << 20;

bool hasFrames(const program::Arena &arena) {
  return arena.kind() != program::WEIGHTS && arena.kind() != program::STATE;
}

/// Frames keep the arena's alignment: a page serves every vector unit.
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

Arenas::Arenas(const program::Program &program) : frames(runtime::getNumFrames(program)) {
  getArenaBytes(program); // checks sizes
  for (const program::Arena &arena : program.arenas()) {
    std::byte *base = map(arena, hasFrames(arena) ? getNumFrames() : 1);
    for (int64_t frame = 0; frame < getNumFrames(); ++frame)
      frames[frame].push_back(base + (hasFrames(arena) ? frame * getFrameBytes(arena) : 0));
  }
}

std::byte *Arenas::map(const program::Arena &arena, int64_t count) {
  size_t bytes = std::max<size_t>(getFrameBytes(arena) * count, 4096);
  size_t slack = bytes >= 2 * hugePage ? hugePage : 0; // so that it can begin at a huge page
  void *address = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    throwFailure("no memory for an arena of {} bytes: {}", bytes, std::strerror(errno));
  mappings.push_back({address, bytes + slack});
  if (slack == 0)
    return static_cast<std::byte *>(address);
  auto aligned = (reinterpret_cast<uintptr_t>(address) + hugePage - 1) / hugePage * hugePage;
  // Weights are read end to end each step: fewer, larger pages. A refusal only costs speed.
  (void)madvise(reinterpret_cast<void *>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<std::byte *>(aligned);
}

Arenas::~Arenas() {
  for (const Mapping &mapping : mappings)
    munmap(mapping.address, mapping.bytes);
}

} // namespace weft::runtime
