// The central directory of a zip archive (PKWARE APPNOTE 6.3, sections 4.3.7 to 4.3.16).

#include "frontends/common/ImportError.h"
#include "frontends/torch_export/Archive.h"
#include "llvm/Support/Endian.h"

using namespace weft::frontend;
using namespace weft::frontend::aten;

namespace {

constexpr uint32_t endSignature = 0x06054b50, end64Signature = 0x06064b50,
                   locator64Signature = 0x07064b50, centralSignature = 0x02014b50,
                   localSignature = 0x04034b50;
constexpr uint64_t endBytes = 22, end64Bytes = 56, locatorBytes = 20, centralBytes = 46,
                   localBytes = 30, maxCommentBytes = 0xffff;
/// In fields of 16 and 32 bits: the number is in the zip64 extra field (or record).
constexpr uint64_t elsewhere16 = 0xffff, elsewhere32 = 0xffffffff;
constexpr uint16_t zip64Field = 1;

/// Little-endian numbers at offsets of the file, each checked to lie within it.
class Bytes {
public:
  explicit Bytes(llvm::ArrayRef<char> file) : file(file) {}

  uint64_t size() const { return file.size(); }
  template <typename Number> uint64_t at(uint64_t offset) const {
    return llvm::support::endian::read<Number, llvm::endianness::little>(
        range(offset, sizeof(Number)).data());
  }
  void check(uint64_t offset, uint64_t length) const {
    if (offset > file.size() || length > file.size() - offset)
      throw ImportError("the archive is truncated or damaged: a record lies beyond its end");
  }
  llvm::ArrayRef<char> range(uint64_t offset, uint64_t length) const {
    check(offset, length);
    return file.slice(offset, length);
  }

private:
  llvm::ArrayRef<char> file;
};

struct Directory {
  uint64_t offset, bytes, count;
};

void expectSignature(const Bytes &file, uint64_t offset, uint32_t signature, const char *what) {
  if (file.at<uint32_t>(offset) != signature)
    throw ImportError(std::string("the archive is damaged: expected ") + what + " at offset " +
                      std::to_string(offset));
}

/// The end record is the last thing in the file but for a comment.
uint64_t findEnd(const Bytes &file) {
  if (file.size() >= endBytes)
    for (uint64_t back = 0, offset = file.size() - endBytes; back <= maxCommentBytes;
         ++back, --offset) {
      if (file.at<uint32_t>(offset) == endSignature && file.at<uint16_t>(offset + 20) == back)
        return offset;
      if (offset == 0)
        break;
    }
  throw ImportError("not a zip archive, or a truncated one: it has no end record");
}

Directory readEnd(const Bytes &file) {
  uint64_t end = findEnd(file);
  Directory directory{file.at<uint32_t>(end + 16), file.at<uint32_t>(end + 12),
                      file.at<uint16_t>(end + 10)};
  bool isZip64 = directory.offset == elsewhere32 || directory.bytes == elsewhere32 ||
                 directory.count == elsewhere16;
  if (isZip64 && end >= locatorBytes &&
      file.at<uint32_t>(end - locatorBytes) == locator64Signature) {
    uint64_t end64 = file.at<uint64_t>(end - locatorBytes + 8);
    file.check(end64, end64Bytes);
    expectSignature(file, end64, end64Signature, "a zip64 end record");
    directory = {file.at<uint64_t>(end64 + 48), file.at<uint64_t>(end64 + 40),
                 file.at<uint64_t>(end64 + 32)};
  }
  file.check(directory.offset, directory.bytes);
  return directory;
}

/// Takes the numbers that the fixed part of a central record leaves to its zip64 extra field, in
/// the order that the format fixes.
void readZip64(const Bytes &file, uint64_t extra, uint64_t extraBytes, ArchiveEntry &entry,
               uint64_t &header) {
  for (uint64_t at = 0; at + 4 <= extraBytes;) {
    uint64_t tag = file.at<uint16_t>(extra + at), size = file.at<uint16_t>(extra + at + 2);
    if (tag == zip64Field && at + 4 + size <= extraBytes) {
      uint64_t next = extra + at + 4, end = next + size;
      for (uint64_t *number : {&entry.bytes, &entry.storedBytes, &header})
        if (*number == elsewhere32 && next + 8 <= end) {
          *number = file.at<uint64_t>(next);
          next += 8;
        }
      return;
    }
    at += 4 + size;
  }
}

/// The local header's name and extra field may be of other lengths than the central record's.
void locate(const Bytes &file, uint64_t header, ZipEntry &entry) {
  file.check(header, localBytes);
  expectSignature(file, header, localSignature, "a local header");
  uint64_t nameBytes = file.at<uint16_t>(header + 26), extraBytes = file.at<uint16_t>(header + 28);
  llvm::ArrayRef<char> name = file.range(header + localBytes, nameBytes);
  if (llvm::StringRef(name.data(), name.size()) != entry.name)
    throw ImportError("the archive is damaged: entry '" + entry.name +
                      "' has another name in its local header");
  entry.place.offset = header + localBytes + nameBytes + extraBytes;
  file.check(entry.place.offset, entry.place.storedBytes);
}

} // namespace

std::vector<ZipEntry> weft::frontend::aten::readZipDirectory(llvm::ArrayRef<char> buffer) {
  Bytes file(buffer);
  Directory directory = readEnd(file);
  if (directory.count > directory.bytes / centralBytes)
    throw ImportError("the archive is damaged: its directory has no room for " +
                      std::to_string(directory.count) + " entries");
  std::vector<ZipEntry> entries(directory.count);
  uint64_t at = directory.offset;
  for (auto [index, entry] : llvm::enumerate(entries)) {
    file.check(at, centralBytes);
    expectSignature(file, at, centralSignature, "a directory record");
    uint64_t nameBytes = file.at<uint16_t>(at + 28), extraBytes = file.at<uint16_t>(at + 30),
             commentBytes = file.at<uint16_t>(at + 32), header = file.at<uint32_t>(at + 42);
    llvm::ArrayRef<char> name = file.range(at + centralBytes, nameBytes);
    file.check(at + centralBytes + nameBytes, extraBytes);
    entry.name.assign(name.begin(), name.end());
    entry.place.index = index;
    entry.place.isCompressed = file.at<uint16_t>(at + 10) != 0;
    entry.place.storedBytes = file.at<uint32_t>(at + 20);
    entry.place.bytes = file.at<uint32_t>(at + 24);
    readZip64(file, at + centralBytes + nameBytes, extraBytes, entry.place, header);
    locate(file, header, entry);
    if (!entry.place.isCompressed && entry.place.bytes != entry.place.storedBytes)
      throw ImportError("the archive is damaged: entry '" + entry.name +
                        "' is stored, but with two sizes");
    at += centralBytes + nameBytes + extraBytes + commentBytes;
  }
  return entries;
}
