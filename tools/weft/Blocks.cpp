//===- Blocks.cpp - weft blocks -------------------------------------------===//

#include "compiler/Graph/Blocks.h"
#include "driver/LoadModel.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Bytes.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"
#include "tools/weft/ModelArguments.h"
#include "tools/weft/Output.h"

using namespace weft;
using namespace weft::tool;

namespace {
struct BlocksCommand {
  std::string model;
  ModelOptions load;
};
} // namespace

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
  command->footer("Blocks are found from the structure alone; no weights are read.\n\n"
                  "Examples:\n  weft blocks gpt2.onnx\n  weft blocks llama.pt2 --json");
  run = [options, &common] { return runBlocks(*options, common); };
  return command;
}
