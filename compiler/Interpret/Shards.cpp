// Between global values and the blocks that ranks hold.
#include "compiler/Interpret/Blocks.h"
#include "compiler/Interpret/Interpret.h"
#include "dialects/Dist/IR/Extent.h"
#include "dialects/Dist/IR/Sharding.h"

#include <map>

using namespace mlir;
using namespace weft;
using namespace weft::dist;

/// Where a device's block starts, in elements along each dimension.
static SmallVector<int64_t> blockStarts(MeshOp mesh, ShardingAttr sharding, int64_t device,
                                        ArrayRef<int64_t> localShape) {
  SmallVector<int64_t> starts;
  for (auto [dim, extent] : llvm::zip_equal(sharding.getDims(), localShape))
    starts.push_back(mesh.getCoordinate(device, dim.getAxes()) * extent);
  return starts;
}

/// How much of the block that starts there is of the tensor.
static SmallVector<int64_t> validShape(ArrayRef<int64_t> global, ArrayRef<int64_t> starts,
                                       ArrayRef<int64_t> local) {
  SmallVector<int64_t> valid;
  for (auto [size, start, extent] : llvm::zip_equal(global, starts, local))
    valid.push_back(extent == 0 ? 0 : validExtent(size, extent, start / extent));
  return valid;
}

/// The block that starts there, padded by zeros.
static Tensor paddedBlockAt(const Tensor &global, ArrayRef<int64_t> starts,
                            ArrayRef<int64_t> shape) {
  SmallVector<int64_t> valid = validShape(global.shape(), starts, shape);
  if (ArrayRef<int64_t>(valid) == shape)
    return blockAt(global, starts, shape);
  Tensor block = Tensor::allocate(global.type().clone(shape));
  std::fill_n(block.mutableData(), block.elementBytes() * block.size(), 0);
  if (!llvm::is_contained(valid, 0))
    placeBlock(block, blockAt(global, starts, valid), SmallVector<int64_t>(shape.size(), 0));
  return block;
}

RankValues weft::shardsOf(const Tensor &global, MeshOp mesh, ShardingAttr sharding) {
  RankedTensorType local = getLocalType(mesh, sharding, global.type());
  RankValues shards;
  // Devices with the same block share its memory.
  std::map<SmallVector<int64_t>, Tensor> blocks;
  for (int64_t device = 0; device < mesh.getNumDevices(); ++device) {
    SmallVector<int64_t> starts = blockStarts(mesh, sharding, device, local.getShape());
    Tensor &block = blocks[starts];
    if (!block)
      block = paddedBlockAt(global, starts, local.getShape());
    shards.push_back(block);
  }
  return shards;
}

llvm::Expected<Tensor> weft::assemble(ArrayRef<Tensor> shards, MeshOp mesh, ShardingAttr sharding,
                                      RankedTensorType type) {
  if (!sharding.getPartial().empty())
    return interpretError("a partial value has no global value");
  if (int64_t(shards.size()) != mesh.getNumDevices())
    return interpretError("expected one shard per device");
  RankedTensorType local = getLocalType(mesh, sharding, type);
  Tensor global = Tensor::allocate(type);
  for (auto [device, shard] : llvm::enumerate(shards)) {
    if (shard.type() != local)
      return interpretError("rank " + llvm::Twine(device) + " holds a shard of another type");
    SmallVector<int64_t> starts = blockStarts(mesh, sharding, device, local.getShape());
    SmallVector<int64_t> valid = validShape(type.getShape(), starts, local.getShape());
    if (!llvm::is_contained(valid, 0))
      placeBlock(global, blockAt(shard.dense(), SmallVector<int64_t>(starts.size(), 0), valid),
                 starts);
  }
  for (auto [device, shard] : llvm::enumerate(shards)) {
    SmallVector<int64_t> starts = blockStarts(mesh, sharding, device, local.getShape());
    SmallVector<int64_t> valid = validShape(type.getShape(), starts, local.getShape());
    if (llvm::is_contained(valid, 0))
      continue;
    Tensor block = blockAt(global, starts, valid);
    if (block.raw() != blockAt(shard.dense(), SmallVector<int64_t>(starts.size(), 0), valid).raw())
      return interpretError("rank " + llvm::Twine(device) +
                            " holds other values than a rank that has the same block");
  }
  return global;
}
