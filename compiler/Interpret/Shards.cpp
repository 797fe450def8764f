// Between global values and the blocks that ranks hold.
#include "compiler/Interpret/Blocks.h"
#include "compiler/Interpret/Interpret.h"
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

RankValues weft::shardsOf(const Tensor &global, MeshOp mesh, ShardingAttr sharding) {
  RankedTensorType local = getLocalType(mesh, sharding, global.type());
  RankValues shards;
  // Devices with the same block share its memory.
  std::map<SmallVector<int64_t>, Tensor> blocks;
  for (int64_t device = 0; device < mesh.getNumDevices(); ++device) {
    SmallVector<int64_t> starts = blockStarts(mesh, sharding, device, local.getShape());
    Tensor &block = blocks[starts];
    if (!block)
      block = blockAt(global, starts, local.getShape());
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
    placeBlock(global, shard, blockStarts(mesh, sharding, device, local.getShape()));
  }
  for (auto [device, shard] : llvm::enumerate(shards)) {
    Tensor block =
        blockAt(global, blockStarts(mesh, sharding, device, local.getShape()), local.getShape());
    if (block.raw() != shard.dense().raw())
      return interpretError("rank " + llvm::Twine(device) +
                            " holds other values than a rank that has the same block");
  }
  return global;
}
