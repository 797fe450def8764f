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
} // namespace

/// The offset of the smallest gap of at least `bytes` between ranges [offset, end), sorted here.
static int64_t findBestGap(SmallVectorImpl<std::pair<int64_t, int64_t>> &taken, int64_t bytes) {
  llvm::sort(taken);
  int64_t best = -1, bestGap = 0, end = 0;
  for (auto [low, high] : taken) {
    int64_t gap = low - end;
    if (gap >= bytes && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, high);
  }
  return best < 0 ? end : best;
}

ArenaPlacement weft::placeBuffers(ArrayRef<BufferLifetime> buffers, int64_t alignment) {
  ArenaPlacement placement;
  placement.offsets.assign(buffers.size(), 0);
  std::vector<unsigned> order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    auto rank = [&](unsigned i) {
      return std::tuple(-buffers[i].bytes, buffers[i].first - buffers[i].last, i);
    };
    return rank(a) < rank(b);
  });
  int64_t end = 0;
  for (const BufferLifetime &buffer : buffers)
    end = std::max(end, buffer.last);
  PlacedBuffers placed(buffers, end + 1);
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (unsigned buffer : order) {
    int64_t bytes = alignTo(buffers[buffer].bytes, alignment);
    if (bytes == 0)
      continue;
    taken.clear();
    placed.forEachNeighbour(buffer, [&](unsigned other) {
      int64_t offset = placement.offsets[other];
      taken.emplace_back(offset, offset + alignTo(buffers[other].bytes, alignment));
    });
    int64_t offset = findBestGap(taken, bytes);
    placement.offsets[buffer] = offset;
    placement.bytes = std::max(placement.bytes, offset + bytes);
    placed.insert(buffer);
  }
  return placement;
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
