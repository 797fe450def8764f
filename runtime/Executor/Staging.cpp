//===- Staging.cpp - tensors between host and device ----------------------===//

#include "runtime/Executor/Staging.h"

#include "runtime/Io/StridedBlock.h"
#include "runtime/Support/ForEachOffset.h"

#include <algorithm>
#include <limits>

namespace weft::runtime {

namespace {

constexpr size_t buffersInTurn = 2; // one is filled while the other is copied

/// Bytes that an operand reaches before and after the start of its first element.
struct Span {
  int64_t low = 0, high = 0;

  explicit Span(const View &view) {
    int64_t size = getElementSize(view.dtype);
    high = size;
    for (size_t dim = 0; dim < view.shape.size(); ++dim) {
      int64_t reach = (view.shape[dim] - 1) * view.strides[dim] * size;
      (reach < 0 ? low : high) += reach;
    }
  }
  int64_t getNumBytes() const { return high - low; }
};

/// Calls `body(offset, bytes)` for the runs of bytes that an operand consists of, offsets from its
/// first element. Elements that repeat (stride 0) are counted once.
template <typename Body> void forEachRun(const View &view, Body body) {
  if (view.getNumElements() == 0)
    return;
  int64_t size = getElementSize(view.dtype);
  StridedBlock block{0, size, {}, {}, {}};
  for (size_t dim = 0; dim < view.shape.size(); ++dim)
    if (view.strides[dim] != 0) {
      block.shape.push_back(view.shape[dim]);
      block.fileStrides.push_back(view.strides[dim]);
    }
  block.memoryStrides = block.fileStrides;
  block = simplify(block);
  int64_t run = 1;
  if (!block.shape.empty() && block.fileStrides.back() == 1) {
    run = block.shape.back();
    block.shape.pop_back();
    block.fileStrides.pop_back();
  }
  forEachOffset(block.shape, block.fileStrides,
                [&](int64_t offset) { body(offset * size, run * size); });
}

void cut(Piece piece, int64_t limit, std::vector<Piece> &pieces) {
  int64_t size = getElementSize(piece.view.dtype), longest = 0;
  size_t dim = 0;
  for (size_t i = 0; i < piece.view.shape.size(); ++i)
    if (int64_t reach = (piece.view.shape[i] - 1) * std::abs(piece.view.strides[i]);
        reach > longest) {
      longest = reach;
      dim = i;
    }
  if (longest == 0 || Span(piece.view).getNumBytes() <= limit) {
    pieces.push_back(std::move(piece));
    return;
  }
  int64_t step = std::abs(piece.view.strides[dim]) * size, extent = piece.view.shape[dim];
  int64_t count = std::clamp<int64_t>(limit / step, 1, extent - 1);
  for (int64_t at = 0; at < extent; at += count) {
    Piece part = piece;
    part.view.shape[dim] = std::min(count, extent - at);
    part.view.offset += at * piece.view.strides[dim] * size;
    part.start[dim] += at;
    cut(std::move(part), limit, pieces);
  }
}

} // namespace

std::vector<Piece> cutIntoPieces(const View &view, int64_t limit) {
  std::vector<Piece> pieces;
  if (view.getNumElements() > 0)
    cut({view, std::vector<int64_t>(view.shape.size(), 0)}, limit, pieces);
  return pieces;
}

Staging::Window &Staging::Window::operator=(Window &&other) noexcept {
  std::swap(view, other.view);
  std::swap(address, other.address);
  std::swap(data, other.data);
  std::swap(buffer, other.buffer);
  return *this;
}

Staging::Window::~Window() {
  if (buffer)
    buffer->inUse = false;
}

Staging::Buffer &Staging::takeBuffer(int64_t bytes) {
  Buffer *oldest = nullptr;
  for (Buffer &buffer : buffers)
    if (!buffer.inUse && (!oldest || buffer.lastUse < oldest->lastUse))
      oldest = &buffer;
  if (!oldest || (buffers.size() < buffersInTurn && !oldest->copied->isDone())) {
    oldest = &buffers.emplace_back();
    oldest->copied = device.makeEvent();
  }
  wait.forEvent(*oldest->copied);
  if (oldest->memory.getNumBytes() < bytes) {
    oldest->memory = HostMemory(); // the old one goes first
    oldest->memory = HostMemory(device, std::max(bytes, device.getStagingBytes()));
  }
  oldest->lastUse = ++uses;
  oldest->inUse = true;
  return *oldest;
}

Staging::Window Staging::open(const View &view, const DeviceBases &bases, Stream &stream) {
  Window window;
  window.view = view;
  window.address = view.getAddress(bases);
  window.data = device.getHostPointer(window.address);
  if (window.data || view.getNumElements() == 0) {
    wait.forStream(stream);
    return window;
  }
  Span span(view);
  window.buffer = &takeBuffer(span.getNumBytes());
  window.data = window.buffer->memory.getData() - span.low;
  return window;
}

Staging::Window Staging::read(const View &view, const DeviceBases &bases, Stream &stream) {
  Window window = open(view, bases, stream);
  if (!window.buffer)
    return window;
  forEachRun(view, [&](int64_t offset, int64_t bytes) {
    stream.copyToHost(window.data + offset, window.address + offset, bytes);
  });
  stream.record(*window.buffer->copied);
  wait.forEvent(*window.buffer->copied);
  return window;
}

void Staging::store(Window window, Stream &stream) {
  if (!window.buffer)
    return;
  forEachRun(window.view, [&](int64_t offset, int64_t bytes) {
    stream.copyToDevice(window.address + offset, window.data + offset, bytes);
  });
  stream.record(*window.buffer->copied);
}

int64_t Staging::getPieceLimit(const View &view, const DeviceBases &bases) const {
  return device.getHostPointer(view.getAddress(bases)) ? std::numeric_limits<int64_t>::max()
                                                       : device.getStagingBytes();
}

void Staging::fill(const View &view, const DeviceBases &bases, Stream &stream,
                   const std::function<void(const Piece &, std::byte *)> &body) {
  for (const Piece &piece : cutIntoPieces(view, getPieceLimit(view, bases))) {
    Window window = open(piece.view, bases, stream);
    body(piece, window.getData());
    store(std::move(window), stream);
  }
}

void Staging::look(const View &view, const DeviceBases &bases, Stream &stream,
                   const std::function<void(const Piece &, const std::byte *)> &body) {
  for (const Piece &piece : cutIntoPieces(view, getPieceLimit(view, bases))) {
    Window window = read(piece.view, bases, stream);
    body(piece, window.getData());
  }
}

} // namespace weft::runtime
