// Changes one value of a JSON document of an archive, or one field or entry of the archive; the
// archive is written anew around it, checksums and all.

#include "frontends/torch_export/Import.h"
#include "test/fuzz/Format.h"
#include "test/fuzz/ZipFile.h"
#include <nlohmann/json.hpp>

using namespace weft::fuzz;
using llvm::StringRef;
using nlohmann::json;

namespace {

/// Changes one value somewhere in a document.
class JsonMutator {
public:
  JsonMutator(json &root, Random &random) : random(random) { collect(root); }

  void mutate() {
    json &value = *pick(random, values);
    if (below(random, 12) == 0)
      value = ofAnotherType();
    else if (value.is_number())
      value = below(random, 4) ? json(pickNumber(random)) : json(double(pickNumber(random)) / 3);
    else if (value.is_string())
      value = below(random, 8) ? pick(random, strings) : damageText(value.get<std::string>());
    else if (value.is_boolean())
      value = !value.get<bool>();
    else if (value.is_null())
      value = copyOfAny();
    else if (value.is_array() && !value.empty())
      mutateArray(value);
    else if (value.is_object() && !value.empty())
      mutateObject(value);
    else
      value = copyOfAny();
  }

private:
  void collect(json &value) {
    values.push_back(&value);
    if (value.is_string())
      strings.push_back(value.get<std::string>());
    if (value.is_structured())
      for (json &child : value)
        collect(child);
  }

  json copyOfAny() { return *pick(random, values); }

  json ofAnotherType() {
    const json others[] = {nullptr, true,          pickNumber(random), 0.5,
                           "",      json::array(), json::object(),     copyOfAny()};
    return pick(random, others);
  }

  std::string damageText(const std::string &text) {
    std::string damaged = damageBytes(text, random);
    for (char &c : damaged) // the document stays UTF-8
      c = char(c & 0x7f);
    return damaged;
  }

  void mutateArray(json &array) {
    size_t index = below(random, array.size());
    switch (below(random, 4)) {
    case 0:
      array.erase(index);
      break;
    case 1:
      array.push_back(json(array[index]));
      break;
    case 2:
      std::swap(array[index], array[below(random, array.size())]);
      break;
    default:
      array[index] = copyOfAny();
    }
  }

  void mutateObject(json &object) {
    auto chosen = std::next(object.begin(), below(random, object.size()));
    switch (below(random, 3)) {
    case 0:
      object.erase(chosen);
      break;
    case 1: { // unions are objects of one key
      json value = *chosen;
      object.erase(chosen);
      object[strings.empty() ? "" : pick(random, strings)] = std::move(value);
      break;
    }
    default:
      *chosen = copyOfAny();
    }
  }

  Random &random;
  std::vector<json *> values; ///< in preorder
  std::vector<std::string> strings;
};

/// Changes one thing about the entries of an archive.
class ZipMutator {
public:
  ZipMutator(ZipFile &archive, Random &random) : archive(archive), random(random) {}

  void mutate() {
    auto &entries = archive.entries;
    ZipFile::Entry &entry = pick(random, entries);
    switch (below(random, 10)) {
    case 0:
      entries.erase(entries.begin() + (&entry - entries.data()));
      break;
    case 1:
      entries.push_back(ZipFile::Entry(entry));
      break;
    case 2:
      std::swap(entry.name, pick(random, entries).name);
      break;
    case 3:
      std::swap(entry.data, pick(random, entries).data);
      break;
    case 4:
      entry.name = damageBytes(entry.name, random);
      break;
    case 5:
      entry.data = damageBytes(entry.data, random);
      break;
    default:
      mutateRecord(entry);
    }
  }

private:
  void mutateRecord(ZipFile::Entry &entry) {
    uint32_t number = uint32_t(pickNumber(random));
    switch (below(random, 6)) {
    case 0:
      entry.method = below(random, 2) ? 8 : uint16_t(number);
      break;
    case 1:
      entry.flags = uint16_t(1 << below(random, 16));
      break;
    case 2:
      entry.checksum = number;
      break;
    case 3:
      entry.storedBytes = number;
      break;
    case 4:
      entry.bytes = number;
      break;
    default:
      entry.offset = number;
    }
  }

  ZipFile &archive;
  Random &random;
};

bool mutateJson(ZipFile &archive, Random &random) {
  std::vector<std::string *> documents;
  for (ZipFile::Entry &entry : archive.entries)
    if (StringRef(entry.name).ends_with(".json"))
      documents.push_back(&entry.data);
  if (documents.empty())
    return false;
  std::string &text = *pick(random, documents);
  json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded())
    return false;
  JsonMutator(document, random).mutate();
  text = document.dump(-1, ' ', false, json::error_handler_t::replace);
  return true;
}

mlir::OwningOpRef<mlir::ModuleOp> import(mlir::MLIRContext &context, StringRef path) {
  return weft::importTorch(context, path, {});
}

std::string mutate(StringRef bytes, Random &random) {
  std::optional<ZipFile> archive = ZipFile::read(bytes);
  if (!archive || archive->entries.empty())
    return bytes.str();
  for (size_t count = 1 + below(random, 3); count-- > 0 && !archive->entries.empty();)
    if (below(random, 5) == 0 || !mutateJson(*archive, random))
      ZipMutator(*archive, random).mutate();
  return archive->write();
}

} // namespace

const Format weft::fuzz::torchExportFormat{"torch_export", ".pt2", import, mutate};
