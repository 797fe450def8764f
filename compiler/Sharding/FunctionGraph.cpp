#include "compiler/Sharding/FunctionGraph.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Bytes of an element in storage: i1 takes one.
static int64_t elementBytes(Type type) {
  return type.isIntOrFloat() ? (type.getIntOrFloatBitWidth() + 7) / 8 : 8;
}

FunctionGraph::FunctionGraph(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (isa<RankedTensorType>(argument.getType())) {
      auto &tensor = graph.tensors[add(argument)];
      tensor.input = tensor.varying = true;
      tensor.integral = getElementTypeOrSelf(argument.getType()).isIntOrIndex();
    }
  if (auto module = function->getParentOfType<ModuleOp>())
    for (auto weight : module.getOps<WeightOp>())
      if (isChanged(weight.getKind())) {
        states.try_emplace(weight.getSymName());
        if (weight.getKind() == WeightKind::Trained)
          parameters.try_emplace(weight.getSymName());
      }
  findComputing(body);
  graph.nodes.reserve(body.getOperations().size());
  for (Operation &op : body)
    addOperation(op);
  for (auto store : body.getOps<StoreOp>())
    addStore(store);
  for (Value result : body.getTerminator()->getOperands())
    if (auto found = tensors.find(result); found != tensors.end())
      graph.tensors[found->second].output = true;
}

void FunctionGraph::findComputing(Block &body) {
  for (Operation &op : llvm::reverse(body)) {
    bool isUsed = op.hasTrait<OpTrait::IsTerminator>() || computing.contains(&op);
    for (Value operand :
         isUsed ? op.getOperands() : OperandRange(op.operand_end(), op.operand_end()))
      if (Operation *maker = operand.getDefiningOp())
        computing.insert(maker);
  }
}

unsigned FunctionGraph::add(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned index = graph.addTensor(type.getShape(), elementBytes(type.getElementType()));
  values.push_back(value);
  tensors[value] = index;
  return index;
}

void FunctionGraph::addOperation(Operation &op) {
  SmallVector<unsigned> operands, results;
  for (Value operand : op.getOperands())
    if (auto found = tensors.find(operand); found != tensors.end())
      operands.push_back(found->second);
  for (Value result : op.getResults())
    if (isa<RankedTensorType>(result.getType()))
      results.push_back(add(result));
  if (auto load = dyn_cast<LoadOp>(op))
    addLoad(load, results.front());
  auto interface = dyn_cast<FactorRuleOpInterface>(op);
  if (!interface || results.empty())
    return;
  FactorRule rule = interface.getFactorRule();
  if (rule.operands.size() != operands.size() || rule.results.size() != results.size())
    return;
  bool view = isa<CastOp, ReshapeOp, SliceOp, TransposeOp>(op);
  graph.addNode(std::move(rule), operands, results, view);
  operations.push_back(&op);
}

/// A state is no weight, whose every use may read its own part: it has one place, and changes.
void FunctionGraph::addLoad(LoadOp load, unsigned tensor) {
  auto state = states.find(load.getWeight());
  auto parameter = parameters.find(load.getWeight());
  bool computes = parameter != parameters.end() && computing.contains(load);
  if (computes)
    parameter->second.push_back(tensor);
  else if (state != states.end())
    state->second.push_back(tensor);
  graph.tensors[tensor].weight = computes || state == states.end();
  graph.tensors[tensor].varying = !graph.tensors[tensor].weight;
}

void FunctionGraph::addStore(StoreOp store) {
  auto state = states.find(store.getWeight());
  auto stored = tensors.find(store.getValue());
  if (state == states.end() || stored == tensors.end())
    return;
  SmallVector<unsigned> alike(parameters.lookup(store.getWeight()));
  state->second.push_back(stored->second);
  llvm::append_range(alike, state->second);
  FactorRule rule = store.getFactorRule();
  rule.operands.resize(alike.size(), TensorFactors(rule.operands.front()));
  graph.addNode(std::move(rule), alike, {});
  operations.push_back(store);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

MeshShape weft::getMeshShape(dist::MeshOp mesh) {
  MeshShape shape;
  shape.name = mesh.getSymName().str();
  for (auto axis : mesh.getAxes().getAsRange<dist::MeshAxisAttr>())
    shape.axes.push_back({axis.getName().str(), axis.getSize()});
  return shape;
}

static AxisList fromAttrs(ArrayRef<dist::AxisRefAttr> axes, const MeshShape &mesh) {
  AxisList list;
  for (dist::AxisRefAttr axis : axes) {
    unsigned index = *mesh.find(axis.getName());
    append(list, axis.isFullAxis() ? fullAxis(mesh, index)
                                   : AxisRef{index, axis.getPre(), axis.getSize()});
  }
  return list;
}

AxisList weft::fromDimAttr(dist::DimShardingAttr attr, const MeshShape &mesh) {
  AxisList axes = fromAttrs(attr.getAxes(), mesh);
  axes.unit = attr.getUnit();
  return axes;
}

TensorSharding weft::fromAttr(dist::ShardingAttr attr, const MeshShape &mesh) {
  TensorSharding sharding;
  for (dist::DimShardingAttr dim : attr.getDims())
    sharding.dims.push_back(fromDimAttr(dim, mesh));
  sharding.partial = fromAttrs(attr.getPartial(), mesh);
  sharding.reduction = attr.getReduction();
  return sharding;
}

static SmallVector<dist::AxisRefAttr> toAttrs(MLIRContext *context, ArrayRef<AxisRef> axes,
                                              const MeshShape &mesh) {
  SmallVector<dist::AxisRefAttr> attrs;
  for (AxisRef ref : axes) {
    const MeshAxis &axis = mesh.axes[ref.axis];
    bool whole = ref.pre == 1 && ref.size == axis.size;
    attrs.push_back(
        dist::AxisRefAttr::get(context, axis.name, whole ? 0 : ref.pre, whole ? 0 : ref.size));
  }
  return attrs;
}

ArrayAttr weft::toAxesAttr(MLIRContext *context, ArrayRef<AxisRef> axes, const MeshShape &mesh) {
  SmallVector<dist::AxisRefAttr> attrs = toAttrs(context, axes, mesh);
  return ArrayAttr::get(context, SmallVector<Attribute>(attrs.begin(), attrs.end()));
}

dist::DimShardingAttr weft::toDimAttr(MLIRContext *context, const AxisList &axes,
                                      const MeshShape &mesh) {
  return dist::DimShardingAttr::get(context, toAttrs(context, axes, mesh), axes.unit);
}

AxisList weft::fromAxesAttr(ArrayAttr axes, const MeshShape &mesh) {
  SmallVector<dist::AxisRefAttr> refs;
  for (auto axis : axes.getAsRange<dist::AxisRefAttr>())
    refs.push_back(axis);
  return fromAttrs(refs, mesh);
}

dist::ShardingAttr weft::toAttr(MLIRContext *context, const TensorSharding &sharding,
                                const MeshShape &mesh) {
  SmallVector<dist::DimShardingAttr> dims;
  for (const AxisList &dim : sharding.dims)
    dims.push_back(toDimAttr(context, dim, mesh));
  return dist::ShardingAttr::get(context, FlatSymbolRefAttr::get(context, mesh.name), dims,
                                 toAttrs(context, sharding.partial, mesh), sharding.reduction);
}
