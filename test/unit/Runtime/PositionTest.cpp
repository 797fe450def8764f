//===- PositionTest.cpp - ranks in meshes, operands in arenas -------------===//

#include "runtime/Program/Position.h"
#include "runtime/Program/Resolve.h"
#include "runtime/Support/Error.h"

#include <catch2/catch.hpp>

using namespace weft::runtime;
namespace program = weft::program;
namespace plan = weft::plan;

namespace {

program::Executable makeMesh(std::vector<std::pair<const char *, int64_t>> axes) {
  program::Executable executable;
  plan::Mesh &mesh = *executable.add_meshes();
  mesh.set_name("mesh");
  for (auto [name, size] : axes) {
    plan::Axis &axis = *mesh.add_axes();
    axis.set_name(name);
    axis.set_size(size);
  }
  return executable;
}

AxisRefs makeAxes(std::vector<plan::AxisRef> refs) { return {refs.begin(), refs.end()}; }

plan::AxisRef makeAxis(const char *name, int64_t pre = 0, int64_t size = 0) {
  plan::AxisRef ref;
  ref.set_name(name);
  ref.set_pre(pre);
  ref.set_size(size);
  return ref;
}

using Ranks = std::vector<int64_t>;

} // namespace

TEST_CASE("groups by axes and sub-axes") {
  program::Executable executable = makeMesh({{"data", 2}, {"model", 4}});
  Position position(executable, 6); // data 1, model 2
  AxisRefs model = makeAxes({makeAxis("model")});
  CHECK(position.getCoordinate(model) == 2);
  CHECK(position.getGroup(model) == Ranks{4, 5, 6, 7});
  CHECK(position.getGroup(makeAxes({makeAxis("data")})) == Ranks{2, 6});
  AxisRefs major = makeAxes({makeAxis("model", 1, 2)}), minor = makeAxes({makeAxis("model", 2, 2)});
  CHECK(position.getCoordinate(major) == 1);
  CHECK(position.getGroup(major) == Ranks{4, 6});
  CHECK(position.getCoordinate(minor) == 0);
  CHECK(position.getGroup(minor) == Ranks{6, 7});
  AxisRefs both = makeAxes({makeAxis("model", 2, 2), makeAxis("data")});
  CHECK(position.getSize(both) == 4);
  CHECK(position.getCoordinate(both) == 1);
  CHECK(position.getGroup(both) == Ranks{2, 6, 3, 7});
  CHECK(position.getGroup(AxisRefs()) == Ranks{6});
}

TEST_CASE("members of a group are each other's") {
  program::Executable executable = makeMesh({{"a", 3}, {"b", 8}, {"c", 2}});
  AxisRefs axes = makeAxes({makeAxis("b", 2, 2), makeAxis("c"), makeAxis("b", 4, 2)});
  for (int64_t rank = 0; rank < 48; ++rank) {
    Ranks group = Position(executable, rank).getGroup(axes);
    for (size_t i = 0; i < group.size(); ++i) {
      Position member(executable, group[i]);
      CHECK(member.getCoordinate(axes) == static_cast<int64_t>(i));
      CHECK(member.getGroup(axes) == group);
    }
  }
}

TEST_CASE("devices in another order") {
  program::Executable executable = makeMesh({{"x", 2}, {"y", 2}});
  for (int64_t device : {3, 1, 0, 2})
    executable.mutable_meshes(0)->add_device_order(device);
  Position position(executable, 0); // at [1, 0]
  CHECK(position.getCoordinate(makeAxes({makeAxis("x")})) == 1);
  CHECK(position.getGroup(makeAxes({makeAxis("x")})) == Ranks{3, 0});
  CHECK(position.getGroup(makeAxes({makeAxis("y")})) == Ranks{0, 2});
}

