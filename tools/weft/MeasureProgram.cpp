#include "tools/weft/MeasureProgram.h"

#include "compiler/Executable/InstructionShapes.h"
#include "driver/Compile.h"
#include "driver/Messages.h"
#include "runtime/Executor/Run.h"
#include "runtime/Support/Cores.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;
namespace fs = std::filesystem;

namespace {

constexpr int64_t stepsOfRun = 2;

/// Writes @main, whose operands are weights, so that nothing has to be given to it.
class ModelText {
public:
  /// Loads a tensor of its own.
  std::string load(const std::string &shape) {
    std::string name = fmt::format("w{}", weights++), type = fmt::format("tensor<{}xf32>", shape);
    globals += fmt::format("  weft.weight @{0} : {1} = dense<0.5> : {1}\n", name, type);
    body += fmt::format("    %{0} = weft.load @{0} : {1} loc(\"{0}\")\n", name, type);
    return "%" + name;
  }

  /// Adds an operation whose result the program hands out.
  void add(const std::string &operation, const std::string &result) {
    std::string name = fmt::format("r{}", results.size());
    body += fmt::format("    %{0} = {1} loc(\"{0}\")\n", name, operation);
    results.push_back("%" + name);
    types.push_back(fmt::format("tensor<{}xf32>", result));
  }

  void addUnary(const std::string &operation, const std::string &shape,
                const std::string &attributes = "") {
    std::string from = load(shape);
    add(fmt::format("weft.{} {}{} : tensor<{}xf32>", operation, from, attributes, shape), shape);
  }

  void addConvolution(int64_t images,
                      const std::vector<int64_t> &at) { // channels, outputs, extent, window
    int64_t pad = at[3] / 2;
    std::string input = fmt::format("{}x{}x{}x{}", images, at[0], at[2], at[2]);
    std::string kernel = fmt::format("{}x{}x{}x{}", at[1], at[0], at[3], at[3]);
    std::string output = fmt::format("{}x{}x{}x{}", images, at[1], at[2], at[2]);
    std::string x = load(input), k = load(kernel);
    add(fmt::format(
            "weft.conv {0}, {1} strides [1, 1] low [{2}, {2}] high [{2}, {2}] dilations [1, 1] "
            "groups 1 : (tensor<{3}xf32>, tensor<{4}xf32>) -> tensor<{5}xf32>",
            x, k, pad, input, kernel, output),
        output);
  }

  /// As a layer has it, of a weight: {m, n, k}.
  void addProduct(const std::vector<int64_t> &at) {
    std::string rows = fmt::format("{}x{}", at[0], at[2]),
                weight = fmt::format("{}x{}", at[2], at[1]),
                result = fmt::format("{}x{}", at[0], at[1]);
    std::string x = load(rows), w = load(weight);
    add(fmt::format("weft.dot_general {}, {} batch [] x [] contract [1] x [0] : "
                    "(tensor<{}xf32>, tensor<{}xf32>) -> tensor<{}xf32>",
                    x, w, rows, weight, result),
        result);
  }

  /// As attention has them: {batch, m, n, k}.
  void addBatch(const std::vector<int64_t> &at) {
    std::string a = fmt::format("{}x{}x{}", at[0], at[1], at[3]);
    std::string b = fmt::format("{}x{}x{}", at[0], at[2], at[3]);
    std::string c = fmt::format("{}x{}x{}", at[0], at[1], at[2]);
    std::string x = load(a), y = load(b);
    add(fmt::format("weft.dot_general {}, {} batch [0] x [0] contract [2] x [2] : (tensor<{}xf32>, "
                    "tensor<{}xf32>) -> tensor<{}xf32>",
                    x, y, a, b, c),
        c);
  }

