#include "tools/weft/MeasureHost.h"

#include "runtime/Collective/Module.h"
#include "runtime/Measure/Clock.h"
#include "runtime/Measure/Measure.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Cores.h"
#include "tools/weft/MeasureProgram.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;
using namespace weft::runtime;

namespace {

constexpr double timeLimit = 105; ///< s; a round in progress and writing come on top
constexpr double collectiveBudget = 0.05, productBudget = 0.04, copyBudget = 0.12,
                 launchBudget = 0.08; ///< s a shape

const std::vector<int64_t> messageSizes = {1 << 10, 1 << 13, 1 << 16, 1 << 18,
                                           1 << 20, 1 << 22, 1 << 24};
/// Square ones, those of layers with few tokens, and thin ones, whose result weighs most (small
/// ones of these: what leaves the caches takes now more, now less).
const std::vector<std::vector<int64_t>> matmulShapes = {
    {64, 64, 64},     {128, 128, 128},   {256, 256, 256},   {512, 512, 512}, {768, 768, 768},
    {1024, 768, 768}, {1024, 3072, 768}, {1024, 768, 3072}, {128, 768, 768}, {128, 768, 3072},
    {32, 1024, 1024}, {256, 64, 1024},   {1024, 256, 64},   {256, 256, 4},   {256, 256, 8},
    {256, 256, 16},   {256, 128, 16},    {128, 256, 32}};

/// 2, 4 and 8 ranks and one a core; where there are few cores, ranks that take turns among them.
std::set<int64_t> listRanks() {
  int64_t cores = getNumCores();
  std::set<int64_t> ranks = {2, 4, std::max<int64_t>(2, cores)};
  if (cores >= 8)
    ranks.insert(8);
  return ranks;
}

/// Blocks that caches hold, and one that they do not: 1 GiB of both blocks on all cores together.
std::vector<int64_t> listCopySizes() {
  int64_t part = (int64_t(1) << 29) / getNumCores();
  return {1 << 18, 1 << 20, 1 << 22, std::max<int64_t>(1 << 25, part)};
}

std::vector<Sample> toSamples(const std::vector<Timing> &timings) {
  std::vector<Sample> samples;
  for (const Timing &timing : timings)
    samples.push_back({timing.at, timing.seconds});
  return samples;
}

CollectiveKind getKind(Operation operation) {
  switch (operation) {
  case Operation::AllReduce:
    return CollectiveKind::AllReduce;
  case Operation::AllGather:
    return CollectiveKind::AllGather;
  case Operation::ReduceScatter:
    return CollectiveKind::ReduceScatter;
  case Operation::AllToAll:
    return CollectiveKind::AllToAll;
  }
  return CollectiveKind::AllReduce;
}

/// By operation, in the order of `operations`.
using Collectives = std::array<std::vector<Timing>, operations.size()>;

/// This program under mpirun, whichever it is: what is to be allowed is said in the environment.
std::string getCommand(const std::string &program, int64_t ranks) {
  std::string allow = "OMPI_MCA_rmaps_base_oversubscribe=1 "
                      "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe ";
  if (geteuid() == 0) // whoever measures as root means it
    allow += "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ";
  return fmt::format("{}timeout 40 mpirun -np {} '{}' calibrate --mpi-rank -o - 2>&1", allow, ranks,
                     program);
}

/// Adds what the ranks of mpirun print; the reason where they did not measure.
std::string readRanks(FILE *pipe, int64_t ranks, Collectives &measured) {
  char line[512], name[32];
  std::string complaint;
  bool any = false;
  while (std::fgets(line, sizeof(line), pipe)) {
    long long bytes = 0;
    double seconds = 0;
    if (std::sscanf(line, "calibrate %31s %lld %lf", name, &bytes, &seconds) != 3) {
      if (complaint.empty() && std::strspn(line, "- \n") < std::strlen(line))
        complaint = std::string(line, std::strcspn(line, "\n"));
      continue;
    }
    for (size_t i = 0; i < operations.size(); ++i)
      if (operations[i].name == std::string(name))
        keepFaster(measured[i], {{{ranks, bytes}, seconds}});
    any = true;
  }
  int status = pclose(pipe);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  if (any && code == 0)
    return "";
  if (code == 127)
    return "no mpirun on the PATH; install Open MPI or MPICH";
  return code == 124 ? "mpirun did not end within 40 s"
                     : fmt::format("mpirun ended with {}: {}", code, complaint);
}

std::string launchMpi(int64_t ranks, Collectives &measured) {
  std::error_code error;
  std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error || self.find('\'') != std::string::npos)
    return "cannot start this program under mpirun";
  flushOutput();
  FILE *pipe = popen(getCommand(self, ranks).c_str(), "r");
  return pipe ? readRanks(pipe, ranks, measured) : "cannot start a shell";
}

