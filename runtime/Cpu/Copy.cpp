//===- Copy.cpp - strided copies and fills --------------------------------===//

#include "runtime/Cpu/Action.h"
#include "runtime/Support/CopyElements.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace weft::runtime {

namespace {

constexpr int64_t grainBytes = 64 << 10; // least bytes worth a thread of their own

/// A copy with neighbouring dimensions merged, the output's smallest stride last. Strides in bytes.
struct Loops {
  int64_t size = 0; ///< bytes of an element
  std::vector<int64_t> shape, from, to;

  Loops(const View &input, const View &output) : size(getElementSize(output.dtype)) {
    std::vector<size_t> order(output.shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](size_t dim) { return output.shape[dim] == 1; });
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      int64_t x = std::abs(output.strides[a]), y = std::abs(output.strides[b]);
      return x != y ? x > y : a < b;
    });
    for (size_t dim : order)
      append(output.shape[dim], input.strides[dim] * size, output.strides[dim] * size);
    if (shape.empty())
      append(1, size, size);
  }

  int64_t getNumRows() const {
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i)
      rows *= shape[i];
    return rows;
  }

private:
  void append(int64_t extent, int64_t fromStride, int64_t toStride) {
    if (!shape.empty() && from.back() == fromStride * extent && to.back() == toStride * extent) {
      shape.back() *= extent;
      from.back() = fromStride;
      to.back() = toStride;
      return;
    }
    shape.push_back(extent);
    from.push_back(fromStride);
    to.push_back(toStride);
  }
};

/// Copies the rows [lo, hi) of the loops.
void copyRows(const Loops &loops, const std::byte *from, std::byte *to, int64_t lo, int64_t hi) {
  size_t inner = loops.shape.size() - 1;
  for (int64_t row = lo; row < hi; ++row) {
    int64_t rest = row, fromOffset = 0, toOffset = 0;
    for (size_t dim = inner; dim-- > 0; rest /= loops.shape[dim]) {
      fromOffset += rest % loops.shape[dim] * loops.from[dim];
      toOffset += rest % loops.shape[dim] * loops.to[dim];
    }
    copyElements(loops.size, from + fromOffset, loops.from[inner], to + toOffset, loops.to[inner],
                 loops.shape[inner]);
  }
}

/// Moves elements to where others of them lie, all by the same distance: in the order of addresses
/// from the end that is left, so that none is overwritten before it was moved.
class Move {
public:
  explicit Move(const Loops &loops) : loops(loops) {
    // Rows of the outer dimensions that never meet are shared among threads.
    reach = loops.size;
    for (size_t dim = loops.shape.size(); dim-- > 0;)
      reaches.insert(reaches.begin(), reach += (loops.shape[dim] - 1) * loops.to[dim]);
  }

  void execute(const std::byte *from, std::byte *to, ThreadPool &pool) const {
    int64_t distance = std::abs(from - to);
    size_t shared = 0;
    int64_t parts = 1;
    while (shared + 1 < loops.shape.size() && loops.to[shared] >= reaches[shared + 1] + distance)
      parts *= loops.shape[shared++];
    pool.parallelFor(parts, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t part = lo; part < hi; ++part) {
        int64_t rest = part, offset = 0;
        for (size_t dim = shared; dim-- > 0; rest /= loops.shape[dim])
          offset += rest % loops.shape[dim] * loops.to[dim];
        move(shared, from + offset, to + offset);
      }
    });
  }

private:
  void move(size_t dim, const std::byte *from, std::byte *to) const {
    if (dim == loops.shape.size()) {
      std::memmove(to, from, loops.size);
      return;
    }
    int64_t extent = loops.shape[dim], step = loops.to[dim];
    if (dim + 1 == loops.shape.size() && step == loops.size) {
      std::memmove(to, from, extent * loops.size);
      return;
    }
    bool down = from < to;
    for (int64_t i = 0; i < extent; ++i) {
      int64_t offset = (down ? extent - 1 - i : i) * step;
      move(dim + 1, from + offset, to + offset);
    }
  }

  const Loops &loops;
  int64_t reach;                ///< bytes of one element of each dimension and all inner ones
  std::vector<int64_t> reaches; ///< by dimension
};

/// Whether the operands share bytes, as far as the first and last of each tell.
bool overlaps(const Loops &loops, const std::byte *from, const std::byte *to) {
  int64_t fromReach = loops.size, toReach = loops.size;
  for (size_t dim = 0; dim < loops.shape.size(); ++dim) {
    fromReach += (loops.shape[dim] - 1) * loops.from[dim];
    toReach += (loops.shape[dim] - 1) * loops.to[dim];
  }
  return from < to + toReach && to < from + fromReach;
}

class CopyAction : public Action {
public:
  CopyAction(View input, View output)
      : input(std::move(input)), output(std::move(output)), loops(this->input, this->output) {}

  void execute(const Bases &bases, ThreadPool &pool) override {
    if (output.getNumElements() == 0)
      return;
    const std::byte *from = input.getAddress(bases);
    std::byte *to = output.getAddress(bases);
    if (loops.from == loops.to && overlaps(loops, from, to))
      return Move(loops).execute(from, to, pool);
    int64_t rowBytes = loops.shape.back() * loops.size;
    if (loops.getNumRows() == 1 && loops.from.back() == loops.size && loops.to.back() == loops.size)
      return pool.parallelFor(rowBytes, grainBytes, [&](int64_t lo, int64_t hi) {
        std::memcpy(to + lo, from + lo, hi - lo);
      });
    pool.parallelFor(loops.getNumRows(), std::max<int64_t>(1, grainBytes / rowBytes),
                     [&](int64_t lo, int64_t hi) { copyRows(loops, from, to, lo, hi); });
  }

private:
  View input;
  View output;
  Loops loops;
};

/// A fill is a copy from one element, whose strides are all 0.
class FillAction : public Action {
public:
  FillAction(View output, std::string value)
      : output(std::move(output)), value(std::move(value)), loops(makeSource(), this->output) {}

  void execute(const Bases &bases, ThreadPool &pool) override {
    if (output.getNumElements() == 0)
      return;
    std::byte *to = output.getAddress(bases);
    auto *from = reinterpret_cast<const std::byte *>(value.data());
    int64_t rowBytes = loops.shape.back() * loops.size;
    pool.parallelFor(loops.getNumRows(), std::max<int64_t>(1, grainBytes / rowBytes),
                     [&](int64_t lo, int64_t hi) { copyRows(loops, from, to, lo, hi); });
  }

private:
  View makeSource() const {
    View source = output;
    std::fill(source.strides.begin(), source.strides.end(), 0);
    return source;
  }

  View output;
  std::string value;
  Loops loops;
};

} // namespace

std::unique_ptr<Action> makeCopyAction(View input, View output) {
  if (input.shape != output.shape || input.dtype != output.dtype)
    throwBadInput("a copy between operands of unlike shape or element type");
  return std::make_unique<CopyAction>(std::move(input), std::move(output));
}

std::unique_ptr<Action> makeFillAction(View output, const std::string &value) {
  if (value.size() != static_cast<size_t>(getElementSize(output.dtype)))
    throwBadInput("a fill with {} bytes of elements of {}", value.size(),
                  getElementSize(output.dtype));
  return std::make_unique<FillAction>(std::move(output), value);
}

} // namespace weft::runtime
