//===- Frame.h - the frame around executable.pb -----------------*- C++ -*-===//
//
// Magic, format version, length and hash, as executable.proto lays them out. The hash guards
// against damage, not malice.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_FRAME_H
#define WEFT_RUNTIME_PROGRAM_FRAME_H

#include <cstdint>
#include <string>

namespace weft::runtime {

/// The version of the frame that this build reads and writes.
inline constexpr uint32_t formatVersion = 1;

/// What the frame holds.
struct Framed {
  std::string payload;
  uint64_t hash = 0; ///< xxh3 of the payload: the program's identity between ranks
};

/// Reads and checks a framed file; an Error of kind BadInput says what is wrong with it.
Framed readFrame(const std::string &path);

/// The payload with its frame.
std::string formatFrame(const std::string &payload);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_FRAME_H
