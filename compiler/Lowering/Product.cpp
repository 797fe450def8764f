#include "compiler/Lowering/Product.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;
using exec::ArenaKind;

namespace {
enum Operand : unsigned { A, B, C };

/// Loops of one product by role; strides are of a, b, c (0 where the operand lacks the loop).
struct Loops {
  SmallVector<LoopDim> batch, m, n, k;
};

/// A product whose k is one loop: what exec.gemm takes.
struct Matrices {
  SmallVector<LoopDim> batch;
  LoopDim m, n, k;
};
} // namespace

/// Sorts the dimensions of both operands and the result into roles.
static Loops collectLoops(const View &lhs, const View &rhs, const View &result,
                          const ProductDims &dims) {
  Loops loops;
  size_t out = 0;
  for (auto [l, r] : llvm::zip_equal(dims.lhsBatch, dims.rhsBatch)) {
    loops.batch.push_back({lhs.shape[l], {lhs.strides[l], rhs.strides[r], result.strides[out]}});
    ++out;
  }
  for (size_t i = 0; i < lhs.shape.size(); ++i)
    if (!llvm::is_contained(dims.lhsBatch, i) && !llvm::is_contained(dims.lhsContract, i))
      loops.m.push_back({lhs.shape[i], {lhs.strides[i], 0, result.strides[out++]}});
  for (size_t i = 0; i < rhs.shape.size(); ++i)
    if (!llvm::is_contained(dims.rhsBatch, i) && !llvm::is_contained(dims.rhsContract, i))
      loops.n.push_back({rhs.shape[i], {0, rhs.strides[i], result.strides[out++]}});
  for (auto [l, r] : llvm::zip_equal(dims.lhsContract, dims.rhsContract))
    loops.k.push_back({lhs.shape[l], {lhs.strides[l], rhs.strides[r], 0}});
  loops.batch = mergeLoops(loops.batch, C);
  loops.m = mergeLoops(loops.m, C);
  loops.n = mergeLoops(loops.n, C);
  loops.k = mergeLoops(loops.k, A);
  return loops;
}

/// Takes the largest loop out; one of extent 1 and unit strides where there is none. Ties go to the
/// innermost, where strides are smallest.
static LoopDim takeLargest(SmallVectorImpl<LoopDim> &loops) {
  if (loops.empty())
    return LoopDim{1, {1, 1, 1}};
  size_t best = 0;
  for (size_t i = 1; i < loops.size(); ++i)
    if (loops[i].extent >= loops[best].extent)
      best = i;
  LoopDim loop = loops[best];
  loops.erase(loops.begin() + best);
  return loop;
}

static Matrices chooseMatrices(Loops loops) {
  Matrices matrices;
  matrices.k = takeLargest(loops.k);
  matrices.m = takeLargest(loops.m);
  matrices.n = takeLargest(loops.n);
  matrices.batch = loops.batch;
  llvm::append_range(matrices.batch, loops.m);
  llvm::append_range(matrices.batch, loops.n);
  matrices.batch = mergeLoops(matrices.batch, C);
  return matrices;
}

/// The view as a [batch…, rows, columns] operand.
static View makeMatrix(const View &view, Operand operand, ArrayRef<LoopDim> batch,
                       const LoopDim &rows, const LoopDim &columns) {
  View matrix{view.buffer, view.offset, view.dtype, {}, {}};
  auto append = [&](const LoopDim &dim) {
    matrix.shape.push_back(dim.extent);
    matrix.strides.push_back(dim.strides[operand]);
  };
  llvm::for_each(batch, append);
  append(rows);
  append(columns);
  return matrix;
}

/// Whether a library can walk the matrix: rows or columns lie side by side.
static bool hasUnitStride(const LoopDim &rows, const LoopDim &columns, Operand operand) {
  return rows.extent == 1 || columns.extent == 1 || rows.strides[operand] == 1 ||
         columns.strides[operand] == 1;
}

static std::string describe(const Matrices &matrices, Type dtype) {
  int64_t batch = 1;
  for (const LoopDim &dim : matrices.batch)
    batch *= dim.extent;
  std::string text = llvm::formatv("gemm b={0} m={1} n={2} k={3} ", batch, matrices.m.extent,
                                   matrices.n.extent, matrices.k.extent);
  llvm::raw_string_ostream(text) << dtype;
  return text;
}

