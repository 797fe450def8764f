//===- Archive.h - where the entries of a .pt2 archive lie ------*- C++ -*-===//
//
// A .pt2 file is a zip archive whose entries share one root folder. libzip reads entries (names,
// checks, inflation); it does not tell where in the file an entry's bytes begin, which is all that
// matters for weights, so the central directory is read a second time here, and the two readings
// must agree. Weights are never read: an entry that is stored, not compressed, is a byte range of
// the file. Nothing is assumed of alignment.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_ARCHIVE_H
#define WEFT_FRONTENDS_TORCH_EXPORT_ARCHIVE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct zip;

namespace weft::frontend::aten {

/// An entry's place in the file.
struct ArchiveEntry {
  uint64_t index = 0;        ///< in the central directory
  uint64_t offset = 0;       ///< of its first byte, as stored, in the file
  uint64_t storedBytes = 0;  ///< as it lies there
  uint64_t bytes = 0;        ///< once inflated
  bool isCompressed = false; ///< by whatever method
};

class Archive {
public:
  /// Throws ImportError where the file is no zip archive or damaged.
  explicit Archive(llvm::StringRef path);

  /// The entry of this name below the root folder, or null.
  const ArchiveEntry *find(llvm::StringRef name) const;
  /// The names of the entries below a folder, sorted.
  std::vector<std::string> list(llvm::StringRef folder) const;
  /// The entry's content, inflated and checked by its CRC. Throws ImportError where it is absent,
  /// damaged, or has more than `most` bytes.
  std::string read(llvm::StringRef name, uint64_t most) const;
  /// Bytes of a stored entry, from the mapped file. The range must lie within it.
  llvm::ArrayRef<char> bytes(const ArchiveEntry &entry, uint64_t offset, uint64_t length) const {
    return {file->getBufferStart() + entry.offset + offset, length};
  }

private:
  struct Close {
    void operator()(zip *archive) const;
  };
  std::unique_ptr<llvm::MemoryBuffer> file; ///< mapped
  std::unique_ptr<zip, Close> archive;
  llvm::StringMap<ArchiveEntry> entries; ///< by name without the root
};

/// An entry as the central directory of a zip archive tells of it.
struct ZipEntry {
  std::string name;
  ArchiveEntry place;
};

/// Reads the central directory of a zip archive, zip64 records included. Throws ImportError where a
/// record does not fit the file.
std::vector<ZipEntry> readZipDirectory(llvm::ArrayRef<char> file);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_ARCHIVE_H
