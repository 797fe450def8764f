#include "compiler/Kernel/LoopDomain.h"

#include "compiler/Kernel/LoopPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace weft::kernel;
using llvm::ArrayRef;
using llvm::SmallVector;
using weft::KernelMachine;

/// Lanes of a row where reductions join other dimensions than the last: some cache lines, few
/// enough to stay in L1.
static constexpr int64_t reductionLanes = 128;
/// Elements of a row of an elementwise kernel: enough to amortise the row's own work, few enough to
/// share out.
static constexpr int64_t leastRow = 512, longestRow = 8192, rowLanes = 4096;
/// Lanes of a scatter: enough to amortise reading the indices again.
static constexpr int64_t scatterLanes = 1024;

static int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

size_t Domain::lastKept() const {
  for (size_t dim = shape.size(); dim-- > 0;)
    if (!isReduced(dim))
      return dim;
  return 0;
}

int64_t Domain::rowCount() const { return product(rows) * std::max<int64_t>(laneTotal, 1); }
int64_t Domain::innerCount() const { return product(inner); }

/// Rows of few elements take a thread each; of long ones, as many threads as keep a GPU busy. Lanes
/// are shared by the threads of a block.
unsigned Domain::chooseTeam() const {
  constexpr int64_t manyRows = 1024, longRow = 4096;
  constexpr int64_t longSort = 512, fewSorted = 8; // results that are inserted one by one
  if (machine == KernelMachine::Cores)
    return 0;
  int64_t length = innerCount();
  bool sortsTogether = sortedLength > longSort && length > fewSorted;
  if (laneWidth > 1 || (isScan && length >= blockThreads) || sortsTogether)
    return blockThreads;
  if (!hasReduction || isColumns() || length < warpThreads)
    return 1;
  bool isBusy = rowCount() >= manyRows;
  return length > longRow || (!isBusy && length >= blockThreads) ? blockThreads : warpThreads;
}

/// Sums over long columns: neighbouring threads read neighbouring columns, and several each a part
/// of one, unless there are columns enough for all threads of a GPU.
void Domain::widenLanes() {
  constexpr int64_t manyColumns = 131072;
  if (innerCount() >= warpThreads && rowCount() < manyColumns)
    laneWidth = std::min<int64_t>(warpThreads, llvm::PowerOf2Ceil(laneTotal));
}

/// The reduction that reads most; null if there is none.
static const Node *findPrimary(const Graph &graph) {
  const Node *primary = nullptr;
  for (const Node &node : graph.nodes)
    if (node.is<Reduce>() &&
        (!primary || graph.operand(node, 0).size() > graph.operand(*primary, 0).size()))
      primary = &node;
  return primary;
}

static bool areLast(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  bool kept = false;
  for (size_t dim = shape.size(); dim-- > 0;) {
    bool reduced = llvm::is_contained(dims, static_cast<int64_t>(dim));
    if (reduced && kept && shape[dim] != 1)
      return false;
    kept |= !reduced && shape[dim] != 1;
  }
  return true;
}

namespace {
/// Factors a number of elements: into extents whose products from the right are the cuts.
class Factors {
public:
  explicit Factors(int64_t total) : total(total) {}

  /// Adds a product if each divides the next then.
  void cut(int64_t at) {
    if (at <= 1 || at >= total)
      return;
    auto above = cuts.lower_bound(at);
    int64_t next = above == cuts.end() ? total : *above;
    int64_t before = above == cuts.begin() ? 1 : *std::prev(above);
    if (at % before == 0 && next % at == 0)
      cuts.insert(at);
  }

  SmallVector<int64_t, 4> getExtents() const {
    SmallVector<int64_t, 4> extents;
    int64_t done = 1;
    for (int64_t cut : cuts) {
      extents.push_back(cut / done);
      done = cut;
    }
    if (done != total)
      extents.push_back(total / done);
    std::reverse(extents.begin(), extents.end());
    return extents;
  }

private:
  int64_t total;
  std::set<int64_t> cuts;
};
} // namespace

