//===- Schedule.cpp - walks of a program's schedule -----------------------===//

#include "runtime/Program/Schedule.h"

#include <fmt/format.h>
#include <set>

namespace weft::runtime {

namespace {

constexpr int64_t maxFrames = 1 << 20;
constexpr int64_t maxExecutions = int64_t{1} << 26;
constexpr size_t maxRepeats = 8; ///< within each other

class Walk {
public:
  Walk(const program::Program &program, const std::function<void(const Execution &)> &visit)
      : program(program), visit(visit) {
    execution.frames.resize(program.arenas_size());
  }

  void walk(const ScheduleItems &items) {
    for (const program::ScheduleItem &item : items) {
      if (item.has_entry()) {
        execute(item.entry());
        continue;
      }
      size_t level = iterations.size();
      iterations.push_back(0);
      for (int64_t i = 0; i < item.repeat().times(); ++i) {
        iterations[level] = i;
        walk(item.repeat().body());
      }
      iterations.pop_back();
    }
  }

private:
  void execute(const program::ScheduleEntry &entry) {
    execution.entry = &entry;
    execution.microbatch = evaluate(entry.microbatch(), iterations);
    execution.tokenSlice = evaluate(entry.token_slice(), iterations);
    std::fill(execution.frames.begin(), execution.frames.end(), 0);
    for (const program::FrameBinding &binding : entry.frames())
      execution.frames[binding.arena()] = getFrame(
          binding.index(), iterations, program.arenas(static_cast<int>(binding.arena())).frames());
    visit(execution);
  }

  const program::Program &program;
  const std::function<void(const Execution &)> &visit;
  std::vector<int64_t> iterations;
  Execution execution;
};

void walkEntries(const ScheduleItems &items, int64_t count,
                 const std::function<void(const program::ScheduleEntry &, int64_t)> &visit) {
  for (const program::ScheduleItem &item : items)
    if (item.has_entry())
      visit(item.entry(), count);
    else
      walkEntries(item.repeat().body(), count * item.repeat().times(), visit);
}

/// Finds the first flaw of a schedule.
class FlawFinder {
public:
  explicit FlawFinder(const program::Program &program) : program(program) {}

  std::string find() {
    for (const program::Arena &arena : program.arenas()) {
      if (arena.frames() < 1 || arena.frames() > (isKept(arena.kind()) ? 1 : maxFrames))
        return fmt::format("an arena of kind {} has {} frames",
                           program::ArenaKind_Name(arena.kind()), arena.frames());
    }
    return find(program.schedule(), 0, 1);
  }

private:
  std::string find(const ScheduleItems &items, size_t repeats, int64_t executions) {
    for (const program::ScheduleItem &item : items) {
      std::string flaw;
      if (item.has_entry())
        flaw = find(item.entry(), repeats);
      else if (item.has_repeat())
        flaw = find(item.repeat(), repeats, executions);
      else
        flaw = "an item of the schedule is empty";
      if (!flaw.empty())
        return flaw;
    }
    return "";
  }

  std::string find(const program::Repeat &repeat, size_t repeats, int64_t executions) {
    if (repeat.times() < 1 || __builtin_mul_overflow(executions, repeat.times(), &executions) ||
        executions > maxExecutions)
      return fmt::format("the schedule repeats entries {} times", repeat.times());
    if (repeat.body().empty())
      return "the schedule repeats nothing";
    if (repeats == maxRepeats)
      return fmt::format("the schedule has more than {} repeats within each other", maxRepeats);
    return find(repeat.body(), repeats + 1, executions);
  }

  std::string find(const program::ScheduleEntry &entry, size_t repeats) const {
    if (entry.segment() >= static_cast<uint32_t>(program.segments_size()))
      return fmt::format("the schedule names segment {} of {}", entry.segment(),
                         program.segments_size());
    std::string flaw = find(entry.microbatch(), repeats);
    if (flaw.empty())
      flaw = find(entry.token_slice(), repeats);
    std::set<uint32_t> bound;
    for (const program::FrameBinding &binding : entry.frames()) {
      if (binding.arena() >= static_cast<uint32_t>(program.arenas_size()) ||
          !bound.insert(binding.arena()).second)
        return fmt::format("an entry of the schedule names a frame of arena {} of {}",
                           binding.arena(), program.arenas_size());
      if (flaw.empty())
        flaw = find(binding.index(), repeats);
    }
    return flaw;
  }

  static std::string find(const program::Index &index, size_t repeats) {
    constexpr int64_t most = int64_t{1} << 20; // so that nothing overflows
    bool fits = index.first() > -maxExecutions && index.first() < maxExecutions;
    for (int64_t step : index.steps())
      fits &= step > -most && step < most;
    if (!fits)
      return fmt::format("an index of the schedule begins at {}", index.first());
    if (static_cast<size_t>(index.steps_size()) > repeats)
      return fmt::format("an index of the schedule has {} steps within {} repeats",
                         index.steps_size(), repeats);
    return "";
  }

  const program::Program &program;
};

} // namespace

int64_t evaluate(const program::Index &index, std::span<const int64_t> iterations) {
  int64_t value = index.first();
  for (int i = 0; i < index.steps_size(); ++i)
    value += index.steps(i) * iterations[i];
  return value;
}

int64_t getFrame(const program::Index &index, std::span<const int64_t> iterations, int64_t frames) {
  int64_t frame = evaluate(index, iterations) % frames;
  return frame < 0 ? frame + frames : frame;
}

void forEachExecution(const program::Program &program,
                      const std::function<void(const Execution &)> &visit) {
  Walk(program, visit).walk(program.schedule());
}

void forEachEntry(const program::Program &program,
                  const std::function<void(const program::ScheduleEntry &, int64_t count)> &visit) {
  walkEntries(program.schedule(), 1, visit);
}

std::vector<const program::ScheduleEntry *> listEntries(const program::Program &program) {
  std::vector<const program::ScheduleEntry *> entries;
  forEachEntry(program,
               [&](const program::ScheduleEntry &entry, int64_t) { entries.push_back(&entry); });
  return entries;
}

std::string findFlaw(const program::Program &program) { return FlawFinder(program).find(); }

} // namespace weft::runtime
