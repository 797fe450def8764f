//===- Run.cpp - running an executable ------------------------------------===//

#include "runtime/Executor/Run.h"

#include "runtime/Collective/Local/LocalTransport.h"
#include "runtime/Collective/Module.h"
#include "runtime/Executor/Agree.h"
#include "runtime/Executor/Rank.h"
#include "runtime/Support/Console.h"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace weft::runtime {

namespace {

/// Threads have this long to come back after the run was aborted; a thread that does not is left
/// behind.
constexpr auto timeToComeBack = std::chrono::seconds(2);

RunReport runRank(const Executable &executable, Transport &transport, const RunOptions &options,
                  RankLocation &location) {
  std::unique_ptr<Rank> rank;
  location.enterStage("prepare");
  agree(transport,
        [&] { rank = std::make_unique<Rank>(executable, transport, options, location); });
  agree(transport, [&] { rank->prepare(); });
  rank->prepareTraining(); // agrees itself
  location.enterStage("initialise");
  agree(transport, [&] { rank->initialise(); });
  rank->execute();
  location.enterStage("delivery of outputs");
  rank->deliver();
  return rank->report();
}

/// All that the threads of a run touch; a thread that hangs keeps it alive.
struct LocalRun {
  std::shared_ptr<const Executable> executable;
  RunOptions options;
  std::vector<std::unique_ptr<Transport>> transports;
  std::deque<RankLocation> locations;

  std::mutex lock; ///< of what follows
  std::condition_variable changed;
  size_t running = 0;
  std::optional<RunReport> report; ///< rank 0's
  std::optional<std::pair<ErrorKind, std::string>> agreed;
  bool failed = false;
};

void runThread(const std::shared_ptr<LocalRun> &run, size_t index) {
  Transport &transport = *run->transports[index];
  std::optional<RunReport> report;
  std::optional<std::pair<ErrorKind, std::string>> agreed;
  auto fail = [&](int exitCode, const char *what) {
    int64_t rank = transport.getRank();
    transport.abort({rank, exitCode, what, rank, run->locations[index].describe()});
  };
  try {
    Watchdog watchdog(transport, run->locations[index], run->options.limits);
    report = runRank(*run->executable, transport, run->options, run->locations[index]);
    transport.finish();
  } catch (const AgreedError &error) {
    agreed.emplace(error.getKind(), error.what());
  } catch (const Error &error) {
    fail(error.getExitCode(), error.what());
  } catch (const std::exception &error) {
    fail(static_cast<int>(ErrorKind::Failure), error.what());
  }
  std::lock_guard guard(run->lock);
  --run->running;
  run->failed |= !report && !agreed;
  if (agreed)
    run->agreed = agreed;
  if (index == 0)
    run->report = std::move(report);
  run->changed.notify_all();
}

/// What the user is told about a run that was aborted: why, and where the rank was.
Error describeFailure(LocalRun &run) {
  AbortReason reason{0, 5, "unknown", 0, ""};
  if (std::optional<AbortReason> given = run.transports.front()->getAbortReason())
    reason = *given;
  for (RankLocation &location : run.locations)
    if (location.getRank() == reason.rank && reason.rank != reason.reporter) {
      reason.reporter = reason.rank; // of threads, it is known where a silent one is
      reason.where = location.describe();
    }
  return Error(static_cast<ErrorKind>(reason.exitCode), describe(reason));
}

} // namespace

RunReport runThreads(std::shared_ptr<const Executable> executable, const RunOptions &options,
                     std::vector<std::unique_ptr<Transport>> transports) {
  auto run = std::make_shared<LocalRun>();
  run->executable = std::move(executable);
  run->options = options;
  run->transports = std::move(transports);
  run->running = run->transports.size();
  for (std::unique_ptr<Transport> &transport : run->transports)
    run->locations.emplace_back(transport->getRank());
  for (size_t i = 0; i < run->transports.size(); ++i)
    std::thread(runThread, run, i).detach();
  std::unique_lock guard(run->lock);
  auto aborted = [&] { return run->transports.front()->getAbortReason().has_value(); };
  while (run->running > 0 && !run->failed && !aborted())
    run->changed.wait_for(guard, std::chrono::milliseconds(100));
  if (run->running > 0)
    run->changed.wait_for(guard, timeToComeBack, [&] { return run->running == 0; });
  if (run->failed || aborted())
    throw describeFailure(*run);
  if (run->agreed)
    throw Error(run->agreed->first, run->agreed->second);
  return *run->report;
}

RunReport runLocal(std::shared_ptr<const Executable> executable, const RunOptions &options) {
  int64_t ranks = executable->getNumRanks();
  return runThreads(std::move(executable), options, makeLocalTransports(ranks));
}

namespace {

/// The executable of this process, the same on all ranks and made for as many as there are.
Executable loadTogether(Transport &transport, const std::string &folder) {
  Executable executable;
  agree(transport, [&] { executable = loadExecutable(folder); });
  std::vector<std::string> hashes = gatherTexts(transport, fmt::format("{:016x}", executable.hash));
  agree(transport, [&] {
    const std::string &mine = hashes[transport.getRank()];
    if (mine != hashes.front())
      throwBadInput("'{}' is another program than rank 0 runs (hash {}, rank 0 has {}); give all "
                    "ranks the same executable",
                    folder, mine, hashes.front());
  });
  if (transport.getSize() != executable.getNumRanks())
    throw AgreedError(ErrorKind::Usage,
                      fmt::format("the executable was compiled for {} rank(s), the launcher "
                                  "started {}; use mpirun -np {}",
                                  executable.getNumRanks(), transport.getSize(),
                                  executable.getNumRanks()),
                      transport.getRank() == 0);
  return executable;
}

} // namespace

RunReport runMpi(const std::string &folder, const RunOptions &options,
                 const std::function<void(const RunReport &)> &tell) {
  // Neither ends before the process does: the watchdog leaves both in use.
  std::unique_ptr<Transport> transport = openMpiTransport();
  RankLocation location(transport->getRank());
  reportPlaceOnTerminate(location);
  Watchdog watchdog(*transport, location, options.limits);
  auto fail = [&](int exitCode, const char *what) {
    int64_t rank = transport->getRank();
    transport->abort({rank, exitCode, what, rank, location.describe()});
    waitForEnd();
  };
  try {
    location.enterStage("prepare");
    Executable executable = loadTogether(*transport, folder);
    RunReport report = runRank(executable, *transport, options, location);
    location.enterStage("the end of MPI");
    ignoreTerminate();
    tell(report);
    transport->finish();
    return report;
  } catch (const AgreedError &error) {
    ignoreTerminate();
    if (error.reportsToUser())
      printError("weft: {}\n", error.what());
    transport->finish();
    throw;
  } catch (const Error &error) {
    fail(error.getExitCode(), error.what());
  } catch (const std::exception &error) {
    fail(static_cast<int>(ErrorKind::Failure), error.what());
  }
  return {};
}

} // namespace weft::runtime
