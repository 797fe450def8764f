// weft-property: random models on random meshes, partitioned and interpreted, against one device.
//
// Each seed makes a model, a mesh and pins (Case.h); the compiler splits it, all ranks of the
// program are interpreted, and the assembled outputs are held against the model's own. Every 16th
// case is compiled and interpreted once more: text and bits must be the same; every other 16th gets
// a pin that cannot be, which must be refused. Exit 6 if any differs or fails, or if
// operations and splits were not covered as Coverage asks.
//
// With --write DIR the cases become files for end_to_end.py, in folders by seed, and are planned
// only.
#include "test/property/Case.h"
#include "test/property/CaseFiles.h"
#include "test/property/Compile.h"

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <regex>
#include <thread>

using namespace mlir;
using namespace weft;
using namespace weft::property;

namespace {
/// 5000 cases, or as many more as WEFT_SEEDS asks for beside its own default of 300.
static int64_t defaultSeeds() {
  const char *asked = std::getenv("WEFT_SEEDS");
  return std::max<int64_t>(5000, asked ? std::atoll(asked) * 5000 / 300 : 0);
}

struct Options {
  int64_t seeds = defaultSeeds(), start = 0;
  int jobs = 0;
  bool verbose = false;
  int64_t mostFailures = 10;
  std::string folder; ///< of written cases; empty: they are interpreted
};

/// What all threads share.
struct Run {
  Options options;
  std::atomic<int64_t> next = 0, failures = 0;
  std::mutex mutex; ///< of coverage and the standard output
  Coverage coverage;
};
} // namespace

static const char weightsFile[] = "weights.bin";

/// Interprets the program on all ranks.
static llvm::Expected<SmallVector<Tensor>> interpretAll(const Case &test) {
  return interpretPartitioned(*test.model.module, test.model.inputs, [&](WeightOp weight) {
    auto found = test.model.weights.find(weight.getSymName().str());
    return found == test.model.weights.end() ? readStoredWeight(weight) : found->second;
  });
}

/// Interprets the program and compares with one device; what is wrong, or nothing.
static std::string checkProgram(const Case &test) {
  auto outputs = interpretAll(test);
  if (!outputs)
    return llvm::toString(outputs.takeError());
  return compareOutputs(*outputs, test.model.outputs, 1e-4);
}

/// Compiles as far as kernels and compares on the way; what is wrong, or nothing.
static std::string checkCase(Case &test, Coverage &coverage) {
  if (std::string problem = plan(test); !problem.empty())
    return problem;
  countSplits(*test.model.module, coverage);
  if (std::string problem = partition(test); !problem.empty())
    return problem;
  countCollectives(*test.model.module, coverage);
  if (std::string problem = checkProgram(test); !problem.empty())
    return "partitioned: " + problem;
  if (std::string problem = formKernels(test); !problem.empty())
    return problem;
  std::string problem = checkProgram(test);
  return problem.empty() ? "" : "with kernels formed: " + problem;
}

/// The module's text without the names of resources, which are numbered by context.
static std::string textOf(const Case &test) {
  static const std::regex resource("dense_resource<[A-Za-z0-9_]*>");
  return std::regex_replace(print(*test.model.module), resource, "dense_resource");
}

/// Does all of a checked case again, from its seed and in a new context; what differs, or nothing.
static std::string checkRepeats(const Case &test) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  Case again = makeCase(context, test.seed, weightsFile);
  if (!plan(again).empty() || !partition(again).empty() || !formKernels(again).empty())
    return "does not compile a second time";
  if (textOf(again) != textOf(test))
    return "another program when compiled a second time:\n" + print(*again.model.module);
  auto first = interpretAll(test), second = interpretAll(again);
  if (!first || !second)
    return llvm::toString(llvm::joinErrors(first.takeError(), second.takeError()));
  for (auto [output, repeated] : llvm::zip_equal(*first, *second))
    if (output.dense().raw() != repeated.dense().raw())
      return "other bits when run a second time";
  return "";
}

/// Gives a case's model a pin that cannot be: planning must say so and name the value. What it says
/// instead, or nothing.
static std::string checkRefusal(uint64_t seed) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  Case test = makeCase(context, seed, weightsFile);
  std::string name = addUnfitPin(test);
  if (name.empty())
    return "";
  std::string problem = plan(test);
  if (problem.find("'" + name + "'") != std::string::npos)
    return "";
  return "with pin " + test.pins.front() + " planning should name " + name +
         ", but says: " + (problem.empty() ? "nothing" : problem);
}

