//===- HostCopies.h - copies between a device and its host ------*- C++ -*-===//
//
// States may lie in the host's memory (ArenaKind HOST): copies fetch them and write them back. One
// with a token runs beside computation, on a stream of its way:
//
//   given stream   ── … ──▶ ready ──────────────── … ──────▶ wait for done ── …
//   its way's stream            └▶ wait ── copy ── done ────────┘
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_HOSTCOPIES_H
#define WEFT_RUNTIME_EXECUTOR_HOSTCOPIES_H

#include "runtime/Device/TokenTable.h"

#include <set>

namespace weft::runtime {

/// A rank's copies beside computation. Its streams hold commands: it ends before these, which are
/// enqueued no more then.
class HostCopies {
public:
  explicit HostCopies(Device &device) : device(device) {}

  /// A copy that the token's wait is for, from 1.
  std::unique_ptr<Command> makeCopy(CopyCall call, bool toHost, uint32_t token);
  /// Whether it is such a copy's token.
  bool has(uint32_t token) const { return tokens.count(token) > 0; }
  std::unique_ptr<Command> makeWait(uint32_t token);

private:
  class Copy;

  Device &device;
  std::unique_ptr<Stream> fetching, returning; ///< made when the first copy is
  TokenTable<Copy> copies;
  std::set<uint32_t> tokens;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_HOSTCOPIES_H
