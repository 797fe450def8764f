//===- SelectionOps.cpp - one case an operation, alphabetical -------------===//

#include "passes/Lowering/Selection.h"

#include "compiler/Kernel/Epilogue.h"
#include "compiler/Kernel/FusionGroups.h"
#include "compiler/Lowering/Product.h"
#include "dialects/Dist/IR/Sharding.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace weft;
using exec::ArenaKind;

RankGroup Selection::getGroup(Operation *op, FlatSymbolRefAttr mesh, ArrayAttr axes) {
  return getRankGroup(dist::lookupMesh(op, mesh), axes);
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

FailureOr<const KernelInfo *> Selection::getKernel(func::CallOp op) {
  auto kernel = symbols.lookup<func::FuncOp>(op.getCallee());
  if (!kernel || !kernel->hasAttr("exec.kernel"))
    return op.emitError() << "expected a call of a kernel, got: @" << op.getCallee();
  auto [it, inserted] = kernels.try_emplace(kernel.getOperation());
  if (inserted) {
    FailureOr<KernelInfo> info = describeKernel(kernel, machine);
    if (failed(info))
      return failure();
    it->second = *info;
  }
  return &it->second;
}

View Selection::withStrides(Location loc, const View &view, ArrayRef<int64_t> strides) {
  if (sameStrides(view.shape, view.strides, strides))
    return view;
  View result = segment.allocate(ArenaKind::Activations, view.dtype, view.shape, strides);
  segment.copy(loc, view, result);
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

/// Of what indices choose from only what they choose is read; what is overwritten in place is read
/// and written only where it changes.
exec::PriceAttr Selection::getLaunchPrice(func::CallOp op, const KernelInfo &kernel,
                                          ArrayRef<View> reads, ArrayRef<View> writes) {
  exec::PriceAttr price =
      segment.getPrice(op.getLoc(), reads, writes, kernel.flops, "kernel " + kernel.key);
  SmallVector<int64_t> passedOver;
  for (auto [view, bytes] : llvm::zip_equal(reads, kernel.bytesRead))
    passedOver.push_back(std::max<int64_t>(0, view.getStoredBytes() - bytes));
  int64_t kept = 0;
  for (const InPlace &place : kernel.inPlace) {
    int64_t unwritten = writes[place.result].getStoredBytes() - place.writtenBytes;
    int64_t &unread = passedOver[place.argument];
    unread = std::max(unread, unwritten);
    kept += unwritten;
  }
  int64_t unread = std::accumulate(passedOver.begin(), passedOver.end(), int64_t(0));
  return exec::PriceAttr::get(context, price.getSource(), price.getFlops(),
                              price.getBytesRead() - unread, price.getBytesWritten() - kept,
                              price.getShapeClass());
}

/// A kernel's result that takes the memory of an argument.
static View getResultIn(View memory, Value result, const InPlace &place) {
  memory.shape = Extents(cast<RankedTensorType>(result.getType()).getShape());
  memory.strides = place.strides;
  return memory;
}

/// The number of the operand whose maker a kernel follows.
static std::optional<unsigned> getFollowed(func::CallOp op) {
  auto number = op->getAttrOfType<IntegerAttr>(epilogueAttrName);
  return number ? std::optional<unsigned>(number.getInt()) : std::nullopt;
}

/// The call of the kernel that follows what makes a value.
static func::CallOp getFollower(Value value) {
  auto call = value.hasOneUse() ? dyn_cast<func::CallOp>(*value.user_begin()) : func::CallOp();
  std::optional<unsigned> number = call ? getFollowed(call) : std::nullopt;
  return number && call.getOperand(*number) == value ? call : func::CallOp();
}

FailureOr<Selection::LaunchInputs> Selection::getLaunchInputs(func::CallOp op,
                                                              const KernelInfo &kernel) {
  auto function = symbols.lookup<func::FuncOp>(op.getCallee());
  std::optional<unsigned> followed = getFollowed(op);
  LaunchInputs inputs;
  for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
    if (function.getArgAttr(number, "exec.param")) {
      exec::AffineAttr offset = offsets.lookup(operand);
      if (!offset)
        return op.emitError() << "expected a dist.offset as parameter " << number << " of @"
                              << op.getCallee();
      inputs.params.push_back(offset);
      continue;
    }
    const View &view = views.at(operand);
    auto strides = function.getArgAttrOfType<DenseI64ArrayAttr>(number, stridesAttrName);
    auto place = llvm::find_if(
        kernel.inPlace, [&](const InPlace &each) { return each.argument == inputs.views.size(); });
    Extents wanted = strides ? Extents(strides.asArrayRef()) : getRowMajorStrides(view.shape);
    if (followed == number)
      inputs.views.push_back(view);
    else if (place != kernel.inPlace.end())
      inputs.views.push_back(
          getChanged(op, operand, wanted, op.getResult(place->result), place->strides));
    else
      inputs.views.push_back(withStrides(op.getLoc(), view, wanted));
  }
  return inputs;
}

ArrayAttr Selection::getOperands(ArrayRef<View> views) {
  return ArrayAttr::get(context, llvm::map_to_vector(views, [&](const View &view) -> Attribute {
                          return segment.getOperand(view);
                        }));
}

/// Nothing is left to do for a kernel whose results have no elements.
void Selection::addEmptyResults(func::CallOp op) {
  for (Value result : op.getResults()) {
    Attribute zero = Builder(context).getZeroAttr(getElementTypeOrSelf(result.getType()));
    segment.fill(op.getLoc(), allocateResult(result), zero);
  }
}

LogicalResult Selection::lowerOp(func::CallOp op) {
  FailureOr<const KernelInfo *> kernel = getKernel(op);
  if (failed(kernel))
    return failure();
  if ((*kernel)->tiles == 0)
    return addEmptyResults(op), success();
  if (std::optional<unsigned> followed = getFollowed(op)) { // done by that instruction
    views[op.getResult(0)] =
        getResultIn(views.at(op.getOperand(*followed)), op.getResult(0), (*kernel)->inPlace[0]);
    return success();
  }
  FailureOr<LaunchInputs> inputs = getLaunchInputs(op, **kernel);
  if (failed(inputs))
    return failure();
  SmallVector<View> writes;
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    auto place = llvm::find_if((*kernel)->inPlace, [&, number = number](const InPlace &each) {
      return each.result == number;
    });
    if (place == (*kernel)->inPlace.end()) {
      writes.push_back(allocateResult(result));
      continue;
    }
    writes.push_back(inputs->views[place->argument]);
    views[result] = getResultIn(writes.back(), result, *place);
  }
  exec::LaunchOp::create(segment.getBuilder(), op.getLoc(), (*kernel)->key,
                         getOperands(inputs->views), getOperands(writes),
                         ArrayAttr::get(context, inputs->params), (*kernel)->tiles,
                         (*kernel)->grain, makeChecks(context, **kernel),
                         getLaunchPrice(op, **kernel, inputs->views, writes));
  return success();
}