static void addGemm(SegmentBuilder &segment, Location loc, const View &lhs, const View &rhs,
                    const View &result, Matrices matrices) {
  View a = makeMatrix(lhs, A, matrices.batch, matrices.m, matrices.k);
  View b = makeMatrix(rhs, B, matrices.batch, matrices.k, matrices.n);
  View c = makeMatrix(result, C, matrices.batch, matrices.m, matrices.n);
  if (matrices.n.extent != 1 && matrices.n.strides[C] != 1 && matrices.m.strides[C] == 1) {
    // Columns of c lie side by side: cᵀ = bᵀ·aᵀ.
    View t = makeMatrix(lhs, A, matrices.batch, matrices.k, matrices.m);
    a = makeMatrix(rhs, B, matrices.batch, matrices.n, matrices.k);
    b = t;
    c = makeMatrix(result, C, matrices.batch, matrices.n, matrices.m);
    std::swap(matrices.m, matrices.n);
  }
  int64_t flops = 2 * c.getNumElements() * matrices.k.extent;
  exec::GemmOp::create(segment.getBuilder(), loc, segment.getOperand(a), segment.getOperand(b),
                       segment.getOperand(c),
                       segment.getPrice(loc, {a, b}, {c}, flops, describe(matrices, lhs.dtype)));
}

/// The view's elements row-major, with its dimensions in this order, seen under the original ones.
static View layOut(const View &view, ArrayRef<int64_t> order) {
  Extents shape;
  View made = view;
  for (int64_t dim : order)
    shape.push_back(view.shape[dim]);
  for (auto [dim, stride] : llvm::zip_equal(order, getRowMajorStrides(shape)))
    made.strides[dim] = stride;
  return made;
}

static void sortByStride(const View &view, SmallVectorImpl<int64_t> &dims) {
  llvm::sort(dims, [&](int64_t a, int64_t b) {
    return std::pair(-view.strides[a], a) < std::pair(-view.strides[b], b);
  });
}

/// Dimensions but those of extent 1, as they lie in memory, outermost first.
static SmallVector<int64_t> listByStride(const View &view, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> found;
  llvm::copy_if(dims, std::back_inserter(found), [&](int64_t dim) { return view.shape[dim] != 1; });
  sortByStride(view, found);
  return found;
}

/// Numbers of contracted dimensions as they lie in memory, outermost first.
static SmallVector<int64_t> listPairs(const View &view, ArrayRef<int64_t> contract) {
  SmallVector<int64_t> pairs = llvm::to_vector(llvm::seq<int64_t>(0, contract.size()));
  llvm::sort(pairs, [&](int64_t a, int64_t b) {
    return std::pair(-view.strides[contract[a]], a) < std::pair(-view.strides[contract[b]], b);
  });
  return pairs;
}

static SmallVector<int64_t> pick(ArrayRef<int64_t> contract, ArrayRef<int64_t> pairs) {
  return llvm::map_to_vector(pairs, [&](int64_t pair) { return contract[pair]; });
}

/// All dimensions of a view, those contracted last.
static SmallVector<int64_t> putLast(const View &view, ArrayRef<int64_t> contract) {
  SmallVector<int64_t> order;
  for (size_t i = 0; i < view.shape.size(); ++i)
    if (!llvm::is_contained(contract, i))
      order.push_back(i);
  llvm::append_range(order, contract);
  return order;
}

/// All dimensions of a view, those contracted behind those of the batch, and what is left as it
/// lies: rows of elements that lie side by side move as they are.
static SmallVector<int64_t> putBeforeRest(const View &view, ArrayRef<int64_t> batch,
                                          ArrayRef<int64_t> contract) {
  SmallVector<int64_t> order(batch), rest;
  llvm::append_range(order, contract);
  for (size_t i = 0; i < view.shape.size(); ++i)
    if (!llvm::is_contained(order, i))
      rest.push_back(i);
  sortByStride(view, rest);
  llvm::append_range(order, rest);
  return order;
}

/// Memory for a view's elements, laid out so.
static View allocateAs(SegmentBuilder &segment, const View &view, ArrayRef<int64_t> order) {
  return segment.allocate(ArenaKind::Activations, view.dtype, view.shape,
                          layOut(view, order).strides);
}

static View pack(SegmentBuilder &segment, Location loc, const View &view, ArrayRef<int64_t> order) {
  View packed = allocateAs(segment, view, order);
  segment.copy(loc, view, packed);
  return packed;
}

/// Whether these dimensions of a view are walked as one loop, in whatever order.
static bool isOneLoop(const View &view, ArrayRef<int64_t> some) {
  SmallVector<LoopDim> loops;
  for (int64_t dim : some)
    loops.push_back({view.shape[dim], {view.strides[dim]}});
  return mergeLoops(loops, 0).size() <= 1;
}

