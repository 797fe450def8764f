//===- Manifest.cpp - what a checkpoint says of itself --------------------===//

#include "runtime/Checkpoint/Manifest.h"

#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"
#include "runtime/Support/Hash.h"

#include <map>
#include <nlohmann/json.hpp>

namespace weft::runtime {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *formatName = "weft checkpoint";
constexpr int formatVersion = 1;
constexpr const char *checksumKey = "checksum";

std::string formatHash(uint64_t hash) { return fmt::format("{:016x}", hash); }

uint64_t parseHash(const Json &json) { return std::stoull(json.get<std::string>(), nullptr, 16); }

std::string getChecksum(const Json &json) {
  std::string text = json.dump();
  return formatHash(getHash(text.data(), text.size()));
}

DType parseDType(const std::string &name) {
  for (int number = program::DType_MIN; number <= program::DType_MAX; ++number)
    if (program::DType_IsValid(number) && getName(static_cast<DType>(number)) == name)
      return static_cast<DType>(number);
  throw std::runtime_error(fmt::format("unknown element type '{}'", name));
}

Json toJson(const CheckpointShard &shard) {
  Json json = {{"file", shard.file}, {"bytes", shard.bytes}, {"chunk_bytes", shard.chunkBytes}};
  json["hashes"] = Json::array();
  for (uint64_t hash : shard.hashes)
    json["hashes"].push_back(formatHash(hash));
  json["blocks"] = Json::array();
  for (const CheckpointBlock &block : shard.blocks)
    json["blocks"].push_back({{"state", block.state},
                              {"start", block.start},
                              {"shape", block.shape},
                              {"offset", block.offset}});
  return json;
}

CheckpointShard toShard(const Json &json) {
  CheckpointShard shard;
  shard.file = json.at("file").get<std::string>();
  shard.bytes = json.at("bytes").get<uint64_t>();
  shard.chunkBytes = json.at("chunk_bytes").get<uint64_t>();
  for (const Json &hash : json.at("hashes"))
    shard.hashes.push_back(parseHash(hash));
  for (const Json &block : json.at("blocks"))
    shard.blocks.push_back(
        {block.at("state").get<size_t>(), block.at("start").get<std::vector<int64_t>>(),
         block.at("shape").get<std::vector<int64_t>>(), block.at("offset").get<uint64_t>()});
  return shard;
}

/// Whether a block lies in its state and in its shard.
bool isSane(const CheckpointBlock &block, const CheckpointShard &shard,
            const std::vector<CheckpointState> &states) {
  if (block.state >= states.size())
    return false;
  const CheckpointState &state = states[block.state];
  if (block.start.size() != state.shape.size() || block.shape.size() != state.shape.size())
    return false;
  auto bytes = static_cast<uint64_t>(getElementSize(state.dtype));
  for (size_t dim = 0; dim < state.shape.size(); ++dim) {
    if (block.start[dim] < 0 || block.shape[dim] < 0 || block.shape[dim] > state.shape[dim] ||
        block.start[dim] > state.shape[dim] - block.shape[dim])
      return false;
    bytes *= static_cast<uint64_t>(block.shape[dim]);
  }
  return block.offset <= shard.bytes && bytes <= shard.bytes - block.offset;
}

Manifest toManifest(const Json &json) {
  Manifest manifest;
  manifest.step = json.at("step").get<int64_t>();
  const Json &data = json.at("data");
  manifest.data = {data.at("kind").get<std::string>(), data.at("seed").get<uint64_t>(),
                   data.at("position").get<int64_t>(), data.at("source").get<std::string>()};
  for (const Json &state : json.at("states"))
    manifest.states.push_back({state.at("name").get<std::string>(),
                               parseDType(state.at("dtype").get<std::string>()),
                               state.at("shape").get<std::vector<int64_t>>()});
  for (const Json &entry : json.at("shards")) {
    const CheckpointShard &shard = manifest.shards.emplace_back(toShard(entry));
    bool named = !shard.file.empty() && shard.file.find('/') == std::string::npos;
    uint64_t chunks =
        shard.chunkBytes ? (shard.bytes + shard.chunkBytes - 1) / shard.chunkBytes : 0;
    if (!named || shard.chunkBytes == 0 || shard.hashes.size() != chunks)
      throw std::runtime_error(fmt::format("shard '{}' is not described wholly", shard.file));
    for (const CheckpointBlock &block : shard.blocks)
      if (!isSane(block, shard, manifest.states))
        throw std::runtime_error(fmt::format("a block of shard '{}' lies nowhere", shard.file));
  }
  return manifest;
}

} // namespace

