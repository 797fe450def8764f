//===- FormTable.h - the shardings of tensors of one shape ------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_FORMTABLE_H
#define WEFT_COMPILER_SEARCH_FORMTABLE_H

#include "compiler/Search/MeshPrices.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace weft {

/// The forms that tensors of one shape and element size may have, by number, and the prices of ways
/// from one to another, each found once.
class FormTable {
public:
  FormTable(llvm::ArrayRef<int64_t> shape, int64_t elementBytes)
      : shape(shape), elementBytes(elementBytes) {}

  unsigned add(const TensorSharding &form);
  const TensorSharding &get(unsigned form) const { return forms[form]; }
  unsigned size() const { return forms.size(); }

  /// Seconds from one form to another; infinite where there is no way.
  double getSeconds(unsigned from, unsigned to, MeshPrices &prices);

  /// Bytes of one device's block.
  double getBytes(unsigned form) const {
    return static_cast<double>(forms[form].localElements(shape) * elementBytes);
  }

private:
  llvm::SmallVector<int64_t, 4> shape;
  int64_t elementBytes;
  std::vector<TensorSharding> forms;
  llvm::StringMap<unsigned> numbers;
  llvm::DenseMap<std::pair<unsigned, unsigned>, double> seconds;
};

/// The tables of all shapes of a graph.
class FormTables {
public:
  FormTable &of(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);

private:
  std::map<std::pair<std::vector<int64_t>, int64_t>, FormTable> tables;
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_FORMTABLE_H
