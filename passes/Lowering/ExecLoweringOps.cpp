//===- ExecLoweringOps.cpp - one case an operation, alphabetical ----------===//

#include "passes/Lowering/ExecLowering.h"

#include "compiler/Lowering/Product.h"
#include "dialects/Dist/IR/Sharding.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;
using exec::ArenaKind;

View ExecLowering::allocateResult(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  View view = program.allocate(ArenaKind::Activations, type.getElementType(), type.getShape());
  views[value] = view;
  return view;
}

RankGroup ExecLowering::getGroup(Operation *op, FlatSymbolRefAttr mesh, ArrayAttr axes) {
  return getRankGroup(dist::lookupMesh(op, mesh), axes);
}

static exec::Reduction toExec(dist::ReductionKind kind) {
  switch (kind) {
  case dist::ReductionKind::Sum:
    return exec::Reduction::Sum;
  case dist::ReductionKind::Max:
    return exec::Reduction::Max;
  case dist::ReductionKind::Min:
    return exec::Reduction::Min;
  case dist::ReductionKind::Prod:
    return exec::Reduction::Prod;
  }
  llvm_unreachable("a reduction kind outside its enum");
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

FailureOr<const KernelInfo *> ExecLowering::getKernel(func::CallOp op) {
  auto kernel = symbols.lookup<func::FuncOp>(op.getCallee());
  if (!kernel || !kernel->hasAttr("exec.kernel"))
    return op.emitError() << "expected a call of a kernel, got: @" << op.getCallee();
  auto [it, inserted] = kernels.try_emplace(kernel.getOperation());
  if (inserted) {
    FailureOr<KernelInfo> info = describeKernel(kernel);
    if (failed(info))
      return failure();
    it->second = *info;
  }
  return &it->second;
}

View ExecLowering::withStrides(Location loc, const View &view, ArrayRef<int64_t> strides) {
  if (sameStrides(view.shape, view.strides, strides))
    return view;
  View result = program.allocate(ArenaKind::Workspace, view.dtype, view.shape, strides);
  program.copy(loc, view, result);
  return result;
}

/// The checks of a kernel, with the source names of this call.
static ArrayAttr makeChecks(MLIRContext *context, const KernelInfo &kernel) {
  SmallVector<Attribute> checks;
  for (const KernelCheck &check : kernel.checks)
    checks.push_back(
        exec::CheckAttr::get(context, check.message, check.low, check.high, check.source));
  return ArrayAttr::get(context, checks);
}

/// Nothing is left to do for a kernel whose results have no elements.
void ExecLowering::addEmptyResults(func::CallOp op) {
  for (Value result : op.getResults()) {
    Attribute zero = Builder(context).getZeroAttr(getElementTypeOrSelf(result.getType()));
    addFill(op.getLoc(), result, zero);
  }
}

LogicalResult ExecLowering::lowerOp(func::CallOp op) {
  FailureOr<const KernelInfo *> kernel = getKernel(op);
  if (failed(kernel))
    return failure();
  if ((*kernel)->tiles == 0)
    return addEmptyResults(op), success();
  auto function = symbols.lookup<func::FuncOp>(op.getCallee());
  Step step{op.getLoc(), {}, {}, (*kernel)->flops, "kernel " + (*kernel)->key, {}};
  SmallVector<Attribute> params;
  for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
    if (function.getArgAttr(number, "exec.param")) {
      exec::AffineAttr offset = offsets.lookup(operand);
      if (!offset)
        return op.emitError() << "expected a dist.offset as parameter " << number << " of @"
                              << op.getCallee();
      params.push_back(offset);
      continue;
    }
    const View &view = views.at(operand);
    auto strides = function.getArgAttrOfType<DenseI64ArrayAttr>(number, stridesAttrName);
    step.reads.push_back(
        withStrides(op.getLoc(), view,
                    strides ? Extents(strides.asArrayRef()) : getRowMajorStrides(view.shape)));
  }
  for (Value result : op.getResults())
    step.writes.push_back(allocateResult(result));
  size_t inputs = step.reads.size();
  step.emit = [=, this, info = *kernel](OpBuilder &builder, Location loc,
                                        ArrayRef<exec::OperandAttr> operands,
                                        exec::PriceAttr price) {
    SmallVector<Attribute> all(operands.begin(), operands.end());
    exec::LaunchOp::create(
        builder, loc, info->key, builder.getArrayAttr(ArrayRef(all).take_front(inputs)),
        builder.getArrayAttr(ArrayRef(all).drop_front(inputs)), builder.getArrayAttr(params),
        info->tiles, info->grain, makeChecks(context, *info), price);
  };
  program.add(std::move(step));
  return success();
}

LogicalResult ExecLowering::lowerOp(ConvOp op) {
  View input = program.makeContiguous(op.getLoc(), views.at(op.getInput()), ArenaKind::Workspace);
  View kernel = program.makeContiguous(op.getLoc(), views.at(op.getKernel()), ArenaKind::Workspace);
  View result = allocateResult(op.getResult());
  int64_t perElement = kernel.shape[0] == 0 ? 0 : 2 * kernel.getNumElements() / kernel.shape[0];
  std::string text = "conv";
  for (const View &view : {input, kernel})
    for (auto [i, extent] : llvm::enumerate(view.shape))
      text += llvm::formatv("{0}{1}", i == 0 ? " " : "x", extent).str();
  auto attributes = [op]() mutable { return op->getAttrDictionary(); }();
  auto list = [attributes](StringRef name) { return attributes.getAs<DenseI64ArrayAttr>(name); };
  int64_t groups = op.getGroups();
  program.add({op.getLoc(),
               {input, kernel},
               {result},
               perElement * result.getNumElements(),
               text,
               [=](OpBuilder &builder, Location loc, ArrayRef<exec::OperandAttr> operands,
                   exec::PriceAttr price) {
                 exec::ConvOp::create(builder, loc, operands[0], operands[1], operands[2],
                                      list("strides"), list("low"), list("high"), list("dilations"),
                                      builder.getI64IntegerAttr(groups), price);
               }});
  return success();
}

