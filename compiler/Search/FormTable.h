//===- FormTable.h - the shardings of tensors of one shape ------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_FORMTABLE_H
#define WEFT_COMPILER_SEARCH_FORMTABLE_H

#include "compiler/Search/MeshPrices.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>
#include <optional>

namespace weft {

/// The ways between forms of tensors on one mesh, each found once. A dimension that is whole in
/// both forms only makes an element longer: tensors that differ in nothing else have the same ways.
/// Where all are split evenly, what is compared of ways grows with the tensor's bytes, so that
/// tensors of any extents have the same.
class KnownPaths {
public:
  /// Seconds between two forms; infinite where there is no way. All are asked for with the prices
  /// of one mesh.
  double getSeconds(llvm::ArrayRef<int64_t> shape, int64_t elementBytes, const TensorSharding &from,
                    const TensorSharding &to, MeshPrices &prices);

private:
  /// Of a tensor without the dimensions that are whole in both forms.
  struct Ends {
    llvm::SmallVector<int64_t, 4> shape;
    int64_t elementBytes; ///< of all that lies along the others
    TensorSharding from, to;
  };
  struct Step {
    MeshPrices::PathStep step;
    int64_t parts; ///< between even blocks: its whole buffer is so many of these of the tensor
  };
  using Way = llvm::SmallVector<Step, 2>;
  static Ends reduce(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                     const TensorSharding &from, const TensorSharding &to);
  static std::optional<Way> find(const Ends &ends, bool isEven, MeshPrices &prices);

  llvm::StringMap<std::optional<Way>> ways; ///< by what they depend on
};

/// The forms that tensors of one shape and element size may have, by number, and the prices of ways
/// from one to another, each found once.
class FormTable {
public:
  FormTable(llvm::ArrayRef<int64_t> shape, int64_t elementBytes, KnownPaths &paths)
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
  llvm::SmallVector<int64_t, 4> shape;
  int64_t elementBytes;
  KnownPaths &paths;
  std::vector<TensorSharding> forms;
  llvm::StringMap<unsigned> numbers;
  std::vector<std::vector<double>> seconds; ///< from each form to each; no number: not yet known
};

/// The tables of all shapes of a graph on one mesh.
class FormTables {
public:
  FormTable &of(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);

private:
  std::unique_ptr<KnownPaths> paths = std::make_unique<KnownPaths>(); ///< which tables refer to
  std::map<std::pair<std::vector<int64_t>, int64_t>, FormTable> tables;
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_FORMTABLE_H
