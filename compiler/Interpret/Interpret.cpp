#include "compiler/Interpret/Interpret.h"

#include "compiler/Interpret/Collectives.h"
#include "compiler/Interpret/Evaluate.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/SourceName.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace mlir;
using namespace weft;
using namespace weft::dist;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static llvm::Expected<Tensor> readFile(WeightOp weight, ExternalAttr external) {
  SmallString<128> path(external.getPath());
  auto module = weight->getParentOfType<ModuleOp>();
  auto source = module ? module->getAttrOfType<StringAttr>("weft.source") : StringAttr();
  if (source && llvm::sys::path::is_relative(path)) {
    path = llvm::sys::path::parent_path(source);
    llvm::sys::path::append(path, external.getPath());
  }
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, external.getLength(), external.getOffset());
  if (std::error_code error = buffer.getError())
    return interpretError("weight @" + weight.getSymName() + ": " + path + ": " + error.message());
  StringRef bytes = (*buffer)->getBuffer();
  return Tensor::fromBytes(cast<RankedTensorType>(weight.getType()), {bytes.data(), bytes.size()});
}

llvm::Expected<Tensor> weft::readStoredWeight(WeightOp weight) {
  if (auto external = dyn_cast<ExternalAttr>(weight.getStorage()))
    return readFile(weight, external);
  if (auto elements = dyn_cast<ElementsAttr>(weight.getStorage()))
    return Tensor::fromElements(elements);
  return interpretError("weight @" + weight.getSymName() + " has an unknown form of storage");
}

//===----------------------------------------------------------------------===//
// Running functions
//===----------------------------------------------------------------------===//

namespace {
/// Runs functions for all ranks in lockstep; a model is a program of one rank and no mesh. Parts of
/// a partitioned program run on the ranks of the meshes that they name.
class Machine {
public:
  using Values = llvm::Expected<SmallVector<RankValues>>;

  Machine(ModuleOp module, bool isPartitioned, MeshOp mesh, WeightReader reader, StateValues *state)
      : symbols(module), isPartitioned(isPartitioned), reader(reader), state(state) {
    enter(mesh);
  }

  Values runFunction(StringRef name, ArrayRef<RankValues> inputs) {
    auto function = symbols.lookup<func::FuncOp>(name);
    if (!function || function.isExternal())
      return interpretError("the module has no function @" + name);
    Values results = run(function, inputs);
    if (results && state)
      for (auto &[name, value] : stored)
        (*state)[name] = value;
    return results;
  }

private:
  void enter(MeshOp next) {
    mesh = next;
    ranks = mesh ? mesh.getNumDevices() : 1;
  }
  Values run(func::FuncOp function, ArrayRef<RankValues> arguments);
  Values step(Operation *op, ArrayRef<RankValues> operands);
  Values evaluateRanks(Operation *op, ArrayRef<RankValues> operands);
  Values call(func::CallOp op, ArrayRef<RankValues> operands);
  Values map(MapOp op, ArrayRef<RankValues> operands);
  Values transfer(TransferOp op, const RankValues &shards);
  llvm::Error store(StoreShardOp op, const RankValues &shards);
  llvm::Expected<Tensor> weight(WeightOp op);

  SymbolTable symbols;
  bool isPartitioned;
  MeshOp mesh; ///< of the function at hand
  int64_t ranks = 1;
  WeightReader reader;
  StateValues *state;                          ///< at the step's start; null: as `reader` gives it
  std::map<std::string, Tensor> stored;        ///< by symbol, until the step's end
  llvm::DenseMap<Operation *, Tensor> weights; ///< those read so far
  int depth = 0;                               ///< of calls
};

/// The values of a function's body, dropped after their last use.
class Frame {
public:
  void define(Value value, RankValues values) {
    if (!value.use_empty())
      live.try_emplace(value,
                       Entry{std::move(values), std::distance(value.use_begin(), value.use_end())});
  }
  /// The operands' values of an operation; each use counts.
  SmallVector<RankValues> take(Operation *op) {
    SmallVector<RankValues> operands;
    for (Value operand : op->getOperands()) {
      auto entry = live.find(operand);
      operands.push_back(entry->second.values);
      if (--entry->second.uses == 0)
        live.erase(entry);
    }
    return operands;
  }

private:
  struct Entry {
    RankValues values;
    int64_t uses;
  };
  llvm::DenseMap<Value, Entry> live;
};
} // namespace

