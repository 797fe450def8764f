//===- States.cpp - states in files ---------------------------------------===//

#include "runtime/Executor/States.h"

#include "runtime/Executor/Agree.h"
#include "runtime/Executor/TensorFile.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/Suggest.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace weft::runtime {

States::States(const Executable &executable, const Position &position) {
  std::map<uint32_t, size_t> numbers; // by weight
  for (const program::Program &program : executable.proto.classes())
    for (const program::WeightBlock &block : program.weights())
      if (isState(program, block))
        numbers[block.weight()] = 0;
  for (auto &[weight, number] : numbers) {
    number = weights.size();
    weights.push_back(&executable.proto.weights(static_cast<int>(weight)));
  }
  const program::Program &program = executable.getProgram(position.getRank());
  for (const program::WeightBlock &block : program.weights())
    if (isState(program, block))
      blocks.emplace_back(numbers.at(block.weight()),
                          placeBlock(executable, program, block, position));
}

static std::vector<int64_t> getShape(const program::Weight &weight) {
  return {weight.shape().begin(), weight.shape().end()};
}

void States::check(const std::string &path) {
  std::vector<std::string> names;
  for (const program::Weight *weight : weights)
    names.push_back(weight->name());
  std::vector<bool> given(weights.size());
  found.assign(weights.size(), {});
  for (const SafeTensor &tensor : readSafeTensors(path)) {
    size_t at = std::find(names.begin(), names.end(), tensor.name) - names.begin();
    if (at == names.size())
      throwBadInput("'{}' holds '{}', but the model has no such state; {}", path, tensor.name,
                    suggest(tensor.name, names));
    const program::Weight &weight = *weights[at];
    if (tensor.dtype != weight.dtype())
      throwBadInput("state '{}' must be of type {}, '{}' holds {}", tensor.name,
                    runtime::getName(weight.dtype()), path, tensor.typeName);
    if (tensor.shape != getShape(weight))
      throwBadInput("state '{}' must have the shape {}, '{}' has {}", tensor.name,
                    formatShape(getShape(weight)), path, formatShape(tensor.shape));
    given[at] = true;
    found[at] = tensor;
  }
  for (size_t i = 0; i < weights.size(); ++i)
    if (!given[i])
      throwBadInput("'{}' lacks the state '{}'", path, names[i]);
}

void States::read(const std::string &path, const PortAccess &access) {
  BlockReader reader(File::open(path));
  for (auto &[number, placed] : blocks) {
    StridedBlock block = placed.block;
    block.begin += static_cast<int64_t>(found[number].offset);
    access.staging.fill(placed.local, access.bases, access.stream,
                        [&](const Piece &piece, std::byte *memory) {
                          reader.read(getPart(block, piece.start, piece.view.shape), memory);
                        });
  }
}

namespace {

/// A block that some ranks hold, and who of them writes it.
struct Held {
  int64_t bytes = 0;
  std::vector<int64_t> ranks;
};
using BlockKey = std::pair<int64_t, int64_t>; // the state's number, the first byte

/// The rank that writes each block: of those that hold it the one that has least to write so far,
/// large blocks first.
std::map<BlockKey, int64_t> divide(const std::map<BlockKey, Held> &held, int64_t ranks) {
  std::vector<std::pair<BlockKey, const Held *>> order;
  for (const auto &[key, block] : held)
    order.emplace_back(key, &block);
  std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
    return std::pair(-a.second->bytes, a.first) < std::pair(-b.second->bytes, b.first);
  });
  std::vector<int64_t> load(ranks);
  std::map<BlockKey, int64_t> writers;
  for (const auto &[key, block] : order) {
    int64_t writer =
        *std::min_element(block->ranks.begin(), block->ranks.end(), [&](int64_t a, int64_t b) {
          return std::pair(load[a], a) < std::pair(load[b], b);
        });
    load[writer] += block->bytes;
    writers[key] = writer;
  }
  return writers;
}

} // namespace

std::vector<char> States::chooseWriters(Transport &transport) const {
  std::vector<int64_t> mine;
  for (const auto &[number, placed] : blocks) {
    mine.push_back(static_cast<int64_t>(number));
    mine.push_back(placed.block.begin);
    mine.push_back(placed.local.getNumBytes()); // 0: nothing but padding, which nobody writes
  }
  std::vector<std::string> all = gatherTexts(
      transport, {reinterpret_cast<const char *>(mine.data()), mine.size() * sizeof(int64_t)});
  std::map<BlockKey, Held> held;
  for (int64_t rank = 0; rank < transport.getSize(); ++rank) {
    std::vector<int64_t> theirs(all[rank].size() / sizeof(int64_t));
    std::memcpy(theirs.data(), all[rank].data(), theirs.size() * sizeof(int64_t));
    for (size_t i = 0; i + 2 < theirs.size(); i += 3) {
      if (theirs[i + 2] == 0)
        continue;
      Held &block = held[{theirs[i], theirs[i + 1]}];
      block.bytes = theirs[i + 2];
      block.ranks.push_back(rank);
    }
  }
  std::map<BlockKey, int64_t> writers = divide(held, transport.getSize());
  std::vector<char> writes;
  for (size_t i = 0; i < mine.size(); i += 3)
    writes.push_back(mine[i + 2] != 0 && writers.at({mine[i], mine[i + 1]}) == transport.getRank());
  return writes;
}

void States::write(const std::string &path, Transport &transport, const PortAccess &access,
                   const Choice &wanted) const {
  std::vector<SafeTensor> tensors;
  std::vector<int64_t> numbers; // of each state's tensor; -1: not wanted
  for (const program::Weight *weight : weights) {
    bool isWanted = !wanted || wanted(*weight);
    numbers.push_back(isWanted ? static_cast<int64_t>(tensors.size()) : -1);
    if (isWanted)
      tensors.push_back({weight->name(), weight->dtype(), "", getShape(*weight), 0});
  }
  TensorFile file(transport, path, tensors);
  std::vector<char> writes = chooseWriters(transport);
  agree(transport, [&] {
    for (size_t i = 0; i < blocks.size(); ++i) {
      const auto &[number, placed] = blocks[i];
      if (!writes[i] || numbers[number] < 0)
        continue;
      StridedBlock block = placed.block;
      block.begin += static_cast<int64_t>(file.getTensor(numbers[number]).offset);
      access.staging.look(placed.local, access.bases, access.stream,
                          [&](const Piece &piece, const std::byte *memory) {
                            file.write(getPart(block, piece.start, piece.view.shape), memory);
                          });
    }
  });
  file.commit();
}

} // namespace weft::runtime