/// Writes a case's files and plans it; what is wrong, or nothing.
static std::string writeFiles(Case &test, const std::string &parent, Coverage &coverage) {
  std::string folder = parent + "/" + std::to_string(test.seed);
  std::filesystem::create_directories(folder);
  writeCase(test, folder);
  std::string problem = plan(test);
  if (problem.empty())
    countSplits(*test.model.module, coverage);
  return problem;
}

/// Whether a case was refused as it must be: a weight is pinned, and a view of it has no dimension
/// that is split so.
static bool isRefused(const Case &test, const std::string &problem) {
  bool pinsWeight = llvm::any_of(
      test.pins, [](const std::string &pin) { return StringRef(pin).starts_with("weight:"); });
  return test.chosen && pinsWeight &&
         problem.find("that reads what is pinned as it is pinned, got none") != std::string::npos;
}

static void runSeed(Run &run, MLIRContext &context, uint64_t seed, Coverage &coverage) {
  Case test = makeCase(context, seed, weightsFile);
  std::string described = test.describe();
  if (run.options.verbose) {
    std::lock_guard lock(run.mutex);
    std::cout << "seed " << seed << "\n" << described << std::flush;
  }
  ++coverage.cases;
  for (const auto &[name, count] : test.model.operations)
    coverage.operations[name] += count;
  bool writes = !run.options.folder.empty();
  std::string problem =
      writes ? writeFiles(test, run.options.folder, coverage) : checkCase(test, coverage);
  if (isRefused(test, problem)) {
    ++coverage.refused;
    if (writes)
      std::filesystem::remove_all(run.options.folder + "/" + std::to_string(seed));
    return;
  }
  if (problem.empty() && !writes && seed % 16 == 0)
    problem = checkRepeats(test);
  if (problem.empty() && !writes && seed % 16 == 8)
    problem = checkRefusal(seed);
  std::lock_guard lock(run.mutex);
  if (run.options.verbose)
    std::cout << "compiled:\n" << print(*test.model.module) << std::flush;
  if (problem.empty())
    return;
  if (run.failures++ >= run.options.mostFailures)
    return;
  std::cout << "seed " << seed << ": " << problem << "\n";
  if (!run.options.verbose)
    std::cout << described;
  std::cout << "replay: weft-property --start " << seed << " --seeds 1 --verbose\n\n" << std::flush;
}

/// Takes seeds until there are none left. Contexts keep what they have made; a new one now and then
/// bounds that.
static void work(Run &run) {
  constexpr int64_t block = 50;
  Coverage coverage;
  for (int64_t first; (first = run.next.fetch_add(block)) < run.options.seeds;) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    loadDialects(context);
    for (int64_t i = first; i < std::min(first + block, run.options.seeds); ++i)
      runSeed(run, context, run.options.start + i, coverage);
  }
  std::lock_guard lock(run.mutex);
  run.coverage.add(coverage);
}

int main(int argc, char **argv) try {
  CLI::App app("Random models on random meshes, partitioned and interpreted, against one device");
  Run run;
  app.add_option("--seeds", run.options.seeds, "how many cases");
  app.add_option("--start", run.options.start, "the first seed");
  app.add_option("--jobs", run.options.jobs, "threads (all cores by default)");
  app.add_option("--failures", run.options.mostFailures, "how many failures are printed");
  app.add_option("--write", run.options.folder, "write the cases' files into this folder");
  app.add_flag("--verbose", run.options.verbose, "print every case");
  CLI11_PARSE(app, argc, argv);
  int jobs =
      run.options.jobs > 0 ? run.options.jobs : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (int job = 0; job < jobs; ++job)
    threads.emplace_back([&] { work(run); });
  for (std::thread &thread : threads)
    thread.join();
  std::cout << run.coverage.table() << run.failures << " of " << run.coverage.cases
            << " cases failed\n";
  // One replayed case covers little, and need not.
  std::vector<std::string> lacking =
      run.options.seeds < 100 ? std::vector<std::string>() : run.coverage.shortcomings();
  for (const std::string &text : lacking)
    std::cout << "coverage: " << text << "\n";
  return run.failures == 0 && lacking.empty() ? 0 : 6;
} catch (const std::exception &error) {
  std::cerr << "weft-property: " << error.what() << "\n";
  return 5;
}