/// Says where an error arose: the operation and its source name.
static llvm::Error located(Operation *op, llvm::Error error) {
  StringRef source = getSourceName(op->getLoc());
  return interpretError(op->getName().getStringRef() + (source.empty() ? "" : " '" + source + "'") +
                        ": " + llvm::toString(std::move(error)));
}

Machine::Values Machine::run(func::FuncOp function, ArrayRef<RankValues> arguments) {
  if (arguments.size() != function.getNumArguments())
    return interpretError("expected as many inputs as @" + function.getName() +
                          " has arguments, got: " + llvm::Twine(arguments.size()) +
                          " != " + llvm::Twine(function.getNumArguments()));
  Frame frame;
  for (auto [argument, values] : llvm::zip_equal(function.getArguments(), arguments)) {
    for (const Tensor &value : values)
      if (value.type() != argument.getType())
        return interpretError("input " + llvm::Twine(argument.getArgNumber()) + " of @" +
                              function.getName() + " is not of its argument's type");
    frame.define(argument, values);
  }
  for (Operation &op : function.front()) {
    SmallVector<RankValues> operands = frame.take(&op);
    if (isa<func::ReturnOp>(op))
      return operands;
    Values results = step(&op, operands);
    if (!results)
      return located(&op, results.takeError());
    for (auto [result, values] : llvm::zip_equal(op.getResults(), *results))
      frame.define(result, std::move(values));
  }
  return interpretError("@" + function.getName() + " does not return");
}

Machine::Values Machine::step(Operation *op, ArrayRef<RankValues> operands) {
  if (auto callOp = dyn_cast<func::CallOp>(op))
    return call(callOp, operands);
  if (auto mapOp = dyn_cast<MapOp>(op))
    return map(mapOp, operands);
  if (auto load = dyn_cast<LoadOp>(op)) {
    auto weightOp = symbols.lookup<WeightOp>(load.getWeight());
    if (!weightOp)
      return interpretError("weight @" + load.getWeight() + " is not in the module");
    llvm::Expected<Tensor> value = weight(weightOp);
    if (!value)
      return value.takeError();
    return SmallVector<RankValues>{RankValues(ranks, *value)};
  }
  if (auto storeOp = dyn_cast<StoreOp>(op)) {
    stored[storeOp.getWeight().str()] = operands.front().front();
    return SmallVector<RankValues>();
  }
  if (!isa_and_present<DistDialect>(op->getDialect()))
    return evaluateRanks(op, operands);
  if (auto reduction = dyn_cast<CrossMeshAllReduceOp>(op); reduction && !isPartitioned) {
    SmallVector<Tensor> values;
    for (const RankValues &operand : operands)
      values.push_back(operand.front());
    Tensor joined = joinTensors(reduction.getReduction(), values);
    return SmallVector<RankValues>(operands.size(), RankValues{joined});
  }
  if (auto transferOp = dyn_cast<TransferOp>(op); transferOp && isPartitioned)
    return transfer(transferOp, operands.front());
  if (!mesh)
    return interpretError("a model has no operations on a mesh");
  if (auto storeOp = dyn_cast<StoreShardOp>(op)) {
    if (llvm::Error error = store(storeOp, operands.front()))
      return error;
    return SmallVector<RankValues>();
  }
  llvm::Expected<RankValues> result =
      evaluateDist(op, mesh, operands.empty() ? ArrayRef<Tensor>() : operands.front(),
                   [&](WeightOp symbol) { return weight(symbol); });
  if (!result)
    return result.takeError();
  return SmallVector<RankValues>{std::move(*result)};
}