/// Factors `rowCount` rows of `innerCount` elements as finely as the shapes of the graph ask for:
/// those of the results, in whose order elements are computed, before others, which may be of
/// transposed operands.
static void factorRows(const Graph &graph, int64_t rowCount, int64_t innerCount, Domain &domain) {
  Factors rows(rowCount), inner(innerCount);
  auto cut = [&](const Node &node) {
    int64_t size = node.size();
    if (size != rowCount * innerCount && size != rowCount)
      return;
    int64_t scale = size == rowCount * innerCount ? innerCount : 1, done = 1;
    for (int64_t extent : llvm::reverse(node.shape)) {
      done *= extent;
      if (done < scale)
        inner.cut(done);
      else if (done % scale == 0)
        rows.cut(done / scale);
    }
  };
  for (unsigned output : graph.outputs)
    cut(graph[output]);
  for (const Node &node : graph.nodes)
    cut(node);
  domain.rows = rows.getExtents();
  domain.inner = inner.getExtents();
}

/// A row is a block of lanes of the last kept dimension of `shape`.
static void setLanes(Domain &domain, ArrayRef<int64_t> shape, ArrayRef<int64_t> reduced,
                     int64_t width) {
  if (domain.machine == KernelMachine::Gpu)
    width = 1;
  domain.shape.assign(shape.begin(), shape.end());
  domain.reduced.assign(reduced.begin(), reduced.end());
  size_t last = domain.lastKept();
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (domain.isReduced(dim))
      domain.inner.push_back(extent);
    else if (dim != last)
      domain.rows.push_back(extent);
  }
  domain.laneTotal = shape.empty() ? 1 : shape[last];
  domain.laneWidth = std::min(width, domain.laneTotal);
}

/// Whether a product is best computed as sums over rows of its right operand: that runs along the
/// result's last dimension there.
static bool hasRightRows(const Graph &graph, const Node &dot) {
  const Dims &right = graph.operand(dot, 1).shape;
  const auto &[lhsBatch, rhsBatch, lhsContract, rhsContract] = dot.as<Dot>();
  bool kept = right.size() > rhsBatch.size() + rhsContract.size();
  return kept && !llvm::is_contained(rhsContract, static_cast<int64_t>(right.size()) - 1);
}

static llvm::Error checkOutputs(const Graph &graph, const Domain &domain) {
  int64_t rows = domain.rowCount(), inner = domain.innerCount();
  for (unsigned output : graph.outputs) {
    const Node &node = graph[output];
    bool full = node.size() == rows * inner &&
                (!domain.isColumns() || inner == 1 || node.shape == domain.shape);
    if (!full && node.size() != rows)
      return llvm::createStringError(
          "expected kernel results of one element count, or one element a row, got: " +
          llvm::Twine(node.size()) + " elements for " + llvm::Twine(rows) + " rows of " +
          llvm::Twine(inner));
  }
  return llvm::Error::success();
}

/// In how many parts a GPU's threads share the slices of a scatter, each of which reads all
/// indices: so that there are threads enough.
static int64_t chooseSliceParts(int64_t slices, int64_t lanes) {
  constexpr int64_t manyThreads = 65536;
  return std::clamp<int64_t>(manyThreads / std::max<int64_t>(lanes, 1), 1,
                             std::max<int64_t>(slices, 1));
}

/// Scans, scatters and sorts: rows along the axis; blocks of the scattered slices.
static void chooseOrdered(const Graph &graph, const Node &node, Domain &domain) {
  if (node.is<ScatterNd>()) {
    int64_t depth = graph.operand(node, 1).shape.back();
    setLanes(domain, product(ArrayRef(node.shape).drop_front(depth)), {}, scatterLanes);
    if (domain.machine == KernelMachine::Gpu)
      domain.rows.push_back(
          chooseSliceParts(product(ArrayRef(node.shape).take_front(depth)), domain.laneTotal));
    return;
  }
  domain.shape = node.shape;
  domain.isScan = node.is<Cumsum>();
  if (const auto *sum = node.get<Cumsum>())
    domain.reduced.push_back(sum->axis);
  else if (const auto *scatter = node.get<ScatterElements>())
    domain.reduced.push_back(scatter->axis);
  else
    domain.reduced.push_back(node.as<Sort>().axis);
  if (node.is<Sort>())
    domain.sortedLength = graph.operand(node, 0).shape[node.as<Sort>().axis];
  for (auto [dim, extent] : llvm::enumerate(node.shape))
    (domain.isReduced(dim) ? domain.inner : domain.rows).push_back(extent);
}

