//===- Conformance.cpp - weft conformance ---------------------------------===//

#include "driver/Compile.h"
#include "driver/Messages.h"
#include "driver/RecordedTests.h"
#include "runtime/Executor/Run.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Cores.h"
#include "runtime/Support/DType.h"
#include "tools/weft/Children.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"
#include "tools/weft/ModelArguments.h"
#include "tools/weft/NumberChecks.h"
#include "tools/weft/Output.h"

#include "llvm/Support/GlobPattern.h"
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <map>

using namespace weft;
using namespace weft::tool;
namespace fs = std::filesystem;

/// Patterns that the braces of one may stand for.
static constexpr size_t maxAlternatives = 1024;

namespace {

struct Arguments {
  std::string folder, filter = "*", mesh, device = cpuTarget.str();
  double tolerance = 1e-4, timeout = 600;
};

/// How a test may end, the worst last: with what exit code the command does.
struct Status {
  const char *name;
  Exit code;
};
constexpr Status passed{"passed", Exit::Ok}, refused{"refused", Exit::BadInput},
    failed{"failed", Exit::Failure}, differs{"differs", Exit::Mismatch};
constexpr Status statuses[] = {passed, refused, failed, differs};

/// Bytes of names that are no UTF-8 are replaced.
std::string toText(const nlohmann::ordered_json &verdict) {
  return verdict.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json makeVerdict(const Status &status, const std::string &message = "") {
  return {{"status", status.name}, {"message", message}};
}

/// How far an output of this type may lie from the recorded one, of its magnitude: integers not at
/// all, short floats by two units in their last place.
double getTolerance(program::DType dtype, double asked) {
  if (!runtime::isFloat(dtype))
    return 0;
  if (dtype == program::BF16)
    return std::max(asked, 0x2p-7);
  return dtype == program::F16 ? std::max(asked, 0x2p-10) : asked;
}

std::string describe(const runtime::Comparison &output) {
  if (!output.shapeFits)
    return fmt::format("'{}' has another shape", output.name);
  if (output.nonfiniteMismatches)
    return fmt::format("'{}' has {} elements of which one alone is NaN or infinite", output.name,
                       output.nonfiniteMismatches);
  return fmt::format("'{}' differs by {:.2e} of its magnitude at element {}", output.name,
                     output.getRelative(), output.worst);
}

/// Runs what was compiled and compares.
nlohmann::ordered_json runAndCompare(const std::string &path, const PreparedTest &test,
                                     const Arguments &arguments) {
  runtime::RunOptions options;
  options.inputs.folder = test.inputs;
  options.expectDir = test.outputs;
  options.threads = 1;
  auto executable = std::make_shared<const runtime::Executable>(runtime::loadExecutable(path));
  std::map<std::string, program::DType> types;
  for (const program::Program &program : executable->proto.classes())
    for (const program::Port &port : program.outputs())
      types[port.name()] = port.dtype();
  runtime::RunReport report = runtime::runLocal(executable, options);
  double largest = 0;
  std::string message;
  for (const runtime::Comparison &output : report.comparisons) {
    largest = std::max(largest, output.getRelative());
    if (!output.isWithin(getTolerance(types[output.name], arguments.tolerance)))
      message += (message.empty() ? "" : "; ") + describe(output);
  }
  nlohmann::ordered_json verdict = makeVerdict(message.empty() ? passed : differs, message);
  verdict["ranks"] = report.weightsBytes.size();
  verdict["relative"] = largest;
  return verdict;
}

/// Messages about a copy of a model as such about the model, without the last line's end.
std::string nameModel(std::string messages, const std::string &copy, const std::string &model) {
  for (size_t at = 0; (at = messages.find(copy, at)) != std::string::npos; at += model.size())
    messages.replace(at, copy.size(), model);
  return llvm::StringRef(messages).rtrim().str();
}

/// None where it may be tried with other constants.
std::optional<nlohmann::ordered_json> attempt(const RecordedTest &test, unsigned number,
                                              const fs::path &scratch, const Arguments &arguments) {
  fs::create_directories(scratch);
  PreparedTest prepared = prepareRecordedTest(test, number, scratch);
  mlir::MLIRContext context;
  CollectMessages messages(&context);
  CompileOptions options;
  options.load.dims = prepared.dims;
  options.load.allowedDataDirs = prepared.dataDirs;
  options.plan.mesh = arguments.mesh;
  options.device = arguments.device;
  options.threads = 1;
  std::string path = scratch / "model.weft";
  Result<CompiledModel> compiled = compileModel(context, prepared.model, path, options);
  if (!compiled.failed())
    return runAndCompare(path, prepared, arguments);
  if (mayAttemptAgain(test, number, messages.str()))
    return std::nullopt;
  return makeVerdict(refused, nameModel(messages.str(), prepared.model, test.model));
}

std::string judge(const RecordedTest &test, const fs::path &scratch, const Arguments &arguments) {
  try {
    for (unsigned number = 0;; ++number)
      if (auto verdict = attempt(test, number, scratch / std::to_string(number), arguments))
        return toText(*verdict);
  } catch (const runtime::Error &error) {
    bool isRefused = error.getKind() != runtime::ErrorKind::Failure;
    return toText(makeVerdict(isRefused ? refused : failed, error.what()));
  }
}

/// A folder that goes with this.
class Scratch {
public:
  Scratch() {
    std::string pattern = fs::temp_directory_path() / "weft-conformance-XXXXXX";
    if (!mkdtemp(pattern.data()))
      runtime::throwFailure("no folder '{}' can be made: {}", pattern, std::strerror(errno));
    folder = pattern;
  }
  ~Scratch() {
    std::error_code error;
    fs::remove_all(folder, error);
  }
  fs::path of(size_t number) const { return folder / std::to_string(number); }

private:
  fs::path folder;
};

std::vector<RecordedTest> selectTests(const Arguments &arguments) {
  std::vector<RecordedTest> tests = findRecordedTests(arguments.folder);
  if (tests.empty())
    runtime::throwBadInput(
        "no test is in '{}': expected folders with model.onnx and test_data_set_0/input_0.pb, or "
        "with a model, inputs/NAME.npy and outputs/NAME.npy",
        arguments.folder);
  llvm::Expected<llvm::GlobPattern> pattern =
      llvm::GlobPattern::create(arguments.filter, maxAlternatives);
  if (!pattern)
    throw runtime::Error(
        runtime::ErrorKind::Usage,
        fmt::format("--filter '{}': {}", arguments.filter, llvm::toString(pattern.takeError())));
  size_t found = tests.size();
  std::erase_if(tests, [&](const RecordedTest &test) { return !pattern->match(test.name); });
  if (tests.empty())
    throw runtime::Error(
        runtime::ErrorKind::Usage,
        fmt::format("--filter '{}' leaves none of the {} tests", arguments.filter, found));
  return tests;
}

nlohmann::ordered_json toVerdict(const ChildEnd &end, const RecordedTest &test) {
  nlohmann::ordered_json verdict = {{"name", test.name}};
  verdict.update(end.problem.empty() ? nlohmann::ordered_json::parse(end.text)
                                     : makeVerdict(failed, end.problem));
  verdict["seconds"] = end.seconds;
  return verdict;
}

void tell(const nlohmann::ordered_json &verdict, const Common &common) {
  std::string status = verdict["status"], message = verdict["message"], name = verdict["name"];
  bool isPassed = status == passed.name;
  if (common.json || (isPassed && !common.verbose))
    return;
  if (isPassed)
    message = fmt::format("within {:.1e}, {} ranks", verdict["relative"].get<double>(),
                          verdict["ranks"].get<int>());
  if (common.quiet && !isPassed)
    runtime::printError("{} {}: {}\n", status, name, message);
  else
    runtime::print("{:<8} {}: {}\n", status, name, message);
}

/// Whether the mesh can be read at all, which is not each test's to find out. Without threads, as
/// doInChildren() wants it.
Outcome checkMesh(const Arguments &arguments) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  PrintDiagnostics printer(&context);
  PlanOptions options;
  options.mesh = arguments.mesh;
  ModelOptions load;
  return preparePlan(context, options, load).getOutcome();
}

int conformance(const Arguments &arguments, const Common &common) {
  if (Outcome mesh = checkMesh(arguments); mesh.failed())
    return mesh.getExitCode();
  std::vector<RecordedTest> tests = selectTests(arguments);
  Scratch scratch;
  std::vector<nlohmann::ordered_json> verdicts(tests.size());
  std::map<std::string, size_t> counts;
  size_t told = 0; // in the order of names, whichever ends first
  doInChildren(
      tests.size(), common.threads ? common.threads : runtime::getNumCores(), arguments.timeout,
      [&](size_t number) { return judge(tests[number], scratch.of(number), arguments); },
      [&](const ChildEnd &end) {
        nlohmann::ordered_json &verdict = verdicts[end.number];
        verdict = toVerdict(end, tests[end.number]);
        ++counts[verdict["status"]];
        std::error_code error;
        fs::remove_all(scratch.of(end.number), error);
        for (; told < verdicts.size() && !verdicts[told].is_null(); ++told)
          tell(verdicts[told], common);
      });
  nlohmann::ordered_json answer = {{"tests", verdicts}};
  Exit code = Exit::Ok;
  for (const Status &status : statuses) {
    answer[status.name] = counts[status.name];
    if (counts[status.name])
      code = status.code;
  }
  if (common.json)
    printJsonValue(answer);
  else if (!common.quiet)
    runtime::print("{} passed, {} differ, {} failed, {} refused\n", counts[passed.name],
                   counts[differs.name], counts[failed.name], counts[refused.name]);
  return code;
}

} // namespace

