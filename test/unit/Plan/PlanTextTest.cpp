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
