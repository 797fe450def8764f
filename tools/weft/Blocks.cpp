//===- Blocks.cpp - weft blocks -------------------------------------------===//

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Search/RangePlans.h"
#include "driver/LoadModel.h"
#include "driver/Simulation.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Bytes.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"
#include "tools/weft/ModelArguments.h"
#include "tools/weft/Output.h"
#include "tools/weft/Seconds.h"
#include <set>

using namespace weft;
using namespace weft::tool;

namespace {
struct BlocksCommand {
  std::string model;
  ModelOptions load;
  std::string cluster, mesh, range;
  int64_t memory = 0; ///< B
  bool infers = false;
};

/// What blocks [begin, end) take.
struct RangeAnswer {
  size_t begin, end;
  const StepSplits *splits;
};
} // namespace

//===----------------------------------------------------------------------===//
// What ranges take
//===----------------------------------------------------------------------===//

/// The ranges that are asked for: one, or the first block of each class.
static std::vector<std::pair<size_t, size_t>> listRanges(const BlocksCommand &command,
                                                         const ModelBlocks &model) {
  std::vector<std::pair<size_t, size_t>> ranges;
  auto [first, last] = llvm::StringRef(command.range).split('-');
  size_t begin = 0, end = 0;
  if (!first.getAsInteger(10, begin)) {
    bool isOne = last.empty();
    return {{begin, isOne || last.getAsInteger(10, end) ? begin + 1 : end + 1}};
  }
  std::set<uint32_t> seen;
  for (size_t block = 0; block < model.blocks.size(); ++block)
    if (seen.insert(model.blocks[block].kind).second)
      ranges.emplace_back(block, block + 1);
  return ranges;
}

static void printRangesJson(const std::vector<RangeAnswer> &answers) {
  nlohmann::ordered_json ranges = nlohmann::ordered_json::array();
  for (const RangeAnswer &answer : answers) {
    nlohmann::ordered_json splits = nlohmann::ordered_json::array();
    for (const StepSplit &split : answer.splits->splits)
      splits.push_back({{"forward_seconds", split.cost.forward},
                        {"backward_seconds", split.cost.backward},
                        {"weight_gradient_seconds", split.cost.weightGradient},
                        {"communication_seconds", split.cost.communication},
                        {"memory_bytes", split.cost.memory}});
    ranges.push_back({{"first", answer.begin},
                      {"last", answer.end - 1},
                      {"complete", answer.splits->isComplete},
                      {"splits", splits}});
  }
  printJsonValue({{"ranges", ranges}});
}

static void printRanges(const std::vector<RangeAnswer> &answers) {
  runtime::print("{:>9} {:>10} {:>10} {:>10} {:>13} {:>11}\n", "blocks", "forward", "backward",
                 "weights", "communication", "memory");
  for (const RangeAnswer &answer : answers) {
    std::string name = fmt::format("{}", answer.begin);
    if (answer.end - answer.begin > 1)
      name += fmt::format("-{}", answer.end - 1);
    for (const StepSplit &split : answer.splits->splits)
      runtime::print("{:>9} {:>10} {:>10} {:>10} {:>13} {:>11}\n", name,
                     formatSeconds(split.cost.forward), formatSeconds(split.cost.backward),
                     formatSeconds(split.cost.weightGradient),
                     formatSeconds(split.cost.communication),
                     formatBytes(static_cast<int64_t>(split.cost.memory)));
    bool isEmpty = answer.splits->splits.empty();
    if (answer.splits->isComplete && isEmpty)
      runtime::print("{:>9} does not fit\n", name);
    else if (!answer.splits->isComplete)
      runtime::print("{:>9} {}\n", name,
                     isEmpty ? "nothing that fits was found, of too many ways to try all"
                             : "there are more");
  }
}

static int runRanges(const BlocksCommand &command, mlir::func::FuncOp function,
                     const Common &common) {
  Result<cluster::Cluster> description = findCluster(*function.getContext(), command.cluster);
  if (description.failed())
    return description.getExitCode();
  ClusterModel cluster = makeClusterModel(*description);
  std::string problem;
  std::vector<plan::Mesh> meshes = parseMeshes(command.mesh, /*parts=*/1, problem);
  if (meshes.empty())
    return fail(Exit::Usage, "--mesh: " + problem);
  RangeOptions options;
  options.trains = !command.infers;
  RangePlanner planner(function, cluster, options);
  std::vector<RangeAnswer> answers;
  for (auto [begin, end] : listRanges(command, planner.getRanges().getBlocks())) {
    if (begin >= end || end > planner.getNumBlocks())
      return fail(Exit::Usage, fmt::format("--range {}: the model has blocks 0 to {}, and a range "
                                           "ends no earlier than it begins",
                                           command.range, planner.getNumBlocks() - 1));
    auto splits =
        planner.find(begin, end, getMeshShape(meshes.front()), static_cast<double>(command.memory));
    if (failed(splits))
      return Exit::Infeasible;
    answers.push_back({begin, end, *splits});
  }
  if (common.json)
    printRangesJson(answers);
  else if (!common.quiet)
    printRanges(answers);
  return Exit::Ok;
}

