#include "driver/Training.h"

#include "compiler/Kernel/Buckets.h"
#include "compiler/Plan/TextProto.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Training/Differentiate.h"
#include "compiler/Training/ModelLoss.h"
#include "driver/LoadModel.h"
#include "driver/WrittenModel.h"
#include "passes/Pipelines/Pipelines.h"
#include "passes/Training/Request.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <filesystem>

using namespace weft;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
/// Reads options one by one; the first problem is kept.
class OptionReader {
public:
  explicit OptionReader(const TrainingOptions &options) : options(options) {}

  plan::Training read();
  std::string problem;

private:
  void fail(const std::string &why) {
    if (problem.empty())
      problem = why;
  }
  bool namesLoss() const {
    return !(options.loss.empty() && options.lossOutput.empty() && options.logits.empty() &&
             options.labels.empty());
  }
  void readLoss(plan::Loss &loss);
  void readLossScale(plan::LossScale &scale);
  void readBetas(plan::Optimizer &optimizer);
  void readNumbers(plan::Optimizer &optimizer);
  void readParameters(plan::Training &training);

  /// The enumerator of a word, which protobuf has in capitals.
  template <typename Enum>
  Enum readWord(const char *option, const std::string &word,
                bool (*parse)(google::protobuf::ConstStringParam, Enum *)) {
    Enum value = Enum();
    if (!parse(StringRef(word).upper(), &value))
      fail(std::string(option) + ": there is no '" + word + "'");
    return value;
  }

  const TrainingOptions &options;
};
} // namespace

static constexpr const char *giveLoss =
    "--train: give --loss-output NAME for an output that is the loss, or --loss with --logits and "
    "--labels";

void OptionReader::readLoss(plan::Loss &loss) {
  if (!options.loss.empty() && !options.lossOutput.empty())
    return fail(giveLoss);
  loss.set_kind(options.loss.empty() ? plan::Loss::OUTPUT
                                     : readWord("--loss", options.loss, plan::Loss::Kind_Parse));
  loss.set_value(options.loss.empty() ? options.lossOutput : options.logits);
  if (options.loss.empty() && !(options.logits.empty() && options.labels.empty()))
    return fail("--logits and --labels are for --loss; --loss-output names the loss itself");
  if (!options.loss.empty() && (options.logits.empty() || options.labels.empty()))
    return fail("--loss needs --logits NAME, of the model's output or value, and --labels NAME, of "
                "the input that is added");
  if (loss.kind() == plan::Loss::OUTPUT)
    return;
  loss.set_labels(options.labels);
  if (loss.kind() != plan::Loss::CROSS_ENTROPY)
    return;
  loss.set_ignore_index(options.ignoreIndex);
  loss.set_class_axis(options.classAxis);
  loss.set_label_shift(options.labelShift);
}

void OptionReader::readLossScale(plan::LossScale &scale) {
  double value = 0;
  if (options.lossScale == "dynamic") {
    scale.set_dynamic(true);
    scale.set_value(65536); // torch.amp.GradScaler's first
  } else if (!StringRef(options.lossScale).getAsDouble(value) && value > 0)
    scale.set_value(value);
  else
    fail("--loss-scale: expected a number above 0, or dynamic, got: " + options.lossScale);
}

void OptionReader::readBetas(plan::Optimizer &optimizer) {
  auto [first, second] = StringRef(options.betas).split(',');
  double beta1 = 0, beta2 = 0;
  if (first.trim().getAsDouble(beta1) || second.trim().getAsDouble(beta2))
    return fail("--betas: expected two numbers A,B, got: " + options.betas);
  optimizer.set_beta1(beta1);
  optimizer.set_beta2(beta2);
}

void OptionReader::readNumbers(plan::Optimizer &optimizer) {
  if (options.learningRate)
    optimizer.set_learning_rate(*options.learningRate);
  if (options.epsilon)
    optimizer.set_epsilon(*options.epsilon);
  if (options.weightDecay)
    optimizer.set_weight_decay(*options.weightDecay);
  if (options.momentum)
    optimizer.set_momentum(*options.momentum);
  if (options.clipNorm)
    optimizer.set_clip_norm(*options.clipNorm);
  bool isSgd = optimizer.kind() == plan::Optimizer::SGD;
  if (!isSgd && (options.momentum || options.nesterov))
    fail("--momentum and --nesterov are for sgd");
  if (!options.betas.empty() && (isSgd || optimizer.kind() == plan::Optimizer::ADAFACTOR))
    fail("--betas are for adam, adamw and lamb");
  else if (!options.betas.empty())
    readBetas(optimizer);
  optimizer.set_nesterov(options.nesterov);
  optimizer.set_no_decay(options.noDecay);
}

/// Names of a file, one a line; empty lines count for nothing.
void OptionReader::readParameters(plan::Training &training) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(options.parameters, error)) {
    training.set_parameter_pattern(options.parameters);
    return;
  }
  std::string why;
  std::optional<std::string> text = readTextFile(options.parameters, "parameters", why);
  if (!text)
    return fail("--parameters: " + why);
  llvm::SmallVector<StringRef> lines;
  StringRef(*text).split(lines, '\n');
  for (StringRef line : lines)
    if (!line.trim().empty())
      training.add_parameters(line.trim().str());
  if (training.parameters().empty())
    fail("--parameters: " + options.parameters + " names none");
}

