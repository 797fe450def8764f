//===- Ports.cpp - inputs and outputs of a run ----------------------------===//

#include "runtime/Executor/Ports.h"

#include "runtime/Executor/Agree.h"
#include "runtime/Executor/ArgumentNames.h"
#include "runtime/Io/Npy.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/OutputFile.h"
#include "runtime/Support/Suggest.h"

#include <cstring>
#include <filesystem>

namespace weft::runtime {

namespace {

namespace fs = std::filesystem;

/// The part of a .npy file that a block is; memory strides those of `view`.
StridedBlock makeBlock(const PortBlock &port, const NpyHeader &header, const View &view) {
  StridedBlock block;
  block.elementSize = getElementSize(header.dtype);
  block.shape = view.shape;
  block.memoryStrides = view.strides;
  std::vector<int64_t> strides = getRowMajorStrides(port.shape);
  if (header.fortranOrder) {
    int64_t step = 1;
    for (size_t dim = 0; dim < strides.size(); step *= port.shape[dim++])
      strides[dim] = step;
  }
  block.fileStrides = strides;
  block.begin = static_cast<int64_t>(header.dataOffset);
  for (size_t dim = 0; dim < strides.size(); ++dim)
    block.begin += port.start[dim] * strides[dim] * block.elementSize;
  return block;
}

/// A row-major view of the block's shape at byte 0 of arena 0.
View makeDense(const PortBlock &port, DType dtype) {
  return {0, 0, dtype, port.local.shape, getRowMajorStrides(port.local.shape)};
}

/// The block's elements, row-major, in arena 0 of the result's bases.
std::vector<std::byte> gatherDense(const PortBlock &port, const Bases &bases) {
  View dense = makeDense(port, port.local.dtype);
  std::vector<std::byte> data(dense.getNumBytes());
  View from = port.local;
  from.arena = 1;
  from.offset = 0;
  ThreadPool alone(1);
  makeCopyAction(from, dense)->execute({data.data(), port.local.getAddress(bases)}, alone);
  return data;
}

std::vector<std::byte> widen(const std::vector<std::byte> &bfloats) {
  std::vector<std::byte> floats(bfloats.size() * 2);
  for (size_t i = 0; i < bfloats.size() / 2; ++i) {
    uint16_t bits;
    std::memcpy(&bits, &bfloats[2 * i], 2);
    float value = bfloatToFloat(bits);
    std::memcpy(&floats[4 * i], &value, 4);
  }
  return floats;
}

} // namespace

std::string formatShape(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return "[" + text + "]";
}

PortBlock resolvePort(const program::Program &program, const program::Port &port,
                      const Position &position) {
  PortBlock block;
  block.port = &port;
  block.local = resolveView(program, port.local(), position);
  block.shape = {port.shape().begin(), port.shape().end()};
  block.firstCopy = position.isFirstCopy(port.sharding());
  if (block.shape.size() != block.local.shape.size() || port.dtype() != block.local.dtype ||
      static_cast<size_t>(port.sharding().dims_size()) > block.shape.size())
    throwBadInput("the local part of '{}' does not fit it", port.name());
  for (size_t dim = 0; dim < block.shape.size(); ++dim) {
    int64_t parts = 1, coordinate = 0;
    if (dim < static_cast<size_t>(port.sharding().dims_size())) {
      const AxisRefs &axes = port.sharding().dims(static_cast<int>(dim)).axes();
      parts = position.getSize(axes, port.sharding().mesh());
      coordinate = position.getCoordinate(axes, port.sharding().mesh());
    }
    if (block.local.shape[dim] * parts != block.shape[dim])
      throwBadInput("dimension {} of '{}' has {} elements, {} parts of {} are not that", dim,
                    port.name(), block.shape[dim], parts, block.local.shape[dim]);
    block.start.push_back(coordinate * block.local.shape[dim]);
  }
  return block;
}

/// The file of each input: as given by any of its names, else in the folder under one of them;
/// empty where there is no folder.
static std::vector<fs::path> findFiles(const std::vector<std::string> &names,
                                       const InputFiles &files) {
  std::map<std::string, size_t> known = indexByName(names);
  std::vector<fs::path> paths(names.size());
  if (!files.folder.empty()) {
    for (size_t index = 0; index < names.size(); ++index)
      paths[index] = fs::path(files.folder) / getNpyFileName(names[index]);
    for (const auto &[name, index] : known)
      if (fs::path path = fs::path(files.folder) / getNpyFileName(name);
          !fs::exists(paths[index]) && fs::exists(path))
        paths[index] = path;
  }
  for (const auto &[name, path] : files.byName) {
    auto found = known.find(name);
    if (found == known.end())
      throwBadInput("the model has no input '{}'; {}", name, suggest(name, names));
    paths[found->second] = path;
  }
  return paths;
}

std::vector<std::string> checkInputs(const program::Program &program, const InputFiles &files) {
  std::vector<std::string> names;
  for (const program::Port &port : program.inputs())
    names.push_back(port.name());
  std::vector<fs::path> given = findFiles(names, files);
  std::vector<std::string> paths;
  for (int index = 0; index < program.inputs_size(); ++index) {
    const program::Port &port = program.inputs(index);
    const fs::path &path = given[index];
    if (path.empty() || !fs::exists(path))
      throwBadInput("input '{}' is missing{}; give it with --input {}=FILE.npy", port.name(),
                    path.empty() ? "" : fmt::format(", there is no '{}'", path.string()),
                    port.name());
    NpyHeader header = readNpyHeader(path);
    std::vector<int64_t> shape(port.shape().begin(), port.shape().end());
    if (header.dtype != getNpyDType(port.dtype()))
      throwBadInput("input '{}' must be of type {}, '{}' holds {}", port.name(),
                    runtime::getName(getNpyDType(port.dtype())), path.string(),
                    runtime::getName(header.dtype));
    if (header.shape != shape)
      throwBadInput("input '{}' must have the shape {} that was compiled for, '{}' has {}",
                    port.name(), formatShape(shape), path.string(), formatShape(header.shape));
    paths.push_back(path);
  }
  return paths;
}

void readInput(const PortBlock &input, const std::string &path, const Bases &bases) {
  NpyHeader header = readNpyHeader(path);
  BlockReader reader(File::open(path));
  if (input.local.dtype != program::BF16)
    return reader.read(makeBlock(input, header, input.local), input.local.getAddress(bases));
  View dense = makeDense(input, program::F32);
  std::vector<float> floats(dense.getNumElements());
  reader.read(makeBlock(input, header, dense), reinterpret_cast<std::byte *>(floats.data()));
  std::vector<uint16_t> narrow(floats.size());
  for (size_t i = 0; i < floats.size(); ++i)
    narrow[i] = floatToBfloat(floats[i]);
  View to = input.local;
  dense.dtype = program::BF16;
  to.arena = 1;
  to.offset = 0;
  ThreadPool alone(1);
  makeCopyAction(dense, to)->execute(
      {reinterpret_cast<std::byte *>(narrow.data()), input.local.getAddress(bases)}, alone);
}

void writeOutputs(Transport &transport, const std::vector<PortBlock> &outputs,
                  const std::string &folder, const Bases &bases) {
  bool first = transport.getRank() == 0;
  std::vector<std::unique_ptr<OutputFile>> files;
  std::vector<NpyHeader> headers;
  std::string staged;
  agree(transport, [&] {
    if (first) {
      std::error_code error;
      fs::create_directories(folder, error);
      if (error)
        throwFailure("cannot make the folder '{}': {}", folder, error.message());
    }
    for (const PortBlock &output : outputs) {
      NpyHeader header{getNpyDType(output.local.dtype), output.shape, false, 0};
      std::string bytes = formatNpyHeader(header.dtype, header.shape);
      header.dataOffset = bytes.size();
      headers.push_back(header);
      if (!first)
        continue;
      fs::path path = fs::path(folder) / getNpyFileName(output.port->name());
      File &file = files.emplace_back(std::make_unique<OutputFile>(path))->getStaged();
      file.writeAt(0, bytes.data(), bytes.size());
      file.resize(bytes.size() + header.getNumBytes());
      staged += file.getPath() + '\n';
    }
  });
  std::string paths = gatherTexts(transport, staged).front();
  agree(transport, [&] {
    size_t at = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::string path = paths.substr(at, paths.find('\n', at) - at);
      at += path.size() + 1;
      if (!outputs[i].firstCopy)
        continue;
      std::vector<std::byte> data = gatherDense(outputs[i], bases);
      if (outputs[i].local.dtype == program::BF16)
        data = widen(data);
      File file = File::openForWriting(path);
      writeBlock(file, makeBlock(outputs[i], headers[i], makeDense(outputs[i], headers[i].dtype)),
                 data.data());
    }
  });
  agree(transport, [&] {
    for (std::unique_ptr<OutputFile> &file : files)
      file->commit();
  });
}

