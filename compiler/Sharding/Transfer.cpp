#include "compiler/Sharding/Transfer.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Pairing
//===----------------------------------------------------------------------===//

/// Divides a digit into a major part of `size` and the rest.
static AxisRef takeMajor(AxisRef &axis, int64_t size) {
  AxisRef major{axis.axis, axis.pre, size};
  axis = {axis.axis, axis.pre * size, axis.size / size};
  return major;
}

namespace {
/// What pairs two lists of digits, from the major end on.
struct Pairing {
  SmallVector<TransferDigit> both;
  AxisList source, target; ///< left; where neither is empty, their first digits do not pair
};
} // namespace

static AxisRef takeFirst(AxisList &axes, int64_t size) {
  AxisRef major = takeMajor(axes.front(), size);
  if (axes.front().size == 1)
    axes.erase(axes.begin());
  return major;
}

static Pairing pairUp(ArrayRef<AxisRef> source, ArrayRef<AxisRef> target) {
  Pairing result{{}, AxisList(source), AxisList(target)};
  while (!result.source.empty() && !result.target.empty()) {
    int64_t a = result.source.front().size, b = result.target.front().size;
    int64_t size = std::min(a, b);
    if (a % size != 0 || b % size != 0)
      break;
    AxisRef from = takeFirst(result.source, size), to = takeFirst(result.target, size);
    result.both.push_back({size, from, to, std::nullopt});
  }
  return result;
}

/// The digits of a mesh that a sharding does not use, in the mesh's order: its copies.
static AxisList findCopies(const MeshShape &mesh, const TensorSharding &sharding) {
  AxisList copies;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
    SmallVector<AxisRef> used;
    for (const AxisList &list : sharding.dims)
      llvm::copy_if(list, std::back_inserter(used), [&](AxisRef ref) { return ref.axis == axis; });
    llvm::sort(used, [](AxisRef a, AxisRef b) { return a.pre < b.pre; });
    int64_t next = 1;
    for (AxisRef ref : used) {
      append(copies, {axis, next, ref.pre / next});
      next = ref.end();
    }
    append(copies, {axis, next, mesh.axes[axis].size / next});
  }
  return copies;
}

std::optional<SmallVector<TransferDigit>> weft::findTransferDigits(const MeshShape &sourceMesh,
                                                                   const MeshShape &targetMesh,
                                                                   const TensorSharding &source,
                                                                   const TensorSharding &target) {
  SmallVector<TransferDigit> digits;
  auto add = [&](const Pairing &pairing, std::optional<unsigned> dim) {
    for (TransferDigit digit : pairing.both) {
      digit.dim = dim;
      digits.push_back(digit);
    }
    for (AxisRef axis : pairing.source)
      digits.push_back({axis.size, axis, std::nullopt, dim});
    for (AxisRef axis : pairing.target)
      digits.push_back({axis.size, std::nullopt, axis, dim});
  };
  for (auto [dim, lists] : llvm::enumerate(llvm::zip_equal(source.dims, target.dims))) {
    Pairing pairing = pairUp(std::get<0>(lists), std::get<1>(lists));
    if (!pairing.source.empty() && !pairing.target.empty())
      return std::nullopt;
    add(pairing, dim);
  }
  add(pairUp(findCopies(sourceMesh, source), findCopies(targetMesh, target)), std::nullopt);
  return digits;
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

namespace {
class PathFinder {
public:
  PathFinder(ArrayRef<int64_t> shape, int64_t elementBytes, AxisList sourceCopies,
             AxisList targetCopies, TransferPath path)
      : shape(shape), elementBytes(elementBytes), sourceCopies(std::move(sourceCopies)),
        targetCopies(std::move(targetCopies)), path(std::move(path)) {}

  TransferPath find();

private:
  void pairCopiesWithPieces(bool ofSource);
  void pairCopies();
  void divideBlocks(bool ofSource);
  int64_t pieceOf(unsigned dim) const;
  bool gatherPays() const;

  ArrayRef<int64_t> shape;
  int64_t elementBytes;
  AxisList sourceCopies, targetCopies; ///< not paired yet
  TransferPath path;
};
} // namespace

/// The extent of a dimension of one message, 0 where the sides' blocks do not divide it.
int64_t PathFinder::pieceOf(unsigned dim) const {
  int64_t parts = std::max(blocks(path.source.dims[dim]), blocks(path.target.dims[dim]));
  return isPadded(shape[dim], parts) ? 0 : shape[dim] / parts;
}

/// Whether a target's block is worth to be received in parts and gathered.
bool PathFinder::gatherPays() const {
  return elementBytes * path.target.localElements(shape) >= minGatheredBytes;
}

/// Where one side alone splits a dimension further, lets copies of the other side take a piece
/// each: {model=2} holds all of what {data=2} splits, and each device of it serves one.
void PathFinder::pairCopiesWithPieces(bool ofSource) {
  AxisList &copies = ofSource ? sourceCopies : targetCopies;
  TensorSharding &mine = ofSource ? path.source : path.target;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    Pairing pairing = pairUp(path.source.dims[dim], path.target.dims[dim]);
    AxisList &pieces = ofSource ? pairing.target : pairing.source;
    Pairing found = ofSource ? pairUp(copies, pieces) : pairUp(pieces, copies);
    for (const TransferDigit &digit : found.both)
      append(mine.dims[dim], *(ofSource ? digit.source : digit.target));
    if (!found.both.empty())
      copies = ofSource ? found.source : found.target;
  }
}

