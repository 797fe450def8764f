//===- Schedule.cpp - weft schedule ---------------------------------------===//

#include "compiler/Schedule/Check.h"
#include "compiler/Schedule/Csv.h"
#include "compiler/Schedule/Named.h"
#include "compiler/Schedule/Search.h"
#include "runtime/Support/Suggest.h"
#include "tools/weft/Messages.h"
#include "tools/weft/NumberChecks.h"
#include "tools/weft/Output.h"
#include "tools/weft/ScheduleReport.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <optional>
#include <sstream>

using namespace weft;
using namespace weft::schedule;
using namespace weft::tool;

namespace {

struct ScheduleOptions {
  std::string name, import, csv, trace;
  int32_t stages = 0, microbatches = 0, chunks = 0, slices = 1;
  std::vector<double> costs, memory;
  std::optional<double> limit, recompute;
};

/// An answer, or the exit code that ends the command.
struct Answer {
  Schedule schedule;
  int code = Exit::Ok;
};

Answer stop(int code) { return {{}, code}; }

Spec makeSpec(const ScheduleOptions &options) {
  Spec spec;
  spec.ranks = options.stages;
  spec.microbatches = options.microbatches;
  if (options.chunks > 0)
    spec.chunks = options.chunks;
  spec.slices = options.slices;
  spec.costs.forward = options.costs[0];
  spec.costs.input = options.costs[1];
  spec.costs.weight = options.costs[2];
  spec.message = options.costs[3];
  if (!options.memory.empty()) {
    spec.costs.forwardMemory = options.memory[0];
    spec.costs.inputMemory = options.memory[1];
    spec.costs.weightMemory = options.memory[2];
  }
  spec.limit = options.limit;
  spec.recompute = options.recompute.value_or(1);
  spec.copies = options.csv.empty(); // the form does not have them
  return spec;
}

/// Reads a file, and checks it against what was said of it.
Answer importSchedule(const ScheduleOptions &options) {
  std::ifstream file(options.import);
  if (!file)
    return stop(fail(Exit::BadInput,
                     fmt::format("cannot read '{}': {}", options.import, std::strerror(errno))));
  try {
    Schedule schedule = readCsv(file, options.import);
    const Placement &placement = schedule.placement;
    if (options.stages > 0 && options.stages != placement.numRanks &&
        options.stages != placement.getNumStages())
      throw ScheduleError(fmt::format("expected {} ranks, got: {} rows with {} stages",
                                      options.stages, placement.numRanks,
                                      placement.getNumStages()));
    if (options.microbatches > 0 && options.microbatches != schedule.numMicrobatches)
      throw ScheduleError(fmt::format("expected {} microbatches, got: {}", options.microbatches,
                                      schedule.numMicrobatches));
    checkSchedule(schedule);
    return {std::move(schedule)};
  } catch (const ScheduleError &error) {
    return stop(fail(Exit::BadInput, fmt::format("{}: {}", options.import, error.what())));
  }
}

Answer makeNamed(const ScheduleOptions &options) {
  Spec spec = makeSpec(options);
  if (options.name == "searched") {
    try {
      return {searchSchedule(spec).schedule};
    } catch (const ScheduleError &error) {
      return stop(fail(spec.slices > 1 ? Exit::Usage : Exit::Infeasible, error.what()));
    }
  }
  const NamedSchedule *named = findNamedSchedule(options.name);
  if (!named) {
    std::vector<std::string> names;
    for (const NamedSchedule &entry : listNamedSchedules())
      names.push_back(entry.name);
    names.push_back("searched");
    return stop(fail(Exit::Usage, fmt::format("no schedule '{}'; {}", options.name,
                                              runtime::suggest(options.name, names))));
  }
  try {
    Schedule schedule = named->make(spec);
    addMessages(schedule);
    checkSchedule(schedule);
    return {std::move(schedule)};
  } catch (const ScheduleError &error) {
    return stop(fail(Exit::Usage, error.what()));
  }
}

/// What the options cannot say one by one; empty if nothing.
std::string findProblem(const ScheduleOptions &options) {
  constexpr double most = 5e7;
  bool import = !options.import.empty();
  if (import == !options.name.empty())
    return "weft schedule needs a name or --import FILE.csv, and not both";
  if (import && (options.chunks > 0 || options.slices > 1 || options.recompute))
    return "--chunks, --slices and --recompute are of named schedules; --import has its own";
  if (!import && (options.stages < 1 || options.microbatches < 1))
    return "weft schedule NAME needs --stages P and --microbatches M";
  if (options.costs[0] + options.costs[1] + options.costs[2] <= 0)
    return "expected F, B or W of --costs above 0";
  double units = static_cast<double>(options.stages) * options.microbatches * options.slices *
                 std::max(2, options.chunks);
  if (!import && units > most)
    return fmt::format("{:.3g} stages times microbatches are more than the {:.0e} that are run",
                       units, most);
  return "";
}

/// Exit code 4 where a rank holds more than it may.
int checkLimit(const ScheduleOptions &options, const Schedule &schedule, const Timeline &timeline) {
  auto most = std::max_element(timeline.peak.begin(), timeline.peak.end());
  if (!options.limit || *most <= *options.limit + 1e-9 * (1 + *options.limit))
    return Exit::Ok;
  return fail(
      Exit::Infeasible,
      fmt::format("schedule {} holds {:.6g} on rank {}, more than the limit {:.6g}; --limit "
                  "{:.6g} would do, or the schedule searched",
                  schedule.name, *most, most - timeline.peak.begin(), *options.limit, *most));
}

/// The files that were named, opened before the work.
struct Files {
  std::optional<runtime::OutputFile> csv, trace;
};

int writeFiles(Files &files, const Schedule &schedule, const Costs &costs) {
  if (files.csv) {
    std::ostringstream text;
    try {
      writeCsv(text, schedule);
    } catch (const ScheduleError &error) {
      return fail(Exit::Usage, error.what());
    }
    files.csv->write(text.view());
    files.csv->commit();
    if (!schedule.recompute.empty())
      warn("torch's form has no recomputation; the file leaves it out");
  }
  if (files.trace) {
    std::ostringstream text;
    writeScheduleTrace(text, schedule, costs);
    files.trace->write(text.view());
    files.trace->commit();
  }
  return Exit::Ok;
}

int runSchedule(const ScheduleOptions &options, const Common &common) {
  if (std::string problem = findProblem(options); !problem.empty())
    return fail(Exit::Usage, problem);
  Files files;
  if (int code = openOutput("--csv", options.csv, common, files.csv); code != Exit::Ok)
    return code;
  if (int code = openOutput("--trace", options.trace, common, files.trace); code != Exit::Ok)
    return code;
  Answer answer = options.import.empty() ? makeNamed(options) : importSchedule(options);
  if (answer.code != Exit::Ok)
    return answer.code;
  const Schedule &schedule = answer.schedule;
  Spec spec = makeSpec(options);
  Costs costs = divideCosts(spec.costs, spec.message, schedule.placement, schedule.numMicrobatches,
                            schedule.numSlices);
  Timeline timeline = schedule::runSchedule(schedule, costs, /*times=*/common.json);
  if (int code = checkLimit(options, schedule, timeline); code != Exit::Ok)
    return code;
  if (int code = writeFiles(files, schedule, costs); code != Exit::Ok)
    return code;
  if (common.json)
    printScheduleJson(schedule, timeline);
  else if (hasTables(files.csv, common) && hasTables(files.trace, common))
    printScheduleTable(schedule, timeline);
  return Exit::Ok;
}

} // namespace

