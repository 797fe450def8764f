//===- Steps.cpp - inputs of many steps -----------------------------------===//

#include "runtime/Executor/Steps.h"

#include "runtime/Executor/ArgumentNames.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/Suggest.h"

namespace weft::runtime {

/// The input that an array is of: by its name, encoded as those of files or not.
static std::map<std::string, size_t> indexByFile(const std::vector<std::string> &names) {
  std::map<std::string, size_t> index;
  for (const auto &[name, number] : indexByName(names)) {
    index[getNpyFileName(name)] = number;
    index[name + ".npy"] = number;
  }
  return index;
}

std::vector<const NpzArray *>
StepData::findArrays(const std::vector<const program::Port *> &ports) const {
  std::vector<std::string> names;
  for (const program::Port *port : ports)
    names.push_back(port->name());
  std::map<std::string, size_t> index = indexByFile(names);
  std::vector<const NpzArray *> arrays(names.size());
  for (const NpzArray &array : file.getArrays()) {
    auto found = index.find(array.file);
    std::string name = array.file.substr(0, array.file.size() - 4);
    if (found == index.end())
      throwBadInput("'{}' holds the array '{}', but the model has no such input; {}",
                    file.getPath(), name, suggest(name, names));
    if (arrays[found->second])
      throwBadInput("'{}' holds input '{}' twice", file.getPath(), names[found->second]);
    arrays[found->second] = &array;
  }
  for (size_t i = 0; i < names.size(); ++i)
    if (!arrays[i])
      throwBadInput("'{}' lacks an array for input '{}'", file.getPath(), names[i]);
  return arrays;
}

StepData::StepData(const std::string &path, const program::Executable &executable,
                   const program::Program &program)
    : file(path) {
  std::vector<const program::Port *> ports = listInputs(executable);
  if (ports.empty())
    throwBadInput("the model has no inputs, so '{}' cannot say how many steps there are; use "
                  "--repeat",
                  path);
  std::vector<const NpzArray *> arrays = findArrays(ports);
  std::map<std::string, std::pair<NpyHeader, const NpzArray *>> checked;
  for (size_t i = 0; i < ports.size(); ++i)
    checked[ports[i]->name()] = {checkArray(*ports[i], *arrays[i]), arrays[i]};
  for (const program::Port &port : program.inputs()) {
    const auto &[header, array] = checked.at(port.name());
    inputs.push_back({header, file.open(*array)});
  }
}

/// The header of one step's tensor, which lies at the start of what is read.
NpyHeader StepData::checkArray(const program::Port &port, const NpzArray &array) {
  NpyHeader header = array.header;
  std::string what = fmt::format("each step of array '{}' of '{}'", port.name(), file.getPath());
  if (header.shape.empty())
    throwBadInput("array '{}' of '{}' is a scalar, not a stack of steps", port.name(),
                  file.getPath());
  int64_t count = header.shape.front();
  if (header.fortranOrder && header.shape.size() > 1)
    throwBadInput("array '{}' of '{}' is in column-major order, in which steps do not follow each "
                  "other; save it with numpy.ascontiguousarray",
                  port.name(), file.getPath());
  if (count == 0)
    throwBadInput("array '{}' of '{}' holds no steps", port.name(), file.getPath());
  if (steps >= 0 && count != steps)
    throwBadInput("'{}' holds {} steps of '{}', but {} of the inputs before it; give as many of "
                  "each",
                  file.getPath(), count, port.name(), steps);
  steps = count;
  header.shape.erase(header.shape.begin());
  header.fortranOrder = false;
  header.dataOffset = 0;
  checkFits(port, header.dtype, header.shape, what);
  return header;
}

void StepData::skipNext() {
  for (Input &input : inputs) {
    tensor.resize(input.header.getNumBytes());
    input.stream.read(tensor.data(), tensor.size());
  }
}

void StepData::readNext(const std::vector<PortBlock> &blocks, const PortAccess &access) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensor.resize(inputs[i].header.getNumBytes());
    inputs[i].stream.read(tensor.data(), tensor.size());
    fillInput(blocks[i], inputs[i].header, access,
              [&](const StridedBlock &block, std::byte *memory) {
                copyBlock(block, tensor.data(), memory);
              });
  }
}

} // namespace weft::runtime