namespace {

/// Compares this rank's part.
Comparison comparePart(const PortBlock &output, const std::string &path, const Bases &bases) {
  Comparison result;
  NpyHeader header = readNpyHeader(path);
  result.shapeFits = header.shape == output.shape;
  if (!result.shapeFits || !output.firstCopy)
    return result;
  std::vector<std::byte> got = gatherDense(output, bases);
  View dense = makeDense(output, header.dtype);
  std::vector<std::byte> expected(dense.getNumBytes());
  BlockReader(File::open(path)).read(makeBlock(output, header, dense), expected.data());
  result.elements = dense.getNumElements();
  int64_t worst = -1;
  for (int64_t i = 0; i < result.elements; ++i) {
    double a = readAsDouble(output.local.dtype, got.data(), i);
    double b = readAsDouble(header.dtype, expected.data(), i);
    if (std::isfinite(b))
      result.magnitude = std::max(result.magnitude, std::abs(b));
    if (!std::isfinite(a) || !std::isfinite(b)) {
      result.unlike += !(a == b || (std::isnan(a) && std::isnan(b)));
    } else if (std::abs(a - b) > result.difference || worst < 0) {
      result.difference = std::max(result.difference, std::abs(a - b));
      worst = i;
    }
  }
  int64_t step = 1, extent = 1;
  for (size_t dim = output.shape.size(); dim-- > 0; extent *= output.local.shape[dim]) {
    int64_t inPart = worst < 0 ? 0 : worst / extent % output.local.shape[dim];
    result.worst += (output.start[dim] + inPart) * step;
    step *= output.shape[dim];
  }
  return result;
}

} // namespace

