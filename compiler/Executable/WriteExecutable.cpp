#include "compiler/Executable/WriteExecutable.h"

#include "compiler/Executable/FileTable.h"
#include "compiler/Executable/SafeTensors.h"
#include "compiler/Executable/Serialize.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

using namespace llvm;
using namespace weft;
namespace fs = std::filesystem;

/// The format of executable.pb's frame (runtime/Program/executable.proto).
static constexpr StringLiteral frameMagic("WEFTEXE");
static constexpr uint32_t frameVersion = 1;

/// What the folder of an executable holds.
static constexpr StringLiteral programFile("executable.pb"), kernelFolder("kernels"),
    weightFolder("weights"), constantsFile("weights/constants.safetensors"),
    modelFile("weights/model.safetensors");

/// Whether nothing is lost with what stands there: nothing, an empty folder, or an executable.
static bool mayReplace(const fs::path &target) {
  std::error_code error;
  if (!fs::exists(target, error))
    return true;
  if (!fs::is_directory(target, error))
    return false;
  if (fs::is_empty(target, error))
    return true;
  auto program =
      MemoryBuffer::getFileSlice((target / programFile.str()).string(), frameMagic.size() + 1, 0);
  return program &&
         (*program)->getBuffer() == StringRef(frameMagic.data(), frameMagic.size() + 1) &&
         all_of(make_range(fs::directory_iterator(target, error), fs::directory_iterator()),
                [](const fs::directory_entry &entry) {
                  std::string name = entry.path().filename();
                  return name == programFile || name == kernelFolder || name == weightFolder;
                });
}

namespace {
/// A folder beside the target that is removed unless it takes the target's place.
class StagedFolder {
public:
  explicit StagedFolder(fs::path target) : target(std::move(target)) {}
  ~StagedFolder() {
    std::error_code ignored;
    if (!path.empty())
      fs::remove_all(path, ignored);
  }
  StagedFolder(const StagedFolder &) = delete;
  StagedFolder &operator=(const StagedFolder &) = delete;

  Error create() {
    if (!mayReplace(target))
      return createStringError("%s exists and is no executable: not replaced", target.c_str());
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    for (int number = 0; path.empty() && !error; ++number) {
      fs::path free =
          target.string() + ".new-" + std::to_string(getpid()) + "-" + std::to_string(number);
      if (fs::create_directory(free, error))
        path = free;
    }
    if (!error && fs::exists(target))
      fs::permissions(path, fs::status(target).permissions() | fs::perms::owner_all, error);
    return error ? failure(error) : Error::success();
  }

  /// Puts the folder in the target's place; an older one is swapped out in the same instant.
  Error commit() {
    std::error_code error;
    bool replaces = fs::exists(target, error);
    unsigned flags = replaces ? RENAME_EXCHANGE : 0;
    if (renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, target.c_str(), flags) == 0)
      return Error::success();
    fs::path old = path.string() + ".old"; // a file system that cannot exchange: it moves away
    if (replaces)
      fs::rename(target, old, error);
    if (!error)
      fs::rename(path, target, error);
    if (!error) {
      fs::remove_all(old, error);
      return Error::success();
    }
    std::error_code ignored;
    if (replaces)
      fs::rename(old, target, ignored);
    return failure(error);
  }

  std::string file(StringRef name) const { return (path / name.str()).string(); }
  std::string string() const { return path.string(); }

private:
  Error failure(std::error_code error) const {
    return createStringError(error, "cannot write %s: %s", target.c_str(), error.message().c_str());
  }

  fs::path target, path;
};

/// Finds and places the weights of one executable.
class WeightPlacer {
public:
  WeightPlacer(const ExecutableOptions &options, const StagedFolder &folder, FileTable &files)
      : options(options), folder(folder), files(files) {}

