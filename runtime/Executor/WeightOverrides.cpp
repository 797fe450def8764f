//===- WeightOverrides.cpp - values of weights by their names -------------===//

#include "runtime/Executor/WeightOverrides.h"

#include "runtime/Executor/ArgumentNames.h"
#include "runtime/Executor/Ports.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/Suggest.h"

#include <algorithm>
#include <filesystem>

namespace weft::runtime {

namespace fs = std::filesystem;

/// Whether a file of a folder is one that the model reads.
static bool isOwn(const Executable &executable, const fs::path &path) {
  std::error_code error;
  uint64_t size = fs::file_size(path, error);
  return std::any_of(executable.proto.files().begin(), executable.proto.files().end(),
                     [&](const program::File &file) {
                       return !file.inside() && file.size() == size &&
                              fs::path(file.path()).filename() == path.filename();
                     });
}

WeightOverrides::WeightOverrides(const Executable &executable, const std::string &folder) {
  if (folder.empty())
    return;
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".safetensors" && !isOwn(executable, it->path()))
      paths.push_back(it->path());
  if (error)
    throwBadInput("cannot read '{}': {}", folder, error.message());
  std::sort(paths.begin(), paths.end());
  for (const fs::path &path : paths)
    add(executable, path);
  refuseUnknown(executable);
}

/// What is left of a training step beside the model's weights, as its own optimizer's states, is
/// passed over; but not where a part of the model would keep its old values.
void WeightOverrides::refuseUnknown(const Executable &executable) const {
  if (!unknown)
    return;
  std::vector<std::string> left;
  for (const program::Weight &weight : executable.proto.weights())
    if (!weight.constant() && !find(weight.name()))
      left.push_back(weight.name());
  if (!left.empty())
    throwBadInput("'{}' holds '{}', but the program has no such weight; {}", unknown->first,
                  unknown->second, suggest(unknown->second, left));
}

void WeightOverrides::add(const Executable &executable, const std::string &path) {
  std::vector<std::string> names;
  for (const program::Weight &weight : executable.proto.weights())
    names.push_back(weight.name());
  std::map<std::string, size_t> known = indexByName(names);
  for (const SafeTensor &tensor : readSafeTensors(path)) {
    auto found = known.find(tensor.name);
    if (found == known.end())
      found = known.find(getShortName(tensor.name));
    if (found == known.end()) {
      if (!unknown)
        unknown = {path, tensor.name};
      continue;
    }
    const program::Weight &weight = executable.proto.weights(static_cast<int>(found->second));
    std::vector<int64_t> shape(weight.shape().begin(), weight.shape().end());
    if (tensor.dtype != weight.dtype())
      throwBadInput("weight '{}' must be of type {}, '{}' holds {}", weight.name(),
                    runtime::getName(weight.dtype()), path, tensor.typeName);
    if (tensor.shape != shape)
      throwBadInput("weight '{}' must have the shape {}, '{}' has {}", weight.name(),
                    formatShape(shape), path, formatShape(tensor.shape));
    if (!places.emplace(weight.name(), Place{path, tensor.offset}).second)
      throwBadInput("weight '{}' is in '{}' and in '{}'", weight.name(), places[weight.name()].path,
                    path);
  }
}

const WeightOverrides::Place *WeightOverrides::find(const std::string &name) const {
  auto found = places.find(name);
  return found == places.end() ? nullptr : &found->second;
}

} // namespace weft::runtime
