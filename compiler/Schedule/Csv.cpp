#include "compiler/Schedule/Csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string_view>

using namespace weft::schedule;

using enum ActionKind;

namespace {

/// The kinds that the form has: all but Recompute and Update.
bool isInForm(ActionKind kind) { return kind != Recompute && kind != Update; }

/// Whether the cell, as in 2WAIT_SEND_F0, says only by when something that was started must have
/// ended: torch's runtime needs to know, the simulator finds out.
bool isWait(std::string_view cell) {
  constexpr std::string_view digits = "0123456789";
  size_t begin = cell.find_first_not_of(digits), end = cell.find_last_not_of(digits);
  if (begin == 0 || begin == std::string_view::npos)
    return false;
  std::string_view word = cell.substr(begin, end + 1 - begin);
  return word == "WAIT_SEND_F" || word == "WAIT_SEND_B" || word == "WAIT_REDUCE_GRAD";
}

std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\r\"");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\"") - begin + 1);
}

class Reader {
public:
  explicit Reader(const std::string &name) { schedule.name = name; }

  Schedule read(std::istream &in);

private:
  [[noreturn]] void fail(std::string_view cell, const std::string &what) const {
    throw ScheduleError(fmt::format("row {} (rank {}), cell {}: '{}': {}", schedule.ranks.size(),
                                    schedule.ranks.size() - 1, column, cell, what));
  }
  void readRow(const std::string &line);
  void readPair(std::string_view cell);
  Action parse(std::string_view cell) const;
  int32_t parseNumber(std::string_view cell, std::string_view &rest) const;
  ActionKind parseKind(std::string_view cell, std::string_view word) const;
  void place();
  void refuseOldForm() const;
  void refuseGaps() const;

  Schedule schedule;
  size_t column = 0;
  size_t cells = 0;
};

int32_t Reader::parseNumber(std::string_view cell, std::string_view &rest) const {
  int32_t number = -1;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error == std::errc::result_out_of_range)
    fail(cell, "the number is too large");
  if (error != std::errc())
    return -1;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return number;
}

ActionKind Reader::parseKind(std::string_view cell, std::string_view word) const {
  std::string known;
  for (int i = 0; i < numActionKinds; ++i) {
    auto kind = static_cast<ActionKind>(i);
    if (!isInForm(kind))
      continue;
    if (word == getKindName(kind))
      return kind;
    known += (known.empty() ? "" : ", ") + std::string(getKindName(kind));
  }
  if (word == "BW")
    fail(cell, "BW is of torch up to 2.5, where B is the input gradient: write B for BW, and I for "
               "B");
  fail(cell, fmt::format("no action '{}'; known are {}, (…;…)OVERLAP_F_B", word, known));
}

Action Reader::parse(std::string_view cell) const {
  Action action;
  std::string_view rest = cell;
  action.stage = parseNumber(cell, rest);
  if (action.stage < 0)
    fail(cell, "expected <stage><action><microbatch>, as in 2F0");
  size_t digits = rest.find_first_of("0123456789");
  action.kind = parseKind(cell, rest.substr(0, digits));
  rest = digits == std::string_view::npos ? std::string_view() : rest.substr(digits);
  bool needed = action.kind < Gather;
  action.microbatch = rest.empty() && !needed ? 0 : parseNumber(cell, rest);
  if (action.microbatch < 0 || !rest.empty())
    fail(cell, "expected the number of a microbatch at the end");
  if (!needed)
    action.microbatch = 0;
  return action;
}

/// `(0F7;7B3)OVERLAP_F_B`.
void Reader::readPair(std::string_view cell) {
  size_t middle = cell.find(';'), end = cell.find(')');
  if (end == std::string_view::npos || cell.substr(end + 1) != "OVERLAP_F_B" ||
      middle == std::string_view::npos || middle > end)
    fail(cell, "expected two actions as in (0F7;7B3)OVERLAP_F_B");
  Action first = parse(trim(cell.substr(1, middle - 1)));
  Action second = parse(trim(cell.substr(middle + 1, end - middle - 1)));
  if (first.kind != Forward || !makesGradient(second.kind))
    fail(cell, "expected a forward F and a backward B or I at a time");
  first.joined = true;
  schedule.ranks.back().push_back(first);
  schedule.ranks.back().push_back(second);
}

void Reader::readRow(const std::string &line) {
  schedule.ranks.emplace_back();
  column = 0;
  for (size_t begin = 0; begin <= line.size();) {
    size_t end = std::min(line.find(',', begin), line.size());
    std::string_view cell = trim(std::string_view(line).substr(begin, end - begin));
    ++column;
    if (!cell.empty()) {
      ++cells;
      if (cell.front() == '(')
        readPair(cell);
      else if (!isWait(cell))
        schedule.ranks.back().push_back(parse(cell));
    }
    begin = end + 1;
  }
}

