#include "compiler/Plan/PlanSyntax.h"

#include <catch2/catch.hpp>

using namespace weft;
using Catch::Matchers::Contains;

namespace {
std::string problemOfMesh(std::string_view text) {
  std::string problem;
  CHECK(parseMeshes(text, 1, problem).empty());
  return problem;
}
std::string problemOfPin(std::string_view text) {
  std::string problem;
  CHECK_FALSE(parsePin(text, problem));
  return problem;
}
plan::Mesh mesh() {
  std::string problem;
  return parseMeshes("data=2,model=4", 1, problem).front();
}
std::string check(std::string_view pin) {
  std::string problem;
  return checkAxes(*parsePin(pin, problem), mesh());
}
} // namespace

TEST_CASE("a mesh is axes with sizes") {
  plan::Mesh parsed = mesh();
  REQUIRE(parsed.axes_size() == 2);
  CHECK(parsed.axes(1).name() == "model");
  CHECK(parsed.axes(1).size() == 4);
}

TEST_CASE("malformed meshes say why") {
  CHECK_THAT(problemOfMesh(""), Contains("expected the name of an axis"));
  CHECK_THAT(problemOfMesh("data"), Contains("expected '='"));
  CHECK_THAT(problemOfMesh("data=0"), Contains("size from 1 to 16777216"));
  CHECK_THAT(problemOfMesh("data=-2"), Contains("size from 1 to 16777216"));
  CHECK_THAT(problemOfMesh("data=99999999999999999999"), Contains("size from 1 to 16777216"));
  CHECK_THAT(problemOfMesh("data=2,data=2"), Contains("named twice"));
  CHECK_THAT(problemOfMesh("data=2;model=2"),
             Contains("2 meshes for 1 part; every --cut VALUE adds a part"));
  CHECK_THAT(problemOfMesh("a=100000,b=100000"), Contains("devices"));
}

TEST_CASE("parts have meshes side by side") {
  std::string problem;
  std::vector<plan::Mesh> unlike = parseMeshes("data=2;data=2,model=4", 2, problem);
  REQUIRE(unlike.size() == 2);
  CHECK((unlike[0].name() == "mesh0" && unlike[1].name() == "mesh1"));
  CHECK((unlike[0].first_device() == 0 && unlike[1].first_device() == 2));
  CHECK(countDevices(unlike[1]) == 8);
  std::vector<plan::Mesh> alike = parseMeshes("data=3", 3, problem);
  REQUIRE(alike.size() == 3);
  CHECK((alike[2].name() == "mesh2" && alike[2].first_device() == 6));
  CHECK(parseMeshes("data=2;model=2", 3, problem).empty());
  CHECK_THAT(problem, Contains("2 meshes for 3 parts; give one a part, or one for all"));
  CHECK(parseMeshes("data=2;", 2, problem).empty());
  CHECK_THAT(problem, Contains("expected the name of an axis"));
}

TEST_CASE("stages share meshes as their schedule has it") {
  std::string problem;
  auto listDevices = [](const std::vector<plan::Mesh> &meshes) {
    std::vector<int64_t> devices;
    for (const plan::Mesh &mesh : meshes)
      devices.push_back(mesh.first_device());
    return devices;
  };
  std::vector<plan::Mesh> loop = parseMeshes("data=2;data=3", 4, problem, {"interleaved", 2});
  CHECK(listDevices(loop) == std::vector<int64_t>{0, 2, 0, 2});
  CHECK((loop[3].name() == "mesh3" && countDevices(loop[3]) == 3));
  CHECK(listDevices(parseMeshes("data=2", 4, problem, {"zb-v", 2})) ==
        std::vector<int64_t>{0, 2, 2, 0});
  CHECK(parseMeshes("a=1;a=1;a=1", 4, problem, {"zb-v", 2}).empty());
  CHECK_THAT(problem, Contains("3 meshes for 4 stages, 2 on each mesh; give 2, or one for all"));
  CHECK_FALSE(startPlan("data=2", {"a", "b"}, {}, problem, {"zb-v", 2}));
  CHECK_THAT(problem, Contains("--mesh: 3 stages, expected 2 on each mesh"));
}

TEST_CASE("a pin is a value and axes for each dimension") {
  std::string problem;
  auto pin = parsePin("/h.0/mlp=x=[{data}, {}, {\"model\":(1)2, data}]", problem);
  REQUIRE(pin);
  CHECK(pin->value() == "/h.0/mlp=x");
  CHECK(pin->origin() == plan::USER);
  REQUIRE(pin->sharding().dims_size() == 3);
  CHECK(pin->sharding().dims(0).axes(0).name() == "data");
  CHECK(pin->sharding().dims(1).axes_size() == 0);
  CHECK(pin->sharding().dims(2).axes(0).size() == 2);
  CHECK(parsePin("scalar=[]", problem)->sharding().dims_size() == 0);
}

TEST_CASE("a pin may name one of several meshes") {
  std::string problem;
  auto pin = parsePin("a@b=[c]=@mesh1[{data}, {}]", problem);
  REQUIRE(pin);
  CHECK(pin->value() == "a@b=[c]");
  CHECK(pin->sharding().mesh() == "mesh1");
  CHECK(pin->sharding().dims_size() == 2);
  CHECK(parsePin("x@y=[{}]", problem)->sharding().mesh().empty());
}

TEST_CASE("meshes of more devices than there are numbers") {
  plan::Mesh mesh;
  for (int axis = 0; axis < 4; ++axis)
    mesh.add_axes()->set_size(int64_t{1} << 40);
  CHECK(countDevices(mesh) > maxDevices);
}

TEST_CASE("malformed pins say how to write one") {
  for (const char *text :
       {"x", "x=", "=[{}]", "x=[{}", "x=[{]}", "x=[data]", "x=[{}] y", "x=[{a:(0)2}]",
        "x=[{a:(1)}]", "x=[{\"a}]", "x=@[{}]", "x=@a b[{}]", "=@a[{}]"})
    CHECK_THAT(problemOfPin(text), Contains("write VALUE=[{AXES},…]"));
}

TEST_CASE("axes of a pin must be the mesh's, each digit once") {
  CHECK(check("x=[{data},{model:(1)2},{model:(2)2}]") == "");
  CHECK_THAT(check("x=[{modle}]"), Contains("no axis 'modle', did you mean 'model'?"));
  CHECK_THAT(check("x=[{model:(1)3}]"), Contains("does not divide axis 'model' of size 4"));
  CHECK_THAT(check("x=[{data},{data}]"), Contains("used twice"));
  CHECK_THAT(check("x=[{model},{model:(2)2}]"), Contains("used twice"));
}

TEST_CASE("suggestions are near or absent") {
  CHECK(didYouMean("logit", {"logits", "input_ids"}) == ", did you mean 'logits'?");
  CHECK(didYouMean("zzzzzz", {"logits", "input_ids"}) == "");
}
