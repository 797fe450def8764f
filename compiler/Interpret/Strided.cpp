#include "compiler/Interpret/Strided.h"

#include <cstring>

using namespace llvm;
using namespace weft;

SmallVector<int64_t> weft::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    strides[dim] = stride;
  return strides;
}

int64_t weft::elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

namespace {
/// One loop of a copy; strides in elements.
struct Loop {
  int64_t size, to, from;
};
} // namespace

/// The loops of a block, outermost first, without unit loops, neighbours merged where they walk as
/// one.
static SmallVector<Loop> mergedLoops(ArrayRef<int64_t> shape, ArrayRef<int64_t> to,
                                     ArrayRef<int64_t> from) {
  SmallVector<Loop> loops;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1)
      continue;
    Loop loop{shape[dim], to[dim], from[dim]};
    if (!loops.empty() && loops.back().to == loop.to * loop.size &&
        loops.back().from == loop.from * loop.size)
      loop.size *= loops.pop_back_val().size;
    loops.push_back(loop);
  }
  return loops;
}

template <typename Element> static void copyRow(const Loop &loop, char *to, const char *from) {
  auto target = reinterpret_cast<Element *>(to);
  auto source = reinterpret_cast<const Element *>(from);
  for (int64_t i = 0; i < loop.size; ++i)
    target[i * loop.to] = source[i * loop.from];
}

static void copyInner(const Loop &loop, int64_t width, char *to, const char *from) {
  if (loop.to == 1 && loop.from == 1)
    std::memcpy(to, from, loop.size * width);
  else if (width == 1)
    copyRow<uint8_t>(loop, to, from);
  else if (width == 2)
    copyRow<uint16_t>(loop, to, from);
  else if (width == 4)
    copyRow<uint32_t>(loop, to, from);
  else
    copyRow<uint64_t>(loop, to, from);
}

static void copyLoops(ArrayRef<Loop> loops, int64_t width, char *to, const char *from) {
  if (loops.size() == 1)
    return copyInner(loops.front(), width, to, from);
  const Loop &loop = loops.front();
  for (int64_t i = 0; i < loop.size; ++i)
    copyLoops(loops.drop_front(), width, to + i * loop.to * width, from + i * loop.from * width);
}

void weft::copyStrided(ArrayRef<int64_t> shape, int64_t width, char *to,
                       ArrayRef<int64_t> toStrides, const char *from,
                       ArrayRef<int64_t> fromStrides) {
  if (elementCount(shape) == 0)
    return;
  SmallVector<Loop> loops = mergedLoops(shape, toStrides, fromStrides);
  if (loops.empty())
    loops.push_back({1, 1, 1});
  copyLoops(loops, width, to, from);
}

void weft::forEachPosition(ArrayRef<int64_t> shape,
                           function_ref<void(ArrayRef<int64_t>, int64_t)> visit) {
  SmallVector<int64_t> position(shape.size(), 0);
  for (int64_t number = 0, count = elementCount(shape); number < count; ++number) {
    visit(position, number);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++position[dim] < shape[dim])
        break;
      position[dim] = 0;
    }
  }
}
