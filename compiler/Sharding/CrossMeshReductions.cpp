#include "compiler/Sharding/CrossMeshReductions.h"

#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/Transfer.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/TensorBuilder.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;
using dist::CrossMeshAllReduceOp;

namespace {
/// A result of a part. While parts get more results, their calls are made anew.
struct Source {
  func::FuncOp function;
  unsigned result = 0;

  Value get() const {
    return func::FuncOp(function).getBody().front().getTerminator()->getOperand(result);
  }
  bool operator==(const Source &) const = default;
};

/// Chunks of equal extent along a dimension.
struct Chunks {
  int64_t dim = 0, count = 1;
};

/// A part that joins or collects, while it fills.
struct JoiningPart {
  func::FuncOp function;
  SmallVector<Source> inputs; ///< by argument
  SmallVector<Value> results;
};

/// Reductions over the same meshes that stand together, none of which reads another's result.
class Expansion {
public:
  Expansion(func::FuncOp main, SmallVector<CrossMeshAllReduceOp> ops)
      : module(main->getParentOfType<ModuleOp>()), main(main), group(std::move(ops)),
        builder(main.getContext()) {
    for (Attribute name : group.front().getMeshes())
      meshes.push_back(dist::lookupMesh(main, cast<FlatSymbolRefAttr>(name)));
    for (auto call : main.getBody().front().getOps<func::CallOp>())
      calls[module.lookupSymbol(call.getCallee())] = call;
  }

  void run();

private:
  Source getSource(Value value);
  TensorSharding getSharding(const Source &source, unsigned mesh);
  TensorSharding getPieces(const Source &source, unsigned mesh, RankedTensorType type,
                           std::optional<unsigned> last = {});
  std::optional<Chunks> chooseChunks(CrossMeshAllReduceOp op);

  JoiningPart createPart(unsigned mesh, const char *what);
  Value addArgument(JoiningPart &part, Source input, unsigned mesh, const TensorSharding &sharding);
  Value addJoin(JoiningPart &part, CrossMeshAllReduceOp op, ArrayRef<Value> values);
  void finish(JoiningPart &part);
  func::CallOp refreshCall(func::FuncOp function);

  void reduceDirectly(CrossMeshAllReduceOp op);
  void reduceByChunks(CrossMeshAllReduceOp op, Chunks chunks);
  Source addChunk(const Source &whole, unsigned mesh, Chunks chunks, int64_t chunk);
  Source joinChunk(CrossMeshAllReduceOp op, Chunks chunks, int64_t chunk);
  Source collect(ArrayRef<Source> sums, unsigned mesh, Chunks chunks);

  ModuleOp module;
  func::FuncOp main;
  SmallVector<CrossMeshAllReduceOp> group;
  OpBuilder builder;
  SmallVector<dist::MeshOp> meshes;
  llvm::DenseMap<Operation *, func::CallOp> calls; ///< by function
  SmallVector<JoiningPart> joins, collections;     ///< by mesh: of the first step, of the second
  llvm::DenseMap<Value, Source> made;              ///< by result of a reduction
};
} // namespace

//===----------------------------------------------------------------------===//
// How values lie
//===----------------------------------------------------------------------===//

Source Expansion::getSource(Value value) {
  auto call = value.getDefiningOp<func::CallOp>();
  return {module.lookupSymbol<func::FuncOp>(call.getCallee()),
          cast<OpResult>(value).getResultNumber()};
}

/// How a part returns a value, reduced.
TensorSharding Expansion::getSharding(const Source &source, unsigned mesh) {
  if (dist::ShardingAttr attr = dist::getSharding(source.get()))
    return fromAttr(attr.withoutPartial(), getMeshShape(meshes[mesh]));
  return TensorSharding::replicated(cast<ShapedType>(source.get().getType()).getRank());
}

/// How a value of that type, what a part returns or a chunk of it, is sent and joined.
TensorSharding Expansion::getPieces(const Source &source, unsigned mesh, RankedTensorType type,
                                    std::optional<unsigned> last) {
  return divideAmongCopies(getMeshShape(meshes[mesh]), type.getShape(),
                           (type.getElementTypeBitWidth() + 7) / 8, getSharding(source, mesh),
                           last);
}

