#include "runtime/Executor/StepTrace.h"

#include "runtime/Collective/Collectives.h"
#include "runtime/Program/Collectives.h"
#include "runtime/Support/OutputFile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weft::runtime {

void StepTrace::beginStep() {
  events.clear();
  open.clear();
  start = Clock::now();
}

void StepTrace::add(const program::Instruction &instruction, const char *label,
                    Clock::time_point begin) {
  double now = since(Clock::now());
  if (instruction.has_async()) {
    Row row = instruction.has_copy() ? Copies : Communication;
    open[instruction.async().token()] = {&instruction, label, row, since(begin), now};
    return;
  }
  events.push_back({&instruction, label, Compute, since(begin), now});
  if (!instruction.has_wait())
    return;
  auto begun = open.find(instruction.wait().token());
  if (begun == open.end())
    return;
  begun->second.end = now;
  events.push_back(begun->second);
  open.erase(begun);
}

/// An event that names a process, or one of its rows.
static nlohmann::json name(int64_t rank, const char *what, int row, const std::string &text) {
  return {{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", row}, {"args", {{"name", text}}}};
}

void StepTrace::write(const std::string &path, Transport &transport) const {
  int64_t rank = transport.getRank();
  nlohmann::json own = {name(rank, "process_name", 0, "rank " + std::to_string(rank)),
                        name(rank, "thread_name", Compute, "compute"),
                        name(rank, "thread_name", Communication, "communication")};
  if (std::any_of(events.begin(), events.end(), [](const Event &e) { return e.row == Copies; }))
    own.push_back(name(rank, "thread_name", Copies, "copies"));
  for (const Event &event : events)
    own.push_back({{"ph", "X"},
                   {"name", event.label},
                   {"cat", getOperation(*event.instruction)},
                   {"pid", rank},
                   {"tid", int(event.row)},
                   {"ts", event.begin * 1e6},
                   {"dur", (event.end - event.begin) * 1e6},
                   {"args", {{"shape", event.instruction->shape_class()}}}});
  std::vector<std::string> all = gatherTexts(transport, own.dump());
  if (rank != 0)
    return;
  nlohmann::json whole = nlohmann::json::array();
  for (const std::string &each : all)
    for (const nlohmann::json &event : nlohmann::json::parse(each))
      whole.push_back(event);
  OutputFile file(path);
  file.write(nlohmann::json({{"displayTimeUnit", "ms"}, {"traceEvents", whole}}).dump() + "\n");
  file.commit();
}

} // namespace weft::runtime
