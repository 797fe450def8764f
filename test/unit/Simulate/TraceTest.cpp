#include "compiler/Simulate/Trace.h"
#include "test/unit/Simulate/Programs.h"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using namespace weft::sim;

TEST_CASE("a trace is JSON with a process for each class, spans and counters") {
  Instruction work = makeWork(2e-3), copy = makeTransfer(Stream::Copy, 1e-3, 0, -1);
  work.onBegin = {{1, 64}};
  copy.name = 1;
  Program program = makeProgram({makeClass({work, copy}), makeClass({work})});
  program.names = {"F", "load \"w\""};
  std::ostringstream out;
  writeTrace(out, program, simulate(program, {.spans = true, .memory = true}));
  nlohmann::json trace = nlohmann::json::parse(out.str());
  int spans = 0, counters = 0, processes = 0;
  for (const auto &event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == 0 && event["name"] == "load \"w\"") {
      CHECK(event["tid"] == int(Stream::Copy));
      CHECK(event["dur"].get<double>() == Approx(1000));
    }
    spans += event["ph"] == "X";
    counters += event["ph"] == "C";
    processes += event["ph"] == "M" && event["name"] == "process_name";
  }
  CHECK(spans == 3);
  CHECK(counters == 2);
  CHECK(processes == 2);
}

TEST_CASE("a trace has a row for each lane of collectives") {
  Instruction data = makeTransfer(Stream::Collective, 1, 0, -1), model = data;
  model.lane = 1;
  RankClass both = makeClass({data, model}), one = makeClass({data});
  both.lanes = {"data", "model"};
  Program program = makeProgram({both, one});
  std::ostringstream out;
  writeTrace(out, program, simulate(program, {.spans = true}));
  std::map<std::pair<int, int>, std::string> rows; // by process and thread
  std::set<std::pair<int, int>> used;
  nlohmann::json trace = nlohmann::json::parse(out.str());
  for (const auto &event : trace["traceEvents"]) {
    if (event["name"] == "thread_name")
      rows[{event["pid"], event["tid"]}] = event["args"]["name"];
    if (event["ph"] == "X")
      used.emplace(event["pid"], event["tid"]);
  }
  int first = int(Stream::Collective);
  CHECK(rows[{0, first}] == "collective over data");
  CHECK(rows[{0, numStreams}] == "collective over model");
  CHECK(rows[{1, first}] == "collective");
  CHECK(used == std::set<std::pair<int, int>>{{0, first}, {0, numStreams}, {1, first}});
}