void PathFinder::pairCopies() {
  Pairing pairing = pairUp(sourceCopies, targetCopies);
  sourceCopies = pairing.source;
  targetCopies = pairing.target;
}

/// Gives each of the copies that are left a part of the block, where some dimension divides.
void PathFinder::divideBlocks(bool ofSource) {
  TensorSharding &mine = ofSource ? path.source : path.target;
  const TensorSharding &other = ofSource ? path.target : path.source;
  for (AxisRef copy : ofSource ? sourceCopies : targetCopies)
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      bool otherIsFiner = blocks(other.dims[dim]) > blocks(mine.dims[dim]);
      if (otherIsFiner || pieceOf(dim) == 0 || pieceOf(dim) % copy.size != 0)
        continue;
      append(mine.dims[dim], copy);
      break;
    }
}

TransferPath PathFinder::find() {
  pairCopiesWithPieces(/*ofSource=*/true);
  bool gathers = gatherPays();
  if (gathers)
    pairCopiesWithPieces(/*ofSource=*/false);
  pairCopies();
  divideBlocks(/*ofSource=*/true);
  if (gathers)
    divideBlocks(/*ofSource=*/false);
  return path;
}

/// Joins a dimension on both sides where blocks are padded, unless the other side's are the same
/// blocks.
static void joinPadded(AxisList &source, AxisList &target, int64_t size) {
  if (!isPadded(size, source) && !isPadded(size, target))
    return;
  Pairing pairing = pairUp(source, target);
  if (pairing.source.empty() && pairing.target.empty() && source.unit == target.unit)
    return;
  source = target = {};
}

TransferPath weft::findTransferPath(const MeshShape &sourceMesh, const MeshShape &targetMesh,
                                    ArrayRef<int64_t> shape, int64_t elementBytes,
                                    const TensorSharding &source, const TensorSharding &target) {
  TransferPath path{source, target};
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    joinPadded(path.source.dims[dim], path.target.dims[dim], shape[dim]);
  for (auto [from, to] : llvm::zip_equal(path.source.dims, path.target.dims)) {
    Pairing pairing = pairUp(from, to);
    if (pairing.source.empty() || pairing.target.empty())
      continue;
    from.clear(); // what does not pair is joined
    for (const TransferDigit &digit : pairing.both)
      append(from, *digit.source);
  }
  return PathFinder(shape, elementBytes, findCopies(sourceMesh, path.source),
                    findCopies(targetMesh, path.target), path)
      .find();
}

TensorSharding weft::divideAmongCopies(const MeshShape &mesh, ArrayRef<int64_t> shape,
                                       int64_t elementBytes, const TensorSharding &sharding,
                                       std::optional<unsigned> last) {
  TensorSharding pieces = sharding;
  SmallVector<int64_t> block(shape);
  int64_t bytes = elementBytes;
  for (auto [extent, axes] : llvm::zip_equal(block, sharding.dims))
    bytes *= extent = localExtent(extent, axes);
  if (bytes < minGatheredBytes)
    return pieces;
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (dim != last)
      order.push_back(dim);
  if (last)
    order.push_back(*last);
  for (AxisRef copy : findCopies(mesh, sharding)) {
    auto found = llvm::find_if(order, [&](unsigned dim) {
      return block[dim] % copy.size == 0 && !isPadded(shape[dim], pieces.dims[dim]);
    });
    if (copy.size == 1 || found == order.end())
      continue;
    append(pieces.dims[*found], copy);
    block[*found] /= copy.size;
  }
  return pieces;
}
