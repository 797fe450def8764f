//===- HostMachine.cpp - the host's memory and features -------------------===//

#include "runtime/Cpu/HostMachine.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <sys/mman.h>

namespace weft::runtime {

namespace {
constexpr size_t page = 4096;
constexpr size_t hugePage = 2 << 20;
} // namespace

HostBlocks::~HostBlocks() {
  for (const auto &[block, mapping] : mappings)
    munmap(mapping.address, mapping.bytes);
}

std::byte *HostBlocks::allocate(int64_t wanted) {
  size_t bytes = std::max<size_t>((static_cast<size_t>(wanted) + page - 1) / page * page, page);
  size_t slack = bytes >= 2 * hugePage ? hugePage : 0; // so that it can begin at a huge page
  void *address = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    throwFailure("no memory for {} bytes: {}", wanted, std::strerror(errno));
  auto begin = reinterpret_cast<uintptr_t>(address);
  if (slack != 0) {
    begin = (begin + hugePage - 1) / hugePage * hugePage;
    // Weights are read end to end each step: fewer, larger pages. A refusal only costs speed.
    (void)madvise(reinterpret_cast<void *>(begin), bytes, MADV_HUGEPAGE);
  }
  auto *block = reinterpret_cast<std::byte *>(begin);
  mappings[block] = {address, bytes + slack};
  return block;
}

void HostBlocks::free(std::byte *block) {
  auto found = mappings.find(block);
  if (found == mappings.end())
    return;
  munmap(found->second.address, found->second.bytes);
  mappings.erase(found);
}

int64_t getAvailableHostMemory() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("MemAvailable:", 0) == 0)
      return std::stoll(line.substr(13)) * 1024;
  return std::numeric_limits<int64_t>::max();
}

void checkCpuFeatures(std::span<const std::string> features) {
  std::set<std::string> present;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0)
      continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;)
      present.insert(word);
    break;
  }
  std::string missing;
  for (const std::string &feature : features)
    if (!present.count(feature))
      missing += " " + feature;
  if (!missing.empty())
    throwBadInput("this machine's CPU lacks what the kernels need:{}; compile with an older --cpu, "
                  "e.g. --cpu x86-64-v3",
                  missing);
}

} // namespace weft::runtime
