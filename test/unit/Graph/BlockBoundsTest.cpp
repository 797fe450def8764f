#include "compiler/Graph/BlockBounds.h"

#include <catch2/catch.hpp>
#include <map>

using namespace weft;

namespace {

/// Writes sequences: each operation makes one value of one byte.
struct Writer {
  OperationSequence sequence;

  /// Capital names take a matrix.
  uint32_t add(const std::string &name, std::vector<uint32_t> inputs) {
    uint32_t place = sequence.size();
    uint64_t label = std::hash<std::string>()(name);
    sequence.nodes.push_back({label, label, isupper(name[0]) != 0, {}});
    for (uint32_t input : inputs) {
      sequence.nodes.back().inputs.push_back(input);
      sequence.values[input].last = place;
      ++sequence.values[input].users;
    }
    sequence.values.push_back({place, place, 0, 1});
    return place;
  }
  /// norm, product and sum with the stream.
  uint32_t addBranch(uint32_t x, const std::string &product) {
    return add("add", {x, add(product, {add("norm", {x})})});
  }
  uint32_t addLayer(uint32_t x, const std::string &mlp = "Mlp") {
    return addBranch(addBranch(x, "Attention"), mlp);
  }

  std::vector<uint32_t> find() const { return findBlockBounds(sequence); }
};

} // namespace

TEST_CASE("layers begin where the stream alone is live") {
  for (int layers : {2, 3, 12}) {
    Writer writer;
    uint32_t x = writer.add("Embedding", {});
    x = writer.add("add", {x, x}); // as the end of a layer
    std::vector<uint32_t> expected = {0};
    for (int i = 0; i < layers; ++i) {
      expected.push_back(writer.sequence.size());
      x = writer.addLayer(x);
    }
    expected.push_back(writer.sequence.size());
    writer.add("Head", {writer.add("norm", {x})});
    INFO(layers << " layers");
    CHECK(writer.find() == expected);
    CHECK(getStretchKey(writer.sequence, expected[1], expected[2]) ==
          getStretchKey(writer.sequence, expected[layers], expected[layers + 1]));
  }
}

TEST_CASE("a first and a last layer may differ") {
  Writer writer;
  uint32_t x = writer.add("Embedding", {});
  std::vector<uint32_t> expected = {0};
  for (const char *mlp : {"Dense", "Mlp", "Mlp", "Mlp", "Other"}) {
    expected.push_back(writer.sequence.size());
    x = writer.addLayer(x, mlp);
  }
  expected.push_back(writer.sequence.size());
  writer.add("Head", {writer.add("norm", {x})});
  CHECK(writer.find() == expected);
}

TEST_CASE("two layers of which each is another are still two") {
  Writer writer;
  uint32_t x = writer.add("Embedding", {});
  std::vector<uint32_t> expected = {0};
  for (const char *mlp : {"Dense", "Experts"}) {
    expected.push_back(writer.sequence.size());
    x = writer.addLayer(x, mlp);
  }
  expected.push_back(writer.sequence.size());
  writer.add("Head", {writer.add("norm", {x})});
  CHECK(writer.find() == expected);
}

TEST_CASE("what all decoder layers use passes their cuts") {
  Writer writer;
  uint32_t x = writer.add("Embedding", {});
  std::vector<uint32_t> expected = {0};
  for (int i = 0; i < 3; ++i) {
    expected.push_back(writer.sequence.size());
    x = writer.addLayer(x);
  }
  expected.push_back(writer.sequence.size());
  uint32_t memory = writer.add("norm", {x});
  expected.push_back(writer.sequence.size());
  uint32_t y = writer.add("Embedding2", {});
  for (int i = 0; i < 3; ++i) {
    expected.push_back(writer.sequence.size());
    uint32_t cross = writer.add("Cross", {y, memory});
    y = writer.addBranch(writer.add("add", {y, cross}), "Mlp2");
  }
  expected.push_back(writer.sequence.size());
  writer.add("Head", {writer.add("norm", {y})});
  CHECK(writer.find() == expected);
}

TEST_CASE("equal products side by side, or beside a residual connection, are no blocks") {
  Writer writer;
  uint32_t x = writer.add("Embedding", {});
  uint32_t norm = writer.add("norm", {x});
  std::vector<uint32_t> heads;
  for (int i = 0; i < 3; ++i)
    heads.push_back(writer.add("bias", {writer.add("Product", {norm})}));
  writer.add("add", {x, writer.add("attend", heads)});
  for (uint32_t bound : writer.find())
    CHECK((bound == 0 || bound == 1));

  Writer residual;
  uint32_t y = residual.add("Stem", {}), z = y;
  for (int i = 0; i < 2; ++i)
    z = residual.add("relu", {residual.add("Convolution", {z})});
  residual.add("Head", {residual.add("add", {y, z})});
  CHECK(residual.find() == std::vector<uint32_t>{0, 1, 6});
}

TEST_CASE("a U is cut where its long connections begin and end") {
  Writer writer;
  auto convolve = [&](uint32_t x, const std::string &name) {
    return writer.add("relu" + name, {writer.add("C" + name, {x})});
  };
  uint32_t first = convolve(writer.add("Stem", {}), "a");
  uint32_t second = convolve(writer.add("pool", {first}), "b");
  uint32_t bottom = convolve(writer.add("pool2", {second}), "c");
  uint32_t up = convolve(writer.add("concat", {second, bottom}), "d");
  uint32_t top = convolve(writer.add("concat2", {first, up}), "e");
  writer.add("Head", {top});
  std::vector<uint32_t> bounds = writer.find();
  CHECK(std::find(bounds.begin(), bounds.end(), first + 1) != bounds.end());
  CHECK(bounds.size() >= 3);
}

TEST_CASE("a chain is cut before its products") {
  Writer writer;
  uint32_t x = writer.add("Stem", {});
  for (int i = 0; i < 4; ++i)
    x = writer.add("relu", {writer.add("bias", {writer.add("Convolution", {x})})});
  writer.add("Head", {writer.add("pool", {x})});
  CHECK(writer.find() == std::vector<uint32_t>{0, 1, 4, 7, 10, 13});
}

TEST_CASE("empty and small models have blocks too") {
  CHECK(findBlockBounds({}).empty());
  Writer writer;
  writer.add("Product", {});
  CHECK(writer.find() == std::vector<uint32_t>{0});
}

TEST_CASE("a hundred thousand operations are divided") {
  Writer writer;
  uint32_t x = writer.add("Embedding", {});
  while (writer.sequence.size() < 100000)
    x = writer.addLayer(x);
  writer.add("Head", {x});
  CHECK(writer.find().size() > 16000);
}