  Error place(ArrayRef<exec::WeightOp> weights, program::Executable &executable);

private:
  std::string findFile(StringRef path) const;
  void addReferenced(exec::ExternalAttr storage, program::Weight &weight);
  Error addBundle(StringRef name, ArrayRef<unsigned> members, ArrayRef<exec::WeightOp> weights,
                  program::Executable &executable);
  TensorSource makeSource(exec::WeightOp op, const program::Weight &weight) const;

  const ExecutableOptions &options;
  const StagedFolder &folder;
  FileTable &files;
};
} // namespace

static Error writeFile(const std::string &path, ArrayRef<StringRef> parts) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  raw_fd_ostream out(path, error);
  if (error)
    return createStringError(error, "cannot write %s: %s", path.c_str(), error.message().c_str());
  for (StringRef part : parts)
    out << part;
  out.close();
  if (!out.has_error())
    return Error::success();
  error = out.error();
  out.clear_error();
  return createStringError(error, "cannot write %s: %s", path.c_str(), error.message().c_str());
}

std::string WeightPlacer::findFile(StringRef path) const {
  fs::path relative(path.str());
  std::error_code error;
  if (!options.weightsFolder.empty())
    for (const fs::path &tail : {relative, relative.filename()})
      if (fs::exists(fs::path(options.weightsFolder) / tail, error))
        return fs::absolute(fs::path(options.weightsFolder) / tail).lexically_normal();
  return fs::absolute(fs::path(options.modelFolder) / relative).lexically_normal();
}

void WeightPlacer::addReferenced(exec::ExternalAttr storage, program::Weight &weight) {
  uint32_t file = files.addReferenced(findFile(storage.getPath()));
  weight.set_file(file);
  weight.set_offset(storage.getOffset());
  weight.set_length(storage.getLength());
  files.addRange(file, storage.getOffset(), storage.getLength());
}

/// Row-major little endian bytes of elements held in the IR; i1 takes one byte.
static std::string getBytes(mlir::ElementsAttr elements) {
  if (auto resource = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(elements))
    if (mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return std::string(blob->getData().data(), blob->getData().size());
  std::string bytes;
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(elements))
    for (mlir::Attribute element : dense.getValues<mlir::Attribute>())
      bytes += getElementBytes(element);
  return bytes;
}

/// Copies [offset, offset + length) of a file.
static Error copyRange(const std::string &path, uint64_t offset, uint64_t length,
                       raw_ostream &out) {
  constexpr uint64_t step = 16 << 20;
  for (uint64_t end = offset + length; offset < end; offset += step) {
    auto piece = MemoryBuffer::getFileSlice(path, std::min(step, end - offset), offset);
    if (!piece)
      return createStringError("cannot read %s, which holds weights of the model: %s", path.c_str(),
                               piece.getError().message().c_str());
    out << (*piece)->getBuffer();
  }
  return Error::success();
}

TensorSource WeightPlacer::makeSource(exec::WeightOp op, const program::Weight &weight) const {
  TensorSource source{weight.name(), weight.dtype(), {}, 0, {}};
  source.shape.assign(weight.shape().begin(), weight.shape().end());
  source.bytes = exec::getElementBytes(op.getDtype());
  for (int64_t extent : source.shape)
    source.bytes *= extent;
  if (auto external = mlir::dyn_cast<exec::ExternalAttr>(op.getStorage()))
    source.write = [path = findFile(external.getPath()), external](raw_ostream &out) {
      return copyRange(path, external.getOffset(), external.getLength(), out);
    };
  else
    source.write = [elements = mlir::cast<mlir::ElementsAttr>(op.getStorage())](raw_ostream &out) {
      out << getBytes(elements);
      return Error::success();
    };
  return source;
}

