//===- FileTable.h - the files an executable needs, with hashes -*- C++ -*-===//

#ifndef WEFT_COMPILER_EXECUTABLE_FILETABLE_H
#define WEFT_COMPILER_EXECUTABLE_FILETABLE_H

#include "runtime/Program/executable.pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace weft {

/// Hashes are kept per this many bytes: a rank checks only the chunks that it reads.
inline constexpr uint64_t fileChunkBytes = 4 << 20;

/// Collects the files and the byte ranges of them that are read, then sizes and hashes them. Files
/// are read once, in chunks, by several threads; nothing is kept in memory.
class FileTable {
public:
  /// A file of the model, referenced where it lies. Returns its number in Executable.files.
  uint32_t addReferenced(const std::string &absolutePath);
  /// A file inside the executable, hashed wholly.
  uint32_t addInside(const std::string &relativePath);

  /// [offset, offset + length) of the file is read.
  void addRange(uint32_t file, uint64_t offset, uint64_t length);

  /// Writes the table. `folder` is where the inside files lie now, `target` where the executable
  /// will lie (referenced files get a path relative to it). Fails, naming the file, where one is
  /// absent, or shorter than a range of it that is read.
  llvm::Error write(const std::string &folder, const std::string &target, unsigned threads,
                    program::Executable &executable) const;

private:
  struct Entry {
    std::string path;
    bool inside = false;
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
  };

  std::vector<Entry> entries;
  llvm::StringMap<uint32_t> numbers;
};

} // namespace weft

#endif // WEFT_COMPILER_EXECUTABLE_FILETABLE_H
