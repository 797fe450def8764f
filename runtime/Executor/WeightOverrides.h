//===- WeightOverrides.h - values of weights by their names -----*- C++ -*-===//
//
// A folder of weights may hold, beside the model's own files, .safetensors files of whole tensors
// under the weights' names, as `weft train --export-weights` writes them: these take the place of
// what the model's files hold.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_WEIGHTOVERRIDES_H
#define WEFT_RUNTIME_EXECUTOR_WEIGHTOVERRIDES_H

#include "runtime/Io/SafeTensors.h"
#include "runtime/Program/Executable.h"

#include <map>
#include <optional>

namespace weft::runtime {

class WeightOverrides {
public:
  /// Finds the tensors of a folder's files; of no folder, or of one without such files, none. A
  /// file that the model itself reads, of the same name and size, counts as that. Kind BadInput
  /// where a tensor is not what its weight must be, or is there twice, or is no weight of the
  /// program while a weight is left that no tensor is for. Weights that were arguments are known by
  /// the keys of their names as well (ArgumentNames.h).
  WeightOverrides(const Executable &executable, const std::string &folder);

  struct Place {
    std::string path;
    uint64_t offset = 0; ///< bytes from the file's start
  };
  /// Where a weight's value lies; null where the model's files have it.
  const Place *find(const std::string &name) const;
  bool empty() const { return places.empty(); }

private:
  void add(const Executable &executable, const std::string &path);

  void refuseUnknown(const Executable &executable) const;

  std::map<std::string, Place> places;
  std::optional<std::pair<std::string, std::string>> unknown; ///< the first: its file, and its name
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_WEIGHTOVERRIDES_H