plan::Training OptionReader::read() {
  plan::Training training;
  *training.mutable_optimizer() =
      makeOptimizer(readWord("--train", options.optimizer, plan::Optimizer::Kind_Parse));
  if (namesLoss())
    readLoss(*training.mutable_loss());
  readNumbers(*training.mutable_optimizer());
  plan::Schedule &schedule = *training.mutable_optimizer()->mutable_schedule();
  schedule.set_kind(readWord("--schedule", options.schedule, plan::Schedule::Kind_Parse));
  schedule.set_warmup(options.warmup);
  schedule.set_total_steps(options.totalSteps);
  if (!options.lossScale.empty())
    readLossScale(*training.mutable_loss_scale());
  readParameters(training);
  training.set_accumulate(options.accumulate.value_or(1));
  if (options.accumulateBatches < 1)
    fail("--accumulate-batches: expected at least 1, got: " +
         std::to_string(options.accumulateBatches));
  else if (options.accumulateBatches > 1)
    training.set_accumulate_batches(options.accumulateBatches);
  training.set_optimizer_sharding(options.optimizerSharding);
  training.set_seed(options.seed);
  training.set_bucket_bytes(defaultBucketBytes);
  if (!options.recompute.empty())
    training.set_recompute(
        readWord("--recompute", options.recompute, plan::Training::Recompute_Parse));
  if (!options.offload.empty())
    training.set_offload(
        readWord("--offload", offloadPrefix + options.offload, plan::Training::Offload_Parse));
  return training;
}

Result<plan::Training> weft::readTrainingOptions(mlir::MLIRContext &context,
                                                 const TrainingOptions &options) {
  OptionReader reader(options);
  plan::Training training = reader.read();
  std::string problem = reader.problem;
  if (problem.empty())
    problem = validateTraining(training);
  if (!problem.empty())
    return fail(context, ErrorKind::Usage, problem);
  if (!options.accumulate && options.accumulateBatches == 1)
    training.set_accumulate(0);
  if (options.recompute.empty())
    training.set_recompute(plan::Training::AUTO);
  if (options.offload.empty())
    training.set_offload(plan::Training::OFFLOAD_AUTO);
  return training;
}

void weft::closeTraining(plan::Training &training) {
  if (training.accumulate() == 0)
    training.set_accumulate(1);
  if (training.recompute() == plan::Training::AUTO)
    training.set_recompute(plan::Training::NONE);
  closeOffload(training);
}

void weft::closeOffload(plan::Training &training) {
  if (training.offload() == plan::Training::OFFLOAD_AUTO)
    training.set_offload(plan::Training::OFFLOAD_NONE);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

Outcome weft::completeLoss(mlir::ModuleOp module, plan::Training &training, bool fromFile) {
  if (training.has_loss())
    return Outcome::success();
  std::optional<ModelLoss> own = getModelLoss(module);
  if (!own)
    return fail(*module.getContext(), fromFile ? ErrorKind::BadInput : ErrorKind::Usage,
                fromFile ? "the plan's training has no loss, and the model brings none" : giveLoss);
  plan::Loss &loss = *training.mutable_loss();
  loss.set_kind(plan::Loss::CROSS_ENTROPY);
  loss.set_value(own->logits);
  loss.set_labels(own->labels);
  loss.set_ignore_index(-100);
  loss.set_class_axis(-1);
  loss.set_label_shift(own->labelShift);
  return Outcome::success();
}

std::string weft::getTrainingKey(const plan::Training &training) {
  plan::Training key = training;
  key.clear_accumulate();
  key.clear_bucket_bytes();
  key.clear_optimizer_sharding();
  key.clear_pipeline();
  key.clear_recompute();
  key.clear_slice_lengths();
  key.clear_slices();
  return key.SerializeAsString();
}

Outcome weft::beginTraining(mlir::ModuleOp module, const plan::Training &training, bool fromFile,
                            bool isTrial) {
  mlir::MLIRContext &context = *module.getContext();
  if (isInParts(module))
    return fail(context, ErrorKind::BadInput,
                "a model that is written in parts cannot be trained; write it in one, and cut it "
                "with --cut");
  std::string print = isTrial ? "" : fingerprintOf(module);
  mlir::PassManager request(&context);
  request.enableVerifier(false);
  buildTrainRequestPipeline(request, training);
  if (mlir::failed(request.run(module)))
    return fromFile ? ErrorKind::BadInput : ErrorKind::Usage;
  mlir::PassManager step(&context);
  step.enableVerifier(false); // but once, when it is finished
  buildTrainStepPipeline(step, training);
  if (mlir::failed(step.run(module)))
    return ErrorKind::BadInput;
  if (!isTrial)
    setFingerprint(module, print + "-train" + std::to_string(differentiateVersion));
  return Outcome::success();
}

Outcome weft::finishTraining(mlir::ModuleOp module, const plan::Training &training, bool isTrial) {
  auto begun = module->getAttrOfType<mlir::DictionaryAttr>("weft.training");
  describeStep(module, training, begun.getAs<mlir::ArrayAttr>("parameters"));
  mlir::PassManager rest(module.getContext());
  rest.enableVerifier(false);
  buildRecomputePipeline(rest, training);
  if (mlir::failed(rest.run(module)) || (!isTrial && mlir::failed(mlir::verify(module))))
    return ErrorKind::BadInput;
  return Outcome::success();
}

Outcome weft::trainModule(mlir::ModuleOp module, const plan::Training &training, bool fromFile,
                          bool isTrial) {
  if (Outcome begun = beginTraining(module, training, fromFile, isTrial); begun.failed())
    return begun;
  return finishTraining(module, training, isTrial);
}
