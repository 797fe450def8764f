//===- Collectives.cpp - collectives on top of any transport --------------===//

#include "runtime/Collective/Collectives.h"

#include "runtime/Support/DType.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {

namespace {

/// Up to here one exchange of everything beats two of slices: latency outweighs bytes.
constexpr uint64_t shortMessage = 16 << 10;

/// Grows `scratch`, which keeps its size for the next call.
std::byte *reserve(Scratch &scratch, uint64_t bytes) {
  if (scratch.size() < bytes)
    scratch.resize(bytes);
  return scratch.data();
}

Phases allReduceShort(const Group &group, program::DType dtype, plan::Reduction reduction,
                      const std::byte *input, std::byte *output, int64_t count, Scratch &scratch) {
  uint64_t bytes = count * getElementSize(dtype);
  std::byte *received = reserve(scratch, bytes * group.ranks.size());
  Phase phase;
  std::vector<const std::byte *> parts;
  for (int64_t i = 0; i < group.getSize(); ++i) {
    std::byte *part = received + i * bytes;
    parts.push_back(i == group.self ? input : part);
    if (i == group.self)
      continue;
    phase.sends.push_back({group.ranks[i], input, bytes});
    phase.receives.push_back({group.ranks[i], part, bytes});
  }
  phase.then = [=] { reduceParts(dtype, reduction, parts, output, count); };
  return {phase};
}

} // namespace

void runPhases(Transport &transport, const Phases &phases) {
  for (const Phase &phase : phases) {
    transport.exchange(phase.sends, phase.receives);
    if (phase.then)
      phase.then();
  }
}

Phases allReduce(const Group &group, program::DType dtype, plan::Reduction reduction,
                 const std::byte *input, std::byte *output, int64_t count, Scratch &scratch) {
  int64_t size = getElementSize(dtype), n = group.getSize();
  if (static_cast<uint64_t>(count * size) <= shortMessage || n == 1)
    return allReduceShort(group, dtype, reduction, input, output, count, scratch);
  auto begin = [&](int64_t i) { return count * i / n; };
  int64_t mine = begin(group.self), length = begin(group.self + 1) - mine;
  std::byte *received = reserve(scratch, length * size * n);
  Phase phase;
  std::vector<const std::byte *> parts;
  for (int64_t i = 0; i < n; ++i) {
    std::byte *part = received + i * length * size;
    parts.push_back(i == group.self ? input + mine * size : part);
    if (i == group.self)
      continue;
    phase.sends.push_back({group.ranks[i], input + begin(i) * size,
                           static_cast<uint64_t>((begin(i + 1) - begin(i)) * size)});
    phase.receives.push_back({group.ranks[i], part, static_cast<uint64_t>(length * size)});
  }
  std::byte *reduced = output + mine * size;
  phase.then = [=] { reduceParts(dtype, reduction, parts, reduced, length); };
  Phase spread;
  for (int64_t i = 0; i < n; ++i) {
    if (i == group.self)
      continue;
    spread.sends.push_back({group.ranks[i], reduced, static_cast<uint64_t>(length * size)});
    spread.receives.push_back({group.ranks[i], output + begin(i) * size,
                               static_cast<uint64_t>((begin(i + 1) - begin(i)) * size)});
  }
  return {phase, spread};
}

Phases allGather(const Group &group, const std::byte *input, std::byte *output,
                 uint64_t blockBytes) {
  std::memmove(output + group.self * blockBytes, input, blockBytes);
  Phase phase;
  for (int64_t i = 0; i < group.getSize(); ++i) {
    if (i == group.self)
      continue;
    phase.sends.push_back({group.ranks[i], output + group.self * blockBytes, blockBytes});
    phase.receives.push_back({group.ranks[i], output + i * blockBytes, blockBytes});
  }
  return {phase};
}