//===----------------------------------------------------------------------===//
// What is contracted as one loop
//===----------------------------------------------------------------------===//

namespace {
/// Lays operands of a product out so that what they contract is one loop.
class LoopJoiner {
public:
  LoopJoiner(View &lhs, View &rhs, const View &result, const ProductDims &dims)
      : operands{&lhs, &rhs}, result(result), dims(dims) {}

  void run(SegmentBuilder &segment, Location loc);

private:
  ArrayRef<int64_t> getContract(Operand operand) const {
    return operand == A ? dims.lhsContract : dims.rhsContract;
  }
  ArrayRef<int64_t> getBatch(Operand operand) const {
    return operand == A ? dims.lhsBatch : dims.rhsBatch;
  }
  bool walks(Operand operand, const View &laidOut) const;
  void pack(SegmentBuilder &segment, Location loc, Operand operand, ArrayRef<int64_t> pairs);

  View *operands[2];
  const View &result;
  const ProductDims &dims;
};
} // namespace

/// Whether a library can walk both, were the operand laid out so.
bool LoopJoiner::walks(Operand operand, const View &laidOut) const {
  Loops loops = collectLoops(operand == A ? laidOut : *operands[A],
                             operand == B ? laidOut : *operands[B], result, dims);
  if (loops.k.size() > 1)
    return false;
  Matrices matrices = chooseMatrices(std::move(loops));
  return operand == A ? hasUnitStride(matrices.m, matrices.k, A)
                      : hasUnitStride(matrices.k, matrices.n, B);
}

/// Packs an operand with pairs of contracted dimensions in this order.
void LoopJoiner::pack(SegmentBuilder &segment, Location loc, Operand operand,
                      ArrayRef<int64_t> pairs) {
  View &view = *operands[operand];
  SmallVector<int64_t> contract = pick(getContract(operand), pairs);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, view.shape.size()));
  SmallVector<int64_t> order = putLast(view, contract);
  SmallVector<int64_t> inner = listByStride(view, all);
  bool keepsRows = !inner.empty() && !llvm::is_contained(contract, inner.back());
  if (SmallVector<int64_t> other = putBeforeRest(view, getBatch(operand), contract);
      keepsRows && walks(operand, layOut(view, other)))
    order = std::move(other);
  view = ::pack(segment, loc, view, order);
}

/// Of two operands that walk it in one loop each, but not alike, the smaller one moves.
void LoopJoiner::run(SegmentBuilder &segment, Location loc) {
  bool isOne[] = {isOneLoop(*operands[A], getContract(A)), isOneLoop(*operands[B], getContract(B))};
  Operand kept = isOne[A] != isOne[B] ? (isOne[A] ? A : B)
                 : operands[A]->getNumElements() >= operands[B]->getNumElements() ? A
                                                                                  : B;
  SmallVector<int64_t> pairs = listPairs(*operands[kept], getContract(kept));
  if (!isOne[kept])
    pack(segment, loc, kept, pairs);
  pack(segment, loc, kept == A ? B : A, pairs);
}

//===----------------------------------------------------------------------===//
// Rows as one loop
//===----------------------------------------------------------------------===//

/// So many rows at a time, and reading the other matrix for them takes no longer than multiplying,
/// on any device; nor does reading again what caches hold, of so many bytes. Panels have no fewer
/// columns (Target::getPanelColumns).
static constexpr int64_t enoughRows = 256, cachedBytes = 16 << 20;

namespace {
/// Lays an operand and the result out so that the operand's rows are one loop, where a loop has few
/// of them and the other operand, which each reads from memory again, is more than what is moved
/// for that.
class RowJoiner {
public:
  /// Rows are what the operand and the result have alone: of A those of m, of B those of n.
  RowJoiner(Operand operand, View &own, const View &other, View &result, const ProductDims &dims);

  /// Whether each of several loops over the rows would read more than is moved.
  bool isWorthwhile(ArrayRef<LoopDim> loops) const;
  void run(SegmentBuilder &segment, Location loc);

private:
  bool movesOwn() const { return isOneInResult || !isOne; }

  Operand operand;
  View &own;
  const View &other;
  View &result;
  SmallVector<int64_t> batch, contract;          ///< of the operand, as the other one walks them
  SmallVector<std::pair<int64_t, int64_t>> rows; ///< dimension of the operand, of the result
  bool isOne, isOneInResult;
};
} // namespace

