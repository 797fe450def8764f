//===- OutputFile.cpp - files that a user named to be written -------------===//

#include "runtime/Support/OutputFile.h"

#include "runtime/Support/Console.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::runtime {

namespace fs = std::filesystem;

namespace {

constexpr int permissionBits = 0777;
constexpr int maxLinks = 40; // as many as Linux follows
constexpr uint64_t copyBytes = 1 << 20;

[[noreturn]] void refuse(const std::string &path, const char *why) {
  throwBadInput("cannot write '{}': {}", path, why);
}

fs::path getFolder(const fs::path &path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Whether the path is an open file of a process (/dev/fd/3): its link tells a name that the file
/// may have lost.
bool isDescriptor(const fs::path &path) {
  std::error_code error;
  return fs::canonical(getFolder(path), error).string().starts_with("/proc/");
}

/// The end of a chain of links; stops at an open file of a process.
fs::path getLinkEnd(const std::string &path) {
  if (path.empty())
    refuse(path, std::strerror(ENOENT));
  fs::path end = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(end, error)); ++links) {
    if (links == maxLinks)
      refuse(path, std::strerror(ELOOP));
    if (isDescriptor(end))
      break;
    fs::path next = fs::read_symlink(end, error);
    end = next.is_absolute() ? next : getFolder(end) / next;
  }
  return end;
}

/// Whether what is written there comes out of the standard output.
bool isStandardOutput(const struct stat &status) {
  struct stat output;
  return (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)) &&
         ::fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == status.st_dev &&
         output.st_ino == status.st_ino;
}

/// Paths of staged files, for a process that ends all at once. More of them than slots are cleared
/// by the next run that writes the same file (File::createBeside).
constexpr size_t maxNoted = 256;
std::atomic<char *> noted[maxNoted];

void noteStaged(const std::string &path) {
  char *copy = ::strdup(path.c_str());
  for (std::atomic<char *> &slot : noted)
    if (char *none = nullptr; slot.compare_exchange_strong(none, copy))
      return;
  std::free(copy);
}

void forgetStaged(const std::string &path) {
  for (std::atomic<char *> &slot : noted)
    if (char *held = slot; held && path == held && slot.compare_exchange_strong(held, nullptr))
      return std::free(held);
}

} // namespace

void removeStagedFiles() {
  for (std::atomic<char *> &slot : noted)
    if (char *path = slot.exchange(nullptr))
      ::unlink(path);
}

std::string followLinks(const std::string &path) { return getLinkEnd(path); }

OutputPlace findOutput(const std::string &path) {
  if (path == "-")
    return {OutputKind::StandardOutput, path};
  struct stat status;
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT)
    refuse(path, std::strerror(errno));
  if (exists && S_ISDIR(status.st_mode))
    refuse(path, "it is a folder");
  if (exists && isStandardOutput(status))
    return {OutputKind::StandardOutput, path};
  fs::path end = getLinkEnd(path);
  if (exists && (!S_ISREG(status.st_mode) || isDescriptor(end)))
    return {OutputKind::Through, path};
  return {OutputKind::Replaced, end};
}

OutputFile::OutputFile(const std::string &path) : name(path), place(findOutput(path)) {
  if (place.kind == OutputKind::Through)
    through = File::openThrough(path);
  if (place.kind != OutputKind::Replaced)
    return;
  if (::access(getFolder(place.path).c_str(), W_OK | X_OK) != 0)
    refuse(path, std::strerror(errno));
  struct stat status;
  if (::stat(place.path.c_str(), &status) == 0)
    permissions = static_cast<int>(status.st_mode) & permissionBits;
}

OutputFile::~OutputFile() {
  if (!staged.isOpen())
    return;
  forgetStaged(staged.getPath());
  ::unlink(staged.getPath().c_str());
}

/// Begins the file that is put in place later; one that is copied there stands beside the name as
/// it was given, since the folder of a device is none for files.
void OutputFile::stage() {
  staged = File::createBeside(place.kind == OutputKind::Replaced ? place.path : name);
  noteStaged(staged.getPath());
  if (permissions >= 0) // until it is whole, this user may write it whatever the old one says
    staged.setPermissions(permissions | S_IRUSR | S_IWUSR);
}

File &OutputFile::getStaged() {
  if (!staged.isOpen())
    stage();
  return staged;
}

void OutputFile::write(std::string_view bytes) {
  if (place.kind == OutputKind::StandardOutput)
    return printText(bytes);
  if (place.kind == OutputKind::Through)
    return through.append(bytes);
  getStaged().writeAt(written, bytes.data(), bytes.size());
  written += bytes.size();
}

void OutputFile::commit() {
  if (place.kind == OutputKind::Replaced) {
    getStaged().sync();
    if (permissions >= 0)
      staged.setPermissions(permissions);
    if (std::rename(staged.getPath().c_str(), place.path.c_str()) != 0)
      throwFailure("cannot write '{}': {}", name, std::strerror(errno));
    forgetStaged(staged.getPath());
    staged = File();
    return;
  }
  if (!staged.isOpen())
    return;
  std::string piece;
  for (uint64_t at = 0, size = staged.getSize(); at < size; at += piece.size()) {
    piece.resize(std::min(copyBytes, size - at));
    staged.readAt(at, piece.data(), piece.size());
    write(piece);
  }
}

void writeOutput(const std::string &path, std::string_view bytes) {
  OutputFile file(path);
  file.write(bytes);
  file.commit();
}

} // namespace weft::runtime