/// Whether two ranks hold the very same memory for every operand.
static bool sameOperands(ArrayRef<RankValues> operands, int64_t a, int64_t b) {
  return llvm::all_of(
      operands, [&](const RankValues &values) { return values[a].data() == values[b].data(); });
}

Machine::Values Machine::evaluateRanks(Operation *op, ArrayRef<RankValues> operands) {
  SmallVector<RankValues> results(op->getNumResults());
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (rank > 0 && sameOperands(operands, rank, rank - 1)) {
      for (RankValues &result : results)
        result.push_back(result.back());
      continue;
    }
    SmallVector<Tensor> own;
    for (const RankValues &values : operands)
      own.push_back(values[rank]);
    llvm::Expected<SmallVector<Tensor>> values = evaluate(op, own);
    if (!values)
      return mesh ? interpretError("rank " + llvm::Twine(rank) + ": " +
                                   llvm::toString(values.takeError()))
                  : values.takeError();
    for (auto [result, value] : llvm::zip_equal(results, *values))
      result.push_back(std::move(value));
  }
  return results;
}

Machine::Values Machine::call(func::CallOp op, ArrayRef<RankValues> operands) {
  auto callee = symbols.lookup<func::FuncOp>(op.getCallee());
  if (!callee || callee.isExternal())
    return interpretError("function @" + op.getCallee() + " is not in the module");
  if (depth == 16)
    return interpretError("calls nest too deeply");
  MeshOp outer = mesh;
  if (auto name = callee->getAttrOfType<FlatSymbolRefAttr>(kMeshAttr); name && isPartitioned)
    enter(symbols.lookup<MeshOp>(name.getAttr()));
  ++depth;
  Values results = run(callee, operands);
  --depth;
  enter(outer);
  return results;
}

/// Runs what it is written out in.
Machine::Values Machine::map(MapOp op, ArrayRef<RankValues> operands) {
  auto function = symbols.lookup<func::FuncOp>(op.getFunction());
  if (!function || function.isExternal())
    return interpretError("function @" + op.getFunction() + " is not in the module");
  auto type = FunctionType::get(op.getContext(), op.getOperandTypes(), op.getResultTypes());
  OwningOpRef<func::FuncOp> written = func::FuncOp::create(op.getLoc(), op.getFunction(), type);
  ImplicitLocOpBuilder b(op.getLoc(), OpBuilder::atBlockEnd(written->addEntryBlock()));
  ArrayRef<int64_t> shape = cast<ShapedType>(op.getResult(0).getType()).getShape();
  func::ReturnOp::create(b, mapElements(b, function, written->getArguments(), shape));
  return run(*written, operands);
}

/// The value as a whole, cut as the other mesh has it.
Machine::Values Machine::transfer(TransferOp op, const RankValues &shards) {
  auto from = symbols.lookup<MeshOp>(op.getFrom().getMesh().getAttr());
  auto to = symbols.lookup<MeshOp>(op.getTo().getMesh().getAttr());
  SmallVector<int64_t> shape(op.getInput().getType().getShape());
  for (auto [size, dim] : llvm::zip_equal(shape, op.getFrom().getDims()))
    size *= from.getSize(dim.getAxes());
  llvm::Expected<Tensor> whole =
      assemble(shards, from, op.getFrom(), op.getInput().getType().clone(shape));
  if (!whole)
    return whole.takeError();
  return SmallVector<RankValues>{shardsOf(*whole, to, op.getTo())};
}

llvm::Error Machine::store(StoreShardOp op, const RankValues &shards) {
  auto symbol = symbols.lookup<WeightOp>(op.getWeight());
  if (!symbol)
    return interpretError("weight @" + op.getWeight() + " is not in the module");
  llvm::Expected<Tensor> whole =
      assemble(shards, mesh, op.getSharding(), cast<RankedTensorType>(symbol.getType()));
  if (!whole)
    return whole.takeError();
  stored[op.getWeight().str()] = *whole;
  return llvm::Error::success();
}

