// Operations of the dist dialect on the values of all ranks, alphabetical.
#include "compiler/Interpret/Collectives.h"

#include "compiler/Interpret/Blocks.h"
#include "compiler/Interpret/Numbers.h"
#include "dialects/Dist/IR/Extent.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/Identity.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;
using namespace weft::dist;

namespace {
/// What one evaluation works with.
struct Step {
  MeshOp mesh;
  ArrayRef<Tensor> input;
  RankedTensorType type; ///< of the result, local

  /// Calls `function(device, coordinate, group)` for every device; its results by device.
  template <typename Function> RankValues forEachDevice(ArrayAttr axes, Function function) {
    RankValues values(mesh.getNumDevices());
    for (const SmallVector<int64_t> &group : mesh.getGroups(getAxisRefs(axes)))
      for (auto [coordinate, device] : llvm::enumerate(group))
        values[device] = function(device, int64_t(coordinate), ArrayRef<int64_t>(group));
    return values;
  }
};
} // namespace

static RankValues allGather(AllGatherOp op, Step step) {
  return step.forEachDevice(op.getAxes(), [&](int64_t, int64_t, ArrayRef<int64_t> group) {
    SmallVector<Tensor> parts;
    for (int64_t device : group)
      parts.push_back(step.input[device]);
    return joinAlong(step.type, parts, op.getDim());
  });
}

template <typename Number> static Number join(ReduceKind kind, Number a, Number b) {
  switch (kind) {
  case ReduceKind::Sum:
    return addNumbers(a, b);
  case ReduceKind::Max:
    return maxNumbers(a, b);
  case ReduceKind::Min:
    return minNumbers(a, b);
  case ReduceKind::Prod:
    return multiplyNumbers(a, b);
  }
  return a;
}

/// The values of a group joined element by element.
static Tensor reduceGroup(ReduceKind kind, ArrayRef<Tensor> input, ArrayRef<int64_t> group) {
  const Tensor &first = input[group.front()];
  return withNumber(first.kind(), [&](auto number) {
    using Number = decltype(number);
    std::vector<Number> values = numbersOf<Number>(first);
    for (int64_t device : group.drop_front()) {
      std::vector<Number> more = numbersOf<Number>(input[device]);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = join(kind, values[i], more[i]);
    }
    return tensorOf(first.type(), values);
  });
}

Tensor weft::joinTensors(ReduceKind kind, ArrayRef<Tensor> values) {
  return reduceGroup(kind, values, llvm::to_vector(llvm::seq<int64_t>(0, values.size())));
}

static RankValues allReduce(ReduceKind kind, ArrayAttr axes, Step step) {
  Tensor joined;
  return step.forEachDevice(axes, [&](int64_t, int64_t coordinate, ArrayRef<int64_t> group) {
    if (coordinate == 0)
      joined = reduceGroup(kind, step.input, group);
    return joined;
  });
}

/// Block `index` of `input` cut along `dim` into blocks of `extent`.
static Tensor cut(const Tensor &input, int64_t dim, int64_t extent, int64_t index) {
  SmallVector<int64_t> starts(input.rank(), 0), shape(input.shape());
  starts[dim] = index * extent;
  shape[dim] = extent;
  return blockAt(input, starts, shape);
}

static RankValues allToAll(AllToAllOp op, Step step) {
  int64_t split = op.getSplitDim();
  return step.forEachDevice(op.getAxes(), [&](int64_t, int64_t at, ArrayRef<int64_t> group) {
    SmallVector<Tensor> parts;
    for (int64_t device : group)
      parts.push_back(cut(step.input[device], split, step.type.getDimSize(split), at));
    return joinAlong(step.type, parts, op.getConcatDim());
  });
}

static llvm::Expected<RankValues> loadShard(LoadShardOp op, Step step, WeightReader weights) {
  auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(op, op.getWeightAttr());
  if (!weight)
    return interpretError("weight @" + op.getWeight() + " is not in the module");
  llvm::Expected<Tensor> whole = weights(weight);
  if (!whole)
    return whole.takeError();
  RankedTensorType view = step.type.clone(op.getShape());
  return shardsOf(stridedView(view, *whole, op.getStart(), op.getStrides()), step.mesh,
                  op.getSharding());
}

