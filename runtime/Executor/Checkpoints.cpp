//===- Checkpoints.cpp - a run's checkpoints ------------------------------===//

#include "runtime/Executor/Checkpoints.h"

#include "runtime/Checkpoint/ShardReader.h"
#include "runtime/Executor/Agree.h"
#include "runtime/Support/Error.h"

#include <cmath>
#include <random>
#include <sstream>

namespace weft::runtime {

Checkpoints::Checkpoints(Transport &transport, const States &states, const std::string &folder,
                         int64_t keep)
    : transport(transport), states(states), folder(folder), keep(keep) {}

Checkpoints::~Checkpoints() = default; // the futures wait for their threads

std::vector<CheckpointState> Checkpoints::describeStates() const {
  std::vector<CheckpointState> described;
  for (const program::Weight *weight : states.getWeights())
    described.push_back(
        {weight->name(), weight->dtype(), {weight->shape().begin(), weight->shape().end()}});
  return described;
}

/// Which box of its state a block is.
CheckpointBlock Checkpoints::locate(const States::Block &block) const {
  const auto &[number, placed] = block;
  CheckpointBlock box{number, {}, placed.local.shape, 0};
  std::vector<int64_t> shape(placed.weight->shape().begin(), placed.weight->shape().end());
  std::vector<int64_t> strides = getRowMajorStrides(shape);
  if (placed.block.fileStrides != strides)
    throwBadInput("state '{}' is held in another order than its elements have",
                  placed.weight->name());
  int64_t rest = placed.block.begin / placed.block.elementSize;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    box.start.push_back(strides[dim] > 0 ? rest / strides[dim] : 0);
    rest -= box.start.back() * strides[dim];
  }
  return box;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Says how to go on where the latest checkpoint cannot be read: what it holds is lost, and whoever
/// runs this is to know.
void Checkpoints::readLatest(const std::function<void()> &work) const {
  try {
    work();
  } catch (const Error &error) {
    if (error.getKind() != ErrorKind::BadInput)
      throw;
    throwBadInput("{}; remove that checkpoint to {}", error.what(),
                  before < 0 ? "begin anew" : fmt::format("go on from the one of step {}", before));
  }
}

std::optional<Manifest> Checkpoints::open(bool resume) {
  agree(transport, [&] {
    if (transport.getRank() != 0)
      return;
    folder.take();
    std::vector<int64_t> steps = folder.list();
    if (!steps.empty() && !resume)
      throwBadInput("'{}' holds a checkpoint of step {}; go on from it with --resume, or name "
                    "another folder",
                    folder.getPath(), steps.back());
    if (!steps.empty())
      latest = steps.back();
    if (steps.size() > 1)
      before = steps[steps.size() - 2];
    run = fmt::format("{:08x}", std::random_device()());
  });
  std::istringstream chosen(
      gatherTexts(transport, fmt::format("{} {} {}", run, latest, before)).front());
  chosen >> run >> latest >> before;
  if (latest < 0)
    return std::nullopt;
  Manifest found;
  agree(transport, [&] {
    readLatest([&] {
      found = readManifest(folder.getManifestPath(latest));
      if (found.step != latest)
        throwBadInput("the checkpoint '{}' is of step {}", folder.getPath(latest), found.step);
    });
    checkStates(folder.getPath(latest), found.states, describeStates());
  });
  return found;
}

void Checkpoints::restore(const Manifest &saved, const PortAccess &access) {
  readLatest([&] { readStates(saved, access); });
}

void Checkpoints::readStates(const Manifest &saved, const PortAccess &access) const {
  std::string path = folder.getPath(saved.step);
  ShardReader reader(path, saved);
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < saved.states.size(); ++i)
    numbers[saved.states[i].name] = i;
  for (const States::Block &block : states.getBlocks()) {
    CheckpointBlock box = locate(block);
    size_t number = numbers.at(block.second.weight->name());
    access.staging.fill(block.second.local, access.bases, access.stream,
                        [&](const Piece &piece, std::byte *memory) {
                          std::vector<int64_t> start = box.start;
                          for (size_t dim = 0; dim < start.size(); ++dim)
                            start[dim] += piece.start[dim];
                          reader.read(number, start, piece.view.shape, piece.view.strides, memory);
                        });
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Copies a piece of a block into the whole block, which is row-major.
static void copyPiece(const Piece &piece, const std::byte *memory,
                      const std::vector<int64_t> &shape, std::byte *block) {
  int64_t bytes = getElementSize(piece.view.dtype);
  std::vector<int64_t> strides = getRowMajorStrides(shape);
  StridedBlock part{0, bytes, piece.view.shape, piece.view.strides, strides};
  for (size_t dim = 0; dim < shape.size(); ++dim)
    block += piece.start[dim] * strides[dim] * bytes;
  copyBlock(part, memory, block);
}

/// Whether any of these elements is NaN.
static bool holdsNan(DType dtype, const std::byte *data, int64_t count) {
  if (!isFloat(dtype))
    return false;
  bool any = false;
  if (dtype == program::F32) {
    auto *values = reinterpret_cast<const float *>(data);
    for (int64_t i = 0; i < count; ++i) // without a branch: as fast as memory is
      any |= values[i] != values[i];
    return any;
  }
  for (int64_t i = 0; i < count; ++i)
    any |= std::isnan(readAsDouble(dtype, data, i));
  return any;
}

void Checkpoints::begin(int64_t step, const DataPosition &data, const PortAccess &access,
                        std::function<void()> before) {
  finish();
  if (!writes)
    writes = states.chooseWriters(transport);
  std::vector<CheckpointBlock> boxes;
  std::vector<const PlacedBlock *> placed;
  for (size_t i = 0; i < writes->size(); ++i)
    if ((*writes)[i]) {
      boxes.push_back(locate(states.getBlocks()[i]));
      placed.push_back(&states.getBlocks()[i].second);
    }
  auto snapshot = std::make_shared<Snapshot>(describeStates(), boxes);
  for (size_t i = 0; i < placed.size(); ++i)
    access.staging.look(placed[i]->local, access.bases, access.stream,
                        [&](const Piece &piece, const std::byte *memory) {
                          copyPiece(piece, memory, boxes[i].shape, snapshot->getData(i));
                        });
  agree(transport, [&] {
    for (size_t i = 0; i < placed.size(); ++i)
      if (holdsNan(placed[i]->local.dtype, snapshot->getData(i), placed[i]->local.getNumElements()))
        throwFailure("after step {} '{}' holds nan: no checkpoint is written{}", step - 1,
                     placed[i]->weight->name(),
                     latest < 0 ? "" : fmt::format("; the one of step {} is complete", latest));
  });
  pending.emplace();
  pending->manifest = {step, data, describeStates(), {}};
  pending->shards.resize(transport.getSize());
  std::string name =
      fmt::format("rank-{}-of-{}-{}.safetensors", transport.getRank(), transport.getSize(), run);
  shard = std::async(std::launch::async, [this, step, name, snapshot, before] {
    if (transport.getRank() == 0)
      before();
    folder.begin(step);
    return snapshot->write(folder.getPath(step), name);
  });
}

template <typename Result> static bool isReady(const std::future<Result> &future) {
  return future.valid() && future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// Waits for the manifest of the checkpoint before, where it is being written.
void Checkpoints::takeManifest() {
  if (!manifest.valid())
    return;
  manifest.get();
  latest = completing;
}

std::string Checkpoints::getStatus() {
  try {
    if (isReady(manifest))
      takeManifest();
    if (!pending || pending->told || !isReady(shard))
      return "";
    pending->told = true;
    return formatShard(shard.get());
  } catch (const Error &error) {
    return fmt::format("!{}{}", error.getExitCode(), describeFailure(error));
  }
}

std::string Checkpoints::describeFailure(const Error &error) const {
  std::string text = fmt::format("no checkpoint could be written: {}", error.what());
  return latest < 0 ? text : fmt::format("{}; the one of step {} is complete", text, latest);
}

void Checkpoints::handle(const std::vector<std::string> &statuses) {
  bool all = pending.has_value();
  for (size_t rank = 0; rank < statuses.size(); ++rank) {
    const std::string &status = statuses[rank];
    if (status.starts_with('!'))
      throw AgreedError(static_cast<ErrorKind>(status[1] - '0'),
                        fmt::format("rank {}: {}", rank, status.substr(2)),
                        transport.getRank() == 0);
    if (!status.empty())
      pending->shards[rank] = parseShard(status);
    all &= pending.has_value() && pending->shards[rank].has_value();
  }
  if (all)
    complete();
}

/// All shards are on the disk.
void Checkpoints::complete() {
  Manifest whole = std::move(pending->manifest);
  for (std::optional<CheckpointShard> &part : pending->shards)
    whole.shards.push_back(std::move(*part));
  pending.reset();
  if (transport.getRank() != 0)
    return void(latest = whole.step);
  takeManifest();
  completing = whole.step;
  manifest = std::async(std::launch::async, [this, whole = std::move(whole)] {
    folder.complete(whole);
    folder.prune(keep);
  });
}

void Checkpoints::finish() {
  while (pending) {
    if (shard.valid())
      shard.wait();
    handle(gatherTexts(transport, getStatus()));
  }
  agree(transport, [&] {
    try {
      takeManifest();
    } catch (const Error &error) {
      throw Error(error.getKind(), describeFailure(error));
    }
  });
}

} // namespace weft::runtime
