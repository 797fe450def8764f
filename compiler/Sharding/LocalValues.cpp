#include "compiler/Sharding/LocalValues.h"

#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/OperationSplit.h"
#include "compiler/Sharding/Parts.h"
#include "compiler/Sharding/ReshardPath.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Building on one shard
//===----------------------------------------------------------------------===//

RankedTensorType weft::localType(Type global, const TensorSharding &sharding) {
  auto type = cast<RankedTensorType>(global);
  return type.clone(localShape(type.getShape(), sharding));
}

namespace {
/// Answers an operation's questions about its shard.
class MeshShards : public LocalShards {
public:
  MeshShards(const FactorRule &rule, const FactorAxes &axes, const MeshShape &mesh)
      : rule(rule), axes(axes), mesh(mesh) {}

  bool isSplit(unsigned factor) const override { return !axes[factor].empty(); }
  int64_t localSize(unsigned factor) const override {
    return localExtent(rule.factors[factor].size, axes[factor]);
  }
  Value offset(OpBuilder &builder, Location loc, unsigned factor) override {
    return dist::OffsetOp::create(builder, loc, RankedTensorType::get({}, builder.getI64Type()),
                                  toAxesAttr(builder.getContext(), axes[factor], mesh),
                                  builder.getI64IntegerAttr(localSize(factor)),
                                  FlatSymbolRefAttr::get(builder.getContext(), mesh.name));
  }

private:
  const FactorRule &rule;
  const FactorAxes &axes;
  const MeshShape &mesh;
};
} // namespace

