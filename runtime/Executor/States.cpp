//===- States.cpp - states in files ---------------------------------------===//

#include "runtime/Executor/States.h"

#include "runtime/Executor/Agree.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/OutputFile.h"
#include "runtime/Support/Suggest.h"

#include <algorithm>
#include <cstring>
#include <set>

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

/// Which of this rank's blocks no rank before it holds, too.
std::vector<char> States::chooseWriters(Transport &transport) const {
  std::vector<int64_t> mine;
  for (const auto &[number, placed] : blocks) {
    mine.push_back(static_cast<int64_t>(number));
    // Of blocks that are nothing but padding nothing is written.
    mine.push_back(placed.local.getNumElements() == 0 ? -1 : placed.block.begin);
  }
  std::vector<std::string> all = gatherTexts(
      transport, {reinterpret_cast<const char *>(mine.data()), mine.size() * sizeof(int64_t)});
  std::set<std::pair<int64_t, int64_t>> before;
  for (int64_t rank = 0; rank < transport.getRank(); ++rank) {
    std::vector<int64_t> theirs(all[rank].size() / sizeof(int64_t));
    std::memcpy(theirs.data(), all[rank].data(), theirs.size() * sizeof(int64_t));
    for (size_t i = 0; i + 1 < theirs.size(); i += 2)
      before.insert({theirs[i], theirs[i + 1]});
  }
  std::vector<char> writes;
  for (size_t i = 0; i < blocks.size(); ++i)
    writes.push_back(before.count({mine[2 * i], mine[2 * i + 1]}) == 0);
  return writes;
}

void States::write(const std::string &path, Transport &transport, const PortAccess &access) {
  std::vector<SafeTensor> tensors;
  for (const program::Weight *weight : weights)
    tensors.push_back({weight->name(), weight->dtype(), "", getShape(*weight), 0});
  std::string header = formatSafeTensors(tensors);
  std::optional<OutputFile> file; // of rank 0
  std::string staged;
  agree(transport, [&] {
    if (transport.getRank() != 0)
      return;
    File &whole = file.emplace(path).getStaged();
    whole.writeAt(0, header.data(), header.size());
    uint64_t end = header.size();
    for (const SafeTensor &tensor : tensors)
      end = std::max(end, tensor.offset + getNumBytes(tensor));
    whole.resize(end);
    staged = whole.getPath();
  });
  staged = gatherTexts(transport, staged).front();
  std::vector<char> writes = chooseWriters(transport);
  agree(transport, [&] {
    File part = File::openForWriting(staged);
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (!writes[i])
        continue;
      const auto &[number, placed] = blocks[i];
      StridedBlock block = placed.block;
      block.begin += static_cast<int64_t>(tensors[number].offset);
      access.staging.look(placed.local, access.bases, access.stream,
                          [&](const Piece &piece, const std::byte *memory) {
                            writeBlock(part, getPart(block, piece.start, piece.view.shape), memory);
                          });
    }
  });
  agree(transport, [&] {
    if (file)
      file->commit();
  });
}

} // namespace weft::runtime