/// The result of what the kernel follows is read and written while it is in cache: that has no
/// price.
LogicalResult Selection::makeEpilogue(func::CallOp op, exec::EpilogueAttr &epilogue,
                                      exec::PriceAttr &price) {
  FailureOr<const KernelInfo *> kernel = getKernel(op);
  if (failed(kernel))
    return failure();
  FailureOr<LaunchInputs> inputs = getLaunchInputs(op, **kernel);
  if (failed(inputs))
    return failure();
  std::optional<ResultTiles> tiles =
      getEpilogueTiles(symbols.lookup<func::FuncOp>(op.getCallee()), *getFollowed(op));
  if (!tiles || (*kernel)->inPlace.size() != 1)
    return op.emitError() << "expected a kernel that may follow operand " << *getFollowed(op);
  int64_t bytes = 0;
  for (auto [number, view] : llvm::enumerate(inputs->views))
    if (number != (*kernel)->inPlace[0].argument)
      bytes += std::min(view.getStoredBytes(), (*kernel)->bytesRead[number]);
  epilogue = exec::EpilogueAttr::get(context, (*kernel)->key, getOperands(inputs->views),
                                     ArrayAttr::get(context, inputs->params), (*kernel)->tiles,
                                     tiles->tile, tiles->row);
  price = exec::PriceAttr::get(context, price.getSource(), price.getFlops() + (*kernel)->flops,
                               price.getBytesRead() + bytes, price.getBytesWritten(),
                               price.getShapeClass());
  return success();
}