CLI::App *weft::tool::addConformance(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command = app.add_subcommand(
      "conformance", "compile and run models whose results another program recorded, and compare");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("folder", arguments->folder, "a folder of tests, at any depth")
      ->required()
      ->type_name("DIR");
  command->add_option("--filter", arguments->filter, "only tests whose name this pattern matches")
      ->type_name("GLOB")
      ->capture_default_str();
  command->add_option("--mesh", arguments->mesh, "split every model so (default: one device)")
      ->type_name("MESH");
  addDeviceOption(*command, arguments->device);
  command
      ->add_option("--tolerance", arguments->tolerance,
                   "largest difference over largest magnitude that is accepted of floats, of f16 "
                   "and bf16 two units in their last place at least")
      ->check(isAtLeast(0))
      ->capture_default_str();
  command->add_option("--timeout", arguments->timeout, "seconds that a test may take (0: no bound)")
      ->check(isAtLeast(0))
      ->capture_default_str();
  command->footer(
      "A test is a folder as the ONNX backend suite has it (model.onnx, "
      "test_data_set_N/input_M.pb, "
      "output_M.pb),\nor one with a model, inputs/NAME.npy and outputs/NAME.npy. Each is a process "
      "of its own, --threads at a time.\nThe exit code is that of the worst: 6 a result differs, 5 "
      "a "
      "run failed, 3 a model is refused.\n\n"
      "Examples:\n  weft conformance node --filter 'test_conv_*'\n"
      "  weft conformance models --mesh data=2,model=2 --json");
  run = [arguments, &common] { return conformance(*arguments, common); };
  return command;
}