SmallVector<Value> weft::buildShard(OpBuilder &builder, Operation *op, const FactorRule &rule,
                                    const FactorAxes &axes, ValueRange operands,
                                    TypeRange resultTypes, const MeshShape &mesh) {
  MeshShards shards(rule, axes, mesh);
  SmallVector<Value> results =
      cast<FactorRuleOpInterface>(op).buildLocal(builder, operands, resultTypes, shards);
  for (Value result : results)
    for (StringRef name : {dist::kShardingAttr, dist::kShardingsAttr, dist::kPinnedAttr,
                           dist::kSplitAttr, kValueNamesAttr})
      result.getDefiningOp()->removeDiscardableAttr(name);
  return results;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

void LocalValues::addForm(Value global, const TensorSharding &sharding, Value local) {
  forms[global].push_back({sharding, local});
}

const WeightView *LocalValues::getView(Value global) const {
  auto found = views.find(global);
  return found == views.end() ? nullptr : &found->second;
}

std::optional<TensorSharding> LocalValues::getPlace(Value global) const {
  auto found = places.find(global);
  return found == places.end() ? std::nullopt : std::optional(found->second);
}

ArrayRef<LocalForm> LocalValues::getForms(Value global) const {
  auto found = forms.find(global);
  return found == forms.end() ? ArrayRef<LocalForm>() : found->second;
}

Value LocalValues::get(Value global, const TensorSharding &wanted) {
  for (const LocalForm &form : getForms(global))
    if (form.sharding == wanted)
      return form.local;
  if (const WeightView *view = getView(global)) {
    std::optional<TensorSharding> place = getPlace(global);
    if (place && *place != wanted) {
      get(global, *place);
      return reshard(global, wanted);
    }
    Value local = load(global.getLoc(), global.getType(), *view, wanted);
    addForm(global, wanted, local);
    return local;
  }
  if (isSource(global))
    if (Value local = rebuild(global, wanted))
      return local;
  return reshard(global, wanted);
}

Operation *LocalValues::findLastToCut(Value global, RankedTensorType part) const {
  Operation *last = nullptr;
  for (const LocalForm &form : getForms(global)) {
    Operation *made = form.local.getDefiningOp();
    auto type = cast<RankedTensorType>(form.local.getType());
    if (!made || getView(global) ||
        (!isa<dist::SliceOp>(made) && type.getNumElements() <= part.getNumElements()))
      return nullptr;
    if (!last || last->isBeforeInBlock(made))
      last = made;
  }
  return last;
}

Value LocalValues::load(Location loc, Type type, const WeightView &view,
                        const TensorSharding &sharding) {
  return dist::LoadShardOp::create(
      builder, loc, localType(type, sharding), view.weight, builder.getI64IntegerAttr(view.start),
      builder.getDenseI64ArrayAttr(view.shape), builder.getDenseI64ArrayAttr(view.strides),
      toAttr(builder.getContext(), sharding, mesh));
}

/// Builds an operation without operands in the wanted sharding, or, where its rule does not split
/// so, whole.
Value LocalValues::rebuild(Value global, const TensorSharding &wanted) {
  Operation *op = global.getDefiningOp();
  FactorRule rule = cast<FactorRuleOpInterface>(op).getFactorRule();
  std::optional<FactorAxes> split = splitSource(rule, wanted);
  TensorSharding sharding = split ? wanted : TensorSharding::replicated(wanted.dims.size());
  for (const LocalForm &form : getForms(global))
    if (form.sharding == sharding)
      return nullptr;
  SmallVector<Value> results =
      buildShard(builder, op, rule, split.value_or(FactorAxes(rule.factors.size())), {},
                 Type(localType(global.getType(), sharding)), mesh);
  addForm(global, sharding, results.front());
  return split ? results.front() : Value();
}

/// Emits the collective of a step.
static Value emitCollective(OpBuilder &builder, Location loc, Value value, RankedTensorType type,
                            const ReshardStep &step, ReduceKind kind, const MeshShape &mesh) {
  MLIRContext *context = builder.getContext();
  auto grid = FlatSymbolRefAttr::get(context, mesh.name);
  ArrayAttr axes = toAxesAttr(context, step.axes, mesh);
  IntegerAttr dim = builder.getI64IntegerAttr(step.dim);
  auto reduction = dist::ReduceKindAttr::get(context, kind);
  switch (step.kind) {
  case ReshardKind::AllGather:
    return dist::AllGatherOp::create(builder, loc, type, value, dim, axes, grid);
  case ReshardKind::AllReduce:
    return dist::AllReduceOp::create(builder, loc, type, reduction, value, axes, grid);
  case ReshardKind::AllToAll:
    return dist::AllToAllOp::create(builder, loc, type, value, dim,
                                    builder.getI64IntegerAttr(step.concatDim), axes, grid);
  case ReshardKind::Permute:
    return dist::PermuteOp::create(builder, loc, type, value, axes,
                                   toAxesAttr(context, step.to, mesh), grid);
  case ReshardKind::ReduceScatter:
    return dist::ReduceScatterOp::create(builder, loc, type, reduction, value, dim, axes, grid);
  case ReshardKind::Slice:
    return dist::SliceOp::create(builder, loc, type, value, dim, axes, grid);
  }
  return nullptr;
}

/// Makes a dimension longer, by zeros, or shorter.
static Value resize(OpBuilder &builder, Value value, unsigned dim, int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t more = size - type.getDimSize(dim);
  if (more == 0)
    return value;
  SmallVector<int64_t> none(type.getRank(), 0), high = none, shape(type.getShape());
  if (more < 0) {
    shape[dim] = size;
    return SliceOp::create(builder, value.getLoc(), type.clone(shape), value, none,
                           SmallVector<int64_t>(type.getRank(), 1));
  }
  high[dim] = more;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero =
      ConstantOp::create(builder, value.getLoc(), cast<ElementsAttr>(builder.getZeroAttr(scalar)));
  return PadOp::create(builder, value.getLoc(), value, zero, none, high);
}

/// Emits one collective. All blocks of one are alike; what is behind the end of the last ones of a
/// padded dimension is put there before it is cut, and cut off after it is joined.
static Value emit(OpBuilder &builder, Location loc, Value value, RankedTensorType type,
                  const ReshardStep &step, ReduceKind kind, const MeshShape &mesh) {
  int64_t ranks = blocks(step.axes);
  bool cuts = llvm::is_contained(
      {ReshardKind::AllToAll, ReshardKind::ReduceScatter, ReshardKind::Slice}, step.kind);
  if (cuts)
    value = resize(builder, value, step.dim, type.getDimSize(step.dim) * ranks);
  bool exchanges = step.kind == ReshardKind::AllToAll;
  if (!exchanges && step.kind != ReshardKind::AllGather)
    return emitCollective(builder, loc, value, type, step, kind, mesh);
  unsigned joined = exchanges ? step.concatDim : step.dim;
  SmallVector<int64_t> shape(type.getShape());
  shape[joined] = cast<RankedTensorType>(value.getType()).getDimSize(joined) * ranks;
  value = emitCollective(builder, loc, value, type.clone(shape), step, kind, mesh);
  return resize(builder, value, joined, type.getDimSize(joined));
}

/// Bytes of an element in memory: i1 takes one.
static int64_t elementBytes(Type type) {
  return (cast<ShapedType>(type).getElementTypeBitWidth() + 7) / 8;
}

Value LocalValues::reshard(Value global, const TensorSharding &wanted) {
  auto type = cast<RankedTensorType>(global.getType());
  std::optional<ReshardPath> best;
  LocalForm from;
  for (const LocalForm &form : getForms(global)) {
    std::optional<ReshardPath> path =
        findReshardPath(mesh, type.getShape(), elementBytes(type), form.sharding, wanted);
    if (path && (!best || path->bytes < best->bytes)) {
      best = path;
      from = form;
    }
  }
  if (!best)
    return nullptr;
  Value value = from.local;
  for (const ReshardStep &step : best->steps) {
    value = emit(builder, global.getLoc(), value, localType(type, step.after), step,
                 from.sharding.reduction, mesh);
    addForm(global, step.after, value);
  }
  return value;
}
