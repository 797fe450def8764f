//===- FormTable.h - the shardings of tensors of one shape ------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_FORMTABLE_H
#define WEFT_COMPILER_SEARCH_FORMTABLE_H

#include "compiler/Search/MeshPrices.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>
#include <optional>

namespace weft {

/// The ways between forms of tensors on one mesh that are split evenly. All that is compared of
/// these ways grows with the tensor's bytes, so that tensors of any shape have the same; the bytes
/// tell what they take.
class EvenPaths {
public:
  /// The number of a form; equal forms, by their key, have the same.
  unsigned add(llvm::StringRef key) {
    return numbers.try_emplace(key, numbers.size()).first->second;
  }

  /// Seconds between forms of these numbers; infinite where there is no way.
  double getSeconds(llvm::ArrayRef<int64_t> shape, int64_t elementBytes, const TensorSharding &from,
                    const TensorSharding &to, std::pair<unsigned, unsigned> ends,
                    MeshPrices &prices);

private:
  /// Its whole buffer is of the tensor's bytes one in `parts`, so many times.
  struct Step {
    unsigned number; ///< MeshPrices::addStep()
    int64_t parts, times;
  };
  using Steps = llvm::SmallVector<Step, 3>;
  static Steps shorten(const ReshardPath &path, const TensorSharding &from, MeshPrices &prices);

  llvm::StringMap<unsigned> numbers;
  llvm::DenseMap<std::pair<unsigned, unsigned>, std::optional<Steps>> paths;
};

/// The forms that tensors of one shape and element size may have, by number, and the prices of ways
/// from one to another, each found once.
class FormTable {
public:
  FormTable(llvm::ArrayRef<int64_t> shape, int64_t elementBytes, EvenPaths &paths)
      : shape(shape), elementBytes(elementBytes), paths(paths) {}

  unsigned add(const TensorSharding &form);
  const TensorSharding &get(unsigned form) const { return forms[form]; }
  unsigned size() const { return forms.size(); }

  /// Seconds from one form to another; infinite where there is no way. Of a table all are asked for
  /// with the prices of one mesh.
  double getSeconds(unsigned from, unsigned to, MeshPrices &prices);

  /// Bytes of one device's block.
  double getBytes(unsigned form) const {
    return static_cast<double>(forms[form].localElements(shape) * elementBytes);
  }

private:
  double findSeconds(unsigned from, unsigned to, MeshPrices &prices);

  llvm::SmallVector<int64_t, 4> shape;
  int64_t elementBytes;
  EvenPaths &paths;
  std::vector<TensorSharding> forms;
  std::vector<unsigned> pathNumbers; ///< by form, in `paths`
  llvm::StringMap<unsigned> numbers;
  std::vector<std::vector<double>> seconds; ///< from each form to each; no number: not yet known
};

/// The tables of all shapes of a graph on one mesh.
class FormTables {
public:
  FormTable &of(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);

private:
  std::unique_ptr<EvenPaths> paths = std::make_unique<EvenPaths>(); ///< which tables refer to
  std::map<std::pair<std::vector<int64_t>, int64_t>, FormTable> tables;
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_FORMTABLE_H