static llvm::Expected<RankValues> maskPadding(MaskPaddingOp op, Step step) {
  int64_t dim = op.getDim(), local = step.type.getDimSize(dim);
  Attribute identity = getIdentity(op.getReduction(), step.type.getElementType());
  llvm::Expected<Tensor> filled = Tensor::fromElements(DenseElementsAttr::get(step.type, identity));
  if (!filled)
    return filled.takeError();
  return step.forEachDevice(op.getAxes(), [&](int64_t device, int64_t at, ArrayRef<int64_t>) {
    SmallVector<int64_t> starts(step.type.getRank(), 0), shape(step.type.getShape());
    shape[dim] = validExtent(op.getExtent(), local, at);
    Tensor result = filled->dense();
    if (shape[dim] > 0)
      placeBlock(result, blockAt(step.input[device], starts, shape), starts);
    return result;
  });
}

static RankValues offset(OffsetOp op, Step step) {
  RankValues values;
  for (int64_t device = 0; device < step.mesh.getNumDevices(); ++device)
    values.push_back(tensorOf<int64_t>(
        step.type,
        {step.mesh.getCoordinate(device, getAxisRefs(op.getAxes())) * int64_t(op.getBlock())}));
  return values;
}

static RankValues permute(PermuteOp op, Step step) {
  RankValues values(step.mesh.getNumDevices());
  SmallVector<AxisRefAttr> from = getAxisRefs(op.getFrom()), to = getAxisRefs(op.getTo());
  for (const SmallVector<int64_t> &group : step.mesh.getGroups(from))
    for (int64_t device : group)
      values[device] = step.input[group[step.mesh.getCoordinate(device, to)]];
  return values;
}

/// This device's block of each device's value.
static RankValues slice(ArrayAttr axes, int64_t dim, Step step) {
  return step.forEachDevice(axes, [&](int64_t device, int64_t at, ArrayRef<int64_t>) {
    return cut(step.input[device], dim, step.type.getDimSize(dim), at);
  });
}

static RankValues reduceScatter(ReduceScatterOp op, Step step) {
  RankValues reduced = allReduce(op.getReduction(), op.getAxes(), step);
  return slice(op.getAxes(), op.getDim(), {step.mesh, reduced, step.type});
}

llvm::Expected<RankValues> weft::evaluateDist(Operation *op, MeshOp mesh, ArrayRef<Tensor> input,
                                              WeightReader weights) {
  if (auto other = op->getAttrOfType<FlatSymbolRefAttr>("mesh"))
    if (other.getAttr() != mesh.getSymNameAttr())
      return interpretError("expected an operation on mesh @" + mesh.getSymName() + ", got: @" +
                            other.getValue());
  using Result = llvm::Expected<RankValues>;
  Step step{mesh, input, {}};
  if (op->getNumResults() == 1)
    step.type = cast<RankedTensorType>(op->getResult(0).getType());
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<AllGatherOp>([&](auto o) { return allGather(o, step); })
      .Case<AllReduceOp>([&](auto o) { return allReduce(o.getReduction(), o.getAxes(), step); })
      .Case<AllToAllOp>([&](auto o) { return allToAll(o, step); })
      .Case<LoadShardOp>([&](auto o) { return loadShard(o, step, weights); })
      .Case<MaskPaddingOp>([&](auto o) { return maskPadding(o, step); })
      .Case<OffsetOp>([&](auto o) { return offset(o, step); })
      .Case<PermuteOp>([&](auto o) { return permute(o, step); })
      .Case<ReduceScatterOp>([&](auto o) { return reduceScatter(o, step); })
      .Case<dist::SliceOp>([&](auto o) { return slice(o.getAxes(), o.getDim(), step); })
      .Default([](Operation *) -> Result {
        return interpretError("operation has no meaning on one mesh");
      });
}
