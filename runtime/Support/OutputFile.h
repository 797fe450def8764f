//===- OutputFile.h - files that a user named to be written -----*- C++ -*-===//
//
// One way for every file that is written under a name that the user gave. What stands there
// decides:
//
//   nothing, a regular file   the new file is written beside it and takes its place at once, with
//                             the permission bits of the old one
//   a link                    as above for what it leads to, there or not; the link stays
//   a device, a pipe          is written through
//   -                         the standard output; so is a file or pipe that it leads to already
//   a folder                  is refused
//
// What cannot be opened is an Error of kind BadInput, what cannot be written of kind Failure; both
// leave the old file as it was, and nothing beside it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_SUPPORT_OUTPUTFILE_H
#define WEFT_RUNTIME_SUPPORT_OUTPUTFILE_H

#include "runtime/Support/File.h"

#include <string_view>

namespace weft::runtime {

enum class OutputKind {
  Replaced,       ///< a regular file, there or not
  Through,        ///< a device or a pipe
  StandardOutput, ///< what print() prints to
};

struct OutputPlace {
  OutputKind kind;
  std::string path; ///< of what is written: for Replaced, no link
};

/// Where a path that is to be written leads.
OutputPlace findOutput(const std::string &path);

/// What a path leads to when links are followed, whether or not there is anything.
std::string followLinks(const std::string &path);

class OutputFile {
public:
  /// Opens what is written through; for a file that is replaced checks that its folder can be
  /// written to, and leaves the rest to the first write.
  explicit OutputFile(const std::string &path);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  OutputKind getKind() const { return place.kind; }
  /// As in OutputPlace.
  const std::string &getPath() const { return place.path; }

  /// Appends.
  void write(std::string_view bytes);
  /// The file that holds the content until commit(), for writing at positions, by other processes
  /// too. Excludes write().
  File &getStaged();
  /// Puts the file in its place. Without it nothing has changed, but for what was written through.
  void commit();

private:
  void stage();

  std::string name; ///< as given
  OutputPlace place;
  int permissions = -1; ///< of the file that is replaced; -1: there is none
  File through;
  File staged;
  uint64_t written = 0; ///< bytes appended to `staged`
};

/// Removes what is not in its place yet, for a process that ends without its destructors. May be
/// called in a signal handler.
void removeStagedFiles();

/// Writes a whole file.
void writeOutput(const std::string &path, std::string_view bytes);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_OUTPUTFILE_H
