#include "driver/ModelFormat.h"

#include "compiler/Plan/PlanText.h"
#include "frontends/config/Import.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>

using namespace weft;
using llvm::StringRef;
namespace fs = std::filesystem;

static constexpr uint64_t headBytes = 4096;

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// The first model in a folder, by name; "" if there is none.
static std::string findModelIn(const fs::path &folder) {
  std::string first;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().string(), extension = entry.path().extension().string();
    bool isModel = llvm::is_contained({".onnx", ".pt2", ".mlir"}, StringRef(extension));
    if (isModel && (first.empty() || name < first))
      first = name;
  }
  return first;
}

static std::string describeFolder(const fs::path &folder) {
  std::error_code error;
  if (fs::exists(folder / "executable.pb", error))
    return "is an executable, which `weft run` runs and `weft inspect` shows";
  if (fs::exists(folder / "saved_model.pb", error))
    return "is a SavedModel of TensorFlow: convert it to ONNX";
  std::string inside = findModelIn(folder);
  return inside.empty() ? "is a folder" : "is a folder; did you mean '" + inside + "'?";
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
/// Bytes by which a kind of file is known.
struct Mark {
  size_t offset;
  StringRef bytes;
  const char *what;
};
} // namespace

static constexpr Mark marks[] = {
    {0, "\x93NUMPY", "is a NumPy array, which `weft run` takes: --input NAME=FILE"},
    {0, "WEFTEXE", "is a part of an executable, whose folder `weft run` takes"},
    {0,
     "\x7f"
     "ELF",
     "is a program or a library"},
    {0, "GGUF", "holds weights (GGUF), but no graph of operations"},
    {0, "\x89HDF", "is an HDF5 file, as Keras writes it: convert the model to ONNX"},
    {4, "TFL3", "is a model of TensorFlow Lite: convert it to ONNX"},
    {0, "\x80\x02",
     "is pickled, as torch.save does it, and not read: save what torch.export.export "
     "gives with torch.export.save"},
    {0, "\x1f\x8b", "is compressed (gzip): unpack it"},
    {0, "\x28\xb5\x2f\xfd", "is compressed (zstd): unpack it"},
    {0, "HloModule", "is HLO as text: write StableHLO in its generic form"},
};

/// Safetensors begin with the length of a table in JSON.
static bool isSafeTensors(StringRef head, uint64_t size) {
  constexpr size_t lengthBytes = sizeof(uint64_t);
  return head.size() > lengthBytes && head[lengthBytes] == '{' &&
         llvm::support::endian::read64le(head.data()) <= size - lengthBytes;
}

/// The name of the first entry of a zip archive; "" for another file.
static StringRef firstEntry(StringRef head) {
  constexpr size_t nameLengthAt = 26, nameAt = 30; // of a local file header
  if (!head.starts_with("PK\x03\x04") || head.size() < nameAt)
    return "";
  return head.substr(nameAt, llvm::support::endian::read16le(head.data() + nameLengthAt));
}

/// What holds the data of another file that is there, of whose name its own is made.
static std::string describeData(StringRef path) {
  std::error_code error;
  StringRef model = path;
  if (!model.consume_back(".data") && !model.consume_back("_data"))
    return "";
  if (!fs::is_regular_file(model.str(), error))
    return "";
  return "holds weights of '" + model.str() + "': name that";
}

static bool beginsAsMlir(StringRef head) {
  if (head.starts_with("ML\xefR"))
    return true;
  constexpr StringRef starts[] = {"module", "\"builtin.module\"", "#loc", "//"};
  StringRef text = head.ltrim();
  return llvm::any_of(starts, [&](StringRef start) { return text.starts_with(start); });
}

/// The type of a model may stand behind long tables, so that the name tells too.
static bool mayBeConfig(StringRef path, StringRef head) {
  bool named = fs::path(path.str()).filename() == "config.json";
  return isConfig(head) || (named && head.ltrim().starts_with("{"));
}

static std::string describeForeign(const std::string &path, StringRef head, uint64_t size) {
  if (size == 0)
    return "is empty";
  for (const Mark &mark : marks)
    if (head.substr(mark.offset).starts_with(mark.bytes))
      return mark.what;
  if (firstEntry(head).ends_with(".npy"))
    return "holds NumPy arrays (.npz)";
  if (isSafeTensors(head, size))
    return "holds weights (safetensors), but no graph of operations; they give values to the "
           "arguments of a StableHLO model: --weights FILE";
  StringRef text = head.ltrim();
  if (mayBeConfig(path, text))
    return "";
  if (text.starts_with("{\"") || text.starts_with("{\n") || text.starts_with("{}"))
    return "is JSON, no graph of operations";
  std::string problem;
  bool mayBePlan = head.find('\0') == StringRef::npos && !beginsAsMlir(head);
  if (mayBePlan && weft::readPlan(path, problem))
    return "is a plan: name its model, and the plan by --plan; `weft explain` and `weft inspect` "
           "take a plan by itself";
  return describeData(path);
}

/// ModelProto begins with the version of the IR, or with the producer's name.
static bool beginsAsOnnx(StringRef head) {
  return head.starts_with("\x08") || head.starts_with("\x12");
}

/// The beginning of a file; none where it cannot be read.
static std::unique_ptr<llvm::MemoryBuffer> readHead(const std::string &path, uint64_t size) {
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, std::min(size, headBytes), /*Offset=*/0);
  return buffer ? std::move(*buffer) : nullptr;
}

static std::optional<ModelFormat> formatOf(StringRef path, StringRef head) {
  if (mayBeConfig(path, head))
    return ModelFormat::Config;
  if (path.ends_with(".pt2") || head.starts_with("PK"))
    return ModelFormat::TorchExport;
  if (path.ends_with(".mlir") || beginsAsMlir(head))
    return ModelFormat::Mlir;
  if (path.ends_with(".onnx") || beginsAsOnnx(head))
    return ModelFormat::Onnx;
  return std::nullopt;
}

std::optional<ModelFormat> weft::findModelFormat(const std::string &path, std::string &problem) {
  std::error_code error;
  std::optional<ModelFormat> format;
  problem = "'" + path + "' ";
  if (!fs::exists(path, error)) {
    problem += "does not exist";
    return std::nullopt;
  }
  uint64_t size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
  if (fs::is_directory(path, error)) {
    problem += describeFolder(path);
  } else if (!fs::is_regular_file(path, error)) {
    problem += "is not a file";
  } else if (auto head = readHead(path, size); !head) {
    problem += "cannot be read";
  } else if (std::string what = describeForeign(path, head->getBuffer(), size); !what.empty()) {
    problem += what;
  } else {
    format = formatOf(path, head->getBuffer());
    problem += "is of no format that is known";
  }
  if (StringRef(problem).ends_with("?"))
    return format;
  problem += "; expected a model: an .onnx file, a .pt2 archive of torch.export, a .mlir module "
             "(StableHLO, or what `weft import` writes), or the config.json of a transformer";
  return format;
}
