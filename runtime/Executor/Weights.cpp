//===- Weights.cpp - weights read from where they lie ---------------------===//

#include "runtime/Executor/Weights.h"

#include "runtime/Executor/WeightOverrides.h"
#include "runtime/Program/Resolve.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/ForEachOffset.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

namespace weft::runtime {

namespace fs = std::filesystem;

/// Bytes of a whole weight, as it lies in its file or would.
static int64_t getNumBytes(const program::Weight &weight) {
  if (weight.splat().empty())
    return static_cast<int64_t>(weight.length());
  int64_t bytes = getElementSize(weight.dtype());
  for (int64_t extent : weight.shape())
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      throwBadInput("weight '{}' has no size", weight.name());
  return bytes;
}

PlacedBlock placeBlock(const Executable &executable, const program::Program &program,
                       const program::WeightBlock &wanted, const Position &position) {
  if (wanted.weight() >= static_cast<uint32_t>(executable.proto.weights_size()))
    throwBadInput("a block of weight {}, there are {}", wanted.weight(),
                  executable.proto.weights_size());
  const program::Weight &weight = executable.proto.weights(static_cast<int>(wanted.weight()));
  PlacedBlock placed{&weight, resolveView(program, wanted.local(), position), {}, {}};
  std::vector<int64_t> extents = position.getValidExtents(wanted.valid(), placed.local.shape);
  if (extents != placed.local.shape)
    placed.padded = placed.local;
  placed.local.shape = extents;
  int64_t size = getElementSize(weight.dtype());
  int64_t start = position.evaluate(wanted.start());
  if (placed.local.dtype != weight.dtype() ||
      static_cast<size_t>(wanted.strides_size()) != placed.local.shape.size())
    throwBadInput("a block that does not fit weight '{}'", weight.name());
  int64_t low = start, high = start;
  bool empty = false;
  for (int dim = 0; dim < wanted.strides_size(); ++dim) {
    empty |= placed.local.shape[dim] == 0;
    int64_t reach = (placed.local.shape[dim] - 1) * wanted.strides(dim);
    (reach < 0 ? low : high) += reach;
  }
  if (!empty && (low < 0 || high >= getNumBytes(weight) / size))
    throwBadInput("a block of weight '{}' reaches beyond its {} bytes", weight.name(),
                  getNumBytes(weight));
  placed.block = {start * size,
                  size,
                  placed.local.shape,
                  {wanted.strides().begin(), wanted.strides().end()},
                  placed.local.strides};
  return placed;
}

void clear(const View &view, const WeightsTarget &target) {
  std::string zero(getElementSize(view.dtype), '\0');
  target.commands.push_back(target.device.makeFill({view, zero}));
  target.commands.back()->enqueue(target.bases, target.stream);
}

bool isState(const program::Program &program, const program::WeightBlock &block) {
  uint32_t arena = block.local().arena();
  if (arena >= static_cast<uint32_t>(program.arenas_size()))
    return false;
  program::ArenaKind kind = program.arenas(static_cast<int>(arena)).kind();
  return kind == program::STATE || kind == program::HOST;
}

int64_t getWeightBytes(const program::Program &program) {
  int64_t total = 0;
  for (const program::WeightBlock &block : program.weights()) {
    if (isState(program, block))
      continue;
    int64_t bytes = getElementSize(block.local().dtype());
    for (int64_t extent : block.local().shape())
      bytes *= extent;
    total += bytes;
  }
  return total;
}

std::string locateFile(const Executable &executable, const program::File &file,
                       const std::string &weightsDir, bool overrides) {
  std::vector<fs::path> candidates;
  fs::path moved = fs::path(weightsDir) / fs::path(file.path()).filename();
  if (file.inside())
    candidates = {executable.getPath(file.path())};
  else if (!weightsDir.empty() && (!overrides || fs::exists(moved)))
    candidates = {moved};
  else
    candidates = {fs::path(executable.folder) / file.path(), file.absolute_path()};
  std::string tried;
  for (const fs::path &candidate : candidates) {
    std::error_code error;
    uint64_t size = fs::file_size(candidate, error);
    if (!error && size == file.size())
      return candidate;
    tried += fmt::format("{}'{}' {}", tried.empty() ? "" : ", ", candidate.string(),
                         error ? "is absent" : fmt::format("has {} bytes", size));
  }
  throwBadInput("the file '{}' that holds the weights is absent or was changed: {} bytes are "
                "expected, {}; put it back, name its folder with --weights-dir, or compile again",
                fs::path(file.path()).filename().string(), file.size(), tried);
}

/// Reads blocks of one file, in its order.
static void readBlocks(BlockReader reader, std::vector<PlacedBlock> blocks,
                       const WeightsTarget &target) {
  std::sort(blocks.begin(), blocks.end(), [](const PlacedBlock &a, const PlacedBlock &b) {
    return a.block.begin < b.block.begin;
  });
  for (const PlacedBlock &placed : blocks)
    target.staging.fill(placed.local, target.bases, target.stream,
                        [&](const Piece &piece, std::byte *memory) {
                          reader.read(getPart(placed.block, piece.start, piece.view.shape), memory);
                        });
}

/// Fills a block with one element. Arenas are zero already. Nothing but copies reaches what the
/// host keeps for a device.
static void fillSplat(const PlacedBlock &placed, bool onHost, const WeightsTarget &target) {
  const std::string &value = placed.weight->splat();
  if (value.find_first_not_of('\0') == std::string::npos)
    return;
  if (!onHost) {
    target.commands.push_back(target.device.makeFill({placed.local, value}));
    return target.commands.back()->enqueue(target.bases, target.stream);
  }
  target.staging.fill(placed.local, target.bases, target.stream,
                      [&](const Piece &piece, std::byte *memory) {
                        forEachOffset(piece.view.shape, piece.view.strides, [&](int64_t offset) {
                          std::memcpy(memory + offset * static_cast<int64_t>(value.size()),
                                      value.data(), value.size());
                        });
                      });
}

void loadWeights(const Executable &executable, const Position &position,
                 const WeightsTarget &target, const WeightSources &sources) {
  const program::Program &program = executable.getProgram(position.getRank());
  WeightOverrides overrides(executable, sources.folder);
  std::map<std::string, std::vector<PlacedBlock>> overridden; // by path
  std::map<uint32_t, std::vector<PlacedBlock>> byFile;
  for (const program::WeightBlock &block : program.weights()) {
    PlacedBlock placed = placeBlock(executable, program, block, position);
    if (!sources.withStates && isState(program, block))
      continue;
    if (const WeightOverrides::Place *place = overrides.find(placed.weight->name())) {
      placed.block.begin += static_cast<int64_t>(place->offset);
      overridden[place->path].push_back(std::move(placed));
      continue;
    }
    if (placed.weight->splat().empty()) {
      placed.block.begin += static_cast<int64_t>(placed.weight->offset());
      byFile[placed.weight->file()].push_back(std::move(placed));
      continue;
    }
    fillSplat(placed, isOnHost(program, block.local()), target);
  }
  for (auto &[index, blocks] : byFile) {
    const program::File &file = executable.proto.files(static_cast<int>(index));
    std::span<const uint64_t> hashes(file.chunk_hashes().data(), file.chunk_hashes_size());
    std::string path = locateFile(executable, file, sources.folder, !overrides.empty());
    readBlocks(BlockReader(File::open(path), file.chunk_bytes(), hashes), std::move(blocks),
               target);
  }
  for (auto &[path, blocks] : overridden)
    readBlocks(BlockReader(File::open(path)), std::move(blocks), target);
}

} // namespace weft::runtime