Error WeightPlacer::addBundle(StringRef name, ArrayRef<unsigned> members,
                              ArrayRef<exec::WeightOp> weights, program::Executable &executable) {
  if (members.empty())
    return Error::success();
  std::vector<TensorSource> sources;
  for (unsigned member : members)
    sources.push_back(makeSource(weights[member], executable.weights(member)));
  std::error_code error;
  fs::create_directories(folder.file(weightFolder), error);
  auto offsets = writeSafeTensors(folder.file(name), sources);
  if (!offsets)
    return offsets.takeError();
  uint32_t file = files.addInside(name.str());
  for (auto [member, source, offset] : zip_equal(members, sources, *offsets)) {
    program::Weight *weight = executable.mutable_weights(member);
    weight->set_file(file);
    weight->set_offset(offset);
    weight->set_length(source.bytes);
  }
  return Error::success();
}

Error WeightPlacer::place(ArrayRef<exec::WeightOp> weights, program::Executable &executable) {
  SmallVector<unsigned> computed, bundled;
  for (auto [number, weightOp] : enumerate(weights)) {
    exec::WeightOp op = weightOp;
    program::Weight &weight = *executable.mutable_weights(number);
    auto external = mlir::dyn_cast<exec::ExternalAttr>(op.getStorage());
    if (!weight.splat().empty())
      continue;
    if (!external)
      computed.push_back(number);
    else if (options.bundleWeights)
      bundled.push_back(number);
    else
      addReferenced(external, weight);
  }
  if (Error error = addBundle(constantsFile, computed, weights, executable))
    return error;
  return addBundle(modelFile, bundled, weights, executable);
}

static Error writeFramed(const std::string &path, const program::Executable &executable) {
  std::string payload;
  if (!executable.SerializeToString(&payload))
    return createStringError("the program does not fit into a protobuf of 2 GiB");
  std::string frame(frameMagic.data(), frameMagic.size() + 1);
  raw_string_ostream out(frame);
  support::endian::write<uint32_t>(out, frameVersion, endianness::little);
  support::endian::write<uint64_t>(out, payload.size(), endianness::little);
  uint64_t hash = xxh3_64bits(StringRef(payload));
  support::endian::write<uint64_t>(out, hash, endianness::little);
  return writeFile(path, {frame, payload});
}

Expected<WrittenExecutable> weft::writeExecutable(mlir::ModuleOp module,
                                                  const ExecutableOptions &options) {
  // Links on the way are resolved: paths in the executable are relative to where it really lies.
  std::error_code ignored;
  fs::path target = fs::weakly_canonical(fs::absolute(options.target), ignored);
  if (!target.has_filename())
    target = target.parent_path();
  StagedFolder folder(target);
  if (Error error = folder.create())
    return std::move(error);
  program::Executable executable;
  executable.set_version(program::EXECUTABLE_VERSION);
  executable.set_producer(options.producer);
  executable.set_device(options.device);
  *executable.mutable_plan() = options.plan;
  // How long was searched says nothing of the program: equal ones are equal byte by byte.
  if (executable.plan().has_prediction())
    executable.mutable_plan()->mutable_prediction()->clear_search_seconds();
  executable.mutable_kernels()->Add(options.kernels.begin(), options.kernels.end());
  executable.mutable_cpu_features()->Add(options.features.begin(), options.features.end());
  SmallVector<exec::WeightOp> weights;
  serializeProgram(module, executable, weights);

  FileTable files;
  if (!options.kernelBytes.empty()) {
    std::string file = kernelFolder.str() + "/" + options.kernelFile;
    if (Error error = writeFile(folder.file(file), {options.kernelBytes}))
      return std::move(error);
    files.addInside(file);
  }
  if (Error error = WeightPlacer(options, folder, files).place(weights, executable))
    return std::move(error);
  if (Error error = files.write(folder.string(), target.string(), options.threads, executable))
    return std::move(error);
  if (Error error = writeFramed(folder.file(programFile), executable))
    return std::move(error);
  WrittenExecutable written;
  written.programBytes = fs::file_size(folder.file(programFile));
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(folder.string()))
    if (entry.is_regular_file())
      written.totalBytes += entry.file_size();
  if (Error error = folder.commit())
    return std::move(error);
  return written;
}
