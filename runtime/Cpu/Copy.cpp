//===- Copy.cpp - strided copies and fills --------------------------------===//

#include "runtime/Cpu/Action.h"
#include "runtime/Device/CopyLoops.h"
#include "runtime/Support/CopyElements.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {

namespace {

constexpr int64_t grainBytes = 64 << 10; // least bytes worth a thread of their own

/// Copies the rows [lo, hi) of the loops.
void copyRows(const CopyLoops &loops, const std::byte *from, std::byte *to, int64_t lo,
              int64_t hi) {
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
  explicit Move(const CopyLoops &loops) : loops(loops) {
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

  const CopyLoops &loops;
  int64_t reach;                ///< bytes of one element of each dimension and all inner ones
  std::vector<int64_t> reaches; ///< by dimension
};

class CopyAction : public Action {
public:
  CopyAction(View input, View output)
      : input(std::move(input)), output(std::move(output)), loops(this->input, this->output) {}

  void execute(const Bases &bases, ThreadPool &pool) override {
    if (output.getNumElements() == 0)
      return;
    const std::byte *from = input.getAddress(bases);
    std::byte *to = output.getAddress(bases);
    if (loops.from == loops.to && loops.overlaps(to - from))
      return Move(loops).execute(from, to, pool);
    int64_t rowBytes = loops.shape.back() * loops.size;
    if (loops.isContiguous())
      return pool.parallelFor(rowBytes, grainBytes, [&](int64_t lo, int64_t hi) {
        std::memcpy(to + lo, from + lo, hi - lo);
      });
    pool.parallelFor(loops.getNumRows(), std::max<int64_t>(1, grainBytes / rowBytes),
                     [&](int64_t lo, int64_t hi) { copyRows(loops, from, to, lo, hi); });
  }

private:
  View input;
  View output;
  CopyLoops loops;
};

class FillAction : public Action {
public:
  FillAction(View output, std::string value)
      : output(std::move(output)), value(std::move(value)), loops(this->output) {}

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
  View output;
  std::string value;
  CopyLoops loops;
};

} // namespace

std::unique_ptr<Action> makeCopyAction(View input, View output) {
  checkCopy({input, output});
  return std::make_unique<CopyAction>(std::move(input), std::move(output));
}

std::unique_ptr<Action> makeFillAction(View output, const std::string &value) {
  checkFill({output, value});
  return std::make_unique<FillAction>(std::move(output), value);
}

} // namespace weft::runtime
