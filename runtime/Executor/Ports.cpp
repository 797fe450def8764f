//===- Ports.cpp - inputs and outputs of a run ----------------------------===//

#include "runtime/Executor/Ports.h"

#include "runtime/Executor/ArgumentNames.h"
#include "runtime/Program/Resolve.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/ForEachOffset.h"
#include "runtime/Support/Suggest.h"

#include <filesystem>
#include <set>

namespace weft::runtime {

namespace fs = std::filesystem;

std::vector<int64_t> getWholeStrides(const PortBlock &port, bool fortranOrder) {
  std::vector<int64_t> strides = getRowMajorStrides(port.shape);
  if (fortranOrder) {
    int64_t step = 1;
    for (size_t dim = 0; dim < port.shape.size(); step *= port.shape[dim++])
      strides[dim] = step;
  }
  if (port.frameDim) {
    size_t dim = *port.frameDim;
    strides.insert(strides.begin() + static_cast<int64_t>(dim),
                   strides[dim] * (port.shape[dim] / port.local.shape[dim]));
  }
  return strides;
}

StridedBlock getFileBlock(const PortBlock &port, const NpyHeader &header, const View &view,
                          const std::vector<int64_t> &start) {
  StridedBlock block;
  block.elementSize = getElementSize(header.dtype);
  block.shape = view.shape;
  block.memoryStrides = view.strides;
  block.fileStrides = getWholeStrides(port, header.fortranOrder);
  block.begin = static_cast<int64_t>(header.dataOffset);
  for (size_t dim = 0; dim < view.shape.size(); ++dim)
    block.begin += (port.start[dim] + start[dim]) * block.fileStrides[dim] * block.elementSize;
  return block;
}

std::string formatShape(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return "[" + text + "]";
}

/// The frames of a port as a dimension of their own, before the one that they divide.
static void addFrames(PortBlock &block, const program::Port &port, const program::Arena &arena) {
  int64_t dim = port.frame_dim();
  if (dim < 0 || dim >= static_cast<int64_t>(block.shape.size()))
    throwBadInput("'{}' has frames along dimension {} of {}", port.name(), dim, block.shape.size());
  block.frameDim = dim;
  block.start.insert(block.start.begin() + dim, 0);
  auto add = [&](View &view) {
    view.shape.insert(view.shape.begin() + dim, arena.frames());
    view.strides.insert(view.strides.begin() + dim,
                        getFrameStride(arena) / getElementSize(view.dtype));
  };
  add(block.local);
  if (block.padded)
    add(*block.padded);
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
  const program::Arena &arena = program.arenas(static_cast<int>(block.local.arena));
  int64_t frames = arena.kind() == program::PORTS ? arena.frames() : 1;
  std::vector<int64_t> whole = block.shape; // of one frame
  for (size_t dim = 0; dim < block.shape.size(); ++dim) {
    int64_t parts = 1, coordinate = 0;
    if (dim < static_cast<size_t>(port.sharding().dims_size())) {
      const AxisRefs &axes = port.sharding().dims(static_cast<int>(dim)).axes();
      parts = position.getSize(axes, port.sharding().mesh());
      coordinate = position.getCoordinate(axes, port.sharding().mesh());
    }
    int64_t extent = block.local.shape[dim];
    if (static_cast<int64_t>(dim) == port.frame_dim() && whole[dim] % frames == 0)
      whole[dim] /= frames;
    if (port.valid().empty() ? extent * parts != whole[dim] : extent * parts < whole[dim])
      throwBadInput("dimension {} of '{}' has {} elements, {} parts of {} are not that", dim,
                    port.name(), whole[dim], parts, extent);
    block.start.push_back(coordinate * extent);
  }
  std::vector<int64_t> extents = position.getValidExtents(port.valid(), block.local.shape);
  for (size_t dim = 0; dim < extents.size(); ++dim)
    if (extents[dim] > 0 && block.start[dim] + extents[dim] > whole[dim])
      throwBadInput("elements {} to {} of dimension {} of '{}', which has {}", block.start[dim],
                    block.start[dim] + extents[dim], dim, port.name(), whole[dim]);
  if (extents != block.local.shape)
    block.padded = block.local;
  block.local.shape = extents;
  if (frames > 1)
    addFrames(block, port, program.arenas(static_cast<int>(block.local.arena)));
  return block;
}

/// Ports of all programs, those of an earlier one first.
template <typename GetPorts>
static std::vector<const program::Port *> listPorts(const program::Executable &executable,
                                                    GetPorts getPorts) {
  std::vector<const program::Port *> ports;
  std::set<std::string> names;
  for (const program::Program &program : executable.classes())
    for (const program::Port &port : getPorts(program))
      if (names.insert(port.name()).second)
        ports.push_back(&port);
  return ports;
}

std::vector<const program::Port *> listInputs(const program::Executable &executable) {
  return listPorts(executable,
                   [](const program::Program &program) -> auto & { return program.inputs(); });
}

std::vector<const program::Port *> listOutputs(const program::Executable &executable) {
  return listPorts(executable,
                   [](const program::Program &program) -> auto & { return program.outputs(); });
}

PortBlock describePort(const program::Port &port) {
  PortBlock block;
  block.port = &port;
  block.shape = {port.shape().begin(), port.shape().end()};
  block.local.dtype = port.dtype();
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

std::vector<std::string> checkInputs(const program::Executable &executable,
                                     const program::Program &program, const InputFiles &files) {
  std::vector<std::string> names;
  std::map<std::string, size_t> indices;
  for (const program::Port *port : listInputs(executable)) {
    indices[port->name()] = names.size();
    names.push_back(port->name());
  }
  std::vector<fs::path> given = findFiles(names, files);
  std::vector<std::string> paths;
  for (const program::Port &port : program.inputs()) {
    const fs::path &path = given[indices.at(port.name())];
    if (path.empty() || !fs::exists(path))
      throwBadInput("input '{}' is missing{}; give it with --input {}=FILE.npy", port.name(),
                    path.empty() ? "" : fmt::format(", there is no '{}'", path.string()),
                    port.name());
    NpyHeader header = readNpyHeader(path);
    checkFits(port, header.dtype, header.shape, fmt::format("'{}'", path.string()));
    paths.push_back(path);
  }
  return paths;
}

void checkFits(const program::Port &port, DType dtype, const std::vector<int64_t> &shape,
               const std::string &what) {
  std::vector<int64_t> wanted(port.shape().begin(), port.shape().end());
  if (dtype != getNpyDType(port.dtype()))
    throwBadInput("input '{}' must be of type {}, {} holds {}", port.name(),
                  runtime::getName(getNpyDType(port.dtype())), what, runtime::getName(dtype));
  if (shape != wanted)
    throwBadInput("input '{}' must have the shape {} that was compiled for, {} has {}", port.name(),
                  formatShape(wanted), what, formatShape(shape));
}

PortBlock inStack(const PortBlock &port, int64_t steps, int64_t step) {
  PortBlock stacked = port;
  stacked.shape.insert(stacked.shape.begin(), steps);
  stacked.start.insert(stacked.start.begin(), step);
  stacked.local.shape.insert(stacked.local.shape.begin(), 1);
  stacked.local.strides.insert(stacked.local.strides.begin(), 0);
  if (stacked.frameDim)
    ++*stacked.frameDim;
  return stacked;
}

void readInput(const PortBlock &input, const std::string &path, const PortAccess &access) {
  BlockReader reader(File::open(path));
  fillInput(input, readNpyHeader(path), access,
            [&](const StridedBlock &block, std::byte *memory) { reader.read(block, memory); });
}

void fillInput(const PortBlock &input, const NpyHeader &header, const PortAccess &access,
               const std::function<void(const StridedBlock &, std::byte *)> &read) {
  access.staging.fill(input.local, access.bases, access.stream,
                      [&](const Piece &piece, std::byte *memory) {
                        View view = piece.view;
                        if (view.dtype != program::BF16)
                          return read(getFileBlock(input, header, view, piece.start), memory);
                        std::vector<int64_t> strides = view.strides;
                        view.strides = getRowMajorStrides(view.shape);
                        std::vector<float> floats(view.getNumElements()); // as the file has them
                        read(getFileBlock(input, header, view, piece.start),
                             reinterpret_cast<std::byte *>(floats.data()));
                        auto *to = reinterpret_cast<uint16_t *>(memory);
                        const float *from = floats.data();
                        forEachOffset(view.shape, strides,
                                      [&](int64_t offset) { to[offset] = floatToBfloat(*from++); });
                      });
}

} // namespace weft::runtime
