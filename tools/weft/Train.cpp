//===- Train.cpp - weft train ---------------------------------------------===//

#include "runtime/Support/Console.h"
#include "tools/weft/Command.h"
#include "tools/weft/Json.h"
#include "tools/weft/Launch.h"
#include "tools/weft/NumberChecks.h"
#include "tools/weft/Output.h"

#include <unistd.h>

using namespace weft::tool;
using namespace weft::runtime;

namespace {

struct Options : LaunchOptions {
  TrainOptions train;
  std::optional<uint64_t> seed;
};

void printJson(const RunReport &report, const TrainReport &train) {
  nlohmann::ordered_json json;
  json["ranks"] = report.weightsBytes.size();
  json["transport"] = report.transport;
  json["device"] = report.device;
  json["threads_per_rank"] = report.threadsPerRank;
  json["initialise_seconds"] = report.initialiseSeconds;
  json["first_step"] = train.firstStep;
  json["steps"] = train.steps;
  json["seconds"] = train.seconds;
  if (train.tokens > 0)
    json["tokens_a_step"] = train.tokens;
  json["samples_a_step"] = train.samples;
  json["last"] = nlohmann::ordered_json::object();
  for (const auto &[name, value] : train.scalars)
    json["last"][name] = value;
  if (!train.checkpoint.empty())
    json["checkpoint"] = train.checkpoint;
  json["arena_bytes"] = report.arenaBytes;
  json["peak_rss_bytes"] = report.peakRss;
  printJsonValue(json);
}

void printTable(const RunReport &report, const TrainReport &train) {
  print("{} rank(s) over {}, {} thread(s) each\n", report.weightsBytes.size(), report.transport,
        report.threadsPerRank);
  if (train.firstStep > 0)
    print("  {:<24} step {}\n", "resumed at", train.firstStep);
  if (train.steps > 0)
    print("  {:<24} {} in {:.3f} s, {:.1f} {}/s\n", "steps", train.steps, train.seconds,
          double(train.steps * (train.tokens > 0 ? train.tokens : train.samples)) / train.seconds,
          train.tokens > 0 ? "tokens" : "samples");
  else
    print("  {:<24} none: all were done before\n", "steps");
  for (const auto &[name, value] : train.scalars)
    print("  {:<24} {:.6g}\n", name, value);
  if (!train.checkpoint.empty())
    print("  {:<24} {}\n", "checkpoint", train.checkpoint);
}

int train(Options &options, const Common &common) {
  options.train.data.seed = options.seed;
  options.train.progress = ::isatty(STDERR_FILENO) && !common.quiet;
  if (options.train.checkpoints.empty() && options.train.resume)
    throw Error(ErrorKind::Usage, "--resume needs --checkpoint-dir");
  options.run.train = options.train;
  int code = Exit::Ok;
  (void)launch(options, common, code, [&](const RunReport &report) {
    if (common.json)
      printJson(report, *report.train);
    else if (!common.quiet)
      printTable(report, *report.train);
  });
  return code;
}

void addData(CLI::App &command, Options &options) {
  TrainDataOptions &data = options.train.data;
  command
      .add_option("--data", data.path,
                  "a .npz file: every input's tensors stacked by step; or a flat file of tokens, "
                  "NAME.u16 or NAME.u32")
      ->required();
  command
      .add_option("--steps", options.train.steps,
                  "steps of the whole run, with those before a checkpoint that it resumes")
      ->required()
      ->check(isAtLeast(1));
  command.add_option("--seq", data.sequence, "tokens in a row, as the program was compiled for")
      ->check(isAtLeast(1));
  command.add_option("--seed", options.seed, "of the order of rows (default 0)");
  command
      .add_option("--token-type", data.tokenType,
                  "what a file of tokens holds (default: as its name ends)")
      ->check(CLI::IsMember({"u16", "u32"}));
  command.add_option("--labels", data.labels,
                     "the input that is given the next tokens (default: the last)");
}

void addCheckpoints(CLI::App &command, TrainOptions &options) {
  auto *folder = command.add_option("--checkpoint-dir", options.checkpoints,
                                    "folder to write checkpoints into");
  command
      .add_option("--checkpoint-every", options.checkpointEvery,
                  "steps from one checkpoint to the next; one is written at the end as well")
      ->check(isAtLeast(1))
      ->capture_default_str()
      ->needs(folder);
  command.add_option("--keep", options.checkpointsKept, "how many checkpoints to keep")
      ->check(isAtLeast(1))
      ->capture_default_str()
      ->needs(folder);
  command
      .add_flag("--resume", options.resume,
                "go on from the latest checkpoint; begin where there is none")
      ->needs(folder);
}

} // namespace

CLI::App *weft::tool::addTrain(CLI::App &app, const Common &common, Runner &runner) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "train",
      "run the steps of an executable that was compiled for training\n\n"
      "  weft train gpt2.weft --data steps.npz --steps 100 --log log.jsonl --export-weights "
      "w.safetensors\n"
      "  mpirun -np 4 weft train gpt2.weft --data tokens.u16 --steps 5000 --checkpoint-dir c "
      "--resume");
  addLaunchOptions(*command, *options);
  addData(*command, *options);
  addCheckpoints(*command, options->train);
  command->add_option("--log", options->train.log, "file for one JSON object a step");
  command->add_option("--export-weights", options->train.exportWeights,
                      "a .safetensors file to write what was trained into, whole tensors under the "
                      "weights' names");
  command->add_option("--dump-gradients", options->train.dumpGradients,
                      "a .safetensors file to write the first step's gradients into");
  command->add_flag("--debug-nan", options->train.debugNan,
                    "look at what every instruction writes, to name the first that makes a NaN");
  runner = [options, &common] { return train(*options, common); };
  return command;
}