/// Derives which rank holds which stage, and how many stages and microbatches there are.
void Reader::place() {
  int32_t stages = 0, microbatches = 0;
  for (const std::vector<Action> &rank : schedule.ranks)
    for (const Action &action : rank) {
      stages = std::max(stages, action.stage + 1);
      microbatches = std::max(microbatches, action.microbatch + 1);
    }
  schedule.numMicrobatches = microbatches;
  if (static_cast<size_t>(stages) > 2 * cells)
    throw ScheduleError(
        fmt::format("stage {} is there, but the file has only {} actions", stages - 1, cells));
  schedule.placement = {static_cast<int32_t>(schedule.ranks.size()), 1,
                        std::vector<int32_t>(stages, -1)};
  std::vector<int32_t> &ranks = schedule.placement.ranks;
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    for (const Action &action : schedule.ranks[rank]) {
      if (ranks[action.stage] < 0)
        ranks[action.stage] = static_cast<int32_t>(rank);
      else if (ranks[action.stage] != static_cast<int32_t>(rank))
        throw ScheduleError(fmt::format("row {} (rank {}): {}: the stage is on rank {} too",
                                        rank + 1, rank, describe(action), ranks[action.stage]));
    }
  for (int32_t stage = 0; stage < stages; ++stage)
    if (ranks[stage] < 0)
      throw ScheduleError(fmt::format("stage {} of {} is on no rank", stage, stages));
}

void Reader::refuseOldForm() const {
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::set<std::pair<int32_t, int32_t>> whole;
    for (const Action &action : schedule.ranks[rank])
      if (action.kind == Backward)
        whole.insert({action.stage, action.microbatch});
    for (const Action &action : schedule.ranks[rank])
      if (action.kind == BackwardWeight && whole.contains({action.stage, action.microbatch}))
        throw ScheduleError(fmt::format(
            "row {} (rank {}): {}B{} beside {}W{}: B is the whole backward, or, in files of torch "
            "up "
            "to 2.5, the input gradient; write I for the input gradient",
            rank + 1, rank, action.stage, action.microbatch, action.stage, action.microbatch));
  }
}

/// Of files whose numbers are larger than what their actions can fill, so that nothing of that size
/// is made.
void Reader::refuseGaps() const {
  auto units = static_cast<size_t>(schedule.placement.getNumStages()) *
               static_cast<size_t>(schedule.numMicrobatches);
  if (units <= 2 * cells)
    return;
  std::set<std::pair<int32_t, int32_t>> forwards;
  for (const std::vector<Action> &rank : schedule.ranks)
    for (const Action &action : rank)
      if (action.kind == Forward)
        forwards.insert({action.stage, action.microbatch});
  Action missing;
  while (forwards.contains({missing.stage, missing.microbatch}))
    if (++missing.microbatch == schedule.numMicrobatches)
      missing = {Forward, false, missing.stage + 1, 0, 0};
  throw ScheduleError(fmt::format("{} is missing", describe(missing)));
}

Schedule Reader::read(std::istream &in) {
  std::string line;
  while (std::getline(in, line))
    if (std::string_view(line).find_first_not_of(" \t\r") != std::string_view::npos)
      readRow(line);
    else
      throw ScheduleError(fmt::format("row {} has no actions", schedule.ranks.size() + 1));
  if (cells == 0)
    throw ScheduleError("no actions");
  place();
  refuseOldForm();
  refuseGaps();
  auto isMessage = [](const Action &action) { return sends(action.kind) || receives(action.kind); };
  if (std::none_of(schedule.ranks.begin(), schedule.ranks.end(), [&](const auto &rank) {
        return std::any_of(rank.begin(), rank.end(), isMessage);
      }))
    addMessages(schedule);
  return std::move(schedule);
}

} // namespace

Schedule weft::schedule::readCsv(std::istream &in, const std::string &name) {
  return Reader(name).read(in);
}

static std::string formatCell(const Action &action) {
  std::string cell = fmt::format("{}{}", action.stage, getKindName(action.kind));
  return action.kind < Gather ? cell + std::to_string(action.microbatch) : cell;
}

void weft::schedule::writeCsv(std::ostream &out, const Schedule &schedule) {
  if (schedule.placement.numPaths > 1)
    throw ScheduleError(fmt::format(
        "schedule {} holds every stage on two ranks, which torch's form cannot say; dualpipev can "
        "be written",
        schedule.name));
  if (schedule.numSlices > 1)
    throw ScheduleError("torch's form has no token slices");
  for (const std::vector<Action> &rank : schedule.ranks) {
    const char *separator = "";
    for (size_t i = 0; i < rank.size(); ++i) {
      if (!computes(rank[i].kind) || !isInForm(rank[i].kind))
        continue;
      out << separator;
      separator = ",";
      if (rank[i].joined && i + 1 < rank.size()) {
        out << '(' << formatCell(rank[i]) << ';' << formatCell(rank[i + 1]) << ")OVERLAP_F_B";
        ++i;
      } else {
        out << formatCell(rank[i]);
      }
    }
    out << '\n';
  }
}
