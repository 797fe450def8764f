//===- CheckpointFolder.cpp - where checkpoints lie -----------------------===//

#include "runtime/Checkpoint/CheckpointFolder.h"

#include "runtime/Support/Error.h"
#include "runtime/Support/OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace weft::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "step-";
constexpr const char *manifestName = "manifest.json";
constexpr const char *lockName = ".lock";

/// The step that a folder of this name is of; -1: it is none.
int64_t parseStep(std::string_view name) {
  int64_t step = -1;
  if (!name.starts_with(prefix))
    return -1;
  name.remove_prefix(prefix.size());
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() ? step : -1;
}

} // namespace

void syncFolder(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  int code = errno;
  if (descriptor >= 0)
    ::close(descriptor);
  if (!synced && code != EINVAL) // a file system that has no such thing
    throwFailure("cannot write '{}': {}", path, std::strerror(code));
}

std::string CheckpointFolder::getPath(int64_t step) const {
  return fs::path(path) / fmt::format("{}{:08}", prefix, step);
}

std::string CheckpointFolder::getManifestPath(int64_t step) const {
  return fs::path(getPath(step)) / manifestName;
}

std::vector<int64_t> CheckpointFolder::listSteps(bool complete) const {
  std::vector<int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    int64_t step = parseStep(it->path().filename().string());
    std::error_code absent;
    if (step >= 0 && fs::exists(it->path() / manifestName, absent) == complete)
      steps.push_back(step);
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throwBadInput("cannot read '{}': {}", path, error.message());
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::vector<int64_t> CheckpointFolder::list() const { return listSteps(/*complete=*/true); }

void CheckpointFolder::take() {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throwBadInput("cannot make the folder '{}': {}", path, error.message());
  std::string name = fs::path(path) / lockName;
  int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throwBadInput("cannot write into '{}': {}", path, std::strerror(errno));
  ::close(descriptor);
  lock = File::openForWriting(name);
  if (!lock.tryLock())
    throwBadInput("another run writes its checkpoints into '{}'", path);
  for (int64_t step : listSteps(/*complete=*/false))
    remove(step);
}

void CheckpointFolder::begin(int64_t step) const {
  std::error_code error;
  fs::create_directories(getPath(step), error);
  if (error)
    throwFailure("cannot make the folder '{}': {}", getPath(step), error.message());
}

void CheckpointFolder::complete(const Manifest &manifest) const {
  std::string folder = getPath(manifest.step);
  syncFolder(folder); // the shards' names
  syncFolder(path);
  writeOutput(getManifestPath(manifest.step), formatManifest(manifest));
  syncFolder(folder);
}

void CheckpointFolder::remove(int64_t step) const {
  std::error_code error;
  fs::remove(getManifestPath(step), error);
  if (!error)
    fs::remove_all(getPath(step), error);
  if (error)
    throwFailure("cannot remove '{}': {}", getPath(step), error.message());
}

void CheckpointFolder::prune(int64_t keep) const {
  std::vector<int64_t> steps = list();
  for (int64_t i = 0; i + keep < static_cast<int64_t>(steps.size()); ++i)
    remove(steps[i]);
}

} // namespace weft::runtime
