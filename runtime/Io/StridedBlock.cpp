//===- StridedBlock.cpp - a rank's part of a file -------------------------===//

#include "runtime/Io/StridedBlock.h"

#include "runtime/Support/CopyElements.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/Hash.h"

#include <algorithm>
#include <numeric>

namespace weft::runtime {

namespace {

constexpr uint64_t windowBytes = 4 << 20;    // memory beyond the destination
constexpr uint64_t uncheckedChunk = 1 << 16; // granularity of reads without hashes
constexpr uint64_t gapBytes = 1 << 18;       // holes larger than this are skipped, not read

/// Calls `row(fileOffset, memoryOffset)`, bytes from the block's first element, for each row of a
/// simplified block: all dimensions but the last.
template <typename Row> void forEachRow(const StridedBlock &block, Row row) {
  size_t outer = block.shape.empty() ? 0 : block.shape.size() - 1;
  std::vector<int64_t> index(outer, 0);
  int64_t fileOffset = 0, memoryOffset = 0;
  while (true) {
    row(fileOffset, memoryOffset);
    size_t dim = outer;
    while (dim-- > 0) {
      fileOffset += block.fileStrides[dim] * block.elementSize;
      memoryOffset += block.memoryStrides[dim] * block.elementSize;
      if (++index[dim] < block.shape[dim])
        break;
      fileOffset -= block.fileStrides[dim] * block.elementSize * block.shape[dim];
      memoryOffset -= block.memoryStrides[dim] * block.elementSize * block.shape[dim];
      index[dim] = 0;
    }
    if (dim == static_cast<size_t>(-1))
      return;
  }
}

/// Bytes from a row's start within which the following rows lie without a large hole.
uint64_t getDenseBytes(const StridedBlock &block) {
  uint64_t span = block.elementSize;
  for (size_t dim = block.shape.size(); dim-- > 0;) {
    uint64_t step = std::abs(block.fileStrides[dim]) * block.elementSize;
    if (step > span + gapBytes)
      break;
    span = std::max(span, (block.shape[dim] - 1) * step + span);
  }
  return span;
}

bool isEmpty(const StridedBlock &block) {
  return std::find(block.shape.begin(), block.shape.end(), 0) != block.shape.end();
}

} // namespace

StridedBlock simplify(const StridedBlock &block) {
  std::vector<size_t> order(block.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](size_t dim) { return block.shape[dim] == 1; });
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    int64_t x = std::abs(block.fileStrides[a]), y = std::abs(block.fileStrides[b]);
    return x != y ? x > y : a < b;
  });
  StridedBlock simple{block.begin, block.elementSize, {}, {}, {}};
  for (size_t dim : order) {
    int64_t extent = block.shape[dim];
    int64_t inFile = block.fileStrides[dim], inMemory = block.memoryStrides[dim];
    if (!simple.shape.empty() && simple.fileStrides.back() == inFile * extent &&
        simple.memoryStrides.back() == inMemory * extent) {
      simple.shape.back() *= extent;
      simple.fileStrides.back() = inFile;
      simple.memoryStrides.back() = inMemory;
      continue;
    }
    simple.shape.push_back(extent);
    simple.fileStrides.push_back(inFile);
    simple.memoryStrides.push_back(inMemory);
  }
  return simple;
}

StridedBlock getPart(const StridedBlock &block, std::span<const int64_t> start,
                     std::span<const int64_t> shape) {
  StridedBlock part = block;
  part.shape.assign(shape.begin(), shape.end());
  for (size_t dim = 0; dim < start.size(); ++dim)
    part.begin += start[dim] * block.fileStrides[dim] * block.elementSize;
  return part;
}

BlockReader::BlockReader(File opened, uint64_t chunkBytes, std::span<const uint64_t> hashes)
    : file(std::move(opened)), fileSize(file.getSize()), chunkBytes(chunkBytes), hashes(hashes) {
  if (hashes.empty() || chunkBytes == 0)
    this->chunkBytes = uncheckedChunk;
}

BlockReader::BlockReader(File file) : BlockReader(std::move(file), uncheckedChunk, {}) {}

void BlockReader::check(uint64_t chunk, const std::byte *data, uint64_t bytes) {
  if (chunk >= hashes.size() || hashes[chunk] == 0)
    return;
  if (std::max<uint64_t>(getHash(data, bytes), 1) != hashes[chunk])
    throwBadInput("'{}' is not what it was when the executable was compiled: its bytes [{}, {}) "
                  "do not match their hash; compile again",
                  file.getPath(), chunk * chunkBytes, chunk * chunkBytes + bytes);
}

void BlockReader::load(uint64_t offset, uint64_t wantedEnd) {
  uint64_t begin = offset / chunkBytes * chunkBytes;
  uint64_t most = begin + std::max(windowBytes, 2 * chunkBytes);
  uint64_t end = std::max(wantedEnd, begin + chunkBytes + 1); // elements may straddle chunks
  end = (std::min(end, most) + chunkBytes - 1) / chunkBytes * chunkBytes;
  end = std::min(end, fileSize);
  window.resize(end - begin);
  windowBegin = windowEnd = begin;
  file.readAt(begin, window.data(), end - begin);
  for (uint64_t at = begin; at < end; at += chunkBytes)
    check(at / chunkBytes, &window[at - begin], std::min(chunkBytes, end - at));
  windowEnd = end;
}

