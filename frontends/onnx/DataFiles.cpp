#include "frontends/onnx/DataFiles.h"

#include "frontends/common/ImportError.h"
#include <algorithm>
#include <fstream>

using namespace weft::frontend;
using llvm::StringRef;
namespace fs = std::filesystem;

static fs::path folderOf(const fs::path &file) {
  fs::path parent = file.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

/// The path with links resolved as far as it exists, or an empty one where that fails (a loop of
/// links).
static fs::path resolveLinks(const fs::path &path) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? fs::path() : resolved;
}

static bool isInside(const fs::path &file, const fs::path &folder) {
  auto [folderEnd, fileEnd] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return !folder.empty() && folderEnd == folder.end() && fileEnd != file.end();
}

DataFiles::DataFiles(StringRef modelPath, const OnnxImportOptions &options)
    : folder(folderOf(fs::path(modelPath.str()))), options(options) {
  ownFolders.push_back(resolveLinks(folder));
  ownFolders.push_back(folderOf(resolveLinks(fs::path(modelPath.str()))));
  for (const std::string &dir : options.allowedDataDirs)
    allowedFolders.push_back(resolveLinks(dir));
  if (!options.weightsDir.empty())
    ownFolders.push_back(resolveLinks(options.weightsDir));
}

bool DataFiles::isAllowed(const fs::path &resolved, bool absolute) const {
  auto holds = [&](const fs::path &folder) { return isInside(resolved, folder); };
  return llvm::any_of(allowedFolders, holds) || (!absolute && llvm::any_of(ownFolders, holds));
}

DataFile DataFiles::resolve(StringRef location) const {
  if (location.empty() || location.contains('\0'))
    throw ImportError("external data has no usable location");
  fs::path named(location.str());
  DataFile file;
  bool moved = !options.weightsDir.empty() && named.is_relative();
  file.path = (moved ? fs::path(options.weightsDir) : folder) / named;
  std::error_code error;
  file.reference =
      moved ? fs::absolute(file.path, error).lexically_normal().string() : named.string();
  fs::path resolved = resolveLinks(file.path);
  if (!isAllowed(resolved, named.is_absolute())) {
    std::string inside = folderOf(resolved.empty() ? file.path : resolved).string();
    throw ImportError("external data '" + location.str() +
                      "' lies outside the model's folder; if you trust it, give --allow-data-dir " +
                      inside);
  }
  if (fs::is_regular_file(resolved, error))
    file.size = fs::file_size(resolved, error);
  if (!file.size && (options.requireData || fs::exists(resolved, error)))
    throw ImportError("data file '" + file.path.string() + "' is " +
                      (fs::exists(resolved, error) ? "not a regular file" : "missing"));
  return file;
}

const DataFile &DataFiles::find(StringRef location) {
  auto found = known.find(location);
  if (found == known.end())
    found = known.try_emplace(location, resolve(location)).first;
  return found->second;
}

std::vector<char> DataFiles::read(const DataFile &file, ByteRange range) {
  std::vector<char> bytes(range.length);
  std::ifstream stream(file.path, std::ios::binary);
  stream.seekg(range.offset);
  if (!stream.read(bytes.data(), bytes.size()))
    throw ImportError("cannot read " + std::to_string(range.length) + " bytes at " +
                      std::to_string(range.offset) + " of '" + file.path.string() + "'");
  return bytes;
}