TEST_CASE("affine values and first copies") {
  program::Executable executable = makeMesh({{"data", 2}, {"model", 4}});
  program::Affine affine;
  affine.set_constant(100);
  *affine.add_terms()->add_axes() = makeAxis("model");
  affine.mutable_terms(0)->set_coefficient(-8);
  CHECK(Position(executable, 7).evaluate(affine) == 76);
  plan::Sharding sharding;
  *sharding.add_dims()->add_axes() = makeAxis("model", 1, 2);
  Ranks first;
  for (int64_t rank = 0; rank < 8; ++rank)
    if (Position(executable, rank).isFirstCopy(sharding))
      first.push_back(rank);
  CHECK(first == Ranks{0, 2});
}

TEST_CASE("padded blocks end where the tensor does") {
  program::Executable executable = makeMesh({{"data", 1}, {"model", 4}});
  google::protobuf::RepeatedPtrField<program::Affine> valid;
  valid.Add()->set_constant(3);
  program::Affine &columns = *valid.Add(); // 5 over 4
  columns.set_constant(5);
  *columns.add_terms()->add_axes() = makeAxis("model");
  columns.mutable_terms(0)->set_coefficient(-2);
  std::vector<int64_t> held;
  for (int64_t rank = 0; rank < 4; ++rank) {
    std::vector<int64_t> extents = Position(executable, rank).getValidExtents(valid, {3, 2});
    CHECK(extents[0] == 3);
    held.push_back(extents[1]);
  }
  CHECK(held == std::vector<int64_t>{2, 2, 1, 0});
  Position position(executable, 0);
  CHECK(position.getValidExtents({}, {3, 2}) == std::vector<int64_t>{3, 2});
  CHECK_THROWS_AS(position.getValidExtents(valid, {3}), Error);
}

TEST_CASE("what a mesh does not have is refused") {
  program::Executable executable = makeMesh({{"data", 2}, {"model", 4}});
  CHECK_THROWS_AS(Position(executable, 8), Error);
  Position position(executable, 0);
  CHECK_THROWS_AS(position.getCoordinate(makeAxes({makeAxis("batch")})), Error);
  CHECK_THROWS_AS(position.getSize(makeAxes({makeAxis("model", 3, 2)})), Error);
}

TEST_CASE("operands must lie in their arena") {
  program::Executable executable = makeMesh({{"data", 2}});
  program::Program program;
  program.add_arenas()->set_bytes(64);
  program::Operand operand;
  operand.set_dtype(program::F32);
  auto set = [&](int64_t offset, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    operand.mutable_offset()->set_constant(offset);
    operand.clear_shape();
    operand.clear_strides();
    operand.mutable_shape()->Add(shape.begin(), shape.end());
    operand.mutable_strides()->Add(strides.begin(), strides.end());
  };
  auto resolve = [&] { return resolveView(program, operand, Position(executable, 1)); };
  set(0, {4, 4}, {4, 1});
  CHECK(resolve().isContiguous());
  set(0, {4, 4}, {1, 4});
  CHECK_FALSE(resolve().isContiguous());
  set(60, {4}, {-5});
  CHECK(resolve().getNumBytes() == 16);
  set(1 << 20, {0, 4}, {4, 1});
  CHECK(resolve().getNumElements() == 0);
  int64_t huge = std::numeric_limits<int64_t>::max() / 2;
  std::vector<std::tuple<int64_t, std::vector<int64_t>, std::vector<int64_t>>> bad = {
      {4, {4, 4}, {4, 1}}, {-4, {1}, {1}},         {60, {2}, {1}},
      {0, {2}, {-1}},      {0, {huge, 2}, {3, 1}}, {0, {2}, {huge}},
      {0, {-1}, {1}},      {0, {2, 2}, {1}},       {huge, {1}, {1}}};
  for (auto &[offset, shape, strides] : bad) {
    set(offset, shape, strides);
    CHECK_THROWS_AS(resolve(), Error);
  }
  operand.set_arena(1);
  CHECK_THROWS_AS(resolve(), Error);
}