/// Whether an image [n, c, s…] lies as [n, s…, c].
static bool hasChannelsLast(const View &view) {
  Extents shape = view.shape, strides = view.strides;
  std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  std::rotate(strides.begin() + 1, strides.begin() + 2, strides.end());
  return isRowMajor(shape, strides);
}

/// The second operand is the kernel, or the gradient that gives the kernel's.
template <typename Op> LogicalResult Selection::lowerConvolution(Op op, bool ofKernel) {
  View input = views.at(op->getOperand(0));
  if (ofKernel || !hasChannelsLast(input))
    input = segment.makeContiguous(op.getLoc(), input, ArenaKind::Activations);
  View second =
      segment.makeContiguous(op.getLoc(), views.at(op->getOperand(1)), ArenaKind::Activations);
  View result = allocateResult(op.getResult());
  const View &kernel = ofKernel ? result : second, &output = ofKernel ? second : result;
  int64_t perElement = kernel.shape[0] == 0 ? 0 : 2 * kernel.getNumElements() / kernel.shape[0];
  std::string shapeClass = (ofKernel ? "conv_kernel_gradient " : "conv ") +
                           formatExtents(input.shape) + " " + formatExtents(second.shape);
  exec::PriceAttr price = segment.getPrice(op.getLoc(), {input, second}, {result},
                                           perElement * output.getNumElements(), shapeClass);
  exec::EpilogueAttr epilogue;
  if (func::CallOp follower = getFollower(op.getResult()))
    if (failed(makeEpilogue(follower, epilogue, price)))
      return failure();
  exec::ConvOp::create(segment.getBuilder(), op.getLoc(), segment.getOperand(input),
                       segment.getOperand(second), segment.getOperand(result), op.getStrides(),
                       op.getLow(), op.getHigh(), op.getDilations(), op.getGroups(), ofKernel,
                       epilogue, price);
  return success();
}

LogicalResult Selection::lowerOp(ConvKernelGradientOp op) {
  return lowerConvolution(op, /*ofKernel=*/true);
}

LogicalResult Selection::lowerOp(ConvOp op) { return lowerConvolution(op, /*ofKernel=*/false); }

LogicalResult Selection::lowerOp(ConstantOp op) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat) {
    addConstantWeight(op);
    return success();
  }
  segment.fill(op.getLoc(), allocateResult(op.getResult()), splat.getSplatValue<Attribute>());
  return success();
}

/// A dimension of a view as runs of `extent`: [n] becomes [n / extent, extent].
static View cutDim(View view, size_t dim, int64_t extent) {
  int64_t stride = view.strides[dim];
  view.shape[dim] /= extent;
  view.strides[dim] *= extent;
  view.shape.insert(view.shape.begin() + dim + 1, extent);
  view.strides.insert(view.strides.begin() + dim + 1, stride);
  return view;
}