CLI::App *weft::tool::addSchedule(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command = app.add_subcommand("schedule", "what a pipeline's schedule takes and holds");
  auto options = std::make_shared<ScheduleOptions>();
  command->add_option("name", options->name, "gpipe, 1f1b, … or searched (listed below)")
      ->type_name("NAME");
  command->add_option("--import", options->import, "a schedule of torch.distributed.pipelining")
      ->type_name("FILE.csv");
  command->add_option("--stages", options->stages, "ranks of the pipeline")
      ->check(isWithin(1, 1000000))
      ->type_name("P");
  command->add_option("--microbatches", options->microbatches, "of a step")
      ->check(isWithin(1, 1000000))
      ->type_name("M");
  command
      ->add_option("--costs", options->costs,
                   "times of a rank's part of one microbatch: forward, gradient of its input and "
                   "of its weights; and of a message")
      ->required()
      ->delimiter(',')
      ->expected(4)
      ->check(isAtLeast(0))
      ->type_name("F,B,W,C");
  command->add_option("--chunks", options->chunks, "stages of each rank (left out: as usual)")
      ->check(isWithin(1, 1000))
      ->type_name("V");
  command->add_option("--slices", options->slices, "token slices of a microbatch (gpipe, 1f1b)")
      ->check(isWithin(1, 100000))
      ->type_name("S");
  command
      ->add_option("--memory", options->memory,
                   "what F, B and W of a rank's part add (left out: 1,0,-1)")
      ->delimiter(',')
      ->expected(3)
      ->check(isNumber())
      ->type_name("F,B,W");
  command->add_option("--limit", options->limit, "memory of each rank (left out: unlimited)")
      ->check(isAtLeast(0))
      ->type_name("L");
  command
      ->add_option("--recompute", options->recompute,
                   "part of the first stage's forward that critical-path runs again (1)")
      ->check(isWithin(0.0, 1.0))
      ->type_name("R");
  command->add_option("--csv", options->csv, "write it as torch.distributed.pipelining reads it")
      ->type_name("OUT");
  command->add_option("--trace", options->trace, "write it for Perfetto, times as seconds")
      ->type_name("OUT.json");
  std::string names = "Schedules:\n";
  for (const NamedSchedule &entry : listNamedSchedules())
    names += fmt::format("  {:<14} {}\n", entry.name, entry.description);
  names += fmt::format("  {:<14} {}\n", "searched", "the best that is found, from all of these");
  command->footer(
      names + "\nExit code 4: no rank may hold more than --limit, and one does.\n\n"
              "Examples:\n  weft schedule zb-h1 --stages 8 --microbatches 24 --costs "
              "18.5,18.1,9.3,0.6\n  weft schedule searched --stages 8 --microbatches 24 --costs "
              "1,1,1,0 --limit 8 --csv best.csv");
  run = [options, &common] { return runSchedule(*options, common); };
  return command;
}
