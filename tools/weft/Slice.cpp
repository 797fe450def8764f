//===- Slice.cpp - weft slice ---------------------------------------------===//

#include "compiler/Search/Slice/TokenSlices.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Messages.h"
#include "tools/weft/NumberChecks.h"
#include "tools/weft/Output.h"

#include <cerrno>
#include <cstring>
#include <fmt/ranges.h>
#include <fstream>

using namespace weft;
using namespace weft::slice;
using namespace weft::tool;

namespace {

struct SliceCommand {
  std::string path;
  SliceOptions options;
};

void printJson(const Slicing &slicing, const UniformSlicing &uniform, double whole) {
  nlohmann::ordered_json slices = nlohmann::ordered_json::array();
  for (const BatchSlice &slice : slicing.slices)
    slices.push_back({slice.batch, slice.lengths});
  printJsonValue({{"slices", slices},
                  {"latency", slicing.latency},
                  {"uniform", {{"slices", uniform.slices}, {"latency", uniform.latency}}},
                  {"whole", whole}},
                 -1);
}

/// Equal batch slices are one line.
void printTable(const Slicing &slicing, const UniformSlicing &uniform, double whole) {
  for (size_t begin = 0, end = 0; begin < slicing.slices.size(); begin = end) {
    const BatchSlice &slice = slicing.slices[begin];
    while (end < slicing.slices.size() && slicing.slices[end].lengths == slice.lengths &&
           slicing.slices[end].batch == slice.batch)
      ++end;
    runtime::print("{} times {} sequence{}: {} slices of {} tokens\n", end - begin, slice.batch,
                   slice.batch == 1 ? "" : "s", slice.lengths.size(),
                   fmt::join(slice.lengths, ", "));
  }
  runtime::print("{:.6g} s; {:.6g} s in {} equal slices, {:.6g} s whole\n", slicing.latency,
                 uniform.latency, uniform.slices, whole);
}

int runSlice(const SliceCommand &command, const Common &common) {
  std::ifstream file(command.path);
  if (!file)
    return fail(Exit::BadInput,
                fmt::format("cannot read '{}': {}", command.path, std::strerror(errno)));
  try {
    SliceTable table = readSliceTable(file);
    Slicing slicing = findSlices(table, command.options);
    UniformSlicing uniform = findUniformSlices(table, command.options);
    double whole = getWholeLatency(table, command.options);
    if (common.json)
      printJson(slicing, uniform, whole);
    else if (!common.quiet)
      printTable(slicing, uniform, whole);
    return Exit::Ok;
  } catch (const TableError &error) {
    return fail(Exit::BadInput, fmt::format("{}: {}", command.path, error.what()));
  }
}

} // namespace

CLI::App *weft::tool::addSlice(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command = app.add_subcommand("slice", "how to cut sequences for a pipeline");
  auto options = std::make_shared<SliceCommand>();
  command->add_option("table", options->path, "measured times of slices of a sequence in a stage")
      ->required()
      ->type_name("TABLE.csv");
  command->add_option("--stages", options->options.stages, "of the pipeline")
      ->required()
      ->check(isWithin(1, 1000000))
      ->type_name("K");
  command->add_option("--batch", options->options.batch, "sequences of a step")
      ->check(isWithin(1, 1000000))
      ->capture_default_str()
      ->type_name("B");
  command->footer(
      "The table has columns length, context, forward_s and backward_s (and batch, where several\n"
      "numbers of sequences were measured): seconds of `length` tokens behind `context` others, "
      "for\n"
      "every slice of the sequence. All forwards run first, then all backwards.\n\n"
      "Example:\n  weft slice stage.csv --stages 48 --batch 8");
  run = [options, &common] { return runSlice(*options, common); };
  return command;
}