/// Chunks along the dimension that makes most of them, of those that no mesh splits.
std::optional<Chunks> Expansion::chooseChunks(CrossMeshAllReduceOp op) {
  RankedTensorType type = op.getType();
  int64_t bytes = type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
  if (meshes.size() == 2 || bytes < minGatheredBytes)
    return std::nullopt;
  Chunks best;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isSplit = false;
    for (auto [mesh, input] : llvm::enumerate(op.getInputs()))
      isSplit |= !getSharding(getSource(input), mesh).dims[dim].empty();
    auto count = static_cast<int64_t>(meshes.size());
    while (type.getDimSize(dim) % count != 0)
      --count;
    if (!isSplit && count > best.count)
      best = {dim, count};
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

JoiningPart Expansion::createPart(unsigned mesh, const char *what) {
  std::string name = llvm::formatv("{0}_{1}", what, meshes[mesh].getSymName());
  for (unsigned number = 1; module.lookupSymbol(name); ++number)
    name = llvm::formatv("{0}_{1}_{2}", what, meshes[mesh].getSymName(), number).str();
  builder.setInsertionPoint(main);
  auto function =
      func::FuncOp::create(builder, group.front().getLoc(), name, builder.getFunctionType({}, {}));
  function->setAttr(dist::kMeshAttr, FlatSymbolRefAttr::get(meshes[mesh].getSymNameAttr()));
  function->setAttr(dist::kPropagatedAttr, builder.getUnitAttr());
  function.getBody().emplaceBlock();
  func::ReturnOp::create(builder, function.getLoc())
      ->moveBefore(&function.getBody().front(), function.getBody().front().end());
  return {function, {}, {}};
}

Value Expansion::addArgument(JoiningPart &part, Source input, unsigned mesh,
                             const TensorSharding &sharding) {
  auto known = llvm::find(part.inputs, input);
  if (known != part.inputs.end())
    return part.function.getArgument(known - part.inputs.begin());
  unsigned number = part.inputs.size();
  part.inputs.push_back(input);
  Value value = input.get();
  (void)part.function.insertArgument(number, value.getType(), DictionaryAttr(), value.getLoc());
  Value argument = part.function.getArgument(number);
  dist::setSharding(argument, toAttr(builder.getContext(), sharding, getMeshShape(meshes[mesh])));
  return argument;
}

/// Joins values in their order.
Value Expansion::addJoin(JoiningPart &part, CrossMeshAllReduceOp op, ArrayRef<Value> values) {
  builder.setInsertionPoint(part.function.getBody().front().getTerminator());
  ImplicitLocOpBuilder at(op.getLoc(), builder);
  Value sum = values.front();
  for (Value value : values.drop_front()) {
    dist::ShardingAttr sharding = dist::getSharding(sum);
    sum = TensorBuilder(at).join(op.getReduction(), sum, value);
    dist::setSharding(sum, sharding);
  }
  return sum;
}

/// One more result of a function.
static Source addResult(func::FuncOp function, Value value) {
  unsigned number = function.getNumResults();
  Operation *end = function.getBody().front().getTerminator();
  end->insertOperands(number, value);
  (void)function.insertResult(number, value.getType(), DictionaryAttr());
  return {function, number};
}

/// The call of a function with all of its results.
func::CallOp Expansion::refreshCall(func::FuncOp function) {
  func::CallOp &call = calls[function];
  unsigned before = call.getNumResults();
  if (before == function.getNumResults())
    return call;
  builder.setInsertionPoint(call);
  auto longer = func::CallOp::create(builder, call.getLoc(), function, call.getOperands());
  call.replaceAllUsesWith(longer.getResults().take_front(before));
  call.erase();
  return call = longer;
}

/// Calls the part, where it does anything.
void Expansion::finish(JoiningPart &part) {
  if (part.function.getNumResults() == 0)
    return part.function.erase();
  SmallVector<Value> operands;
  for (const Source &input : part.inputs)
    operands.push_back(refreshCall(input.function).getResult(input.result));
  builder.setInsertionPoint(group.front());
  calls[part.function] =
      func::CallOp::create(builder, group.front().getLoc(), part.function, operands);
}

//===----------------------------------------------------------------------===//
// Ways to reduce
//===----------------------------------------------------------------------===//

/// Each mesh joins all values.
void Expansion::reduceDirectly(CrossMeshAllReduceOp op) {
  for (auto [mesh, output] : llvm::enumerate(op.getOutputs())) {
    if (output.use_empty())
      continue;
    TensorSharding pieces = getPieces(getSource(op.getInputs()[mesh]), mesh, op.getType());
    SmallVector<Value> values;
    for (Value input : op.getInputs())
      values.push_back(addArgument(joins[mesh], getSource(input), mesh, pieces));
    made[output] = addResult(joins[mesh].function, addJoin(joins[mesh], op, values));
  }
}

/// A chunk of what a part returns, as one more of its results.
Source Expansion::addChunk(const Source &whole, unsigned mesh, Chunks chunks, int64_t chunk) {
  if (chunks.count == 1)
    return whole;
  auto type = cast<RankedTensorType>(whole.get().getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1);
  shape[chunks.dim] /= chunks.count;
  starts[chunks.dim] = chunk * shape[chunks.dim];
  type = RankedTensorType::get(shape, type.getElementType());
  func::FuncOp function = whole.function;
  builder.setInsertionPoint(function.getBody().front().getTerminator());
  Value value = whole.get();
  Value slice = SliceOp::create(builder, value.getLoc(), type, value, starts, strides);
  dist::setSharding(slice, toAttr(builder.getContext(), getPieces(whole, mesh, type, chunks.dim),
                                  getMeshShape(meshes[mesh])));
  return addResult(function, slice);
}

/// The sum of a chunk, on the mesh of its number.
Source Expansion::joinChunk(CrossMeshAllReduceOp op, Chunks chunks, int64_t chunk) {
  JoiningPart &part = joins[chunk];
  SmallVector<Source> inputs;
  for (auto [mesh, input] : llvm::enumerate(op.getInputs()))
    inputs.push_back(addChunk(getSource(input), mesh, chunks, chunk));
  TensorSharding pieces = getSharding(inputs[chunk], chunk);
  if (chunks.count == 1)
    pieces = getPieces(inputs[chunk], chunk, op.getType());
  SmallVector<Value> values;
  for (const Source &input : inputs)
    values.push_back(addArgument(part, input, chunk, pieces));
  return addResult(part.function, addJoin(part, op, values));
}

/// The whole of the chunks' sums.
Source Expansion::collect(ArrayRef<Source> sums, unsigned mesh, Chunks chunks) {
  JoiningPart &part = collections[mesh];
  TensorSharding pieces = getSharding(sums[mesh % chunks.count], mesh % chunks.count);
  if (mesh >= chunks.count) // joins none itself
    pieces = getPieces(sums.front(), mesh, cast<RankedTensorType>(sums.front().get().getType()));
  pieces.dims[chunks.dim].clear();
  SmallVector<Value> values;
  for (const Source &sum : sums)
    values.push_back(addArgument(part, sum, mesh, pieces));
  builder.setInsertionPoint(part.function.getBody().front().getTerminator());
  Value whole = ConcatOp::create(builder, part.function.getLoc(), values, chunks.dim);
  dist::setSharding(whole, toAttr(builder.getContext(), pieces, getMeshShape(meshes[mesh])));
  return addResult(part.function, whole);
}

/// A mesh joins each chunk; then all are handed the sums.
void Expansion::reduceByChunks(CrossMeshAllReduceOp op, Chunks chunks) {
  SmallVector<Source> sums;
  for (int64_t chunk = 0; chunk < chunks.count; ++chunk)
    sums.push_back(joinChunk(op, chunks, chunk));
  for (auto [mesh, output] : llvm::enumerate(op.getOutputs()))
    if (!output.use_empty())
      made[output] = chunks.count == 1 ? sums.front() : collect(sums, mesh, chunks);
}

void Expansion::run() {
  for (unsigned mesh = 0; mesh < meshes.size(); ++mesh)
    joins.push_back(createPart(mesh, "join"));
  for (unsigned mesh = 0; mesh < meshes.size(); ++mesh)
    collections.push_back(createPart(mesh, "collect"));
  for (CrossMeshAllReduceOp op : group)
    if (std::optional<Chunks> chunks = chooseChunks(op))
      reduceByChunks(op, *chunks);
    else
      reduceDirectly(op);
  for (JoiningPart &part : joins)
    finish(part);
  for (JoiningPart &part : collections)
    finish(part);
  for (auto &[output, source] : made)
    Value(output).replaceAllUsesWith(calls[source.function].getResult(source.result));
  for (CrossMeshAllReduceOp op : group)
    op.erase();
}

/// The reduction, and those behind it that can share its parts.
static SmallVector<CrossMeshAllReduceOp> takeGroup(CrossMeshAllReduceOp first) {
  SmallVector<CrossMeshAllReduceOp> group{first};
  for (auto next = dyn_cast_or_null<CrossMeshAllReduceOp>(first->getNextNode());
       next && next.getMeshes() == first.getMeshes() &&
       llvm::none_of(next.getInputs(),
                     [](Value input) { return input.getDefiningOp<CrossMeshAllReduceOp>(); });
       next = dyn_cast_or_null<CrossMeshAllReduceOp>(next->getNextNode()))
    group.push_back(next);
  return group;
}

void weft::expandCrossMeshReductions(func::FuncOp main) {
  auto isReduction = [](Operation &op) { return isa<CrossMeshAllReduceOp>(op); };
  Block &body = main.getBody().front();
  for (auto first = llvm::find_if(body, isReduction); first != body.end();
       first = llvm::find_if(body, isReduction))
    Expansion(main, takeGroup(cast<CrossMeshAllReduceOp>(*first))).run();
}
