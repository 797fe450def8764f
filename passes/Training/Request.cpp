#include "passes/Training/Request.h"

#include "compiler/Plan/TextProto.h"
#include "compiler/Plan/TrainingPlan.h"

using namespace mlir;
using namespace weft;

InFlightDiagnostic weft::emitRequestError(MLIRContext *context) {
  return emitError(UnknownLoc::get(context));
}

std::optional<plan::Training> weft::readTraining(MLIRContext *context, const std::string &text) {
  plan::Training training;
  std::string problem = parseTextProto(text, "of the option", "training", training);
  if (training.accumulate() == 0)
    training.set_accumulate(1);
  if (problem.empty())
    problem = validateTraining(training);
  if (problem.empty())
    return training;
  emitRequestError(context) << problem;
  return std::nullopt;
}

func::FuncOp weft::findMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main && main.getBody().hasOneBlock())
    return main;
  module.emitError() << "expected a function @main with a body of one block";
  return {};
}

std::optional<unsigned> weft::findRole(func::FuncOp main, StringRef role) {
  for (unsigned index = 0; index < main.getNumResults(); ++index)
    if (auto attr = main.getResultAttrOfType<StringAttr>(index, "weft.role"))
      if (attr.getValue() == role)
        return index;
  return std::nullopt;
}

DictionaryAttr weft::resultAttrs(MLIRContext *context, StringRef name, StringRef role) {
  Builder builder(context);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("weft.name", builder.getStringAttr(name)),
       builder.getNamedAttr("weft.role", builder.getStringAttr(role))});
}

void weft::appendResult(func::FuncOp main, Value value, StringRef name, StringRef role) {
  (void)main.insertResult(main.getNumResults(), value.getType(),
                          resultAttrs(main.getContext(), name, role));
  Operation *end = main.getBody().front().getTerminator();
  end->insertOperands(end->getNumOperands(), value);
}

void weft::describeStep(ModuleOp module, const plan::Training &request, ArrayAttr parameters) {
  Builder builder(module.getContext());
  SmallVector<NamedAttribute> attrs;
  auto add = [&](StringRef name, Attribute value) {
    attrs.push_back(builder.getNamedAttr(name, value));
  };
  add("loss", builder.getStringAttr("loss"));
  add("microbatches",
      builder.getI64IntegerAttr(std::max(request.accumulate(), request.accumulate_batches())));
  add("optimizer_sharding", builder.getI64IntegerAttr(request.optimizer_sharding()));
  add("parameters", parameters);
  add("recompute", builder.getStringAttr(getRecomputeName(request.recompute())));
  if (request.accumulate_batches() > 1)
    add("batches", builder.getI64IntegerAttr(request.accumulate_batches()));
  if (!request.pipeline().empty())
    add("pipeline", builder.getStringAttr(request.pipeline()));
  if (request.slices() > 1)
    add("slices", builder.getI64IntegerAttr(request.slices()));
  if (request.slice_lengths_size() > 0)
    add("slice_lengths", builder.getDenseI64ArrayAttr(ArrayRef(request.slice_lengths().data(),
                                                               request.slice_lengths_size())));
  if (request.bucket_bytes() > 0)
    add("bucket_bytes", builder.getI64IntegerAttr(request.bucket_bytes()));
  if (request.loss().kind() != plan::Loss::OUTPUT)
    add("labels", builder.getStringAttr(request.loss().labels()));
  module->setAttr("weft.training", builder.getDictionaryAttr(attrs));
}
