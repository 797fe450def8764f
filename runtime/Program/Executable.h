//===- Executable.h - a NAME.weft folder, checked ---------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_PROGRAM_EXECUTABLE_H
#define WEFT_RUNTIME_PROGRAM_EXECUTABLE_H

#include "runtime/Program/executable.pb.h"

#include <string>

namespace weft::runtime {

/// The content of NAME.weft/executable.pb and where it lies.
struct Executable {
  std::string folder;
  program::Executable proto;
  uint64_t hash = 0; ///< of executable.pb's payload; equal on all ranks of a run

  int64_t getNumRanks() const;
  /// The program that `rank` runs.
  const program::Program &getProgram(int64_t rank) const;
  /// The place of a file inside the folder.
  std::string getPath(const std::string &relative) const { return folder + "/" + relative; }
};

/// A path that leads to a folder, without slashes at its end. Kind BadInput where none is there.
std::string findFolder(const std::string &path);

/// Reads the folder's executable.pb and checks it and every file inside wholly: frame, version,
/// sizes and hashes, no file missing and none too many, indices between its tables. The model's own
/// files are checked where they are read. Every flaw is an Error of kind BadInput.
Executable loadExecutable(const std::string &folder);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_EXECUTABLE_H