LogicalResult ExecLowering::lowerOp(ConstantOp op) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat) {
    addConstantWeight(op);
    return success();
  }
  addFill(op.getLoc(), op.getResult(), splat.getSplatValue<Attribute>());
  return success();
}

void ExecLowering::addFill(Location loc, Value result, Attribute value) {
  program.add({loc,
               {},
               {allocateResult(result)},
               0,
               "fill",
               [value](OpBuilder &builder, Location loc, ArrayRef<exec::OperandAttr> operands,
                       exec::PriceAttr price) {
                 exec::FillOp::create(builder, loc, value, operands[0], price);
               }});
}

LogicalResult ExecLowering::lowerOp(DotGeneralOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  auto strides = op->getAttrOfType<DenseI64ArrayAttr>(stridesAttrName);
  View result = program.allocate(ArenaKind::Activations, type.getElementType(), type.getShape(),
                                 strides ? Extents(strides.asArrayRef())
                                         : getRowMajorStrides(type.getShape()));
  views[op.getResult()] = result;
  addProduct(program, op.getLoc(), views.at(op.getLhs()), views.at(op.getRhs()), result,
             {op.getLhsBatch(), op.getRhsBatch(), op.getLhsContract(), op.getRhsContract()});
  return success();
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

LogicalResult ExecLowering::lowerOp(dist::AllGatherOp op) {
  views[op.getResult()] = addAllGather(program, op.getLoc(), views.at(op.getInput()), op.getDim(),
                                       getGroup(op, op.getMeshAttr(), op.getAxes()));
  return success();
}

LogicalResult ExecLowering::lowerOp(dist::AllReduceOp op) {
  views[op.getResult()] =
      addAllReduce(program, op.getLoc(), views.at(op.getInput()),
                   getGroup(op, op.getMeshAttr(), op.getAxes()), toExec(op.getReduction()));
  return success();
}

LogicalResult ExecLowering::lowerOp(dist::AllToAllOp op) {
  views[op.getResult()] =
      addAllToAll(program, op.getLoc(), views.at(op.getInput()), op.getSplitDim(),
                  op.getConcatDim(), getGroup(op, op.getMeshAttr(), op.getAxes()));
  return success();
}

LogicalResult ExecLowering::lowerOp(dist::OffsetOp op) {
  offsets[op.getResult()] = getCoordinate(context, dist::getAxisRefs(op.getAxes()), op.getBlock());
  return success();
}

LogicalResult ExecLowering::lowerOp(dist::PermuteOp op) {
  views[op.getResult()] = addPermute(program, op.getLoc(), views.at(op.getInput()),
                                     getGroup(op, op.getMeshAttr(), op.getFrom()),
                                     toExecAxes(context, dist::getAxisRefs(op.getTo())));
  return success();
}

LogicalResult ExecLowering::lowerOp(dist::ReduceScatterOp op) {
  views[op.getResult()] =
      addReduceScatter(program, op.getLoc(), views.at(op.getInput()), op.getDim(),
                       getGroup(op, op.getMeshAttr(), op.getAxes()), toExec(op.getReduction()));
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult ExecLowering::lowerOp(BroadcastOp op) {
  View view = views.at(op.getInput());
  View result{view.buffer,
              view.offset,
              view.dtype,
              Extents(cast<RankedTensorType>(op.getType()).getShape()),
              {}};
  result.strides.assign(result.shape.size(), 0);
  for (auto [from, to] : llvm::enumerate(op.getDims()))
    result.strides[to] = view.shape[from] == 1 ? 0 : view.strides[from];
  views[op.getResult()] = result;
  return success();
}

LogicalResult ExecLowering::lowerOp(dist::SliceOp op) {
  View view = views.at(op.getInput());
  int64_t local = cast<RankedTensorType>(op.getType()).getShape()[op.getDim()];
  view.offset = view.offset.plus(
      getCoordinate(context, dist::getAxisRefs(op.getAxes()), local * view.strides[op.getDim()]));
  view.shape[op.getDim()] = local;
  views[op.getResult()] = view;
  return success();
}

LogicalResult ExecLowering::lowerOp(ReshapeOp op) {
  View view = views.at(op.getInput());
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
  std::optional<Strides> strides = reshapeStrides(view.shape, view.strides, shape);
  if (!strides) {
    view = program.makeContiguous(op.getLoc(), view, ArenaKind::Workspace);
    strides = getRowMajorStrides(shape);
  }
  view.shape = Extents(shape);
  view.strides = *strides;
  views[op.getResult()] = view;
  return success();
}

LogicalResult ExecLowering::lowerOp(SliceOp op) {
  View view = views.at(op.getInput());
  view.shape = Extents(cast<RankedTensorType>(op.getType()).getShape());
  for (auto [dim, start, stride] : llvm::enumerate(op.getStarts(), op.getStrides())) {
    view.offset = view.offset.plus(start * view.strides[dim]);
    view.strides[dim] *= stride;
  }
  views[op.getResult()] = view;
  return success();
}

LogicalResult ExecLowering::lowerOp(TransposeOp op) {
  View view = views.at(op.getInput());
  View result = view;
  for (auto [to, from] : llvm::enumerate(op.getPermutation())) {
    result.shape[to] = view.shape[from];
    result.strides[to] = view.strides[from];
  }
  views[op.getResult()] = result;
  return success();
}