//===----------------------------------------------------------------------===//
// What blocks there are
//===----------------------------------------------------------------------===//

static void printJson(const ModelBlocks &model) {
  nlohmann::ordered_json blocks = nlohmann::ordered_json::array();
  nlohmann::ordered_json cuts = nlohmann::ordered_json::array();
  for (const ModelBlock &block : model.blocks)
    blocks.push_back({{"nodes", block.operations.size()},
                      {"class", block.kind},
                      {"parameters", block.parameters},
                      {"flops", block.flops},
                      {"makes", block.name}});
  for (size_t i = 0; i < model.liveBytes.size(); ++i)
    cuts.push_back({{"after", i}, {"live_bytes", model.liveBytes[i]}});
  printJsonValue({{"blocks", blocks}, {"cuts", cuts}});
}

/// Blocks of one class that follow each other, with as many parameters and as much live behind
/// each, are one line.
static void printTable(const ModelBlocks &model) {
  runtime::print("{:>9} {:>5} {:>6} {:>12} {:>10} {:>12}  makes\n", "blocks", "class", "nodes",
                 "parameters", "GFLOP", "live behind");
  auto getLive = [&](size_t i) { return i < model.liveBytes.size() ? model.liveBytes[i] : 0; };
  for (size_t begin = 0, end = 0; begin < model.blocks.size(); begin = end) {
    const ModelBlock &block = model.blocks[begin];
    for (end = begin + 1; end < model.blocks.size(); ++end)
      if (const ModelBlock &next = model.blocks[end]; next.kind != block.kind ||
                                                      next.parameters != block.parameters ||
                                                      getLive(end) != getLive(begin))
        break;
    std::string numbers = fmt::format("{}", begin);
    if (end - begin > 1)
      numbers += fmt::format("-{}", end - 1);
    runtime::print("{:>9} {:>5} {:>6} {:>12} {:>10.4g} {:>12}  {}\n", numbers, block.kind,
                   block.operations.size(), block.parameters,
                   static_cast<double>(block.flops) * 1e-9, formatBytes(getLive(begin)),
                   model.blocks[end - 1].name);
  }
}

static int runBlocks(const BlocksCommand &command, const Common &common) {
  mlir::MLIRContext context;
  PrintDiagnostics printer(&context);
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module =
      loadModel(context, command.model, command.load);
  if (module.failed())
    return module.getExitCode();
  auto function = (*module)->lookupSymbol<mlir::func::FuncOp>("main");
  if (!function || function.isExternal())
    return fail(Exit::BadInput, fmt::format("{}: no function @main", command.model));
  if (!command.cluster.empty())
    return runRanges(command, function, common);
  ModelBlocks blocks = findBlocks(function);
  if (common.json)
    printJson(blocks);
  else if (!common.quiet)
    printTable(blocks);
  return Exit::Ok;
}

CLI::App *weft::tool::addBlocks(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("blocks", "the blocks that a model is made of, and which are alike");
  auto options = std::make_shared<BlocksCommand>();
  command->add_option("model", options->model, modelKinds)->required()->type_name("MODEL");
  addModelOptions(*command, options->load);
  auto *cluster = command
                      ->add_option("--cluster", options->cluster,
                                   "say what a block of each class takes on devices of this "
                                   "cluster: all splits over --mesh that are worth it")
                      ->type_name("CLUSTER");
  auto *mesh = command->add_option("--mesh", options->mesh, "the devices: NAME=SIZE[,NAME=SIZE]…")
                   ->type_name("MESH")
                   ->needs(cluster);
  cluster->needs(mesh);
  addMemoryOption(*command, options->memory, cluster, "any");
  command->add_option("--range", options->range, "of these blocks together, as 1-3")
      ->check(CLI::Validator(
          [](std::string &text) {
            auto isNumber = [](llvm::StringRef part) {
              size_t number = 0;
              return !part.getAsInteger(10, number) && number < size_t(1) << 32;
            };
            auto [first, last] = llvm::StringRef(text).split('-');
            bool isGood =
                isNumber(first) && (isNumber(last) || text.find('-') == std::string::npos);
            return isGood ? std::string() : "expected numbers of blocks, FIRST-LAST, got: " + text;
          },
          ""))
      ->type_name("FIRST-LAST")
      ->needs(cluster);
  command->add_flag("--forward", options->infers, "of the forward pass alone")->needs(cluster);
  command->footer("Blocks are found from the structure alone; no weights are read.\n\n"
                  "Examples:\n  weft blocks gpt2.onnx\n  weft blocks llama.pt2 --json\n"
                  "  weft blocks config.json --cluster dgx-h100:1 --mesh data=2,model=4");
  run = [options, &common] { return runBlocks(*options, common); };
  return command;
}
