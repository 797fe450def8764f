// weft-property: random models on random meshes, partitioned and interpreted, against one device.
//
// Each seed makes a model, a mesh and pins (Case.h); the compiler splits it, all ranks of the
// program are interpreted, and the assembled outputs are held against the model's own. Exit 6 if
// any differs or fails, or if operations and splits were not covered as Coverage asks.
#include "test/property/Case.h"
#include "test/property/Compile.h"

#include <CLI/CLI.hpp>
#include <atomic>
#include <iostream>
#include <mutex>
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
};

/// What all threads share.
struct Run {
  Options options;
  std::atomic<int64_t> next = 0, failures = 0;
  std::mutex mutex; ///< of coverage and the standard output
  Coverage coverage;
};
} // namespace

/// Interprets the program on all ranks and compares; what is wrong, or nothing.
static std::string checkProgram(const Case &test) {
  auto outputs = interpretPartitioned(*test.model.module, test.model.inputs, [&](WeightOp weight) {
    auto found = test.model.weights.find(weight.getSymName().str());
    return found == test.model.weights.end() ? readStoredWeight(weight) : found->second;
  });
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

static void runSeed(Run &run, MLIRContext &context, uint64_t seed, Coverage &coverage) {
  Case test = makeCase(context, seed, "weights.bin");
  std::string described = test.describe();
  if (run.options.verbose) {
    std::lock_guard lock(run.mutex);
    std::cout << "seed " << seed << "\n" << described << std::flush;
  }
  ++coverage.cases;
  for (const auto &[name, count] : test.model.operations)
    coverage.operations[name] += count;
  std::string problem = checkCase(test, coverage);
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
