#include "compiler/Schedule/Pipelines.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace weft::schedule;
using Catch::Contains;

TEST_CASE("schedules of programs: the default comes first, none holds a stage twice") {
  const std::vector<std::string> &names = listPipelines();
  CHECK(names.front() == "1f1b");
  CHECK(std::count(names.begin(), names.end(), "zb-v") == 1);
  CHECK(std::count(names.begin(), names.end(), "dualpipe") == 0);
  for (const std::string &name : names)
    CHECK(checkPipelineName(name).empty());
  CHECK(checkPipelineName("").empty());
  CHECK_THAT(checkPipelineName("dualpipe"),
             Contains("programs are made for 1f1b, gpipe") && Contains("got: schedule 'dualpipe'"));
}

TEST_CASE("how many stages a rank may have follows from the schedule") {
  CHECK(getUsualChunks("") == 1);
  CHECK(getUsualChunks("zb-v") == 2);
  CHECK(checkChunks("interleaved", 5).empty());
  CHECK(checkChunks("interleaved", 1) ==
        "schedule interleaved has two or more stages on each mesh, got: 1");
  CHECK(checkChunks("zb-v", 3) == "schedule zb-v has 2 stages on each mesh, got: 3");
  CHECK(checkChunks("", 2) == "schedule 1f1b has 1 stage on each mesh, got: 2");
}

TEST_CASE("a schedule of a shape that it cannot have says why") {
  std::string problem;
  CHECK(makePipeline({"interleaved", 2, 3, 4}, problem));
  CHECK(problem.empty());
  CHECK_FALSE(makePipeline({"interleaved", 2, 2, 3}, problem));
  CHECK_THAT(problem, Contains("a multiple of the 2 ranks, got: 3"));
  CHECK_FALSE(makePipeline({"dualpipev", 2, 2, 3}, problem));
  CHECK_THAT(problem, Contains("at least 4 microbatches"));
}

TEST_CASE("begins in units of time: 1F1B of two ranks and three microbatches") {
  std::string problem;
  // rank 0: F0 F1 B0 F2 B1 B2, rank 1: F0 B0 F1 B1 F2 B2
  auto begins = findUnitBegins(*makePipeline({"", 2, 1, 3}, problem));
  CHECK(begins[0] == std::vector<int32_t>{0, 1, 4, 6, 7, 10});
  CHECK(begins[1] == std::vector<int32_t>{1, 2, 4, 5, 7, 8});
}

TEST_CASE("of how many microbatches a stage has values at a time that wait") {
  std::string problem;
  auto count = [&](const Pipeline &pipeline) {
    return countWaiting(*makePipeline(pipeline, problem));
  };
  auto all = [](std::initializer_list<int32_t> counts) {
    std::vector<Waiting> waiting;
    for (int32_t each : counts)
      waiting.push_back({each, 0});
    return waiting;
  };
  CHECK(count({"", 4, 1, 8}) == all({4, 3, 2, 1}));
  CHECK(count({"", 4, 1, 2}) == all({2, 2, 2, 1}));
  CHECK(count({"gpipe", 4, 1, 8}) == all({8, 8, 8, 8}));
  // Gradients of weights are put off: until they are done, what they read is kept.
  for (const Waiting &stage : count({"zb-h1", 4, 1, 8})) {
    CHECK(stage.putOff >= 1);
    CHECK(stage.putOff <= stage.kept);
  }
  CHECK(count({"zb-h2", 4, 1, 8}).front().kept > 4);
  // Of slices as such: both of a sequence wait for the backward pass of the last one.
  CHECK(count({"", 2, 1, 3, 2}).front().kept >= 2);
}
