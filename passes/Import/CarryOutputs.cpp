#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Import/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSet.h"

namespace weft {
#define GEN_PASS_DEF_CARRYOUTPUTS
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// The outputs and inputs of @main by their names, and what becomes of them.
class Carrier {
public:
  explicit Carrier(func::FuncOp main)
      : main(main), symbols(main->getParentOfType<ModuleOp>()), builder(main.getContext()),
        carriedInputs(main.getNumArguments()), carriedOutputs(main.getNumResults()) {
    for (BlockArgument argument : main.getArguments())
      for (StringRef name : namesOf(argument))
        inputs.try_emplace(name, argument);
    for (WeightOp weight : main->getParentOfType<ModuleOp>().getOps<WeightOp>())
      for (StringRef name : getAllSourceNames(weight.getLoc()))
        weights.try_emplace(name, weight);
    for (const char *names : {"weft.name", "weft.path"}) // names come before paths of others
      for (unsigned index = 0; index < main.getNumResults(); ++index)
        if (auto name = main.getResultAttrOfType<StringAttr>(index, names))
          outputs.try_emplace(name.getValue(), index);
  }

  LogicalResult carry(StringRef pair);
  /// Removes what is carried from the signature.
  void finish();

private:
  SmallVector<StringRef> namesOf(BlockArgument argument) const;
  LogicalResult carry(StringRef output, StringRef input);
  LogicalResult carryPrefix(StringRef output, StringRef input);
  WeightOp findWeight(StringRef input) const;
  WeightOp replaceByState(BlockArgument argument);
  InFlightDiagnostic refuse() { return main.emitError() << "cannot carry outputs: "; }

  func::FuncOp main;
  SymbolTable symbols;
  OpBuilder builder;
  llvm::StringMap<BlockArgument> inputs;
  llvm::StringMap<WeightOp> weights; ///< by what they are called beside their symbols
  llvm::StringMap<unsigned> outputs;
  llvm::BitVector carriedInputs, carriedOutputs;
  llvm::StringSet<> states; ///< that are carried
};
} // namespace

SmallVector<StringRef> Carrier::namesOf(BlockArgument argument) const {
  SmallVector<StringRef> names = getAllSourceNames(argument.getLoc());
  auto attr = func::FuncOp(main).getArgAttrOfType<StringAttr>(argument.getArgNumber(), "weft.name");
  if (attr)
    names.insert(names.begin(), attr.getValue());
  return names;
}

/// The weight that an input is, where it has been given a value.
WeightOp Carrier::findWeight(StringRef input) const {
  auto weight = symbols.lookup<WeightOp>(input);
  return weight ? weight : weights.lookup(input);
}

/// A state that is zero at first takes an argument's place.
WeightOp Carrier::replaceByState(BlockArgument argument) {
  StringRef name = namesOf(argument).front();
  auto tensor = cast<RankedTensorType>(argument.getType());
  builder.setInsertionPoint(main);
  auto state =
      WeightOp::create(builder, NameLoc::get(builder.getStringAttr(name)), name, tensor,
                       DenseElementsAttr::get(tensor, builder.getZeroAttr(tensor.getElementType())),
                       WeightKind::State);
  symbols.insert(state);
  builder.setInsertionPointToStart(&main.getBody().front());
  Value load = LoadOp::create(builder, argument.getLoc(), tensor, state.getSymName());
  argument.replaceAllUsesWith(load);
  carriedInputs.set(argument.getArgNumber());
  return state;
}

LogicalResult Carrier::carry(StringRef output, StringRef input) {
  auto result = outputs.find(output);
  if (result == outputs.end())
    return refuse() << "the model has no output '" << output << "'";
  WeightOp state = findWeight(input);
  auto argument = inputs.find(input);
  if (!state && argument == inputs.end())
    return refuse() << "the model has no input '" << input << "'";
  StringRef name = state ? state.getSymName() : namesOf(argument->second).front();
  if (!states.insert(name).second)
    return refuse() << "input '" << input << "' is given twice";
  Value value = main.getBody().front().getTerminator()->getOperand(result->second);
  if (state)
    state.setKind(WeightKind::State);
  else
    state = replaceByState(argument->second);
  if (state.getType() != value.getType())
    return refuse() << "output '" << output << "' is " << value.getType() << ", but input '"
                    << input << "' is " << state.getType();
  // The value may be the state's own input, which a load replaced.
  value = main.getBody().front().getTerminator()->getOperand(result->second);
  builder.setInsertionPoint(main.getBody().front().getTerminator());
  StoreOp::create(builder, state.getLoc(), state.getSymName(), value);
  carriedOutputs.set(result->second);
  return success();
}

/// All outputs of a prefix, each to the input that is called the same behind the other prefix.
LogicalResult Carrier::carryPrefix(StringRef output, StringRef input) {
  SmallVector<StringRef> names;
  for (StringRef name : outputs.keys())
    if (name.starts_with(output))
      names.push_back(name);
  llvm::sort(names, [&](StringRef a, StringRef b) { return outputs[a] < outputs[b]; });
  if (names.empty())
    return refuse() << "the model has no output whose name begins with '" << output << "'";
  for (StringRef name : names)
    if (failed(carry(name, (input + name.drop_front(output.size())).str())))
      return failure();
  return success();
}

LogicalResult Carrier::carry(StringRef pair) {
  auto [output, input] = pair.split('=');
  bool ofPrefix = output.consume_back("*");
  if (ofPrefix != input.consume_back("*") || input.empty() || (output.empty() && !ofPrefix))
    return refuse() << "expected OUTPUT=INPUT, or a prefix of each with a trailing *, got: "
                    << pair;
  return ofPrefix ? carryPrefix(output, input) : carry(output, input);
}

void Carrier::finish() {
  main.getBody().front().getTerminator()->eraseOperands(carriedOutputs);
  (void)main.eraseResults(carriedOutputs);
  (void)main.eraseArguments(carriedInputs);
}

namespace {
struct CarryOutputs : weft::impl::CarryOutputsBase<CarryOutputs> {
  using CarryOutputsBase::CarryOutputsBase;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || !main.getBody().hasOneBlock()) {
      getOperation().emitError() << "expected a function @main with a body of one block";
      return signalPassFailure();
    }
    Carrier carrier(main);
    for (const std::string &pair : pairs)
      if (failed(carrier.carry(pair)))
        return signalPassFailure();
    carrier.finish();
  }
};
} // namespace
