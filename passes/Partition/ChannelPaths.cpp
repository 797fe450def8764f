#include "passes/Partition/ChannelPaths.h"

#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/Transfer.h"
#include "dialects/Dist/IR/Sharding.h"

#include <map>

using namespace mlir;
using namespace weft;

/// How a value is annotated, reduced; replicated where it is not.
static TensorSharding getAnnotated(Value value, const MeshShape &mesh) {
  if (dist::ShardingAttr attr = dist::getSharding(value))
    return fromAttr(attr.withoutPartial(), mesh);
  return TensorSharding::replicated(cast<ShapedType>(value.getType()).getRank());
}

/// Whether a block of `wanted` is a part of the block of `given`, so that it costs nothing; less
/// is reduced where the value is partial.
static bool refines(const TensorSharding &wanted, const TensorSharding &given) {
  return llvm::all_of(llvm::zip_equal(wanted.dims, given.dims), [](auto dims) {
    return rest(std::get<0>(dims), std::get<1>(dims)).has_value();
  });
}

void ChannelPaths::annotate(const Channel &channel) {
  Part &from = parts.parts[channel.from], &to = parts.parts[channel.to];
  Value value = from.function.getBody().front().getTerminator()->getOperand(channel.result);
  places.push_back(value.getLoc());
  MeshShape source = getMeshShape(from.mesh), target = getMeshShape(to.mesh);
  auto type = cast<RankedTensorType>(value.getType());
  TransferPath path{getAnnotated(value, source), {}};
  TensorSharding wanted =
      getAnnotated(to.function.getArgument(channel.argument), getMeshShape(to.mesh));
  if (from.mesh.hasSameDevices(to.mesh))
    path.source = path.target = refines(wanted, path.source) ? wanted : path.source;
  else
    path = findTransferPath(source, target, type.getShape(),
                            (type.getElementTypeBitWidth() + 7) / 8, path.source, wanted);
  MLIRContext *context = value.getContext();
  from.function.setResultAttr(channel.result, dist::kShardingAttr,
                              toAttr(context, path.source, source));
  to.function.setArgAttr(channel.argument, dist::kArrivalAttr,
                         toAttr(context, path.target, target));
}

void ChannelPaths::annotate() {
  for (auto [number, channel] : llvm::enumerate(parts.channels)) {
    incoming[{channel.to, channel.argument}] = number;
    annotate(channel);
  }
  annotateInputs();
}

/// Devices are given an input once: as the first of the parts on them reads it.
void ChannelPaths::annotateInputs() {
  std::map<std::pair<int64_t, unsigned>, TensorSharding> first; // by device and argument of @main
  for (Part part : parts.parts)
    for (auto [operand, argument] :
         llvm::zip_equal(part.call ? ValueRange(part.call.getOperands()) : ValueRange(),
                         part.call ? ValueRange(part.function.getArguments()) : ValueRange())) {
      auto input = dyn_cast<BlockArgument>(operand);
      if (!input)
        continue;
      MeshShape mesh = getMeshShape(part.mesh);
      TensorSharding wanted = getAnnotated(argument, mesh);
      auto [known, isNew] =
          first.try_emplace({part.mesh.getFirstDevice(), input.getArgNumber()}, wanted);
      if (!isNew && known->second != wanted)
        part.function.setArgAttr(cast<BlockArgument>(argument).getArgNumber(), dist::kArrivalAttr,
                                 toAttr(argument.getContext(), known->second, mesh));
    }
}

Value ChannelPaths::getOperand(OpBuilder &builder, Block &body, unsigned part, unsigned argument) {
  func::FuncOp function = parts.parts[part].function;
  Type type = function.getArgumentTypes()[argument];
  auto found = incoming.find({part, argument});
  if (found == incoming.end()) {
    attributes.push_back(function.getArgAttrDict(argument));
    return body.addArgument(type, function.getArgument(argument).getLoc());
  }
  const Channel &channel = parts.channels[found->second];
  Part &from = parts.parts[channel.from];
  Value value = channel.from < calls.size()
                    ? calls[channel.from].getResult(channel.result)
                    : dist::ResultOfOp::create(builder, places[found->second],
                                               from.function.getResultTypes()[channel.result],
                                               from.function.getSymName(), channel.result)
                          .getResult();
  if (from.mesh == parts.parts[part].mesh)
    return value;
  return dist::TransferOp::create(
      builder, places[found->second], type, value,
      from.function.getResultAttrOfType<dist::ShardingAttr>(channel.result, dist::kShardingAttr),
      function.getArgAttrOfType<dist::ShardingAttr>(argument, dist::kShardingAttr));
}

void ChannelPaths::rewriteMain() {
  func::FuncOp main = parts.main;
  auto *body = new Block();
  OpBuilder builder(main.getContext());
  builder.setInsertionPointToStart(body);
  for (auto [number, part] : llvm::enumerate(parts.parts)) {
    SmallVector<Value> operands;
    for (unsigned argument = 0; argument < part.function.getNumArguments(); ++argument)
      operands.push_back(getOperand(builder, *body, number, argument));
    calls.push_back(func::CallOp::create(builder, part.call.getLoc(), part.function, operands));
  }
  llvm::DenseMap<Value, std::pair<Value, DictionaryAttr>> outputs; // by the old calls' results
  for (auto [part, call] : llvm::zip_equal(parts.parts, calls))
    for (auto [index, old, now] : llvm::enumerate(part.call.getResults(), call.getResults()))
      outputs[old] = {now, part.function.getResultAttrDict(index)};
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttrs;
  for (auto [number, old] :
       llvm::enumerate(main.getBody().front().getTerminator()->getOperands())) {
    auto [value, attrs] = outputs.lookup(old);
    NamedAttrList merged(main.getResultAttrDict(number));
    for (StringRef name : {dist::kShardingAttr, dist::kGlobalTypeAttr})
      if (Attribute attr = attrs.get(name))
        merged.set(name, attr);
    results.push_back(value);
    resultAttrs.push_back(merged.getDictionary(main.getContext()));
  }
  func::ReturnOp::create(builder, main.getLoc(), results);
  main.getBody().getBlocks().clear();
  main.getBody().push_back(body);
  main.setType(builder.getFunctionType(body->getArgumentTypes(), ValueRange(results).getTypes()));
  main.setAllArgAttrs(attributes);
  main.setAllResultAttrs(resultAttrs);
  for (auto [part, call] : llvm::zip_equal(parts.parts, calls))
    part.call = call;
}