LogicalResult Selection::lowerOp(DotGeneralOp op) {
  View result = allocateResult(op.getResult()), rhs = views.at(op.getRhs());
  SmallVector<int64_t> contract(op.getRhsContract());
  int64_t rank = op.getRhs().getType().getRank();
  if (static_cast<int64_t>(rhs.shape.size()) > rank) { // a matrix in panels
    result = cutDim(result, result.shape.size() - (rank - 1), rhs.shape[2]);
    contract = {1};
  }
  addProduct(segment, op.getLoc(), views.at(op.getLhs()), rhs, result,
             {op.getLhsBatch(), op.getRhsBatch(), op.getLhsContract(), contract});
  return success();
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

LogicalResult Selection::lowerOp(dist::AllGatherOp op) {
  Extents strides = getRowMajorStrides(cast<RankedTensorType>(op.getType()).getShape());
  const Place *place = findPlace(op.getResult(), strides, [](Value) { return false; });
  views[op.getResult()] = addAllGather(segment, op.getLoc(), views.at(op.getInput()), op.getDim(),
                                       getGroup(op, op.getMeshAttr(), op.getAxes()),
                                       place ? std::optional<View>(place->view) : std::nullopt);
  return success();
}

LogicalResult Selection::lowerOp(dist::AllReduceOp op) {
  views[op.getResult()] =
      addAllReduce(segment, op.getLoc(), views.at(op.getInput()),
                   getGroup(op, op.getMeshAttr(), op.getAxes()), op.getReduction());
  return success();
}

LogicalResult Selection::lowerOp(dist::AllToAllOp op) {
  views[op.getResult()] =
      addAllToAll(segment, op.getLoc(), views.at(op.getInput()), op.getSplitDim(),
                  op.getConcatDim(), getGroup(op, op.getMeshAttr(), op.getAxes()));
  return success();
}

LogicalResult Selection::lowerOp(dist::OffsetOp op) {
  offsets[op.getResult()] = getCoordinate(context, dist::getAxisRefs(op.getAxes()), op.getBlock());
  return success();
}

LogicalResult Selection::lowerOp(dist::PermuteOp op) {
  views[op.getResult()] = addPermute(segment, op.getLoc(), views.at(op.getInput()),
                                     getGroup(op, op.getMeshAttr(), op.getFrom()),
                                     toExecAxes(context, dist::getAxisRefs(op.getTo())));
  return success();
}

LogicalResult Selection::lowerOp(dist::ReduceScatterOp op) {
  views[op.getResult()] =
      addReduceScatter(segment, op.getLoc(), views.at(op.getInput()), op.getDim(),
                       getGroup(op, op.getMeshAttr(), op.getAxes()), op.getReduction());
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult Selection::lowerOp(BroadcastOp op) {
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

LogicalResult Selection::lowerOp(dist::SliceOp op) {
  View view = views.at(op.getInput());
  int64_t local = cast<RankedTensorType>(op.getType()).getShape()[op.getDim()];
  view.offset = view.offset.plus(
      getCoordinate(context, dist::getAxisRefs(op.getAxes()), local * view.strides[op.getDim()]));
  view.shape[op.getDim()] = local;
  // Of what is there all the time nothing is saved.
  bool isHeld = op->hasAttr(heldAttrName) && !segment.isKeptAlways(view.buffer) &&
                view.getStoredBytes() < segment.getBytes(view.buffer);
  if (isHeld) {
    View part = segment.allocate(ArenaKind::Activations, view.dtype, view.shape);
    segment.copy(op.getLoc(), view, part);
    view = part;
  }
  views[op.getResult()] = view;
  return success();
}

LogicalResult Selection::lowerOp(ReshapeOp op) {
  View view = views.at(op.getInput());
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
  std::optional<Strides> strides = reshapeStrides(view.shape, view.strides, shape);
  if (!strides) {
    view = segment.makeContiguous(op.getLoc(), view, ArenaKind::Activations);
    strides = getRowMajorStrides(shape);
  }
  view.shape = Extents(shape);
  view.strides = *strides;
  views[op.getResult()] = view;
  return success();
}

LogicalResult Selection::lowerOp(SliceOp op) {
  View view = views.at(op.getInput());
  view.shape = Extents(cast<RankedTensorType>(op.getType()).getShape());
  for (auto [dim, start, stride] : llvm::enumerate(op.getStarts(), op.getStrides())) {
    view.offset = view.offset.plus(start * view.strides[dim]);
    view.strides[dim] *= stride;
  }
  views[op.getResult()] = view;
  return success();
}

LogicalResult Selection::lowerOp(TransposeOp op) {
  View view = views.at(op.getInput());
  View result = view;
  for (auto [to, from] : llvm::enumerate(op.getPermutation())) {
    result.shape[to] = view.shape[from];
    result.strides[to] = view.strides[from];
  }
  views[op.getResult()] = result;
  return success();
}
