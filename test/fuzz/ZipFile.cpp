// Records of a zip archive (PKWARE APPNOTE 6.3, section 4.3): a local header before each entry's
// bytes, a directory of central records, the end record.

#include "test/fuzz/ZipFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"

using namespace weft::fuzz;
using llvm::StringRef;
namespace endian = llvm::support::endian;

static constexpr uint32_t localSignature = 0x04034b50, centralSignature = 0x02014b50,
                          endSignature = 0x06054b50;
static constexpr size_t localBytes = 30, centralBytes = 46;

namespace {

/// Little-endian fields in order; 0 beyond the end.
class Fields {
public:
  Fields(StringRef bytes, size_t at) : rest(bytes.drop_front(std::min(at, bytes.size()))) {}

  template <typename Number> Number next() {
    Number value = 0;
    if (rest.size() >= sizeof(Number))
      value = endian::read<Number, llvm::endianness::little>(rest.data());
    skip(sizeof(Number));
    return value;
  }
  void skip(size_t bytes) { rest = rest.drop_front(std::min(bytes, rest.size())); }
  StringRef text(size_t bytes) {
    StringRef found = rest.take_front(bytes);
    skip(bytes);
    return found;
  }

private:
  StringRef rest;
};

void append16(std::string &out, uint16_t value) { out += {char(value), char(value >> 8)}; }
void append32(std::string &out, uint32_t value) {
  append16(out, uint16_t(value));
  append16(out, uint16_t(value >> 16));
}

/// What a local header and a central record have in common.
void appendCommon(std::string &out, const ZipFile::Entry &entry) {
  llvm::ArrayRef<uint8_t> data(reinterpret_cast<const uint8_t *>(entry.data.data()),
                               entry.data.size());
  append16(out, 20); // version needed
  append16(out, entry.flags);
  append16(out, entry.method);
  append32(out, 0); // time and date
  append32(out, entry.checksum.value_or(llvm::crc32(data)));
  append32(out, entry.storedBytes.value_or(uint32_t(entry.data.size())));
  append32(out, entry.bytes.value_or(uint32_t(entry.data.size())));
  append16(out, uint16_t(entry.name.size()));
  append16(out, 0); // extra field
}

} // namespace

std::optional<ZipFile> ZipFile::read(StringRef file) {
  size_t end = file.rfind(StringRef("PK\5\6", 4));
  if (end == StringRef::npos)
    return std::nullopt;
  Fields last(file, end + 10);
  size_t count = last.next<uint16_t>();
  last.skip(4);
  size_t at = last.next<uint32_t>();
  ZipFile archive;
  for (size_t i = 0; i < count; ++i) {
    Fields record(file, at);
    if (record.next<uint32_t>() != centralSignature)
      return std::nullopt;
    record.skip(6);
    uint16_t method = record.next<uint16_t>();
    record.skip(8);
    size_t stored = record.next<uint32_t>();
    record.skip(4);
    size_t name = record.next<uint16_t>(), extra = record.next<uint16_t>(),
           comment = record.next<uint16_t>();
    record.skip(8);
    size_t header = record.next<uint32_t>();
    Fields lengths(file, header + 26);
    size_t skipped = lengths.next<uint16_t>();
    skipped += lengths.next<uint16_t>();
    Entry entry;
    entry.name = record.text(name).str();
    entry.data = Fields(file, header + localBytes + skipped).text(stored).str();
    entry.method = method;
    archive.entries.push_back(std::move(entry));
    at += centralBytes + name + extra + comment;
  }
  return archive;
}

std::string ZipFile::write() const {
  std::string file, directory;
  for (const Entry &entry : entries) {
    append32(directory, centralSignature);
    append16(directory, 20); // version that made it
    appendCommon(directory, entry);
    directory.append(2 + 2 + 2 + 4, '\0'); // comment, disk, attributes
    append32(directory, entry.offset.value_or(uint32_t(file.size())));
    directory += entry.name;
    append32(file, localSignature);
    appendCommon(file, entry);
    file += entry.name + entry.data;
  }
  uint32_t start = uint32_t(file.size());
  file += directory;
  append32(file, endSignature);
  append32(file, 0); // disks
  append16(file, uint16_t(entries.size()));
  append16(file, uint16_t(entries.size()));
  append32(file, uint32_t(directory.size()));
  append32(file, start);
  append16(file, 0); // comment
  return file;
}