llvm::Expected<Domain> Domain::choose(const Graph &graph, KernelMachine machine) {
  Domain domain;
  domain.machine = machine;
  const Node &first = graph[graph.outputs.front()];
  if (first.isOrdered()) {
    chooseOrdered(graph, first, domain);
    return domain;
  }
  const Node *primary = findPrimary(graph);
  auto dot = llvm::find_if(graph.nodes, [](const Node &node) { return node.is<Dot>(); });
  if (dot != graph.nodes.end() && !primary) {
    if (hasRightRows(graph, *dot))
      setLanes(domain, first.shape, {}, reductionLanes);
    else
      factorRows(graph, first.size(), 1, domain);
    return domain;
  }
  if (primary) {
    domain.hasReduction = true;
    const Node &read = graph.operand(*primary, 0);
    const Dims &dims = primary->as<Reduce>().dims;
    int64_t rows = primary->size();
    if (areLast(read.shape, dims))
      factorRows(graph, rows, read.size() / std::max<int64_t>(rows, 1), domain);
    else
      setLanes(domain, read.shape, dims, reductionLanes);
    if (domain.isColumns() && machine == KernelMachine::Gpu)
      domain.widenLanes();
    if (llvm::Error error = checkOutputs(graph, domain)) {
      llvm::consumeError(std::move(error));
      domain = Domain();
      domain.machine = machine;
      primary = nullptr;
    }
  }
  if (!primary)
    factorRows(graph, 1, first.size(), domain);
  if (llvm::Error error = checkOutputs(graph, domain))
    return std::move(error);
  return domain;
}

/// Joins neighbours of `loops` (outermost first) that every use steps through as one.
static SmallVector<int64_t, 4> join(const LoopPlan &plan, ArrayRef<VarId> loops,
                                    const std::vector<Affine> &uses) {
  auto coefficient = [](const Affine &use, VarId loop) -> int64_t {
    for (auto [id, value] : use.terms)
      if (id == loop)
        return value;
    return 0;
  };
  SmallVector<int64_t, 4> extents;
  VarId innermost = 0;
  for (VarId loop : llvm::reverse(loops)) {
    bool joined = !extents.empty() && llvm::all_of(uses, [&](const Affine &use) {
      return coefficient(use, loop) == coefficient(use, innermost) * extents.back();
    });
    if (joined) {
      extents.back() *= plan.getExtent(loop);
    } else {
      extents.push_back(plan.getExtent(loop));
      innermost = loop;
    }
  }
  std::reverse(extents.begin(), extents.end());
  return extents;
}

void Domain::simplify(const LoopPlan &draft, const std::vector<Affine> &uses) {
  rows = join(draft, draft.rows, uses);
  inner = join(draft, draft.inner, uses);
  if (hasReduction || inner.empty())
    return;
  // All of an elementwise kernel's loops are inner so far: the outer ones become rows, on a GPU
  // all of them.
  rows.clear();
  if (machine == KernelMachine::Gpu) {
    rows.swap(inner);
    return;
  }
  while (inner.size() > 1 && product(ArrayRef(inner).drop_front()) >= leastRow) {
    rows.push_back(inner.front());
    inner.erase(inner.begin());
  }
  if (inner.size() > 1 && inner.front() * inner.back() > longestRow && inner.back() < leastRow) {
    rows.push_back(inner.front());
    inner.erase(inner.begin());
  }
  if (inner.size() == 1 && inner.front() > longestRow) {
    shape = rows;
    shape.push_back(inner.front());
    laneTotal = inner.front();
    laneWidth = rowLanes;
    inner.clear();
  }
}
