// Known best paths, and paths of random shardings carried out on virtual devices.

#include "compiler/Sharding/ReshardPath.h"

#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <vector>

using namespace weft;

static const MeshShape mesh{"mesh", {{"x", 2}, {"y", 4}, {"z", 2}}};
static const AxisRef x{0, 1, 2}, y{1, 1, 4}, yMajor{1, 1, 2}, yMinor{1, 2, 2}, z{2, 1, 2};

static std::string path(llvm::ArrayRef<int64_t> shape, const TensorSharding &from,
                        const TensorSharding &to) {
  std::optional<ReshardPath> found = findReshardPath(mesh, shape, 4, from, to);
  return found ? str(mesh, *found) : "none";
}

TEST_CASE("known best paths") {
  TensorSharding whole{{{}, {}}, {}, ReduceKind::Sum};
  TensorSharding partial{{{}, {}}, {x}, ReduceKind::Sum};
  CHECK(path({8, 8}, whole, whole) == "");
  CHECK(path({8, 8}, whole, {{{x}, {y}}}) == "slice 1 {\"y\"}; slice 0 {\"x\"}");
  CHECK(path({8, 8}, {{{x}, {}}}, whole) == "all_gather 0 {\"x\"}");
  CHECK(path({8, 8}, {{{x}, {}}}, {{{}, {x}}}) == "all_to_all split 1 concat 0 {\"x\"}");
  CHECK(path({8, 8}, partial, whole) == "all_reduce {\"x\"}");
  CHECK(path({8, 8}, partial, {{{}, {x}}}) == "reduce_scatter 1 {\"x\"}");
  CHECK(path({8, 8}, partial, partial) == "");
  // Two axes make one group.
  CHECK(path({8, 8}, {{{}, {}}, {x, y}, ReduceKind::Max}, whole) == "all_reduce {\"x\", \"y\"}");
  CHECK(path({8, 8}, {{{x, y}, {}}}, whole) == "all_gather 0 {\"x\", \"y\"}");
  // Only the minor axis is gathered, and only a sub-axis where that is enough.
  CHECK(path({8, 8}, {{{x, y}, {}}}, {{{x}, {}}}) == "all_gather 0 {\"y\"}");
  CHECK(path({8, 8}, {{{y}, {}}}, {{{yMajor}, {}}}) == "all_gather 0 {\"y\":(2)2}");
  CHECK(path({8, 8}, {{{yMajor}, {}}}, {{{y}, {}}}) == "slice 0 {\"y\":(2)2}");
  // Reduce where the value is smallest: exchange first, then scatter.
  CHECK(path({8, 8}, {{{x}, {}}, {z}, ReduceKind::Sum}, {{{z}, {x}}}) ==
        "all_to_all split 1 concat 0 {\"x\"}; reduce_scatter 0 {\"z\"}");
  // Axes that trade places need one permutation.
  CHECK(path({8, 8}, {{{x}, {z}}}, {{{z}, {x}}}) == "permute {\"x\", \"z\"} to {\"z\", \"x\"}");
  CHECK(path({8, 8}, {{{x, z}, {}}}, {{{z, x}, {}}}) == "permute {\"x\", \"z\"} to {\"z\", \"x\"}");
  CHECK(path({8, 8}, {{{x}, {}}}, {{{z}, {}}}) == "permute {\"x\", \"z\"} to {\"z\", \"x\"}");
}

TEST_CASE("no path") {
  TensorSharding whole{{{}}, {}, ReduceKind::Sum};
  CHECK(path({8}, whole, {{{}}, {x}, ReduceKind::Sum}) == "none");
  CHECK(path({8}, {{{}}, {x}, ReduceKind::Max}, {{{}}, {x}, ReduceKind::Sum}) == "none");
}

