//===- File.cpp - files read and written by position ----------------------===//

#include "runtime/Support/File.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weft::runtime {

namespace fs = std::filesystem;

namespace {
constexpr uint64_t maxTransfer = 1u << 30; // the kernel takes no more than 2^31 - 4096 at once
} // namespace

File::File(File &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), path(std::move(other.path)) {}

File &File::operator=(File &&other) noexcept {
  std::swap(descriptor, other.descriptor);
  std::swap(path, other.path);
  return *this;
}

File::~File() {
  if (descriptor >= 0)
    ::close(descriptor);
}

File File::open(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    throwBadInput("cannot read '{}': {}", path, std::strerror(errno));
  File file(descriptor, path);
  struct stat status;
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    throwBadInput("cannot read '{}': it is not a regular file", path);
  return file;
}

File File::create(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throwFailure("cannot write '{}': {}", path, std::strerror(errno));
  return File(descriptor, path);
}

/// The process that made a file beside one of the name `base`; 0 where the name is no such file's.
static pid_t getMaker(std::string_view name, std::string_view base) {
  int64_t process = 0;
  unsigned count = 0;
  int length = 0;
  if (!name.starts_with(base) || name.size() < base.size() + 2 || name[base.size()] != '.')
    return 0;
  std::string rest(name.substr(base.size() + 1));
  bool fits = std::sscanf(rest.c_str(), "%ld-%u.tmp%n", &process, &count, &length) == 2 &&
              length == static_cast<int>(rest.size()) && process > 0 && process <= INT32_MAX;
  return fits ? static_cast<pid_t>(process) : 0;
}

/// Removes files beside a path whose makers were killed: a process that runs, on this host or on
/// another of the same file system, holds a lock on its own.
static void removeLeftBeside(const fs::path &path) {
  std::error_code error;
  fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error)) {
    pid_t maker = getMaker(entry.path().filename().string(), path.filename().string());
    if (maker == 0 || maker == ::getpid() || ::kill(maker, 0) == 0 || errno != ESRCH)
      continue;
    int descriptor = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
      continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      ::unlink(entry.path().c_str());
    ::close(descriptor);
  }
}

File File::createBeside(const std::string &path) {
  static std::atomic<unsigned> count = 0;
  removeLeftBeside(path);
  while (true) {
    std::string name = fmt::format("{}.{}-{}.tmp", path, ::getpid(), count++);
    int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      (void)::flock(descriptor, LOCK_EX | LOCK_NB); // for as long as the file is open
      return File(descriptor, name);
    }
    if (errno != EEXIST)
      throwFailure("cannot write '{}': {}", name, std::strerror(errno));
  }
}

File File::openThrough(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0)
    throwBadInput("cannot write '{}': {}", path, std::strerror(errno));
  return File(descriptor, path);
}

File File::openForWriting(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0)
    throwFailure("cannot write '{}': {}", path, std::strerror(errno));
  return File(descriptor, path);
}

uint64_t File::getSize() const {
  struct stat status;
  if (::fstat(descriptor, &status) != 0)
    throwFailure("cannot read '{}': {}", path, std::strerror(errno));
  return static_cast<uint64_t>(status.st_size);
}

void File::readAt(uint64_t offset, void *data, uint64_t bytes) const {
  auto *to = static_cast<char *>(data);
  while (bytes > 0) {
    ssize_t got = ::pread(descriptor, to, std::min(bytes, maxTransfer), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      throwFailure("cannot read '{}': {}", path, std::strerror(errno));
    if (got == 0)
      throwBadInput("'{}' ends at byte {}, {} more were expected", path, offset, bytes);
    to += got;
    offset += got;
    bytes -= got;
  }
}

void File::writeAt(uint64_t offset, const void *data, uint64_t bytes) {
  auto *from = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t put =
        ::pwrite(descriptor, from, std::min(bytes, maxTransfer), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      throwFailure("cannot write '{}': {}", path, std::strerror(put < 0 ? errno : ENOSPC));
    from += put;
    offset += put;
    bytes -= put;
  }
}

void File::append(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::write(descriptor, bytes.data(), std::min<size_t>(bytes.size(), maxTransfer));
    if (put >= 0)
      bytes.remove_prefix(static_cast<size_t>(put));
    else if (errno != EINTR)
      throwFailure("cannot write '{}': {}", path, std::strerror(errno));
  }
}

void File::setPermissions(int bits) {
  if (::fchmod(descriptor, static_cast<mode_t>(bits)) != 0)
    throwFailure("cannot set the permissions of '{}': {}", path, std::strerror(errno));
}

void File::resize(uint64_t bytes) {
  if (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0)
    throwFailure("cannot write '{}': {}", path, std::strerror(errno));
}

bool File::tryLock() { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0; }

void File::sync() {
  if (::fsync(descriptor) != 0)
    throwFailure("cannot write '{}': {}", path, std::strerror(errno));
}

} // namespace weft::runtime
