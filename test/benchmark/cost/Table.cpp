#include "test/benchmark/cost/Table.h"

#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>

using namespace weft;
using namespace weft::benchmark;

namespace {

std::vector<std::string> splitLine(std::string line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n'))
    line.pop_back();
  std::vector<std::string> cells(1);
  for (char letter : line)
    if (letter == ',')
      cells.emplace_back();
    else if (letter != '"' && (letter != ' ' || !cells.back().empty()))
      cells.back() += letter;
  return cells;
}

template <typename Number> Number parseNumber(const std::string &text) {
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(fmt::format("expected a number, got: '{}'", text));
  return value;
}

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
  if (text == "selective")
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

using Setter = std::function<void(StepRow &, const std::string &)>;

Setter setCount(int64_t StepRow::*field) {
  return [field](StepRow &row, const std::string &text) {
    row.*field = parseNumber<int64_t>(text);
    if (row.*field < 1)
      throw std::runtime_error(fmt::format("expected at least 1, got: {}", text));
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
  };
}

const std::map<std::string, Setter> &getSetters() {
  static const std::map<std::string, Setter> setters = {
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
void checkRow(const StepRow &row) {
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
  if (row.hidden < 1 || row.layers < 1 || row.heads < 1 || row.sequence < 1)
    throw std::runtime_error("hidden, layers, heads and sequence are needed");
}

StepRow parseRow(const std::vector<std::string> &columns, const std::vector<std::string> &cells,
                 bool profiled) {
  if (cells.size() != columns.size())
    throw std::runtime_error(
        fmt::format("expected {} cells, got: {}", columns.size(), cells.size()));
  StepRow row;
  row.profiled = profiled;
  for (size_t i = 0; i < columns.size(); ++i) {
    auto setter = getSetters().find(columns[i]);
    if (setter == getSetters().end() || cells[i].empty())
      continue;
    try {
      setter->second(row, cells[i]);
    } catch (const std::runtime_error &error) {
      throw std::runtime_error(fmt::format("column '{}': {}", columns[i], error.what()));
    }
  }
  if (row.cluster.empty())
    row.cluster = fmt::format("dgx-a100:{}", (row.gpus + 7) / 8);
  checkRow(row);
  return row;
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

std::vector<StepRow> weft::benchmark::readTable(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line))
    throw std::runtime_error("cannot read " + path);
  std::vector<std::string> columns = splitLine(line);
  bool profiled = columns[0] == "# GPUs";
  std::vector<StepRow> rows;
  for (int number = 2; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \r") == std::string::npos)
      continue;
    try {
      rows.push_back(parseRow(columns, splitLine(line), profiled));
      rows.back().line = number;
    } catch (const std::runtime_error &error) {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  return rows;
}
