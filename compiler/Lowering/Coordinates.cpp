#include "compiler/Lowering/Coordinates.h"

#include "dialects/Dist/IR/Sharding.h"

using namespace mlir;
using namespace weft;

ArrayAttr weft::toExecAxes(MLIRContext *context, ArrayRef<dist::AxisRefAttr> axes) {
  SmallVector<Attribute> result;
  for (dist::AxisRefAttr axis : axes)
    result.push_back(exec::AxisAttr::get(context, axis.getName(),
                                         axis.isFullAxis() ? 1 : axis.getPre(), axis.getSize()));
  return ArrayAttr::get(context, result);
}

exec::AffineAttr weft::getCoordinate(MLIRContext *context, ArrayRef<dist::AxisRefAttr> axes,
                                     int64_t step) {
  if (axes.empty() || step == 0)
    return exec::AffineAttr::get(context, 0);
  SmallVector<exec::AxisAttr> names =
      llvm::to_vector(toExecAxes(context, axes).getAsRange<exec::AxisAttr>());
  return exec::AffineAttr::get(context, 0, {exec::TermAttr::get(context, step, names)});
}

RankGroup weft::getRankGroup(dist::MeshOp mesh, ArrayAttr axes) {
  return {FlatSymbolRefAttr::get(mesh.getSymNameAttr()),
          toExecAxes(mesh.getContext(), dist::getAxisRefs(axes)), mesh.getSize(axes)};
}

ArrayAttr weft::getValidExtents(dist::MeshOp mesh, dist::ShardingAttr sharding,
                                ArrayRef<int64_t> global, ArrayRef<int64_t> local) {
  MLIRContext *context = sharding.getContext();
  SmallVector<Attribute> valid;
  bool anyPadded = false;
  for (auto [dim, size, extent] : llvm::zip_equal(sharding.getDims(), global, local)) {
    // As validExtent (Extent.h), the bounds being understood.
    bool padded = mesh.getSize(dim.getAxes()) * extent != size;
    valid.push_back(padded ? getCoordinate(context, dim.getAxes(), -extent).plus(size)
                           : exec::AffineAttr::get(context, extent));
    anyPadded |= padded;
  }
  return anyPadded ? ArrayAttr::get(context, valid) : ArrayAttr();
}

exec::AffineAttr weft::getBlockStart(MLIRContext *context, dist::ShardingAttr sharding,
                                     ArrayRef<int64_t> local, ArrayRef<int64_t> strides) {
  auto start = exec::AffineAttr::get(context, 0);
  for (auto [dim, extent, stride] : llvm::zip_equal(sharding.getDims(), local, strides))
    start = start.plus(getCoordinate(context, dim.getAxes(), extent * stride));
  return start;
}
