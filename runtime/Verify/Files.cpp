//===- Files.cpp - whether an executable's files are whole ----------------===//

#include "runtime/Verify/Verify.h"

#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"
#include "runtime/Support/Hash.h"
#include "runtime/Verify/Reasons.h"

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>

namespace weft::runtime {

namespace {

/// The place of a file: relative to the executable if it is there, else the absolute one.
std::string findFile(const Executable &executable, const program::File &file) {
  std::string relative = executable.getPath(file.path());
  std::error_code error;
  if (file.inside() || std::filesystem::exists(relative, error))
    return relative;
  return file.absolute_path();
}

void checkFile(const Executable &executable, const program::File &entry, Reasons &reasons) {
  std::string path = findFile(executable, entry);
  File file = File::open(path);
  if (file.getSize() != entry.size())
    return reasons.add("'{}' has {} bytes, {} are expected", path, file.getSize(), entry.size());
  if (entry.chunk_bytes() == 0 && entry.size() > 0)
    return reasons.add("'{}' has no hashes", path);
  std::vector<char> chunk;
  uint64_t at = 0;
  for (int i = 0; at < entry.size(); at += entry.chunk_bytes(), ++i) {
    if (i >= entry.chunk_hashes_size())
      return reasons.add("'{}' has no hash for byte {}", path, at);
    if (entry.chunk_hashes(i) == 0)
      continue;
    chunk.resize(std::min(entry.chunk_bytes(), entry.size() - at));
    file.readAt(at, chunk.data(), chunk.size());
    uint64_t hash = std::max<uint64_t>(getHash(chunk.data(), chunk.size()), 1);
    if (hash != entry.chunk_hashes(i))
      return reasons.add("'{}' has changed between bytes {} and {}", path, at, at + chunk.size());
  }
}

/// PTX is text: an entry of each key is there.
void checkPtx(const Executable &executable, Reasons &reasons) {
  std::string path = executable.getPath("kernels/cuda.ptx");
  File file = File::open(path);
  std::string text(file.getSize(), '\0');
  file.readAt(0, text.data(), text.size());
  for (const std::string &kernel : executable.proto.kernels())
    if (text.find(".entry " + kernel + "(") == std::string::npos)
      reasons.add("kernel '{}' is not in '{}'", kernel, path);
}

void checkSharedObject(const Executable &executable, Reasons &reasons) {
  std::string path = std::filesystem::absolute(executable.getPath("kernels/cpu.so"));
  void *object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object) {
    const char *why = dlerror();
    return reasons.add("'{}' cannot be loaded: {}", path, why ? why : "unknown reason");
  }
  for (const std::string &kernel : executable.proto.kernels())
    if (!dlsym(object, kernel.c_str()))
      reasons.add("kernel '{}' is not in '{}'", kernel, path);
  dlclose(object);
}

void checkKernels(const Executable &executable, Reasons &reasons) {
  if (executable.proto.kernels().empty())
    return;
  if (executable.proto.device() == "cuda")
    checkPtx(executable, reasons);
  else
    checkSharedObject(executable, reasons);
}

} // namespace

std::vector<std::string> verifyFiles(const Executable &executable, size_t limit) {
  Reasons reasons(limit);
  for (const program::File &file : executable.proto.files()) {
    try {
      checkFile(executable, file, reasons);
    } catch (const Error &error) {
      reasons.add("{}", error.what());
    }
  }
  checkKernels(executable, reasons);
  return reasons.list;
}

} // namespace weft::runtime
