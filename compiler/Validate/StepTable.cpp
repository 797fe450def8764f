#include "compiler/Validate/StepTable.h"
#include "compiler/Schedule/Named.h"
#include "compiler/Validate/Csv.h"

#include <algorithm>
#include <cmath>

using namespace weft;
using namespace weft::validate;

namespace {

bool parseFlag(const std::string &text) {
  if (text == "1" || text == "true" || text == "yes")
    return true;
  if (text.empty() || text == "0" || text == "false" || text == "no")
    return false;
  throw std::runtime_error(fmt::format("expected 0 or 1, got: '{}'", text));
}

Recompute parseRecompute(const std::string &text) {
  if (text == "full")
    return Recompute::Full;
  if (text == "selective" || text == "attn_only" || text == "core_attn")
    return Recompute::Selective;
  if (text == "none" || text.empty() || text == "0")
    return Recompute::None;
  throw std::runtime_error(fmt::format("expected none, selective or full, got: '{}'", text));
}

/// The value of `text` in a table of what it may be called; else an error that lists the names.
std::string parseName(const std::string &text, const std::map<std::string, std::string> &known) {
  std::string names;
  for (const auto &[name, value] : known) {
    if (text == name)
      return value;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw std::runtime_error(fmt::format("expected one of {}, got: '{}'", names, text));
}

void setModel(StepRow &row, const std::string &text) {
  row.model = parseName(text, {{"gpt", "gpt"},
                               {"gpt2", "gpt"},
                               {"gpt3", "gpt"},
                               {"bloom", "gpt"},
                               {"opt", "gpt"},
                               {"bert", "bert"},
                               {"llama", "llama"},
                               {"llama2", "llama"},
                               {"llama3", "llama"}});
}

void setDtype(StepRow &row, const std::string &text) {
  row.dtype = parseName(text, {{"f16", "f16"},
                               {"fp16", "f16"},
                               {"float16", "f16"},
                               {"bf16", "bf16"},
                               {"bfloat16", "bf16"},
                               {"f8", "f8"},
                               {"fp8", "f8"},
                               {"f32", "f32"},
                               {"fp32", "f32"},
                               {"float32", "f32"},
                               {"tf32", "tf32"}});
}

/// Of the table's steps, each of which holds every stage once.
void setSchedule(StepRow &row, const std::string &text) {
  std::map<std::string, std::string> known;
  for (const schedule::NamedSchedule &entry : schedule::listNamedSchedules())
    if (std::string(entry.name) != "dualpipe" && std::string(entry.name) != "critical-path")
      known.emplace(entry.name, entry.name);
  row.schedule = parseName(text, known);
}

using Setter = Setters<StepRow>::mapped_type;

template <typename Count> Setter setCount(Count StepRow::*field) {
  return [field](StepRow &row, const std::string &text) {
    auto count = parseNumber<int64_t>(text);
    if (count < 1 || count > 1'000'000'000)
      throw std::runtime_error(fmt::format("expected a number from 1 to 1e9, got: {}", text));
    row.*field = count;
  };
}
Setter setText(std::string StepRow::*field) {
  return [field](StepRow &row, const std::string &text) { row.*field = text; };
}
template <typename Flag> Setter setFlag(Flag StepRow::*field) {
  return [field](StepRow &row, const std::string &text) { row.*field = parseFlag(text); };
}
Setter setSeconds(double factor) {
  return [factor](StepRow &row, const std::string &text) {
    row.measured = parseNumber<double>(text) * factor;
    if (!(row.measured >= 0) || !std::isfinite(row.measured))
      throw std::runtime_error(fmt::format("expected a time of at least 0, got: {}", text));
  };
}

const Setters<StepRow> &getSetters() {
  static const Setters<StepRow> setters = {
      {"model_type", setModel},
      {"hidden", setCount(&StepRow::hidden)},
      {"hidden size", setCount(&StepRow::hidden)},
      {"layers", setCount(&StepRow::layers)},
      {"# layers", setCount(&StepRow::layers)},
      {"heads", setCount(&StepRow::heads)},
      {"attention heads", setCount(&StepRow::heads)},
      {"seq", setCount(&StepRow::sequence)},
      {"sequence length", setCount(&StepRow::sequence)},
      {"vocab", setCount(&StepRow::vocabulary)},
      {"feed_forward", setCount(&StepRow::feedForward)},
      {"kv_heads", setCount(&StepRow::kvHeads)},
      {"cluster", setText(&StepRow::cluster)},
      {"gpus", setCount(&StepRow::gpus)},
      {"# GPUs", setCount(&StepRow::gpus)},
      {"tp", setCount(&StepRow::tensor)},
      {"tensor parallelism", setCount(&StepRow::tensor)},
      {"pp", setCount(&StepRow::pipeline)},
      {"pipeline parallelism", setCount(&StepRow::pipeline)},
      {"vpp", setCount(&StepRow::chunks)},
      {"dp", setCount(&StepRow::data)},
      {"data parallelism", setCount(&StepRow::data)},
      {"micro_batch", setCount(&StepRow::microBatch)},
      {"micro batch", setCount(&StepRow::microBatch)},
      {"global_batch", setCount(&StepRow::globalBatch)},
      {"global batch", setCount(&StepRow::globalBatch)},
      {"recompute",
       [](StepRow &row, const std::string &text) { row.recompute = parseRecompute(text); }},
      {"sequence_parallel", setFlag(&StepRow::sequenceParallel)},
      {"dtype", setDtype},
      {"schedule", setSchedule},
      {"fused_attention", setFlag(&StepRow::fusedAttention)},
      {"overlap_tp", setFlag(&StepRow::overlapTensor)},
      {"overlap_pp", setFlag(&StepRow::overlapMessages)},
      {"overlap_dp", setFlag(&StepRow::overlapData)},
      {"distributed_optimizer", setFlag(&StepRow::shardedOptimizer)},
      {"measured_s", setSeconds(1)},
      {"iteration time (ms)", setSeconds(1e-3)},
  };
  return setters;
}

/// What columns cannot say one by one.
void checkRow(StepRow &row) {
  if (row.hidden < 1 || row.layers < 1 || row.heads < 1 || row.sequence < 1)
    throw std::runtime_error("hidden, layers, heads and seq are needed");
  if (row.heads > row.hidden)
    throw std::runtime_error(
        fmt::format("expected no more heads than hidden = {}, got: {}", row.hidden, row.heads));
  if (row.cluster.empty())
    row.cluster = fmt::format("dgx-a100:{}", (row.gpus + 7) / 8);
  if (row.gpus != row.tensor * row.pipeline * row.data)
    throw std::runtime_error(fmt::format("expected gpus to be tp x pp x dp, got: {} != {}",
                                         row.gpus, row.tensor * row.pipeline * row.data));
  if (row.globalBatch % (row.microBatch * row.data) != 0)
    throw std::runtime_error(
        fmt::format("expected the global batch to be a multiple of {}, got: {}",
                    row.microBatch * row.data, row.globalBatch));
  if (row.layers < row.pipeline)
    throw std::runtime_error(fmt::format("expected a layer for each of pp = {} stages, got: {}",
                                         row.pipeline, row.layers));
  constexpr double mostForwards = 1e7, mostLayers = 1e8; // that are simulated
  auto microbatches = static_cast<double>(row.getMicrobatches());
  int64_t stages = row.pipeline * row.chunks.value_or(1);
  if (microbatches * static_cast<double>(stages) > mostForwards ||
      microbatches * static_cast<double>(row.layers) > mostLayers)
    throw std::runtime_error(
        fmt::format("{} microbatches of {} stages with {} layers are more than are simulated",
                    row.getMicrobatches(), stages, row.layers));
}

} // namespace

/// Llama 2's largest and Llama 3.
static bool groupsQueries(const StepRow &row) {
  return row.model == "llama" && (row.hidden >= 8192 || row.vocabulary > 100000);
}

int64_t StepRow::getFeedForward() const {
  if (feedForward > 0)
    return feedForward;
  if (model != "llama")
    return 4 * hidden;
  return groupsQueries(*this) ? hidden * 7 / 2 : (hidden * 8 / 3 + 255) / 256 * 256;
}

int64_t StepRow::getKvHeads() const {
  if (kvHeads > 0)
    return kvHeads;
  return groupsQueries(*this) ? std::min<int64_t>(8, heads) : heads;
}

std::vector<StepRow> weft::validate::readStepTable(const std::string &path,
                                                   std::vector<std::string> *others) {
  auto start = [&](const std::vector<std::string> &columns) {
    StepRow row;
    row.profiled = columns[0] == "# GPUs";
    if (!others)
      return row;
    others->clear();
    for (const std::string &column : columns)
      if (!getSetters().contains(column))
        others->push_back(column);
    return row;
  };
  return readRows<StepRow>(path, getSetters(), start, checkRow);
}