RowJoiner::RowJoiner(Operand operand, View &own, const View &other, View &result,
                     const ProductDims &dims)
    : operand(operand), own(own), other(other), result(result),
      batch(operand == A ? dims.lhsBatch : dims.rhsBatch) {
  ArrayRef<int64_t> ownContract = operand == A ? dims.lhsContract : dims.rhsContract;
  contract =
      pick(ownContract, listPairs(other, operand == A ? dims.rhsContract : dims.lhsContract));
  size_t number = own.shape.size() - batch.size() - contract.size();
  size_t out = operand == A ? batch.size() : result.shape.size() - number;
  SmallVector<int64_t> inOwn, inResult;
  for (size_t dim = 0; dim < own.shape.size(); ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim)) {
      rows.push_back({dim, out++});
      inOwn.push_back(rows.back().first);
      inResult.push_back(rows.back().second);
    }
  isOne = isOneLoop(own, inOwn);
  isOneInResult = isOneLoop(result, inResult);
  auto key = [&](const std::pair<int64_t, int64_t> &row) {
    int64_t stride = isOneInResult ? result.strides[row.second]
                     : isOne       ? own.strides[row.first]
                                   : 0;
    return std::pair(-stride, row);
  };
  llvm::sort(rows, [&](const auto &a, const auto &b) { return key(a) < key(b); });
}

bool RowJoiner::isWorthwhile(ArrayRef<LoopDim> loops) const {
  int64_t all = 1, most = 1;
  for (const LoopDim &loop : loops) {
    all *= loop.extent;
    most = std::max(most, loop.extent);
  }
  if (loops.size() < 2 || most >= enoughRows || other.getStoredBytes() <= cachedBytes)
    return false;
  int64_t moved =
      2 * ((movesOwn() ? own.getNumElements() : 0) + (isOneInResult ? 0 : result.getNumElements()));
  return (all / most - 1) * other.getNumElements() > moved;
}

void RowJoiner::run(SegmentBuilder &segment, Location loc) {
  if (!isOneInResult) {
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, result.shape.size()));
    int64_t *next = operand == A ? &order[batch.size()] : order.end() - rows.size();
    for (auto [ownDim, resultDim] : rows)
      *next++ = resultDim;
    result = allocateAs(segment, result, order);
  }
  if (!movesOwn())
    return;
  SmallVector<int64_t> order(batch);
  for (auto [ownDim, resultDim] : rows)
    order.push_back(ownDim);
  llvm::append_range(order, contract);
  own = pack(segment, loc, own, order);
}

/// Joins the rows of both operands where that is worth while. Where the result is to be made, from
/// which it then is copied.
static View joinRows(SegmentBuilder &segment, Location loc, View &lhs, View &rhs,
                     const View &result, const ProductDims &dims) {
  View target = result;
  for (Operand operand : {A, B}) {
    View &own = operand == A ? lhs : rhs;
    const View &other = operand == A ? rhs : lhs;
    Loops loops = collectLoops(lhs, rhs, target, dims);
    RowJoiner joiner(operand, own, other, target, dims);
    if (joiner.isWorthwhile(operand == A ? loops.m : loops.n))
      joiner.run(segment, loc);
  }
  return target;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

void weft::addProduct(SegmentBuilder &segment, Location loc, View lhs, View rhs, View result,
                      const ProductDims &dims) {
  if (result.getNumElements() == 0)
    return;
  if (lhs.getNumElements() == 0) { // an empty sum
    segment.fill(loc, result, segment.getBuilder().getZeroAttr(result.dtype));
    return;
  }
  if (collectLoops(lhs, rhs, result, dims).k.size() > 1)
    LoopJoiner(lhs, rhs, result, dims).run(segment, loc);
  View target = joinRows(segment, loc, lhs, rhs, result, dims);
  Matrices matrices = chooseMatrices(collectLoops(lhs, rhs, target, dims));
  bool walksA = hasUnitStride(matrices.m, matrices.k, A);
  bool walksB = hasUnitStride(matrices.k, matrices.n, B);
  bool walksC = hasUnitStride(matrices.m, matrices.n, C);
  SmallVector<int64_t> pairs = listPairs(rhs, dims.rhsContract); // both walk them in this order
  if (!walksA)
    lhs = pack(segment, loc, lhs, putLast(lhs, pick(dims.lhsContract, pairs)));
  if (!walksB)
    rhs = pack(segment, loc, rhs, putLast(rhs, pick(dims.rhsContract, pairs)));
  if (!walksC)
    target = segment.allocate(ArenaKind::Activations, result.dtype, result.shape);
  addGemm(segment, loc, lhs, rhs, target, chooseMatrices(collectLoops(lhs, rhs, target, dims)));
  if (target.buffer != result.buffer)
    segment.copy(loc, target, result);
}
