#include "tools/weft/TrainingArguments.h"

#include "tools/weft/NumberChecks.h"

using namespace weft;
using namespace weft::tool;

namespace {
/// Adds options that say nothing without --train.
class TrainingGroup {
public:
  TrainingGroup(CLI::App &command, CLI::Option *train) : command(command), train(train) {}

  template <typename Value>
  CLI::Option *add(const char *name, Value &value, const char *type, const char *help) {
    return command.add_option(name, value, help)->type_name(type)->needs(train)->group(title);
  }
  void addFlag(const char *name, bool &value, const char *help) {
    command.add_flag(name, value, help)->needs(train)->group(title);
  }

private:
  static constexpr const char *title = "Training";
  CLI::App &command;
  CLI::Option *train;
};
} // namespace

static void addLossOptions(TrainingGroup &group, TrainingOptions &options) {
  group.add("--loss-output", options.lossOutput, "NAME", "the output (or value) that is the loss");
  auto *loss = group.add("--loss", options.loss, "KIND",
                         "the loss that is made of --logits and --labels (default: that of the "
                         "configuration's kind of model)");
  loss->check(CLI::IsMember({"cross_entropy", "mse", "bce"}));
  group.add("--logits", options.logits, "NAME", "the output or value that the loss is made of");
  group.add("--labels", options.labels, "NAME", "what the input is called that the loss adds");
  group
      .add("--ignore-index", options.ignoreIndex, "N",
           "the label that counts for nothing (cross_entropy)")
      ->needs(loss)
      ->capture_default_str();
  group
      .add("--class-axis", options.classAxis, "N",
           "the dimension of the logits where classes lie (cross_entropy)")
      ->needs(loss)
      ->capture_default_str();
  group
      .add("--label-shift", options.labelShift, "N",
           "logits are for the label so many places on, along the labels' last dimension "
           "(cross_entropy; 1 where labels are the words that go in)")
      ->check(isAtLeast(0))
      ->needs(loss)
      ->capture_default_str();
}

static void addOptimizerOptions(TrainingGroup &group, TrainingOptions &options) {
  group.add("--lr", options.learningRate, "X", "learning rate (default: 0.001; adafactor 0.01)");
  group.add("--betas", options.betas, "A,B", "decay of the moments (default: 0.9,0.999)");
  group.add("--eps", options.epsilon, "X",
            "what is added to roots (default: 1e-8; lamb 1e-6); the least scale of adafactor "
            "(1e-3)");
  group.add("--weight-decay", options.weightDecay, "X", "(default: 0; adamw 0.01)");
  group.add("--no-decay", options.noDecay, "REGEX",
            "parameters in whose names this is found are not decayed");
  group.add("--momentum", options.momentum, "X", "of sgd (default: 0)");
  group.addFlag("--nesterov", options.nesterov, "Nesterov's momentum (sgd)");
  group.add("--clip-norm", options.clipNorm, "X", "the largest norm of all gradients together");
  group
      .add("--schedule", options.schedule, "KIND",
           "of the learning rate behind the warm-up: down to 0 at --total-steps, or not")
      ->check(CLI::IsMember({"constant", "linear", "cosine"}))
      ->capture_default_str();
  group.add("--warmup", options.warmup, "N", "steps until the learning rate is reached");
  group.add("--total-steps", options.totalSteps, "N", "steps until a schedule ends");
  group.add("--loss-scale", options.lossScale, "X|dynamic",
            "what the loss is multiplied by for gradients of narrow types; a dynamic one halves, "
            "and the step changes nothing, where gradients overflow");
}

void weft::tool::addTrainingOptions(CLI::App &command, TrainingOptions &options,
                                    CLI::Option *plan) {
  auto *train =
      command.add_option("--train", options.optimizer, "make a training step, with this optimizer")
          ->check(CLI::IsMember({"sgd", "adam", "adamw", "lamb", "adafactor"}))
          ->type_name("OPTIMIZER");
  if (plan)
    train->excludes(plan);
  TrainingGroup group(command, train);
  addLossOptions(group, options);
  group.add("--parameters", options.parameters, "FILE|REGEX",
            "what is trained: a file of names, one a line, or what is found in the names (default: "
            "all parameters of floats)");
  addOptimizerOptions(group, options);
  group.add("--seed", options.seed, "N", "of random numbers that the model draws: dropout")
      ->capture_default_str();
  group.add(
      "--accumulate", options.accumulate, "N",
      "microbatches of the batch, whose gradients are added up (default: 1; with --cluster left "
      "to the search)");
  group.add("--accumulate-batches", options.accumulateBatches, "N",
            "batches of the model that a step takes instead, one after another");
  group.add("--optimizer-sharding", options.optimizerSharding, "0-3",
            "split over data axes: 1 the optimizer's state, 2 gradients too, 3 parameters too");
  group
      .add("--recompute", options.recompute, "HOW",
           "what is computed again in the backward pass rather than kept (default: none; with "
           "--cluster auto)")
      ->check(CLI::IsMember({"none", "selective", "full", "auto"}));
  group
      .add("--offload", options.offload, "WHAT",
           "what is kept in the memory of the devices' hosts (default: none; with --cluster auto: "
           "the optimizer's state, where nothing fits without)")
      ->check(CLI::IsMember({"none", "optimizer", "auto"}));
}
