#include "compiler/Lowering/Arena.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>

using namespace llvm;
using namespace weft;

namespace {
/// The placed buffers, found by time: those that start within an interval (ordered by start), and
/// those alive at its start (a segment tree over instructions; each buffer hangs on O(log n)
/// nodes).
class PlacedBuffers {
public:
  PlacedBuffers(ArrayRef<BufferLifetime> buffers, int64_t end)
      : buffers(buffers), leaves(PowerOf2Ceil(end + 1)), alive(2 * leaves) {}

  void insert(unsigned buffer) {
    const BufferLifetime &life = buffers[buffer];
    starts.emplace(life.first, buffer);
    int64_t low = life.first + leaves, high = life.last + leaves + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low & 1)
        alive[low++].push_back(buffer);
      if (high & 1)
        alive[--high].push_back(buffer);
    }
  }

  /// Calls `visit` once for each placed buffer whose lifetime meets that of `buffer`.
  template <typename Visit> void forEachNeighbour(unsigned buffer, Visit visit) const {
    const BufferLifetime &life = buffers[buffer];
    for (int64_t node = life.first + leaves; node > 0; node /= 2)
      for (unsigned other : alive[node])
        if (buffers[other].first < life.first)
          visit(other);
    auto end = starts.upper_bound(life.last);
    for (auto it = starts.lower_bound(life.first); it != end; ++it)
      visit(it->second);
  }

private:
  ArrayRef<BufferLifetime> buffers;
  int64_t leaves;
  std::vector<SmallVector<unsigned, 0>> alive;
  std::multimap<int64_t, unsigned> starts;
};

/// The placed buffers, in order of their offsets. Where most are alive at once, as what a backward
/// pass keeps is, looking at all of them in this order is cheaper than finding and sorting those
/// that matter.
class BuffersByOffset {
public:
  struct Entry {
    int64_t low, high; ///< offsets
    int64_t first, last;
  };

  void insert(const Entry &entry) {
    auto chunk = llvm::partition_point(
        chunks, [&](const std::vector<Entry> &known) { return known.back().low <= entry.low; });
    if (chunk == chunks.end() && !chunks.empty())
      --chunk;
    if (chunk == chunks.end())
      chunk = chunks.emplace(chunk);
    auto place =
        llvm::partition_point(*chunk, [&](const Entry &known) { return known.low <= entry.low; });
    chunk->insert(place, entry);
    ++count;
    if (chunk->size() < largestChunk)
      return;
    std::vector<Entry> upper(chunk->begin() + largestChunk / 2, chunk->end());
    chunk->resize(largestChunk / 2);
    chunks.insert(chunk + 1, std::move(upper));
  }

  size_t size() const { return count; }

  /// Calls `visit` for each that is alive in an interval.
  template <typename Visit> void forEachNeighbour(const BufferLifetime &life, Visit visit) const {
    for (const std::vector<Entry> &chunk : chunks)
      for (const Entry &entry : chunk)
        if (entry.first <= life.last && entry.last >= life.first)
          visit(entry.low, entry.high);
  }

private:
  static constexpr size_t largestChunk = 512;
  std::vector<std::vector<Entry>> chunks;
  size_t count = 0;
};

/// Counts buffers whose lifetimes meet.
class Meetings {
public:
  explicit Meetings(ArrayRef<BufferLifetime> buffers) {
    for (const BufferLifetime &life : buffers) {
      begins.push_back(life.first);
      ends.push_back(life.last);
    }
    llvm::sort(begins);
    llvm::sort(ends);
  }
  size_t count(const BufferLifetime &life) const {
    return (llvm::upper_bound(begins, life.last) - begins.begin()) -
           (llvm::lower_bound(ends, life.first) - ends.begin());
  }

private:
  std::vector<int64_t> begins, ends;
};

/// The smallest gap of at least so many bytes between ranges that come in order of their offsets.
class BestGap {
public:
  explicit BestGap(int64_t bytes) : bytes(bytes) {}

  void pass(int64_t low, int64_t high) {
    int64_t gap = low - end;
    if (gap >= bytes && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, high);
  }
  int64_t getOffset() const { return best < 0 ? end : best; }

private:
  int64_t bytes, best = -1, bestGap = 0, end = 0;
};

class Placer {
public:
  Placer(ArrayRef<BufferLifetime> buffers, int64_t alignment)
      : buffers(buffers), alignment(alignment), meetings(buffers),
        byTime(buffers, getEnd(buffers)) {
    placement.offsets.assign(buffers.size(), 0);
  }

  void place(unsigned buffer);

  ArenaPlacement placement;

private:
  static int64_t getEnd(ArrayRef<BufferLifetime> buffers) {
    int64_t end = 0;
    for (const BufferLifetime &buffer : buffers)
      end = std::max(end, buffer.last);
    return end + 1;
  }
  int64_t getBytes(unsigned buffer) const {
    return static_cast<int64_t>(alignTo(buffers[buffer].bytes, alignment));
  }
  int64_t findOffset(unsigned buffer) const;

  ArrayRef<BufferLifetime> buffers;
  int64_t alignment;
  Meetings meetings;
  PlacedBuffers byTime;
  BuffersByOffset byOffset;
};
} // namespace

int64_t Placer::findOffset(unsigned buffer) const {
  const BufferLifetime &life = buffers[buffer];
  BestGap gap(getBytes(buffer));
  // Finding one by time and sorting it costs as much as looking at some tens by offset.
  constexpr size_t findingCost = 30;
  size_t neighbours = meetings.count(life) * byOffset.size() / buffers.size();
  if (neighbours * findingCost > byOffset.size()) {
    byOffset.forEachNeighbour(life, [&](int64_t low, int64_t high) { gap.pass(low, high); });
    return gap.getOffset();
  }
  SmallVector<std::pair<int64_t, int64_t>> taken;
  byTime.forEachNeighbour(buffer, [&](unsigned other) {
    int64_t offset = placement.offsets[other];
    taken.emplace_back(offset, offset + getBytes(other));
  });
  llvm::sort(taken);
  for (auto [low, high] : taken)
    gap.pass(low, high);
  return gap.getOffset();
}

void Placer::place(unsigned buffer) {
  int64_t bytes = getBytes(buffer);
  if (bytes == 0)
    return;
  int64_t offset = findOffset(buffer);
  placement.offsets[buffer] = offset;
  placement.bytes = std::max(placement.bytes, offset + bytes);
  byTime.insert(buffer);
  byOffset.insert({offset, offset + bytes, buffers[buffer].first, buffers[buffer].last});
}

ArenaPlacement weft::placeBuffers(ArrayRef<BufferLifetime> buffers, int64_t alignment) {
  std::vector<unsigned> order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    auto rank = [&](unsigned i) {
      return std::tuple(-buffers[i].bytes, buffers[i].first - buffers[i].last, i);
    };
    return rank(a) < rank(b);
  });
  Placer placer(buffers, alignment);
  for (unsigned buffer : order)
    placer.place(buffer);
  return std::move(placer.placement);
}

int64_t weft::peakLiveBytes(ArrayRef<BufferLifetime> buffers, int64_t alignment) {
  std::map<int64_t, int64_t> changes;
  for (const BufferLifetime &buffer : buffers) {
    int64_t bytes = alignTo(buffer.bytes, alignment);
    changes[buffer.first] += bytes;
    changes[buffer.last + 1] -= bytes;
  }
  int64_t live = 0, peak = 0;
  for (auto [time, change] : changes)
    peak = std::max(peak, live += change);
  return peak;
}