/// One round of everything after the other; the least of each point is kept.
struct Rounds {
  std::vector<Timing> matmuls, copies, launches;
  Collectives local, mpi;
  std::string mpiProblem, programProblem;
  MeasuredProgram program{programProblem};

  void measure() {
    std::vector<int64_t> threads = {1};
    if (getNumCores() > 1)
      threads.push_back(getNumCores());
    for (int again = 0; again < 3; ++again) {
      measureLocal();
      keepFaster(launches, measureLaunches(threads, launchBudget));
      keepFaster(matmuls, measureMatmuls(matmulShapes, productBudget));
      keepFaster(copies, measureCopies(listCopySizes(), copyBudget));
      program.measure();
    }
    for (int64_t ranks : listRanks()) {
      measureLocal();
      for (int again = 0; again < 2 && mpiProblem.empty(); ++again)
        mpiProblem = launchMpi(ranks, mpi);
    }
  }

  /// Often and shortly: threads that start on unlike cores, or wake each other up where they could
  /// look, go on like that.
  void measureLocal() {
    for (int64_t ranks : listRanks())
      for (size_t i = 0; i < operations.size(); ++i)
        keepFaster(local[i], measureLocalCollective(ranks, operations[i].operation, messageSizes,
                                                    collectiveBudget / 4));
  }

  HostSamples getSamples() const {
    HostSamples samples;
    samples.matmuls = toSamples(matmuls);
    samples.copies = toSamples(copies);
    samples.launches = toSamples(launches);
    samples.instructions = program.getSamples();
    for (const auto &[transport, measured] : {std::pair("local", &local), std::pair("mpi", &mpi)})
      for (size_t i = 0; i < operations.size(); ++i)
        if (!(*measured)[i].empty())
          samples.collectives.push_back({transport, operations[i].name,
                                         getKind(operations[i].operation),
                                         toSamples((*measured)[i])});
    samples.cores = getNumCores();
    samples.memory =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return samples;
  }
};

} // namespace

HostMeasurement weft::tool::measureHost(int64_t numRounds, bool needMpi, bool progress) {
  Rounds rounds;
  double begin = getNow(), longest = 0;
  for (int64_t round = 0; round < numRounds; ++round) {
    double start = getNow();
    if (start - begin + longest > timeLimit || (needMpi && !rounds.mpiProblem.empty()))
      break;
    if (progress)
      printError("\rround {} of {} …", round + 1, numRounds);
    rounds.measure();
    longest = std::max(longest, getNow() - start);
  }
  if (progress)
    printError("\r\033[K");
  return {rounds.getSamples(), rounds.mpiProblem, rounds.programProblem, getNow() - begin};
}

int weft::tool::measureAsMpiRank() {
  std::unique_ptr<Transport> transport = openMpiTransport();
  for (const OperationName &operation : operations) {
    std::vector<Timing> timings =
        measureCollective(*transport, operation.operation, messageSizes, collectiveBudget / 2);
    if (transport->getRank() == 0)
      for (const Timing &timing : timings)
        print("calibrate {} {} {:.9g}\n", operation.name, timing.at[1], timing.seconds);
  }
  transport->finish();
  return 0;
}