llvm::Expected<Tensor> Machine::weight(WeightOp op) {
  Tensor &known = weights[op];
  if (known)
    return known;
  auto stored = state ? state->find(op.getSymName()) : StateValues::iterator();
  llvm::Expected<Tensor> value = state && stored != state->end() ? stored->second : reader(op);
  if (!value)
    return value.takeError();
  if (value->type() != op.getType())
    return interpretError("the value of weight @" + op.getSymName() + " is not of its type");
  return known = *value;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

llvm::Expected<SmallVector<Tensor>> weft::interpret(ModuleOp module, ArrayRef<Tensor> inputs,
                                                    WeightReader weights, StringRef function,
                                                    StateValues *state) {
  SmallVector<RankValues> values;
  for (const Tensor &input : inputs)
    values.push_back({input});
  auto results = Machine(module, /*isPartitioned=*/false, MeshOp(), weights, state)
                     .runFunction(function, values);
  if (!results)
    return results.takeError();
  SmallVector<Tensor> outputs;
  for (RankValues &result : *results)
    outputs.push_back(std::move(result.front()));
  return outputs;
}

llvm::Expected<SmallVector<RankValues>> weft::interpretSpmd(ModuleOp module, MeshOp mesh,
                                                            ArrayRef<RankValues> inputs,
                                                            WeightReader weights,
                                                            StateValues *state) {
  return Machine(module, /*isPartitioned=*/true, mesh, weights, state).runFunction("main", inputs);
}

/// The sharding and global type that an argument's or result's attributes state.
static llvm::Expected<std::pair<ShardingAttr, RankedTensorType>>
boundary(DictionaryAttr attributes) {
  auto sharding = attributes ? attributes.getAs<ShardingAttr>(kShardingAttr) : ShardingAttr();
  auto type = attributes ? attributes.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr();
  if (!sharding || !type)
    return interpretError("expected dist.sharding and weft.global_type on every argument and "
                          "result of @main");
  return std::pair(sharding, cast<RankedTensorType>(type.getValue()));
}

llvm::Expected<SmallVector<Tensor>> weft::interpretPartitioned(ModuleOp module,
                                                               ArrayRef<Tensor> inputs,
                                                               WeightReader weights,
                                                               StateValues *state) {
  SymbolTable symbols(module);
  auto meshes = llvm::to_vector(module.getOps<MeshOp>());
  auto main = symbols.lookup<func::FuncOp>("main");
  if (meshes.empty() || !main)
    return interpretError("expected a module with a mesh and a function @main");
  auto meshOf = [&](ShardingAttr sharding) {
    return symbols.lookup<MeshOp>(sharding.getMesh().getAttr());
  };
  if (inputs.size() != main.getNumArguments())
    return interpretError("expected one input per argument of @main");
  SmallVector<RankValues> values;
  for (auto [index, input] : llvm::enumerate(inputs)) {
    auto described = boundary(main.getArgAttrDict(index));
    if (!described)
      return described.takeError();
    if (input.type() != described->second)
      return interpretError("input " + llvm::Twine(index) + " is not of its global type");
    values.push_back(shardsOf(input, meshOf(described->first), described->first));
  }
  auto results =
      interpretSpmd(module, meshes.size() == 1 ? meshes[0] : MeshOp(), values, weights, state);
  if (!results)
    return results.takeError();
  SmallVector<Tensor> outputs;
  for (auto [index, shards] : llvm::enumerate(*results)) {
    auto described = boundary(main.getResultAttrDict(index));
    if (!described)
      return described.takeError();
    auto output = assemble(shards, meshOf(described->first), described->first, described->second);
    if (!output)
      return interpretError("result " + llvm::Twine(index) + ": " +
                            llvm::toString(output.takeError()));
    outputs.push_back(std::move(*output));
  }
  return outputs;
}
