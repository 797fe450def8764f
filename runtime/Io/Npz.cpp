//===- Npz.cpp - numpy's .npz files, read in order ------------------------===//

#include "runtime/Io/Npz.h"

#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"

#include <algorithm>
#include <cstring>
#include <zip.h>

namespace weft::runtime {

namespace {

constexpr std::string_view extension = ".npy";

std::string describe(zip_error_t &error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

} // namespace

void NpzStream::Close::operator()(zip_file *file) const { zip_fclose(file); }
void NpzFile::Close::operator()(zip *archive) const { zip_discard(archive); }

void NpzStream::read(void *data, uint64_t bytes) {
  auto *to = static_cast<char *>(data);
  bool ends = bytes == left;
  for (uint64_t done = 0; done < bytes;) {
    zip_int64_t got = zip_fread(file.get(), to + done, bytes - done);
    if (got <= 0)
      throwBadInput("{} is damaged: {}", name,
                    got < 0 ? zip_file_strerror(file.get()) : "it ends too early");
    done += static_cast<uint64_t>(got);
  }
  left -= bytes;
  char beyond;
  if (ends && bytes > 0 && zip_fread(file.get(), &beyond, 1) != 0) // checks the CRC
    throwBadInput("{} is damaged: its content does not fit its checksum or its shape", name);
}

NpzFile::NpzFile(const std::string &path) : path(path) {
  File::open(path); // says what is wrong with a path
  int code = 0;
  archive.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    throwBadInput("'{}' is not a readable .npz file: {}", path, describe(error));
  }
  auto count = static_cast<uint64_t>(zip_get_num_entries(archive.get(), 0));
  for (uint64_t entry = 0; entry < count; ++entry) {
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), entry, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE) ||
        !(stat.valid & ZIP_STAT_NAME))
      throwBadInput("'{}' is not a readable .npz file: {}", path, zip_strerror(archive.get()));
    std::string name = stat.name;
    if (name.size() <= extension.size() || !name.ends_with(extension))
      throwBadInput("'{}' holds '{}', which is no array", path, name);
    NpzArray array{name, {}, entry, stat.size};
    std::string start; // of the entry, as far as its header needs
    NpzStream stream = openEntry(array);
    array.header =
        readNpyHeader(stream.name, stat.size, [&](uint64_t offset, void *data, uint64_t bytes) {
          size_t held = start.size();
          start.resize(std::max<size_t>(held, offset + bytes));
          stream.read(start.data() + held, start.size() - held);
          std::memcpy(data, start.data() + offset, bytes);
        });
    if (array.header.dataOffset + array.header.getNumBytes() != stat.size)
      throwBadInput("{} has {} bytes, its shape needs {}", stream.name, stat.size,
                    array.header.dataOffset + array.header.getNumBytes());
    arrays.push_back(std::move(array));
  }
}

NpzStream NpzFile::openEntry(const NpzArray &array) const {
  NpzStream stream;
  stream.name = fmt::format("array '{}' of '{}'", array.file, path);
  stream.file.reset(zip_fopen_index(archive.get(), array.entry, 0));
  if (!stream.file)
    throwBadInput("{} cannot be read: {}", stream.name, zip_strerror(archive.get()));
  stream.left = array.bytes;
  return stream;
}

void NpzFile::check() const {
  std::vector<char> part(1 << 20);
  for (const NpzArray &array : arrays) {
    NpzStream stream = openEntry(array);
    while (stream.left > 0)
      stream.read(part.data(), std::min<uint64_t>(stream.left, part.size()));
  }
}

NpzStream NpzFile::open(const NpzArray &array) const {
  NpzStream stream = openEntry(array);
  std::string header(array.header.dataOffset, '\0');
  stream.read(header.data(), header.size());
  return stream;
}

} // namespace weft::runtime
