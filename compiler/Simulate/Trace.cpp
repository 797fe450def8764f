#include "compiler/Simulate/Trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace weft::sim;

static std::string quote(const std::string &text) { return nlohmann::json(text).dump(); }

/// The streams of a class that did anything, by number.
static std::vector<std::pair<int32_t, std::string>> listRows(const RankClass &rankClass,
                                                             const ClassResult &result) {
  std::vector<std::pair<int32_t, std::string>> rows;
  for (int32_t stream = 0; stream < numStreams; ++stream) {
    if (result.busy[stream] <= 0)
      continue;
    Instruction on;
    on.stream = static_cast<Stream>(stream);
    std::string name = getStreamName(on.stream);
    if (on.stream != Stream::Collective || rankClass.lanes.size() < 2) {
      rows.emplace_back(stream, name);
      continue;
    }
    for (const std::string &lane : rankClass.lanes) {
      rows.emplace_back(getSlot(on), name + " over " + lane);
      ++on.lane;
    }
  }
  return rows;
}

/// Names of processes (rank classes) and threads (their streams).
static void writeNames(std::ostream &out, const Program &program, const Result &result) {
  for (size_t i = 0; i < program.classes.size(); ++i) {
    out << fmt::format(
        R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{},"ranks":{}}}}},)"
        "\n",
        i, quote(program.classes[i].name), program.classes[i].ranks);
    out << fmt::format(
        R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}},)"
        "\n",
        i);
    for (const auto &[slot, name] : listRows(program.classes[i], result.classes[i]))
      out << fmt::format(
          R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}},)"
          "\n",
          i, slot, quote(name));
  }
}

/// What kind of operation a name is of, where the program tells.
static std::string getCategory(const Program &program, int32_t name) {
  return program.operations.empty() ? ""
                                    : fmt::format(R"("cat":{},)", quote(program.operations[name]));
}

static std::string getShape(const Program &program, int32_t name) {
  return program.shapes.empty() ? "" : fmt::format(R"("shape":{},)", quote(program.shapes[name]));
}

void weft::sim::writeTrace(std::ostream &out, const Program &program, const Result &result) {
  out << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  writeNames(out, program, result);
  for (const Span &span : result.spans) {
    const RankClass &rankClass = program.classes[span.rankClass];
    const Entry &entry = rankClass.entries[span.entry];
    const Instruction &instruction =
        rankClass.segments[entry.segment].instructions[span.instruction];
    out << fmt::format(
        R"({{"ph":"X","name":{},{}"pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}"instance":{}}}}},)"
        "\n",
        quote(program.names[instruction.name]), getCategory(program, instruction.name),
        span.rankClass, getSlot(instruction), span.begin * 1e6, (span.end - span.begin) * 1e6,
        getShape(program, instruction.name), entry.instance);
  }
  for (const MemoryPoint &point : result.memory)
    out << fmt::format(R"({{"ph":"C","name":"memory","pid":{},"ts":{:.3f},"args":{{{}:{:.0f}}}}},)"
                       "\n",
                       point.rankClass, point.seconds * 1e6, quote(program.owners[point.owner]),
                       point.bytes);
  out << fmt::format(R"({{"ph":"M","name":"simulated","pid":0,"args":{{"seconds":{:.9g}}}}})"
                     "\n]}}\n",
                     result.seconds);
}
