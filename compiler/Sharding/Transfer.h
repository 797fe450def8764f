//===- Transfer.h - a value moves between meshes ----------------*- C++ -*-===//
//
// Which device sends what to which, where a value lies one way on one mesh and another way on
// another. Both sides of every dimension are read as digits, major to minor; digits that both have
// pair devices, a digit that one side alone has makes pieces:
//
//   {data=4} → {data=2}, both split dimension 0:     digits 2 (both), 2 (source): every target
//                                                    receives one piece from each of two sources
//   {data=2} → {model=4}, dimension 0 → dimension 1: digits 2 (source) of dimension 0, 4 (target)
//                                                    of dimension 1: eight messages of one eighth
//
// Copies are digits too. Where both sides have copies they are paired; copies of the source alone
// each send a part of the block; a target's each receive a part and gather it among themselves
// where that is cheaper than to receive it whole. So each device sends what the other side lacks,
// once, and who sends to whom is affine in mesh coordinates, whatever the meshes' sizes.
//
// Sides whose digits do not pair (2 and 3 blocks), or whose blocks are padded unlike, are brought
// together first: the source joins what is split unlike, the target receives it whole. All of it is
// said by shardings: a path is an ordinary reshard on the source's mesh, a transfer between
// shardings that pair, and an ordinary reshard on the target's.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_TRANSFER_H
#define WEFT_COMPILER_SHARDING_TRANSFER_H

#include "compiler/Sharding/Axes.h"

namespace weft {

/// Below this a block is sent to each copy: a message and a collective of so few bytes take longer
/// than the bytes that they save (some 10 µs of latency, some 10 GB/s).
inline constexpr int64_t minGatheredBytes = 64 << 10;

/// A digit of a dimension, or of the copies.
struct TransferDigit {
  int64_t size = 1;
  std::optional<AxisRef> source, target; ///< one or both
  std::optional<unsigned> dim;           ///< none: copies
};

/// The two shardings between which a value is sent.
struct TransferPath {
  TensorSharding source, target;
};

/// How a value of that global shape gets from `source` to `target`, neither partial.
TransferPath findTransferPath(const MeshShape &sourceMesh, const MeshShape &targetMesh,
                              llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                              const TensorSharding &source, const TensorSharding &target);

/// The digits of a transfer between shardings that pair: of each dimension major to minor, then of
/// copies. Of copies that the source alone has the first sends. None where a dimension's sides do
/// not pair.
std::optional<llvm::SmallVector<TransferDigit>> findTransferDigits(const MeshShape &sourceMesh,
                                                                   const MeshShape &targetMesh,
                                                                   const TensorSharding &source,
                                                                   const TensorSharding &target);

/// The sharding in which devices that hold the same block of a value of that global shape, as in
/// `sharding`, take a part of it each, as far as dimensions divide, the one of number `last` behind
/// all others; `sharding` where the block is not worth to be gathered.
TensorSharding divideAmongCopies(const MeshShape &mesh, llvm::ArrayRef<int64_t> shape,
                                 int64_t elementBytes, const TensorSharding &sharding,
                                 std::optional<unsigned> last = {});

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_TRANSFER_H
