#include "compiler/Executable/FileTable.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/xxhash.h"
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace weft;

uint32_t FileTable::addReferenced(const std::string &absolutePath) {
  auto [it, inserted] = numbers.try_emplace(absolutePath, entries.size());
  if (inserted)
    entries.push_back({absolutePath, false, {}});
  return it->second;
}

uint32_t FileTable::addInside(const std::string &relativePath) {
  entries.push_back({relativePath, true, {}});
  return entries.size() - 1;
}

void FileTable::addRange(uint32_t file, uint64_t offset, uint64_t length) {
  entries[file].ranges.emplace_back(offset, length);
}

namespace {
/// A file that is open for reading.
class OpenFile {
public:
  explicit OpenFile(const std::string &path) : handle(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (handle >= 0)
      close(handle);
  }
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;

  std::optional<uint64_t> size() const {
    struct stat status;
    if (handle < 0 || fstat(handle, &status) != 0 || !S_ISREG(status.st_mode))
      return std::nullopt;
    return status.st_size;
  }

  bool read(uint64_t offset, MutableArrayRef<uint8_t> bytes) const {
    while (!bytes.empty()) {
      ssize_t count = pread(handle, bytes.data(), bytes.size(), offset);
      if (count <= 0)
        return false;
      offset += count;
      bytes = bytes.drop_front(count);
    }
    return true;
  }

private:
  int handle;
};
} // namespace

/// Which chunks are hashed: all of an inside file, of others those that ranges touch.
static std::vector<uint64_t> getChunks(bool all, ArrayRef<std::pair<uint64_t, uint64_t>> ranges,
                                       uint64_t size) {
  uint64_t count = (size + fileChunkBytes - 1) / fileChunkBytes;
  std::vector<bool> used(count, all);
  for (auto [offset, length] : ranges)
    if (length > 0)
      for (uint64_t chunk = offset / fileChunkBytes;
           chunk <= (offset + length - 1) / fileChunkBytes; ++chunk)
        used[chunk] = true;
  std::vector<uint64_t> chunks;
  for (uint64_t chunk = 0; chunk < count; ++chunk)
    if (used[chunk])
      chunks.push_back(chunk);
  return chunks;
}

/// Hashes the chunks into `hashes`; false where a read fails.
static bool hashChunks(const OpenFile &file, uint64_t size, ArrayRef<uint64_t> chunks,
                       unsigned threads, MutableArrayRef<uint64_t> hashes) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> good = true;
  auto work = [&] {
    std::vector<uint8_t> buffer(std::min(size, fileChunkBytes));
    for (size_t i = next++; i < chunks.size() && good; i = next++) {
      uint64_t begin = chunks[i] * fileChunkBytes;
      MutableArrayRef<uint8_t> bytes(buffer.data(), std::min(fileChunkBytes, size - begin));
      if (!file.read(begin, bytes))
        good = false;
      uint64_t hash = xxh3_64bits(bytes);
      hashes[chunks[i]] = hash == 0 ? 1 : hash;
    }
  };
  std::vector<std::thread> pool;
  for (size_t i = 1; i < std::min<size_t>(threads, chunks.size()); ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  return good;
}

Error FileTable::write(const std::string &folder, const std::string &target, unsigned threads,
                       program::Executable &executable) const {
  for (const Entry &entry : entries) {
    std::string path = entry.inside ? folder + "/" + entry.path : entry.path;
    OpenFile file(path);
    std::optional<uint64_t> size = file.size();
    if (!size)
      return createStringError("cannot read %s, which holds weights of the model", path.c_str());
    for (auto [offset, length] : entry.ranges)
      if (offset > *size || length > *size - offset)
        return createStringError("%s holds %llu bytes, but a weight lies at %llu to %llu: the "
                                 "file is truncated or of another model",
                                 path.c_str(), static_cast<unsigned long long>(*size),
                                 static_cast<unsigned long long>(offset),
                                 static_cast<unsigned long long>(offset + length));
    std::vector<uint64_t> hashes((*size + fileChunkBytes - 1) / fileChunkBytes);
    if (!hashChunks(file, *size, getChunks(entry.inside, entry.ranges, *size), threads, hashes))
      return createStringError("cannot read %s", path.c_str());
    program::File *to = executable.add_files();
    to->set_path(entry.inside
                     ? entry.path
                     : std::filesystem::path(entry.path).lexically_relative(target).string());
    if (!entry.inside)
      to->set_absolute_path(entry.path);
    to->set_inside(entry.inside);
    to->set_size(*size);
    to->set_chunk_bytes(fileChunkBytes);
    to->mutable_chunk_hashes()->Add(hashes.begin(), hashes.end());
  }
  return Error::success();
}