double Comparison::getRelative() const {
  return magnitude > 0 ? difference / magnitude : difference;
}

bool Comparison::isWithin(double tolerance) const {
  return shapeFits && unlike == 0 && getRelative() <= tolerance;
}

std::vector<Comparison> compareOutputs(Transport &transport, const std::vector<PortBlock> &outputs,
                                       const std::string &folder, const Bases &bases) {
  std::vector<Comparison> comparisons;
  for (const PortBlock &output : outputs) {
    std::string path = fs::path(folder) / getNpyFileName(output.port->name());
    Comparison part;
    agree(transport, [&] { part = comparePart(output, path, bases); });
    double numbers[] = {part.difference,     part.magnitude,     double(part.elements),
                        double(part.unlike), double(part.worst), double(part.shapeFits)};
    Comparison whole;
    whole.name = output.port->name();
    whole.file = path;
    for (const std::string &text :
         gatherTexts(transport, {reinterpret_cast<const char *>(numbers), sizeof(numbers)})) {
      std::memcpy(numbers, text.data(), sizeof(numbers));
      if (numbers[0] > whole.difference) {
        whole.difference = numbers[0];
        whole.worst = static_cast<int64_t>(numbers[4]);
      }
      whole.magnitude = std::max(whole.magnitude, numbers[1]);
      whole.elements += static_cast<int64_t>(numbers[2]);
      whole.unlike += static_cast<int64_t>(numbers[3]);
      whole.shapeFits &= numbers[5] != 0;
    }
    comparisons.push_back(whole);
  }
  return comparisons;
}

} // namespace weft::runtime
