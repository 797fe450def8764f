//===- Npz.h - numpy's .npz files, read in order ----------------*- C++ -*-===//
//
// A .npz file is a zip archive of NAME.npy, stored or deflated. Arrays are read from their
// beginning to their end, as much as is asked for at a time, and held against their CRC at the end;
// never as a whole. Whatever a bad file holds ends in an Error of kind BadInput that names the
// file and the array.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_IO_NPZ_H
#define WEFT_RUNTIME_IO_NPZ_H

#include "runtime/Io/Npy.h"

#include <memory>

struct zip;
struct zip_file;

namespace weft::runtime {

/// An array of a .npz file.
struct NpzArray {
  std::string file; ///< NAME.npy, as it is called in the archive
  NpyHeader header;
  uint64_t entry = 0; ///< its number in the archive
  uint64_t bytes = 0; ///< with the header
};

/// The elements of an array, in order.
class NpzStream {
public:
  /// Reads the next bytes; there must be as many.
  void read(void *data, uint64_t bytes);

private:
  friend class NpzFile;
  struct Close {
    void operator()(zip_file *file) const;
  };
  std::string name; ///< for messages
  std::unique_ptr<zip_file, Close> file;
  uint64_t left = 0;
};

class NpzFile {
public:
  explicit NpzFile(const std::string &path);

  const std::string &getPath() const { return path; }
  const std::vector<NpzArray> &getArrays() const { return arrays; }
  /// The elements of one of them. The file must outlive the stream.
  NpzStream open(const NpzArray &array) const;
  /// Reads all arrays and holds them against their CRC.
  void check() const;

private:
  struct Close {
    void operator()(zip *archive) const;
  };
  NpzStream openEntry(const NpzArray &array) const;

  std::string path;
  std::unique_ptr<zip, Close> archive;
  std::vector<NpzArray> arrays;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_IO_NPZ_H
