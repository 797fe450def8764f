#include "driver/WriteModule.h"

#include "dialects/Weft/IR/WeftDialect.h"
#include "driver/LoadModel.h"
#include "driver/OutputStream.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"
#include <filesystem>

using namespace mlir;
using namespace weft;

static std::string folderOf(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Data of a weight starts at a multiple of this, good for any vector load.
static constexpr uint64_t dataAlignment = 64;

/// The weights whose data the module holds as resources.
static SmallVector<WeightOp> listInlineWeights(ModuleOp module) {
  SmallVector<WeightOp> inlineWeights;
  for (auto weight : module.getOps<WeightOp>())
    if (isa<DenseResourceElementsAttr>(weight.getStorage()))
      inlineWeights.push_back(weight);
  return inlineWeights;
}

/// Moves the data of weights into a file, and refers to it there, relative to the model's source.
static void moveData(ModuleOp module, ArrayRef<WeightOp> inlineWeights, runtime::OutputFile &file) {
  auto source = module->getAttrOfType<StringAttr>("weft.source");
  std::string reference = relativeTo(file.getPath(), folderOf(source ? source.str() : ""));
  uint64_t offset = 0;
  for (WeightOp weight : inlineWeights) {
    ArrayRef<char> data =
        cast<DenseResourceElementsAttr>(weight.getStorage()).getRawHandle().getBlob()->getData();
    file.write(std::string(llvm::alignTo(offset, dataAlignment) - offset, '\0'));
    offset = llvm::alignTo(offset, dataAlignment);
    file.write({data.data(), data.size()});
    weight.setStorageAttr(ExternalAttr::get(module.getContext(), reference, offset, data.size()));
    offset += data.size();
  }
}

static void write(ModuleOp module, runtime::OutputFile &file) {
  forgetFingerprint(module); // of the file that was read, not of the one written
  std::optional<runtime::OutputFile> data;
  if (file.getKind() == runtime::OutputKind::Replaced) {
    if (SmallVector<WeightOp> inlineWeights = listInlineWeights(module); !inlineWeights.empty())
      moveData(module, inlineWeights, data.emplace(file.getPath() + ".data"));
    // A module that a person wrote may have none.
    if (auto source = module->getAttrOfType<StringAttr>("weft.source")) {
      std::string relative = relativeTo(source.str(), folderOf(file.getPath()));
      module->setAttr("weft.source", StringAttr::get(module.getContext(), relative));
    }
  }
  OutputStream stream(file);
  module.print(stream, OpPrintingFlags().enableDebugInfo());
  stream << "\n";
  stream.finish();
  if (data)
    data->commit();
  file.commit();
}

Outcome weft::writeModule(ModuleOp module, runtime::OutputFile &file) {
  try {
    write(module, file);
    return Outcome::success();
  } catch (const runtime::Error &error) {
    return fail(*module.getContext(), error.getKind(), error.what());
  }
}
