//===- Executable.cpp - a NAME.weft folder, checked -----------------------===//

#include "runtime/Program/Executable.h"

#include "runtime/Program/Frame.h"
#include "runtime/Support/DType.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"
#include "runtime/Support/Hash.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace weft::runtime {

namespace {

namespace fs = std::filesystem;

constexpr const char *programFile = "executable.pb";

[[noreturn]] void fail(const Executable &executable, const std::string &what) {
  throwBadInput("'{}' is damaged: {}; compile again", executable.folder, what);
}

/// A relative path that stays inside the folder.
bool staysInside(const std::string &path) {
  fs::path normal = fs::path(path).lexically_normal();
  return !path.empty() && normal.is_relative() && *normal.begin() != "..";
}

/// Checks a file inside: its size, and its hashes where `whole` (weights are checked as they are
/// read).
void checkFileInside(const Executable &executable, const program::File &file, bool whole) {
  std::string path = executable.getPath(file.path());
  std::error_code error;
  uint64_t size = fs::file_size(path, error);
  if (error)
    fail(executable, fmt::format("its file '{}' is missing", file.path()));
  if (size != file.size())
    fail(executable, fmt::format("its file '{}' has {} bytes, {} are expected", file.path(), size,
                                 file.size()));
  if (!whole)
    return;
  if (file.chunk_bytes() == 0 && size > 0)
    fail(executable, fmt::format("its file '{}' has no hashes", file.path()));
  File content = File::open(path);
  std::string chunk;
  for (uint64_t at = 0, i = 0; at < size; at += file.chunk_bytes(), ++i) {
    chunk.resize(std::min(file.chunk_bytes(), size - at));
    content.readAt(at, chunk.data(), chunk.size());
    uint64_t hash = std::max<uint64_t>(getHash(chunk.data(), chunk.size()), 1);
    if (i >= static_cast<uint64_t>(file.chunk_hashes_size()) || hash != file.chunk_hashes(i))
      fail(executable,
           fmt::format("its file '{}' does not match its hash at byte {}", file.path(), at));
  }
}

/// Files inside: each listed one is there and whole, and nothing else is.
void checkFolder(const Executable &executable) {
  std::set<std::string> listed = {programFile};
  std::vector<bool> holdsWeights(executable.proto.files_size());
  for (const program::Weight &weight : executable.proto.weights())
    if (weight.splat().empty() && weight.file() < holdsWeights.size())
      holdsWeights[weight.file()] = true;
  for (int i = 0; i < executable.proto.files_size(); ++i) {
    const program::File &file = executable.proto.files(i);
    if (!file.inside())
      continue;
    if (!staysInside(file.path()))
      fail(executable, fmt::format("its file '{}' lies outside the folder", file.path()));
    checkFileInside(executable, file, !holdsWeights[i]);
    listed.insert(fs::path(file.path()).lexically_normal());
  }
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(executable.folder)) {
    std::string path = entry.path().lexically_relative(executable.folder);
    if (!entry.is_directory() && !listed.count(path))
      fail(executable, fmt::format("it holds the file '{}', which it does not list", path));
  }
}

void checkRanks(const Executable &executable) {
  int64_t next = 0;
  for (const program::RankRange &range : executable.proto.ranks()) {
    if (range.begin() != next || range.end() <= range.begin())
      fail(executable, fmt::format("its ranks [{}, {}) do not follow rank {}", range.begin(),
                                   range.end(), next));
    if (range.rank_class() >= static_cast<uint32_t>(executable.proto.classes_size()))
      fail(executable, fmt::format("rank class {} is not one of its {}", range.rank_class(),
                                   executable.proto.classes_size()));
    next = range.end();
  }
  if (next == 0)
    fail(executable, "it has no ranks");
}

void checkWeights(const Executable &executable) {
  const program::Executable &proto = executable.proto;
  for (const program::Weight &weight : proto.weights()) {
    int64_t size = getElementSize(weight.dtype());
    if (size == 0)
      fail(executable, fmt::format("weight '{}' has an unknown element type", weight.name()));
    if (!weight.splat().empty()) {
      if (weight.splat().size() != static_cast<size_t>(size))
        fail(executable, fmt::format("the value that fills weight '{}' has {} bytes, not {}",
                                     weight.name(), weight.splat().size(), size));
      continue;
    }
    if (weight.file() >= static_cast<uint32_t>(proto.files_size()))
      fail(executable, fmt::format("weight '{}' lies in file {}, there are {}", weight.name(),
                                   weight.file(), proto.files_size()));
    const program::File &file = proto.files(weight.file());
    if (weight.offset() > file.size() || weight.length() > file.size() - weight.offset())
      fail(executable,
           fmt::format("weight '{}' lies beyond the end of '{}'", weight.name(), file.path()));
  }
}

} // namespace

int64_t Executable::getNumRanks() const {
  return proto.ranks().empty() ? 0 : proto.ranks(proto.ranks_size() - 1).end();
}

const program::Program &Executable::getProgram(int64_t rank) const {
  for (const program::RankRange &range : proto.ranks())
    if (rank < range.end())
      return proto.classes(range.rank_class());
  throwBadInput("'{}' has no rank {}", folder, rank);
}

std::string findFolder(const std::string &path) {
  std::string folder = path;
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  std::error_code error;
  fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status))
    throwBadInput("cannot read '{}': {}", path, error.message());
  if (!fs::is_directory(status))
    throwBadInput("cannot read '{}': it is not the folder of an executable (NAME.weft, written by "
                  "'weft compile')",
                  path);
  return folder;
}

Executable loadExecutable(const std::string &folder) {
  Executable executable;
  executable.folder = findFolder(folder);
  Framed framed = readFrame(executable.getPath(programFile));
  executable.hash = framed.hash;
  if (!executable.proto.ParseFromString(framed.payload))
    fail(executable, "executable.pb holds no program");
  if (executable.proto.version() != program::EXECUTABLE_VERSION)
    throwBadInput("'{}' has program version {}, this runtime runs version {}; compile again",
                  folder, executable.proto.version(), int(program::EXECUTABLE_VERSION));
  checkFolder(executable);
  checkRanks(executable);
  checkWeights(executable);
  return executable;
}

} // namespace weft::runtime
