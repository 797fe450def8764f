//===- Arenas.h - a rank's memory -------------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_ARENAS_H
#define WEFT_RUNTIME_EXECUTOR_ARENAS_H

#include "runtime/Cpu/Action.h"
#include "runtime/Program/executable.pb.h"

namespace weft::runtime {

/// The memory of a program, zero at the start and touched only where it is used. Arenas of weights
/// and state have one frame; those of activations, communication and workspace one for each frame
/// that the schedule names.
class Arenas {
public:
  /// An Error of kind Failure where the memory is not to be had.
  explicit Arenas(const program::Program &program);
  ~Arenas();
  Arenas(const Arenas &) = delete;
  Arenas &operator=(const Arenas &) = delete;

  /// Where each arena's frame `frame` begins.
  const Bases &getBases(int64_t frame) const { return frames[frame]; }
  int64_t getNumFrames() const { return static_cast<int64_t>(frames.size()); }

private:
  struct Mapping {
    void *address;
    size_t bytes;
  };
  std::byte *map(const program::Arena &arena, int64_t count);

  std::vector<Mapping> mappings;
  std::vector<Bases> frames;
};

/// Frames that a program's schedule names, and bytes of all its arenas.
int64_t getNumFrames(const program::Program &program);
int64_t getArenaBytes(const program::Program &program);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_ARENAS_H