std::string formatShard(const CheckpointShard &shard) { return toJson(shard).dump(); }

CheckpointShard parseShard(const std::string &text) { return toShard(Json::parse(text)); }

std::string formatManifest(const Manifest &manifest) {
  Json json = {{"format", formatName}, {"version", formatVersion}, {"step", manifest.step}};
  json["data"] = {{"kind", manifest.data.kind},
                  {"seed", manifest.data.seed},
                  {"position", manifest.data.position},
                  {"source", manifest.data.source}};
  json["states"] = Json::array();
  for (const CheckpointState &state : manifest.states)
    json["states"].push_back({{"name", state.name},
                              {"dtype", std::string(getName(state.dtype))},
                              {"shape", state.shape}});
  json["shards"] = Json::array();
  for (const CheckpointShard &shard : manifest.shards)
    json["shards"].push_back(toJson(shard));
  json[checksumKey] = getChecksum(json);
  return json.dump(1) + "\n";
}

/// Throws what() where the text is no whole manifest, or of another version.
static Manifest parseManifest(const std::string &text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("format", Json()) != formatName)
    throw std::runtime_error("it is damaged, or of another program");
  if (Json version = json.value("version", Json()); version != formatVersion)
    throw std::runtime_error(
        fmt::format("it has version {}, this program reads {}", version.dump(), formatVersion));
  Json checksum = json.value(checksumKey, Json());
  json.erase(checksumKey);
  if (checksum != getChecksum(json))
    throw std::runtime_error("it was changed: its checksum is another");
  return toManifest(json);
}

Manifest readManifest(const std::string &path) {
  File file = File::open(path);
  std::string text(file.getSize(), '\0');
  file.readAt(0, text.data(), text.size());
  try {
    return parseManifest(text);
  } catch (const std::exception &error) { // of ours, or of the library
    throwBadInput("'{}' is not the manifest of a checkpoint: {}", path, error.what());
  }
}

static std::string describe(const CheckpointState &state) {
  std::string shape;
  for (int64_t extent : state.shape)
    shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
  return fmt::format("{} [{}]", getName(state.dtype), shape);
}

void checkStates(const std::string &path, const std::vector<CheckpointState> &saved,
                 const std::vector<CheckpointState> &wanted) {
  std::map<std::string, const CheckpointState *> there;
  for (const CheckpointState &state : saved)
    there[state.name] = &state;
  std::string text;
  size_t differences = 0;
  auto differ = [&](const std::string &what) {
    constexpr size_t most = 5;
    if (++differences <= most)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", what);
  };
  for (const CheckpointState &state : wanted) {
    auto found = there.find(state.name);
    if (found == there.end())
      differ(fmt::format("it lacks '{}'", state.name));
    else if (!(*found->second == state))
      differ(fmt::format("'{}' is {} there and {} here", state.name, describe(*found->second),
                         describe(state)));
    if (found != there.end())
      there.erase(found);
  }
  for (const auto &[name, state] : there)
    differ(fmt::format("it holds '{}', which the program has not", name));
  if (differences > 0)
    throwBadInput("the checkpoint '{}' is of another model or optimizer: {}{}", path, text,
                  differences > 5 ? fmt::format(" and {} more", differences - 5) : "");
}

} // namespace weft::runtime