TEST_CASE("padded blocks come from the whole, and join to it") {
  TensorSharding whole{{{}}};
  CHECK(path({6}, whole, {{{y}}}) == "slice 0 {\"y\"}");
  CHECK(path({6}, {{{y}}}, whole) == "all_gather 0 {\"y\"}");
  // 3, 2 and 2, 2, 1, 0: neither has blocks that are parts of the other's.
  CHECK(path({5}, {{{x}}}, {{{x, z}}}) == "all_gather 0 {\"x\"}; slice 0 {\"x\", \"z\"}");
  CHECK(path({5}, {{{x, z}}}, {{{x}}}) == "all_gather 0 {\"x\", \"z\"}; slice 0 {\"x\"}");
  CHECK(path({7}, {{{x}}}, {{{x, z}}}) == "slice 0 {\"z\"}"); // 4, 3 and 2, 2, 2, 1
  // Blocks of three or of one.
  CHECK(path({15}, {{inUnits({x}, 15, 3)}}, {{{x}}}) == "all_gather 0 {\"x\"}; slice 0 {\"x\"}");
  CHECK(path({15}, {{inUnits({x}, 15, 3)}}, {{inUnits({z}, 15, 3)}}) ==
        "permute {\"x\", \"z\"} to {\"z\", \"x\"}");
}

TEST_CASE("bytes of all devices together") {
  auto bytes = [](const TensorSharding &from, const TensorSharding &to) {
    return findReshardPath(mesh, {8, 8}, 4, from, to)->bytes;
  };
  TensorSharding whole{{{}, {}}}, byY{{{y}, {}}};
  CHECK(bytes({{{}, {}}, {y}, ReduceKind::Sum}, whole) == 16 * 2 * 256 * 3 / 4);
  CHECK(bytes({{{}, {}}, {y}, ReduceKind::Sum}, byY) == 16 * 256 * 3 / 4);
  CHECK(bytes(byY, whole) == 16 * 64 * 3);
  CHECK(bytes(byY, {{{}, {y}}}) == 16 * 64 * 3 / 4);
  CHECK(bytes(whole, byY) == 0);
}

