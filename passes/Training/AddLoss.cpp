#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Training/Losses.h"
#include "dialects/Weft/IR/SourceName.h"
#include "passes/Training/Passes.h"
#include "passes/Training/Request.h"

namespace weft {
#define GEN_PASS_DEF_ADDLOSS
#include "passes/Training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct AddLoss : weft::impl::AddLossBase<AddLoss> {
  using AddLossBase::AddLossBase;
  explicit AddLoss(const plan::Training &training) : request(training) {}
  void runOnOperation() override;

private:
  std::optional<plan::Training> request;
};

/// Builds the loss of a request at the end of @main.
class LossBuilder {
public:
  LossBuilder(func::FuncOp main, const plan::Training &training)
      : main(main), loss(training.loss()), batches(training.accumulate_batches()),
        located(NameLoc::get(StringAttr::get(main.getContext(), "loss")),
                OpBuilder(main.getBody().front().getTerminator())),
        b(located) {}

  /// Null where that was reported to be impossible.
  Value build();

private:
  Value find(const std::string &name);
  Value addLabels(RankedTensorType type);
  Value ofOutput(Value value);
  Value ofClasses(Value logits);
  Value shift(Value labels);
  Value ofElements(Value values);
  InFlightDiagnostic refuse() { return emitRequestError(main.getContext()); }

  func::FuncOp main;
  const plan::Loss &loss;
  int64_t batches; ///< that a step takes
  ImplicitLocOpBuilder located;
  TensorBuilder b;
};
} // namespace

/// The value of that name: of an output, else of any value.
Value LossBuilder::find(const std::string &name) {
  std::vector<std::string> known;
  for (unsigned index = 0; index < main.getNumResults(); ++index)
    if (auto attr = main.getResultAttrOfType<StringAttr>(index, "weft.name")) {
      if (attr.getValue() == name)
        return main.getBody().front().getTerminator()->getOperand(index);
      known.push_back(attr.str());
    }
  ValueNames names(main);
  if (Value value = names.lookup(name))
    return value;
  if (Value fused = names.findFused(name)) {
    refuse() << "'" << name << "' was fused into '" << names.get(fused)
             << "', so that no loss can be made of it";
    return {};
  }
  known.insert(known.end(), names.all().begin(), names.all().end());
  refuse() << "the model has no output and no value '" << name << "'" << didYouMean(name, known);
  return {};
}

/// A new argument of @main; null where the model has an input of that name.
Value LossBuilder::addLabels(RankedTensorType type) {
  for (BlockArgument argument : main.getArguments())
    if (getSourceName(argument) == loss.labels()) {
      refuse() << "the model has an input '" << loss.labels()
               << "' already; name the labels otherwise";
      return {};
    }
  Builder builder(main.getContext());
  unsigned index = main.getNumArguments();
  auto name = builder.getStringAttr(loss.labels());
  (void)main.insertArgument(index, type,
                            builder.getDictionaryAttr(builder.getNamedAttr("weft.name", name)),
                            NameLoc::get(name));
  return main.getArgument(index);
}

Value LossBuilder::ofOutput(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (isa<FloatType>(type.getElementType()) && type.getNumElements() == 1)
    return b.reshape(value, {});
  refuse() << "expected a loss of one float, '" << loss.value() << "' is " << type;
  return {};
}

Value LossBuilder::ofClasses(Value logits) {
  int64_t rank = rankOf(logits), axis = loss.class_axis();
  if (axis < -rank || axis >= rank) {
    refuse() << "expected a class axis within [" << -rank << ", " << rank << ") of '"
             << loss.value() << "', which is " << logits.getType() << ", got: " << axis;
    return {};
  }
  axis += axis < 0 ? rank : 0;
  SmallVector<int64_t> shape(shapeOf(logits));
  shape.erase(shape.begin() + axis);
  if (loss.label_shift() > 0 && (shape.empty() || shape.back() <= loss.label_shift())) {
    refuse() << "expected labels of more than label_shift = " << loss.label_shift()
             << " places, those of '" << loss.value() << "' are of shape [" << ArrayRef(shape)
             << "]";
    return {};
  }
  Value labels = addLabels(RankedTensorType::get(shape, located.getI64Type()));
  if (!labels)
    return {};
  return buildMean(b, buildCrossEntropy(b, logits, shift(labels), {axis, loss.ignore_index(), {}}));
}

/// Labels that stand where the logits are which are for them; the last places have none.
Value LossBuilder::shift(Value labels) {
  if (loss.label_shift() == 0)
    return labels;
  SmallVector<int64_t> shape(shapeOf(labels)), starts(shape.size(), 0), strides(shape.size(), 1);
  SmallVector<int64_t> none(shape.size(), 0), behind(shape.size(), 0);
  starts.back() = behind.back() = loss.label_shift();
  shape.back() -= loss.label_shift();
  auto type = cast<RankedTensorType>(labels.getType());
  Value later = b.make<SliceOp>(type.clone(shape), labels, starts, strides);
  Value ignored = b.make<ConstantOp>(
      DenseElementsAttr::get(type.clone(ArrayRef<int64_t>()), int64_t(loss.ignore_index())));
  return b.make<PadOp>(type, later, ignored, none, behind);
}

Value LossBuilder::ofElements(Value values) {
  Value labels = addLabels(cast<RankedTensorType>(values.getType()));
  if (!labels)
    return {};
  Value x = b.widen(values), y = b.widen(labels);
  return buildMean(b, loss.kind() == plan::Loss::MSE ? buildSquaredError(b, x, y)
                                                     : buildBinaryCrossEntropy(b, x, y));
}

Value LossBuilder::build() {
  Value value = find(loss.value());
  if (!value)
    return {};
  if (!isa<FloatType>(elementOf(value))) {
    refuse() << "expected floats to make a loss of, '" << loss.value() << "' is "
             << value.getType();
    return {};
  }
  Value result = loss.kind() == plan::Loss::OUTPUT          ? ofOutput(value)
                 : loss.kind() == plan::Loss::CROSS_ENTROPY ? ofClasses(value)
                                                            : ofElements(value);
  if (!result)
    return {};
  result = b.castTo(result, located.getF32Type());
  // Losses of several batches are added up, and so are their gradients: to the mean's.
  return batches > 1 ? b.mul(result, b.splat(result, 1.0 / batches)) : result;
}

/// What the loss is multiplied by before gradients, where the request has a scale.
static void addLossScale(func::FuncOp main, const plan::LossScale &scale) {
  if (scale.value() == 0)
    return;
  OpBuilder builder(main);
  auto type = RankedTensorType::get({}, builder.getF32Type());
  auto value = DenseElementsAttr::get(type, static_cast<float>(scale.value()));
  WeightOp::create(builder, NameLoc::get(builder.getStringAttr(lossScaleName)), lossScaleName, type,
                   value, scale.dynamic() ? WeightKind::State : WeightKind::Constant);
}

void AddLoss::runOnOperation() {
  func::FuncOp main = findMain(getOperation());
  if (main && !request)
    request = readTraining(&getContext(), training);
  if (!main || !request)
    return signalPassFailure();
  if (!request->has_loss()) {
    emitRequestError(&getContext()) << "expected a loss";
    return signalPassFailure();
  }
  Value loss = LossBuilder(main, *request).build();
  if (!loss)
    return signalPassFailure();
  appendResult(main, loss, "loss", "loss");
  addLossScale(main, request->loss_scale());
}

std::unique_ptr<Pass> weft::createAddLoss(const plan::Training &training) {
  return std::make_unique<AddLoss>(training);
}
