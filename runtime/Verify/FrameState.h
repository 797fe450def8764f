//===- FrameState.h - what a frame of an arena holds ------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_VERIFY_FRAMESTATE_H
#define WEFT_RUNTIME_VERIFY_FRAMESTATE_H

#include "runtime/Verify/ByteRanges.h"

#include <set>
#include <string>

namespace weft::runtime {

/// What the bytes of one frame hold, and what is under way in it.
struct FrameState {
  Contents contents;
  UseCounts beingRead;      ///< by instructions that are begun and not waited for
  std::set<uint32_t> begun; ///< their tokens

  /// Equal for equal states alone.
  std::string getKey() const;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_VERIFY_FRAMESTATE_H
