//===- Validate.cpp - weft validate ---------------------------------------===//

#include "compiler/Validate/Validation.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Messages.h"
#include "tools/weft/Output.h"

using namespace weft;
using namespace weft::tool;
using namespace weft::validate;

namespace {

nlohmann::ordered_json toJson(const std::optional<double> &value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

void printJson(const Validation &validation) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const RowResult &result : validation.rows) {
    nlohmann::ordered_json parts;
    for (int part = 0; part < numParts; ++part)
      parts[partNames[part]] = result.prediction.parts[part];
    double measured = result.row.measured;
    nlohmann::ordered_json row = {
        {"line", result.row.line},
        {"gpus", result.row.gpus},
        {"tp", result.row.tensor},
        {"pp", result.row.pipeline},
        {"dp", result.row.data},
        {"predicted", result.prediction.seconds},
        {"measured", toJson(measured > 0 ? std::optional(measured) : std::nullopt)},
        {"error", toJson(result.getError())},
        {"parts", parts},
        {"memory_bytes", result.prediction.memory}};
    if (result.row.chunks) // else the schedule decides
      row["vpp"] = *result.row.chunks;
    rows.push_back(row);
  }
  printJsonValue({{"rows", rows},
                  {"mean", toJson(validation.mean)},
                  {"median", toJson(validation.median)},
                  {"bias", toJson(validation.bias)},
                  {"tau", toJson(validation.tau)},
                  {"regret", toJson(validation.regret)}});
}

/// What a row's step is split into; chunks where the table says so, else the schedule decides.
std::string describeRow(const StepRow &row) {
  std::string chunks = row.chunks ? fmt::format("x{}", *row.chunks) : "";
  return fmt::format("{} {}x{}, {} on {}, tp {} pp {}{} dp {}, batch {}x{}", row.model, row.hidden,
                     row.layers, row.gpus, row.cluster, row.tensor, row.pipeline, chunks, row.data,
                     row.microBatch, row.getMicrobatches());
}

void printTable(const Validation &validation) {
  for (const RowResult &result : validation.rows) {
    std::string error;
    if (std::optional<double> found = result.getError())
      error = fmt::format(", measured {:.4g} s ({:+.1f} %)", result.row.measured, 100 * *found);
    runtime::print("line {}: {}: predicted {:.4g} s{}, {:.1f} GiB\n  ", result.row.line,
                   describeRow(result.row), result.prediction.seconds, error,
                   result.prediction.memory / (1 << 30));
    for (int part = 0; part < numParts; ++part)
      if (double seconds = result.prediction.parts[part]; seconds > 5e-5)
        runtime::print(" {} {:.3g}", partNames[part], seconds);
    runtime::print("\n");
  }
  if (!validation.mean)
    return;
  runtime::print("mean error {:.2f} %, median {:.2f} %, bias {:+.2f} %", 100 * *validation.mean,
                 100 * *validation.median, 100 * *validation.bias);
  if (validation.tau)
    runtime::print(", tau {:.3f}", *validation.tau);
  if (validation.regret)
    runtime::print(", regret {:.2f} %", 100 * *validation.regret);
  runtime::print("\n");
}

int runValidate(const std::string &path, const Common &common) {
  Validation validation;
  std::vector<std::string> others;
  try {
    validation = validateTable(path, {}, &others);
  } catch (const std::runtime_error &error) {
    return fail(Exit::BadInput, error.what());
  }
  for (const std::string &column : others)
    warn(fmt::format("{}: column '{}' is passed over", path, column));
  if (common.json)
    printJson(validation);
  else if (!common.quiet)
    printTable(validation);
  return Exit::Ok;
}

} // namespace

CLI::App *weft::tool::addValidate(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command = app.add_subcommand("validate", "predict a table of measured training steps");
  auto path = std::make_shared<std::string>();
  command->add_option("table", *path, "a training step a row")->required()->type_name("TABLE.csv");
  command->footer(
      "Columns: model_type, hidden, layers, heads, seq, vocab, cluster, gpus, tp, pp, vpp, dp,\n"
      "micro_batch, global_batch, recompute (none, selective, full), sequence_parallel, dtype,\n"
      "measured_s; and, if a row wants to say so: feed_forward, kv_heads, schedule,\n"
      "fused_attention, overlap_tp, overlap_pp, overlap_dp, distributed_optimizer (0 or 1).\n"
      "A row without a measured time is predicted and not counted.\n\n"
      "Example:\n  weft validate measured_a100.csv");
  run = [path, &common] { return runValidate(*path, common); };
  return command;
}