TEST_CASE("bytes of many devices are counted without end") {
  MeshShape large{"mesh", {{"data", 2}, {"model", 10'000}}};
  const AxisRef model{1, 1, 10'000};
  llvm::SmallVector<int64_t, 4> shape{200'000, 65'536, 60'000}; // gathered it is 2.8 PiB
  std::optional<ReshardPath> found =
      findReshardPath(large, shape, 4, {{{model}, {}, {}}}, {{{}, {}, {model}}});
  REQUIRE(found);
  CHECK(str(large, *found) == "all_to_all split 2 concat 0 {\"model\"}");
  found = findReshardPath(large, shape, 4, {{{model}, {}, {}}}, {{{}, {}, {}}});
  REQUIRE(found);
  CHECK(found->bytes == Approx(2.0 * 9'999 * 4 * 200'000 * 65'536 * 60'000));
}

TEST_CASE("sub-axes that do not nest go through a gather") {
  MeshShape twelve{"mesh", {{"x", 12}}};
  TensorSharding half{{{{0, 1, 2}}}}, third{{{{0, 1, 3}}}};
  std::optional<ReshardPath> found = findReshardPath(twelve, {12}, 4, half, third);
  REQUIRE(found);
  CHECK(str(twelve, *found) == "all_gather 0 {\"x\":(1)2}; slice 0 {\"x\":(1)3}");
}

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

namespace {
/// A matrix and where it lies.
struct Block {
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> values;
  int64_t &at(int64_t row, int64_t column) { return values[row * columns + column]; }
};

using Devices = std::vector<Block>;
using Shape = llvm::SmallVector<int64_t, 4>;

/// What is not of the matrix.
constexpr int64_t padding = std::numeric_limits<int64_t>::min();

class Simulation {
public:
  explicit Simulation(const MeshShape &mesh) : mesh(mesh) {}

  int64_t coordinate(int64_t device, llvm::ArrayRef<AxisRef> axes) const {
    int64_t result = 0;
    for (AxisRef ref : axes) {
      int64_t minor = mesh.devices();
      for (unsigned axis = 0; axis <= ref.axis; ++axis)
        minor /= mesh.axes[axis].size;
      int64_t whole = device / minor % mesh.axes[ref.axis].size;
      result = result * ref.size + whole / (mesh.axes[ref.axis].size / ref.end()) % ref.size;
    }
    return result;
  }

  /// The devices that differ from `device` along `axes` only, in the order of their coordinates.
  std::vector<int64_t> group(int64_t device, const AxisList &axes) const {
    auto outside = [&](int64_t candidate) {
      std::vector<int64_t> key;
      for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
        for (int64_t pre = 1; pre < mesh.axes[axis].size; pre *= 2) {
          AxisRef bit{axis, pre, 2};
          if (!overlaps(axes, bit))
            key.push_back(coordinate(candidate, bit));
        }
      return key;
    };
    std::vector<int64_t> members(blocks(axes));
    for (int64_t other = 0; other < mesh.devices(); ++other)
      if (outside(other) == outside(device))
        members[coordinate(other, axes)] = other;
    return members;
  }

  /// Number `index` of the pieces of `extent` that a dimension is cut into; what is behind its end
  /// is padding.
  Block piece(Block block, unsigned dim, int64_t extent, int64_t index) const {
    Block result{dim == 0 ? extent : block.rows, dim == 1 ? extent : block.columns, {}};
    for (int64_t row = 0; row < result.rows; ++row)
      for (int64_t column = 0; column < result.columns; ++column) {
        int64_t fromRow = row + (dim == 0 ? index * extent : 0);
        int64_t fromColumn = column + (dim == 1 ? index * extent : 0);
        bool inside = fromRow < block.rows && fromColumn < block.columns;
        result.values.push_back(inside ? block.at(fromRow, fromColumn) : padding);
      }
    return result;
  }

  /// The first `extent` elements of the parts one after another.
  Block join(std::vector<Block> parts, unsigned dim, int64_t extent) const {
    Block result{dim == 0 ? extent : parts[0].rows, dim == 1 ? extent : parts[0].columns, {}};
    for (int64_t row = 0; row < result.rows; ++row)
      for (int64_t column = 0; column < result.columns; ++column)
        result.values.push_back(
            dim == 0 ? parts[row / parts[0].rows].at(row % parts[0].rows, column)
                     : parts[column / parts[0].columns].at(row, column % parts[0].columns));
    return result;
  }

  Block sum(const Devices &devices, llvm::ArrayRef<int64_t> members) const {
    Block result = devices[members[0]];
    for (int64_t member : members.drop_front())
      for (auto [total, value] : llvm::zip(result.values, devices[member].values))
        total = total == padding || value == padding ? padding : total + value;
    return result;
  }

  Devices apply(const Devices &devices, const ReshardStep &step, const Shape &shape) const {
    Devices result(devices.size());
    Shape local = localShape(shape, step.after);
    int64_t extent = local[step.dim];
    for (int64_t device = 0; device < mesh.devices(); ++device) {
      std::vector<int64_t> members = group(device, step.axes);
      int64_t index = coordinate(device, step.axes);
      std::vector<Block> parts;
      for (int64_t member : members)
        parts.push_back(step.kind == ReshardKind::AllToAll
                            ? piece(devices[member], step.dim, extent, index)
                            : devices[member]);
      switch (step.kind) {
      case ReshardKind::AllGather:
        result[device] = join(parts, step.dim, extent);
        break;
      case ReshardKind::AllReduce:
        result[device] = sum(devices, members);
        break;
      case ReshardKind::AllToAll:
        result[device] = join(parts, step.concatDim, local[step.concatDim]);
        break;
      case ReshardKind::Permute:
        for (int64_t member : members)
          if (coordinate(member, step.to) == index)
            result[member] = devices[device];
        break;
      case ReshardKind::ReduceScatter:
        result[device] = piece(sum(devices, members), step.dim, extent, index);
        break;
      case ReshardKind::Slice:
        result[device] = piece(devices[device], step.dim, extent, index);
        break;
      }
    }
    return result;
  }

  /// What each device holds of `global`: over partial axes the addends are weighted by their
  /// coordinate so that they differ, and sum up.
  Devices distribute(const Block &global, const TensorSharding &sharding) const {
    Devices devices;
    int64_t addends = blocks(sharding.partial);
    for (int64_t device = 0; device < mesh.devices(); ++device) {
      Block block = global;
      Shape local = localShape(Shape{global.rows, global.columns}, sharding);
      for (unsigned dim : {0u, 1u})
        block = piece(block, dim, local[dim], coordinate(device, sharding.dims[dim]));
      int64_t index = coordinate(device, sharding.partial);
      for (int64_t &value : block.values)
        value = value == padding ? value : index == 0 ? value - addends * (addends - 1) / 2 : index;
      devices.push_back(block);
    }
    return devices;
  }

private:
  const MeshShape &mesh;
};
} // namespace

static TensorSharding randomSharding(std::mt19937 &random, const Shape &shape, bool partial) {
  std::vector<AxisRef> axes = {x, z};
  if (random() % 2)
    axes.push_back(y);
  else
    axes.insert(axes.end(), {yMajor, yMinor});
  std::shuffle(axes.begin(), axes.end(), random);
  TensorSharding sharding{{{}, {}}, {}, ReduceKind::Sum};
  for (AxisRef axis : axes) {
    unsigned place = random() % 4;
    if (place < 2)
      append(sharding.dims[place], axis);
    else if (place == 2 && partial)
      append(sharding.partial, axis);
  }
  for (auto [list, size] : llvm::zip_equal(sharding.dims, shape))
    if (size % 3 == 0 && random() % 2)
      list = inUnits(list, size, 3);
  return sharding;
}

/// Whether both hold the same wherever `expected` is not padding.
static bool holdTheSame(const Block &block, const Block &expected) {
  return block.rows == expected.rows && block.columns == expected.columns &&
         llvm::all_of(llvm::zip_equal(block.values, expected.values), [](const auto &pair) {
           return std::get<1>(pair) == padding || std::get<0>(pair) == std::get<1>(pair);
         });
}

static void checkRandomPaths(const Shape &shape, int rounds) {
  std::mt19937 random(7);
  Simulation simulation(mesh);
  Block global{shape[0], shape[1], {}};
  for (int64_t index = 0; index < shape[0] * shape[1]; ++index)
    global.values.push_back(1000 * index);
  for (int round = 0; round < rounds; ++round) {
    TensorSharding from = randomSharding(random, shape, true),
                   to = randomSharding(random, shape, false);
    std::optional<ReshardPath> found = findReshardPath(mesh, shape, 4, from, to);
    INFO(str(mesh, from) << " to " << str(mesh, to));
    REQUIRE(found);
    INFO(str(mesh, *found));
    Devices devices = simulation.distribute(global, from);
    for (const ReshardStep &step : found->steps)
      devices = simulation.apply(devices, step, shape);
    Devices expected = simulation.distribute(global, to);
    for (auto [device, block] : llvm::enumerate(devices))
      REQUIRE(holdTheSame(block, expected[device]));
    if (!found->steps.empty())
      CHECK(str(mesh, found->steps.back().after) == str(mesh, to));
    // Never worse than to reduce and gather everything, then slice.
    TensorSharding whole = TensorSharding::replicated(2);
    CHECK(found->bytes <= findReshardPath(mesh, shape, 4, from, whole)->bytes);
  }
}

TEST_CASE("random paths keep the value") {
  checkRandomPaths({16, 16}, 400);
  checkRandomPaths({7, 10}, 400);
  checkRandomPaths({15, 9}, 400);
  checkRandomPaths({1, 3}, 100);
}
