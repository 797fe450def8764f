#include "frontends/torch_export/Archive.h"

#include "frontends/common/ImportError.h"
#include "llvm/ADT/STLExtras.h"
#include <zip.h>

using namespace weft::frontend;
using namespace weft::frontend::aten;
using llvm::StringRef;

/// A compressed entry may be this much larger than what is stored of it. JSON shrinks to a tenth or
/// a twentieth; what claims more wants to fill the memory.
static constexpr uint64_t mostInflation = 200, inflationAllowance = 1 << 20;

void Archive::Close::operator()(zip *archive) const { zip_discard(archive); }

static zip *openZip(const std::string &path) {
  int code = 0;
  zip *archive = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive)
    return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw ImportError("not a zip archive, or a damaged one: " + reason);
}

/// Throws unless libzip sees the entry in the same way.
static void checkEntry(zip *archive, const ZipEntry &entry) {
  zip_stat_t stat;
  bool known = zip_stat_index(archive, entry.place.index, ZIP_FL_ENC_RAW, &stat) == 0 &&
               (stat.valid & ZIP_STAT_NAME) && stat.name == entry.name &&
               stat.size == entry.place.bytes && stat.comp_size == entry.place.storedBytes &&
               (stat.comp_method != ZIP_CM_STORE) == entry.place.isCompressed;
  if (!known)
    throw ImportError("the archive is damaged: its directory contradicts itself at entry '" +
                      entry.name + "'");
  if (stat.encryption_method != ZIP_EM_NONE)
    throw ImportError("entry '" + entry.name + "' is encrypted, which is not supported");
}

Archive::Archive(StringRef path) {
  auto opened =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!opened)
    throw ImportError("cannot read the file: " + opened.getError().message());
  file = std::move(*opened);
  std::vector<ZipEntry> directory =
      readZipDirectory({file->getBufferStart(), file->getBufferSize()});
  archive.reset(openZip(path.str()));
  if (uint64_t(zip_get_num_entries(archive.get(), 0)) != directory.size())
    throw ImportError("the archive is damaged: its directory contradicts itself");
  for (const ZipEntry &entry : directory) {
    checkEntry(archive.get(), entry);
    StringRef name = entry.name; // archives of torch 2.7 and older have no root folder
    if (name.contains('/'))
      name = name.split('/').second;
    if (!name.empty() && !entries.try_emplace(name, entry.place).second)
      throw ImportError("the archive has two entries '" + name.str() + "'");
  }
}

const ArchiveEntry *Archive::find(StringRef name) const {
  auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

std::vector<std::string> Archive::list(StringRef folder) const {
  std::vector<std::string> names;
  for (StringRef name : entries.keys())
    if (name.starts_with(folder))
      names.push_back(name.str());
  llvm::sort(names);
  return names;
}

std::string Archive::read(StringRef name, uint64_t most) const {
  const ArchiveEntry *entry = find(name);
  if (!entry)
    throw ImportError("the archive has no entry '" + name.str() + "'");
  if (entry->bytes > most)
    throw ImportError("entry '" + name.str() + "' has " + std::to_string(entry->bytes) +
                      " bytes, more than the " + std::to_string(most) + " that are supported");
  if (entry->bytes > entry->storedBytes * mostInflation + inflationAllowance)
    throw ImportError("entry '" + name.str() + "' claims to hold " + std::to_string(entry->bytes) +
                      " bytes in " + std::to_string(entry->storedBytes) +
                      ", more than inflating may give");
  std::string content(entry->bytes, '\0');
  zip_file_t *stream = zip_fopen_index(archive.get(), entry->index, 0);
  if (!stream)
    throw ImportError("cannot read entry '" + name.str() +
                      "': " + std::string(zip_strerror(archive.get())));
  // One byte more than there should be: libzip checks the CRC at the end.
  char more;
  bool whole = zip_fread(stream, content.data(), content.size()) == int64_t(content.size()) &&
               zip_fread(stream, &more, 1) == 0;
  whole &= zip_fclose(stream) == 0;
  if (!whole)
    throw ImportError("entry '" + name.str() + "' is damaged");
  return content;
}
