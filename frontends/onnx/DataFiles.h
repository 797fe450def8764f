//===- DataFiles.h - which files a model may read ---------------*- C++ -*-===//
//
// A model names its external data by a path relative to its own folder. Models come from strangers:
// after resolving links, the file must lie in the folder of the model file as named or as resolved
// (downloaded models are often links into a cache), or in a folder that the user allowed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_ONNX_DATAFILES_H
#define WEFT_FRONTENDS_ONNX_DATAFILES_H

#include "frontends/onnx/Import.h"
#include "frontends/onnx/WireScan.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>

namespace weft::frontend {

/// A data file that a model names.
struct DataFile {
  std::string reference; ///< how the module names it: relative to the model's folder, or absolute
  std::filesystem::path path;   ///< where it lies
  std::optional<uint64_t> size; ///< none where the file is absent
};

class DataFiles {
public:
  DataFiles(llvm::StringRef modelPath, const OnnxImportOptions &options);

  /// The file at `location`. Throws ImportError where the rule above forbids it, or where it is
  /// missing and required.
  const DataFile &find(llvm::StringRef location);

  /// Bytes of a file that exists; throws ImportError where they cannot be read.
  std::vector<char> read(const DataFile &file, ByteRange range);

private:
  DataFile resolve(llvm::StringRef location) const;
  bool isAllowed(const std::filesystem::path &resolved, bool absolute) const;

  std::filesystem::path folder;
  std::vector<std::filesystem::path> ownFolders, allowedFolders;
  const OnnxImportOptions &options;
  llvm::StringMap<DataFile> known;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_DATAFILES_H
