//===- ZipFile.h - zip archives, to be written wrongly ----------*- C++ -*-===//
//
// Entries of a zip archive with every field that its records hold, so that a fuzzer can change one
// and keep the others right. Stored entries only; no zip64.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_ZIPFILE_H
#define WEFT_TEST_FUZZ_ZIPFILE_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace weft::fuzz {

struct ZipFile {
  struct Entry {
    std::string name, data;
    uint16_t flags = 0, method = 0;
    /// Where they shall not be those of the data.
    std::optional<uint32_t> checksum, storedBytes, bytes, offset;
  };
  std::vector<Entry> entries;

  /// None where the file is no archive of stored entries.
  static std::optional<ZipFile> read(llvm::StringRef file);
  std::string write() const;
};

} // namespace weft::fuzz

#endif // WEFT_TEST_FUZZ_ZIPFILE_H
