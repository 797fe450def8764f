//===- File.h - files read and written by position --------------*- C++ -*-===//
//
// Positioned reads and writes without a shared cursor, so that ranks that are threads of one
// process may share a path. Nothing is mapped: the pages of a map count as the process's own
// memory, those of the page cache do not.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_SUPPORT_FILE_H
#define WEFT_RUNTIME_SUPPORT_FILE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::runtime {

/// An open file; closes itself. Every failure is an Error that names the path.
class File {
public:
  File() = default;
  File(File &&other) noexcept;
  File &operator=(File &&other) noexcept;
  ~File();

  /// Opens an existing file for reading; kind BadInput where it is absent or no regular file.
  static File open(const std::string &path);
  /// Creates (or empties) a file for writing.
  static File create(const std::string &path);
  /// Creates a file of a name that is not in use, in the folder of `path`, which its name begins
  /// with. Removes such files of processes that were killed.
  static File createBeside(const std::string &path);
  /// Opens an existing file for writing at positions.
  static File openForWriting(const std::string &path);
  /// Opens a device or a pipe, for append() alone; kind BadInput where that cannot be.
  static File openThrough(const std::string &path);

  bool isOpen() const { return descriptor >= 0; }
  const std::string &getPath() const { return path; }
  uint64_t getSize() const;

  /// Reads exactly `bytes` at `offset`; a file that ends before is an Error.
  void readAt(uint64_t offset, void *data, uint64_t bytes) const;
  void writeAt(uint64_t offset, const void *data, uint64_t bytes);
  void append(std::string_view bytes);
  void setPermissions(int bits);
  void resize(uint64_t bytes);
  /// Keeps it locked for as long as it is open; false where another process, or another open file
  /// of this one, has it locked.
  bool tryLock();
  /// Forces the content onto the disk.
  void sync();

private:
  File(int descriptor, std::string path) : descriptor(descriptor), path(std::move(path)) {}

  int descriptor = -1;
  std::string path;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_FILE_H
