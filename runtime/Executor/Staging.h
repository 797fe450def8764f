//===- Staging.h - tensors between host and device --------------*- C++ -*-===//
//
// Weights, inputs, outputs, and what the host sends to other ranks pass through windows: host
// memory that mirrors the bytes of an operand. Where the host may touch the device's memory (the
// CPU) a window is that memory and nothing is copied. Elsewhere it is one of a few pinned buffers,
// copied on a stream while the next one is filled, and operands larger than a buffer pass in
// pieces.
//
// Only the operand's own bytes are copied: one copy where they lie together, else one for each run.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_STAGING_H
#define WEFT_RUNTIME_EXECUTOR_STAGING_H

#include "runtime/Executor/HostWait.h"

#include <deque>
#include <functional>

namespace weft::runtime {

/// A part of an operand: as an operand of its own, and the index of its first element in the whole.
struct Piece {
  View view;
  std::vector<int64_t> start;
};

/// Cuts an operand into pieces whose bytes, holes included, span at most `limit`, or which are
/// single elements.
std::vector<Piece> cutIntoPieces(const View &view, int64_t limit);

class Staging {
  struct Buffer;

public:
  Staging(Device &device, HostWait &wait) : device(device), wait(wait) {}

  /// Host memory in place of an operand, with the operand's strides.
  class Window {
  public:
    Window(Window &&other) noexcept { *this = std::move(other); }
    Window &operator=(Window &&other) noexcept;
    ~Window();
    /// The element of index 0.
    std::byte *getData() const { return data; }

  private:
    friend class Staging;
    Window() = default;
    View view;
    DeviceAddress address;
    std::byte *data = nullptr;
    Buffer *buffer = nullptr; ///< null: the device's memory itself
  };

  /// The operand's content once the stream has done what it holds; waits for it.
  Window read(const View &view, const DeviceBases &bases, Stream &stream);
  /// Memory to be filled with the operand's new content, which store() hands to the stream.
  Window open(const View &view, const DeviceBases &bases, Stream &stream);
  void store(Window window, Stream &stream);

  /// Lets `body` fill an operand, or look at it, piece by piece in host memory.
  void fill(const View &view, const DeviceBases &bases, Stream &stream,
            const std::function<void(const Piece &piece, std::byte *memory)> &body);
  void look(const View &view, const DeviceBases &bases, Stream &stream,
            const std::function<void(const Piece &piece, const std::byte *memory)> &body);

private:
  struct Buffer {
    HostMemory memory;
    std::unique_ptr<Event> copied; ///< the last copy from or to it
    uint64_t lastUse = 0;
    bool inUse = false; ///< by a window
  };

  Buffer &takeBuffer(int64_t bytes);
  int64_t getPieceLimit(const View &view, const DeviceBases &bases) const;

  Device &device;
  HostWait &wait;
  std::deque<Buffer> buffers;
  uint64_t uses = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_STAGING_H
