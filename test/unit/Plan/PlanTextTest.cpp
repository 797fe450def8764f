#include "compiler/Plan/PlanText.h"

#include <catch2/catch.hpp>

using namespace weft;
using Catch::Matchers::Contains;

namespace {
const std::string good = R"(
version: 1
meshes { name: "mesh" axes { name: "data" size: 2 } }
decisions { value: "x" sharding { mesh: "mesh" dims { axes { name: "data" } } dims {} } origin: SEARCHED bytes: 7 }
)";

std::string problemOf(const std::string &text) {
  std::string problem;
  CHECK_FALSE(parsePlan(text, "p.txtpb", problem));
  return problem;
}
std::string replaced(std::string text, const std::string &from, const std::string &to) {
  return text.replace(text.find(from), from.size(), to);
}
} // namespace

TEST_CASE("a plan is read as it was written") {
  std::string problem;
  auto plan = parsePlan(good, "p.txtpb", problem);
  REQUIRE(plan);
  auto again = parsePlan(printPlan(*plan), "p.txtpb", problem);
  REQUIRE(again);
  CHECK(again->SerializeAsString() == plan->SerializeAsString());
  CHECK(again->decisions(0).bytes() == 7);
}

TEST_CASE("a syntax error names file, line and column") {
  CHECK_THAT(problemOf(replaced(good, "origin: SEARCHED", "origin: GUESSED")),
             Contains("p.txtpb:4:") && Contains("GUESSED"));
}

TEST_CASE("a plan of parts has a mesh for each, side by side") {
  const std::string parts = replaced(good, "version: 1", "version: 1 cuts: \"h\"");
  auto withMesh = [&](const std::string &text) { return problemOf(parts + text); };
  CHECK_THAT(problemOf(parts), Contains("expected one mesh for each of 2 parts, got: 1"));
  CHECK_THAT(withMesh("meshes { name: \"mesh\" first_device: 2 }"), Contains("two meshes 'mesh'"));
  CHECK_THAT(withMesh("meshes { name: \"b\" }"), Contains("two meshes begin at one device"));
  CHECK_THAT(withMesh("meshes { name: \"b\" first_device: 9 }"),
             Contains("mesh 'b' begins at device 9, expected meshes side by side"));
}

TEST_CASE("stages of a training step share devices as their schedule has it") {
  auto makePlan = [](const std::string &schedule, const std::vector<int> &devices) {
    std::string text = "version: 1 training { accumulate: 4 optimizer { kind: SGD } pipeline: \"" +
                       schedule + "\" } ";
    for (size_t stage = 0; stage < devices.size(); ++stage)
      text += "meshes { name: \"mesh" + std::to_string(stage) +
              "\" first_device: " + std::to_string(devices[stage]) + " } " +
              (stage > 0 ? "cuts: \"h\" " : "");
    return text;
  };
  std::string problem;
  CHECK(parsePlan(makePlan("interleaved", {0, 1, 0, 1}), "p.txtpb", problem));
  CHECK(parsePlan(makePlan("zb-v", {0, 1, 1, 0}), "p.txtpb", problem));
  CHECK_THAT(problemOf(makePlan("zb-v", {0, 1, 0, 1})),
             Contains("stage 2 of 4 is not on the devices where schedule zb-v has it"));
  CHECK_THAT(problemOf(makePlan("1f1b", {0, 1, 0, 1})),
             Contains("schedule 1f1b has 1 stage on each mesh, got: 2"));
  CHECK_THAT(problemOf(makePlan("zb-v", {0, 1})), Contains("has 2 stages on each mesh, got: 1"));
  CHECK_THAT(problemOf(makePlan("interleaved", {0, 1, 0})), Contains("on each mesh, got: 1"));
  CHECK_THAT(problemOf(makePlan("zb-v", {0, 1, 1, 0}) + "meshes { first_device: 0 }"),
             Contains("expected one mesh for each of 4 parts, got: 5"));
  std::string unlike = makePlan("zb-v", {0, 1, 1, 0});
  CHECK_THAT(problemOf(unlike.replace(unlike.rfind("first_device"), 0,
                                      "axes { name: \"data\" size: 1 } ")),
             Contains("meshes 'mesh0' and 'mesh3' share devices, expected their axes to be"));
}

TEST_CASE("inconsistent plans are refused") {
  CHECK_THAT(problemOf(replaced(good, "version: 1", "version: 2")),
             Contains("expected version 1, got: 2"));
  CHECK_THAT(problemOf(replaced(good, "version: 1", "")), Contains("expected version 1, got: 0"));
  CHECK_THAT(problemOf("version: 1"), Contains("expected one mesh, got: 0"));
  CHECK_THAT(problemOf(replaced(good, "size: 2", "size: 0")), Contains("without a name or a size"));
  CHECK_THAT(problemOf(good + "memory_limit: -5"),
             Contains("expected memory_limit of at least 0, got: -5"));
  CHECK_THAT(problemOf(replaced(good, "axes { name: \"data\" } }", "axes { name: \"date\" } }")),
             Contains("no axis 'date', did you mean 'data'?"));
  CHECK_THAT(problemOf(good + "decisions { value: \"x\" sharding { mesh: \"mesh\" } }"),
             Contains("two decisions for 'x'"));
  CHECK_THAT(problemOf(good + "decisions { value: \"y\" sharding { mesh: \"other\" } }"),
             Contains("expected mesh 'mesh', got: 'other'"));
}