Phases reduceScatter(const Group &group, program::DType dtype, plan::Reduction reduction,
                     const std::byte *input, std::byte *output, int64_t blockCount,
                     Scratch &scratch) {
  uint64_t bytes = blockCount * getElementSize(dtype);
  std::byte *received = reserve(scratch, bytes * group.ranks.size());
  Phase phase;
  std::vector<const std::byte *> parts;
  for (int64_t i = 0; i < group.getSize(); ++i) {
    std::byte *part = received + i * bytes;
    parts.push_back(i == group.self ? input + i * bytes : part);
    if (i == group.self)
      continue;
    phase.sends.push_back({group.ranks[i], input + i * bytes, bytes});
    phase.receives.push_back({group.ranks[i], part, bytes});
  }
  phase.then = [=] { reduceParts(dtype, reduction, parts, output, blockCount); };
  return {phase};
}

Phases allToAll(const Group &group, const std::byte *input, std::byte *output,
                uint64_t blockBytes) {
  Phase phase;
  for (int64_t i = 0; i < group.getSize(); ++i) {
    if (i == group.self) {
      std::memcpy(output + i * blockBytes, input + i * blockBytes, blockBytes);
      continue;
    }
    phase.sends.push_back({group.ranks[i], input + i * blockBytes, blockBytes});
    phase.receives.push_back({group.ranks[i], output + i * blockBytes, blockBytes});
  }
  return {phase};
}

Phases permute(int64_t self, int64_t to, int64_t from, const std::byte *input, std::byte *output,
               uint64_t bytes) {
  if (to == self) {
    std::memmove(output, input, bytes);
    return {};
  }
  return {Phase{{Send{to, input, bytes}}, {Receive{from, output, bytes}}, {}}};
}

namespace {

/// One exchange between rank 0 and all others: texts to it, or texts from it, each after its
/// length.
std::vector<std::string> gatherAtFirst(Transport &transport, const std::string &text) {
  int64_t size = transport.getSize();
  uint64_t length = text.size();
  if (transport.getRank() != 0) {
    Send announce{0, &length, sizeof(length)}, content{0, text.data(), length};
    transport.exchange({&announce, 1}, {});
    transport.exchange({&content, 1}, {});
    return {};
  }
  std::vector<uint64_t> lengths(size, length);
  std::vector<std::string> texts(size, text);
  std::vector<Receive> receives;
  for (int64_t i = 1; i < size; ++i)
    receives.push_back({i, &lengths[i], sizeof(uint64_t)});
  transport.exchange({}, receives);
  for (int64_t i = 1; i < size; ++i) {
    texts[i].resize(lengths[i]);
    receives[i - 1] = {i, texts[i].data(), lengths[i]};
  }
  transport.exchange({}, receives);
  return texts;
}

void broadcastFromFirst(Transport &transport, std::string &text) {
  uint64_t length = text.size();
  if (transport.getRank() != 0) {
    Receive announce{0, &length, sizeof(length)};
    transport.exchange({}, {&announce, 1});
    text.resize(length);
    Receive content{0, text.data(), length};
    transport.exchange({}, {&content, 1});
    return;
  }
  for (bool content : {false, true}) {
    std::vector<Send> sends;
    for (int64_t i = 1; i < transport.getSize(); ++i)
      sends.push_back(content ? Send{i, text.data(), length} : Send{i, &length, sizeof(length)});
    transport.exchange(sends, {});
  }
}

} // namespace

std::vector<std::string> gatherTexts(Transport &transport, const std::string &text) {
  std::vector<std::string> texts = gatherAtFirst(transport, text);
  std::string joined;
  for (const std::string &one : texts) {
    uint64_t length = one.size();
    joined.append(reinterpret_cast<const char *>(&length), sizeof(length)).append(one);
  }
  broadcastFromFirst(transport, joined);
  texts.clear();
  for (size_t at = 0; at + sizeof(uint64_t) <= joined.size();) {
    uint64_t length;
    std::memcpy(&length, joined.data() + at, sizeof(length));
    texts.push_back(joined.substr(at + sizeof(length), length));
    at += sizeof(length) + length;
  }
  return texts;
}

} // namespace weft::runtime
