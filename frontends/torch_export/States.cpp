#include "frontends/torch_export/States.h"

#include "frontends/common/ImportError.h"
#include "frontends/torch_export/Changes.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

static bool isMutation(const OutputSpec &spec) {
  return spec.kind == OutputSpec::BufferMutation || spec.kind == OutputSpec::ParameterMutation ||
         spec.kind == OutputSpec::UserInputMutation;
}

States::States(const Program &program, Payloads &payloads, Weights &weights)
    : payloads(payloads), weights(weights), changed(findChangedInputs(program)) {
  llvm::StringMap<std::string> becomes;
  for (const OutputSpec &spec : program.outputs)
    if (auto *tensor = spec.argument.as<TensorName>(); tensor && isMutation(spec))
      becomes[spec.target] = tensor->name;
  for (const InputSpec &spec : program.inputs)
    if (auto *tensor = spec.argument.as<TensorName>())
      if (auto found = becomes.find(spec.kind == InputSpec::User ? tensor->name : spec.target);
          found != becomes.end())
        results[tensor->name] = found->second;
}

void States::remember(const std::string &value, Value load, WeightKind kind) {
  auto op = load.getDefiningOp<LoadOp>();
  auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(op, op.getWeightAttr());
  states.push_back({value, weight, kind});
}

Value States::load(const InputSpec &spec) {
  Value value = payloads.loadState(spec);
  remember(spec.argument.as<TensorName>()->name, value,
           spec.kind == InputSpec::Parameter ? WeightKind::Parameter : WeightKind::Constant);
  return value;
}

Value States::load(StringRef value, RankedTensorType type, StringRef name) {
  Value load = weights.addState(type, name);
  remember(value.str(), load, WeightKind::State);
  return load;
}

/// The name of what an input becomes; "" where it keeps its value.
std::string States::newValue(const State &state, const Scope &scope) const {
  if (auto found = results.find(state.value); found != results.end())
    return found->second;
  return scope.changedInputs.contains(state.value) ? state.value : "";
}

bool States::store(GraphImporter &importer, Scope &scope, Problems &problems) {
  bool any = false;
  for (State &state : states) {
    std::string name = newValue(state, scope);
    if (name.empty()) {
      state.weight.setKind(state.kind);
      continue;
    }
    any = true;
    try {
      Value value = importer.lookup(scope, name);
      if (value.getType() != state.weight.getType())
        throw ImportError("it is changed from " + describe(typeOf(value)) + " to " +
                          describe(cast<RankedTensorType>(state.weight.getType())) +
                          ", which is not supported");
      StoreOp::create(importer.emitter().builder, state.weight.getLoc(), state.weight.getSymName(),
                      value);
    } catch (const ImportError &error) {
      problems.add("state '" + state.weight.getSymName() + "': " + error.what());
    } catch (const FailedValue &) {
    }
  }
  return any;
}