void BlockReader::readRow(int64_t offset, const StridedBlock &block, uint64_t wanted,
                          std::byte *to) {
  int64_t size = block.elementSize;
  int64_t count = block.shape.empty() ? 1 : block.shape.back();
  int64_t step = block.shape.empty() ? size : block.fileStrides.back() * size;
  int64_t memoryStep = block.shape.empty() ? size : block.memoryStrides.back() * size;
  while (count > 0) {
    uint64_t at = static_cast<uint64_t>(offset);
    if (at < windowBegin || at + size > windowEnd)
      load(at, at + wanted);
    int64_t fit = step == 0 ? count : 1;
    if (step > 0)
      fit = std::min<int64_t>(count, static_cast<int64_t>(windowEnd - at - size) / step + 1);
    copyElements(size, &window[at - windowBegin], step, to, memoryStep, fit);
    offset += fit * step;
    to += fit * memoryStep;
    count -= fit;
  }
}

void BlockReader::readDirectly(int64_t offset, uint64_t bytes, std::byte *to) {
  StridedBlock edge{0, 1, {0}, {1}, {1}};
  uint64_t at = static_cast<uint64_t>(offset), end = at + bytes;
  uint64_t first = (at + chunkBytes - 1) / chunkBytes * chunkBytes; // first whole chunk
  uint64_t last = std::max(first, end == fileSize ? end : end / chunkBytes * chunkBytes);
  auto readEdge = [&](uint64_t from, uint64_t upTo) {
    edge.shape[0] = static_cast<int64_t>(upTo - from);
    if (upTo > from)
      readRow(static_cast<int64_t>(from), edge, upTo - from, to + (from - at));
  };
  readEdge(at, std::min(first, end));
  for (uint64_t chunk = first; chunk < std::min(last, end); chunk += chunkBytes) {
    uint64_t length = std::min(chunkBytes, last - chunk);
    file.readAt(chunk, to + (chunk - at), length);
    check(chunk / chunkBytes, to + (chunk - at), length);
  }
  if (last < end && last >= first)
    readEdge(std::max(last, at), end);
}

void BlockReader::read(const StridedBlock &whole, std::byte *memory) {
  if (isEmpty(whole))
    return;
  StridedBlock block = simplify(whole);
  int64_t low = block.begin, high = block.begin + block.elementSize;
  for (size_t dim = 0; dim < block.shape.size(); ++dim) {
    int64_t reach = (block.shape[dim] - 1) * block.fileStrides[dim] * block.elementSize;
    (reach < 0 ? low : high) += reach;
  }
  if (low < 0 || static_cast<uint64_t>(high) > fileSize)
    throwBadInput("'{}' has {} bytes, the bytes [{}, {}) are wanted", file.getPath(), fileSize, low,
                  high);
  uint64_t wanted = getDenseBytes(block);
  bool rowsAreWhole =
      block.shape.empty() || (block.fileStrides.back() == 1 && block.memoryStrides.back() == 1);
  uint64_t rowBytes = block.elementSize * (block.shape.empty() ? 1 : block.shape.back());
  bool direct = rowsAreWhole && rowBytes > 4 * chunkBytes;
  forEachRow(block, [&](int64_t fileOffset, int64_t memoryOffset) {
    if (direct)
      readDirectly(block.begin + fileOffset, rowBytes, memory + memoryOffset);
    else
      readRow(block.begin + fileOffset, block, wanted, memory + memoryOffset);
  });
}

void copyBlock(const StridedBlock &given, const std::byte *file, std::byte *memory) {
  for (int64_t extent : given.shape)
    if (extent == 0)
      return;
  StridedBlock block = simplify(given);
  bool isScalar = block.shape.empty();
  int64_t size = block.elementSize, count = isScalar ? 1 : block.shape.back();
  int64_t fromStep = isScalar ? size : block.fileStrides.back() * size,
          toStep = isScalar ? size : block.memoryStrides.back() * size;
  forEachRow(block, [&](int64_t from, int64_t to) {
    copyElements(size, file + block.begin + from, fromStep, memory + to, toStep, count);
  });
}

void writeBlock(File &file, const StridedBlock &whole, const std::byte *memory) {
  if (isEmpty(whole))
    return;
  StridedBlock block = simplify(whole);
  int64_t size = block.elementSize;
  int64_t count = block.shape.empty() ? 1 : block.shape.back();
  int64_t step = block.shape.empty() ? 1 : block.fileStrides.back();
  int64_t memoryStep = block.shape.empty() ? 1 : block.memoryStrides.back();
  std::vector<std::byte> row;
  if (step == 1 && memoryStep != 1)
    row.resize(count * size);
  forEachRow(block, [&](int64_t fileOffset, int64_t memoryOffset) {
    const std::byte *from = memory + memoryOffset;
    int64_t at = block.begin + fileOffset;
    if (step == 1 && memoryStep != 1) {
      copyElements(size, from, memoryStep * size, row.data(), size, count);
      from = row.data();
    }
    if (step == 1)
      return file.writeAt(at, from, count * size);
    for (int64_t i = 0; i < count; ++i)
      file.writeAt(at + i * step * size, from + i * memoryStep * size, size);
  });
}

} // namespace weft::runtime
