//===- Aliases.h - tensors that share their elements ------------*- C++ -*-===//
//
// torch's default exports change tensors in place: `add_`, `copy_`, `masked_fill_` … A change of a
// tensor shows in everything that is a view of the same storage. weft's values never change, so
// names are kept apart from values: each name of a view remembers what it views and by which node.
// For
//
//   row = z[1]; both = z.view(6); row.add_(1); use(both)
//
// the sum is put back into z by the inverse of `z[1]`, and `both` is made anew of the new z, by its
// own node, when it is used next. What is never changed costs two map entries.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_ALIASES_H
#define WEFT_FRONTENDS_TORCH_EXPORT_ALIASES_H

#include "frontends/torch_export/Program.h"
#include "llvm/ADT/StringMap.h"

namespace weft::frontend::aten {

/// How a name came to share elements with another.
struct View {
  std::string base;
  const GraphNode *call = nullptr; ///< null: another name for the whole of `base`
  size_t index = 0;                ///< which of the node's results
  uint64_t seen = 0;               ///< changes of the storage when its value was made
  std::string root = "";           ///< the name at the end of the bases, which is no view
};

class Aliases {
public:
  void add(llvm::StringRef name, View view);
  /// Null where the name is no view.
  const View *find(llvm::StringRef name) const;
  /// Whether the storage was changed since the name's value was made.
  bool isStale(llvm::StringRef name) const;
  /// The name's value is that of now.
  void refresh(llvm::StringRef name);
  /// The elements of this name, which is no view, have changed.
  void change(llvm::StringRef root) { ++changes[root]; }

private:
  uint64_t changesOf(llvm::StringRef name) const;

  llvm::StringMap<View> views;
  llvm::StringMap<uint64_t> changes; ///< by the name that is no view
};

/// Whether a node's results share elements with its `self`, as far as its target alone tells.
bool makesViews(llvm::StringRef target);
/// The operator that computes what an operator in place puts into its `self`: `aten.add.Tensor` for
/// `aten.add_.Tensor`; empty for others.
std::string functionalTarget(llvm::StringRef target);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_ALIASES_H