  std::string str() const {
    return fmt::format(
        "module attributes {{weft.source = \"calibration\"}} {{\n{}  func.func @main() "
        "-> ({}) {{\n{}    return {} : {}\n  }}\n}}\n",
        globals, fmt::join(types, ", "), body, fmt::join(results, ", "), fmt::join(types, ", "));
  }

private:
  std::string globals, body;
  std::vector<std::string> results, types;
  int weights = 0;
};

/// For every core a part whose operands its caches hold; and a product of few rows by a weight, as
/// large models have, of which each core's part is more than they hold.
std::string writeModel(int64_t cores) {
  ModelText model;
  std::string rows = fmt::format("{}x1024", 128 * cores);
  for (const char *function : {"exp", "tanh", "erf"})
    model.addUnary(function, rows);
  model.addUnary("softmax", rows, " axis 1");
  for (const std::vector<int64_t> &at : std::vector<std::vector<int64_t>>{
           {64, 64, 56, 3}, {256, 256, 14, 3}, {256, 1024, 14, 1}, {512, 128, 28, 1}})
    model.addConvolution(2 * cores, at);
  for (const std::vector<int64_t> &at :
       std::vector<std::vector<int64_t>>{{256 * cores, 768, 768},
                                         {256 * cores, 3072, 768},
                                         {256 * cores, 768, 3072},
                                         {128, 2048 * cores, 4096}})
    model.addProduct(at);
  model.addBatch({24 * cores, 128, 128, 64});
  model.addBatch({24 * cores, 128, 64, 128});
  return model.str();
}

/// A folder of its own, removed at its end.
struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "weft-calibrate-XXXXXX").string();
    if (const char *made = mkdtemp(pattern.data()))
      path = made;
  }
  ~Folder() {
    std::error_code error;
    if (!path.empty())
      fs::remove_all(path, error);
  }
  std::string path;
};

/// Seconds of each instruction of the last step; those before it warm up.
std::vector<double> readTimes(const std::string &trace) {
  std::ifstream file(trace);
  nlohmann::json events = nlohmann::json::parse(file).at("traceEvents");
  std::vector<double> times;
  for (const nlohmann::json &event : events)
    if (event.at("ph") == "X")
      times.push_back(event.at("dur").get<double>() * 1e-6);
  return times;
}

/// Products, convolutions and kernels that do arithmetic; no others.
bool isMeasured(const InstructionWork &work) {
  return work.kind == InstructionWork::Kind::Convolution ||
         work.kind == InstructionWork::Kind::Product ||
         (work.kind == InstructionWork::Kind::Kernel && work.additions > 0);
}

} // namespace

struct MeasuredProgram::Program {
  Folder folder;
  std::shared_ptr<const runtime::Executable> executable;
};

MeasuredProgram::MeasuredProgram(std::string &problem) : program(std::make_unique<Program>()) {
  std::string path = program->folder.path + "/model.mlir", output = path + ".weft";
  std::ofstream(path) << writeModel(runtime::getNumCores());
  mlir::MLIRContext context;
  CollectMessages messages(&context);
  if (compileModel(context, path, output).failed()) {
    problem = messages.str();
    program.reset();
    return;
  }
  program->executable =
      std::make_shared<const runtime::Executable>(runtime::loadExecutable(output));
}

MeasuredProgram::~MeasuredProgram() = default;

void MeasuredProgram::measure() {
  if (!program)
    return;
  runtime::RunOptions options;
  options.repeat = stepsOfRun;
  options.trace = program->folder.path + "/trace.json";
  runtime::runLocal(program->executable, options);
  std::vector<double> times = readTimes(options.trace);
  size_t number = 0, sample = 0;
  for (const program::Segment &segment : program->executable->proto.classes(0).segments())
    for (const program::Instruction &instruction : segment.instructions()) {
      double seconds = times.at(number++);
      std::optional<InstructionWork> work = describeWork(instruction);
      if (!work || !isMeasured(*work))
        continue;
      if (sample == measured.size())
        measured.push_back({*work, {}});
      measured[sample++].seconds.push_back(seconds);
    }
}

std::vector<InstructionSample> MeasuredProgram::getSamples() const {
  std::vector<InstructionSample> samples;
  for (Measured each : measured) {
    auto middle = each.seconds.begin() + static_cast<ptrdiff_t>(each.seconds.size() / 2);
    std::nth_element(each.seconds.begin(), middle, each.seconds.end());
    samples.push_back({each.work, *middle});
  }
  return samples;
}
